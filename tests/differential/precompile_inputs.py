"""Inputs of the precompiles, right and wrong ones.

Points come from small pools, for the oracle computes curves in plain Python and remembers answers.
"""

from collections.abc import Callable
from hashlib import sha256
from random import Random

from laneway.evm.secp256k1 import N, sign

BN_P = 0x30644E72E131A029B85045B68181585D97816A916871CA8D3C208C16D87CFD47
BN_ORDER = 0x30644E72E131A029B85045B68181585D2833E84879B9709143E1F593F0000001
BLS_P = int(
    "1a0111ea397fe69a4b1ba7b6434bacd764774b84f38512bf6730d2a0f6b0f6241eabfffeb153ffffb9feffffffffaaab",
    16,
)
BLS_ORDER = 0x73EDA753299D7D483339D80809A1D80553BDA402FFFE5BFEFFFFFFFF00000001


def words(*numbers: int, size: int = 32) -> bytes:
    return b"".join(number.to_bytes(size, "big") for number in numbers)


def _hex(text: str) -> bytes:
    return bytes.fromhex("".join(text.split()))


BN_G1 = [
    words(1, 2),
    words(1, BN_P - 2),
    _hex("""17c139df0efee0f766bc0204762b774362e4ded88953a39ce849a8a7fa163fa9
            01e0559bacb160664764a357af8a9fe70baa9258e0b959273ffc5718c6d4cc7c"""),
    words(0, 0),
]
BN_G1_BAD = [words(1, 1), words(1 + BN_P, 2), words(0, BN_P), words(2**256 - 1, 2)]
BN_G2 = [
    _hex("""198e9393920d483a7260bfb731fb5d25f1aa493335a9e71297e485b7aef312c2
            1800deef121f1e76426a00665e5c4479674322d4f75edadd46debd5cd992f6ed
            090689d0585ff075ec9e99ad690c3395bc4b313370b38ef355acdadcd122975b
            12c85ea5db8c6deb4aab71808dcb408fe3d1e7690c43d37b4ce6cc0166fa7daa"""),
    _hex("""203e205db4f19b37b60121b83a7333706db86431c6d835849957ed8c3928ad79
            27dc7234fd11d3e8c36c59277c3e6f149d5cd3cfa9a62aee49f8130962b4b3b9
            195e8aa5b7827463722b8c153931579d3505566b4edf48d498e185f0509de152
            04bb53b8977e5f92a0bc372742c4830944a59b4fe6b1c0466e2a6dad122b5d2e"""),
    bytes(128),
]
BN_G2_BAD = [
    # On the twist, and not in the subgroup.
    words(0, 1)
    + _hex("""0d1271953ed9ea0836846e70a1934187998c7f790cb4d7511b7f8da82de048a4
              2869111d5381f072f8e2728fdb825a51aadd70e52c9830e9ab4b871c0531f1bb"""),
    words(1, 2, 3, 4),
    words(BN_P, 0, 0, 0),
]


def _wide(*numbers: int) -> bytes:
    return words(*numbers, size=64)


def _hexes(text: str) -> bytes:
    return b"".join(bytes(16) + bytes.fromhex(line) for line in text.split())


BLS_G1 = [
    _hexes("""
17f1d3a73197d7942695638c4fa9ac0fc3688c4f9774b905a14e3a3f171bac586c55e83ff97a1aeffb3af00adb22c6bb
08b3f481e3aaa0f1a09e30ed741d8ae4fcf5e095d5d00af600db18cb2c04b3edd03cc744a2888ae40caa232946c5e7e1"""),
    _hexes("""
0572cbea904d67468808c8eb50a9450c9721db309128012543902d0ac358a62ae28f75bb8f1c7c42c39a8c5529bf0f4e
166a9d8cabc673a322fda673779d8e3822ba3ecb8670e461f73bb9021d5fd76a4c56d9d4cd16bd1bba86881979749d28"""),
    _hexes("""
10e7791fb972fe014159aa33a98622da3cdc98ff707965e536d8636b5fcc5ac7a91a8c46e59a00dca575af0f18fb13dc
16ba437edcc6551e30c10512367494bfb6b01cc6681e8a4c3cd2501832ab5c4abc40b4578b85cbaffbf0bcd70d67c6e2"""),
    bytes(128),
]
BLS_G1_OUTSIDE = _hexes("""
000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000
1a0111ea397fe69a4b1ba7b6434bacd764774b84f38512bf6730d2a0f6b0f6241eabfffeb153ffffb9feffffffffaaa9""")
"""On the curve, and not in the subgroup: addition takes it, multiplication and pairing refuse."""
BLS_G1_BAD = [_wide(1, 1), _wide(BLS_P, 2), _wide(1 << 384, 2), _wide(0, BLS_P)]
BLS_G2 = [
    _hexes("""
024aa2b2f08f0a91260805272dc51051c6e47ad4fa403b02b4510b647ae3d1770bac0326a805bbefd48056c8c121bdb8
13e02b6052719f607dacd3a088274f65596bd0d09920b61ab5da61bbdc7f5049334cf11213945d57e5ac7d055d042b7e
0ce5d527727d6e118cc9cdc6da2e351aadfd9baa8cbdd3a76d429a695160d12c923ac9cc3baca289e193548608b82801
0606c4a02ea734cc32acd2b02bc28b99cb3e287e85a763af267492ab572e99ab3f370d275cec1da1aaa9075ff05f79be"""),
    _hexes("""
1638533957d540a9d2370f17cc7ed5863bc0b995b8825e0ee1ea1e1e4d00dbae81f14b0bf3611b78c952aacab827a053
0a4edef9c1ed7f729f520e47730a124fd70662a904ba1074728114d1031e1572c6c886f6b57ec72a6178288c47c33577
0468fb440d82b0630aeb8dca2b5256789a66da69bf91009cbfe6bd221e47aa8ae88dece9764bf3bd999d95d71e4c9899
0f6d4552fa65dd2638b361543f887136a43253d9c66c411697003f7a13c308f5422e1aa0a59c8967acdefd8b6e36ccf3"""),
    bytes(256),
]
BLS_G2_OUTSIDE = _wide(2, 0) + _hexes("""
18c6b864ae17dc9da64203ffefb966306425a7bc6aeb7c75247438372716284a4173830420cd476ba1a365b95bfcec38
172e93db764a8400a7d5071b6b6f5de0da2f0f4a063119abca014006b7c40a2cfe291a1924e65db0d6d0fcfbf3bf3d5c""")
BLS_G2_BAD = [_wide(1, 2, 3, 4), _wide(BLS_P, 0, 0, 0), _wide(0, 0, 0, 1 << 400)]

_P256 = """
0101010101010101010101010101010101010101010101010101010101010101
8abc4c895b360ecb2b4f6385d9fbe75ad32a286562663c37804047ecf594af9c
61c157dd9f426b7e7064536a263a552914e8b2a57db0825438fc7ca2d845e547
26efcebd0ee9e34a669187e18b3a9122b2f733945b649cc9f9f921e9f9dad812
90238bde9cc7bb330d150c67704dd25ae7055205744b6f31bf4070745872d0e6
0707070707070707070707070707070707070707070707070707070707070707
a15ac733f57dc008fded3ad5b1793c8f9cd6fb6434fb75428d9b500753d367de
16413c61b79c58176054d5dbc174304305c03bc1438016ba907cff1acf850081
1ca37c42cfe0af918d8b8dfdb0c6453b00bb962f0072633d9702ddfd1043b9fb
9573a1918508607eb3cfe8146436cfa4c39557ab6eb8f70af51e5ea8ec85222a"""
P256 = [_hex(_P256)[:160], _hex(_P256)[160:]]
P256_ORDER = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551

KZG_OF_X = _hex("""ad3eb50121139aa34db1d545093ac9374ab7bca2c0f3bf28
                   e27c8dcd8fc7cb42d25926fc0c97b336e9f0fb35e5a04c81""")
"""The commitment to p(x) = x: the second point of the ceremony's setup."""
G1_SHORT = _hex("""97f1d3a73197d7942695638c4fa9ac0fc3688c4f9774b905
                   a14e3a3f171bac586c55e83ff97a1aeffb3af00adb22c6bb""")
NOWHERE_SHORT = b"\xc0" + bytes(47)


def ecrecover(rng: Random) -> bytes:
    digest = rng.choice([bytes(32), b"\xff" * 32, rng.randbytes(32)])
    made = sign(digest, bytes(31) + bytes([rng.randrange(1, 9)]))
    v, r, s = 27 + made.y_parity, made.r, made.s
    match rng.randrange(9):
        case 0:
            v = rng.choice([0, 1, 26, 29, 27 + 256, v << 248, 2**256 - 1])
        case 1:
            r = rng.choice([0, N, N - 1, N + 1, 2**256 - 1, 5])
        case 2:
            s = rng.choice([0, N, N - s, 2**256 - 1])
        case 3:
            v = 55 - v
        case _:
            pass
    return digest + words(v, r, s)


def any_bytes(rng: Random) -> bytes:
    return rng.randbytes(rng.choice([0, 1, 31, 32, 33, 55, 56, 64, 100, 128]))


MODEXP_SIZES = [0, 0, 1, 1, 2, 7, 8, 9, 31, 32, 33, 40, 64, 65]


def modexp(rng: Random) -> bytes:
    sizes = [rng.choice(MODEXP_SIZES) for _ in range(3)]
    parts = []
    for size in sizes:
        odd = rng.randbytes(size)
        parts.append(rng.choice([odd, odd, bytes(size), b"\xff" * size, (b"\x01" + odd)[:size]]))
    if rng.random() < 0.1:
        sizes[rng.randrange(3)] = rng.choice(
            [1_023, 1_024, 1_025, 2_000, 1 << 32, 1 << 64, (1 << 64) - 1, 1 << 255, (1 << 256) - 1]
        )
    return words(*sizes) + b"".join(parts)


def _chosen(rng: Random, good: list[bytes], bad: list[bytes], share: float = 0.12) -> bytes:
    return rng.choice(bad if rng.random() < share else good)


def _scalar(rng: Random, order: int) -> int:
    return rng.choice([0, 1, 2, 3, 9, order - 1, order, order + 1, 2**256 - 1, 2**128])


def bn_add(rng: Random) -> bytes:
    return _chosen(rng, BN_G1, BN_G1_BAD) + _chosen(rng, BN_G1, BN_G1_BAD)


def bn_mul(rng: Random) -> bytes:
    return _chosen(rng, BN_G1, BN_G1_BAD) + words(_scalar(rng, BN_ORDER))


def bn_pairing(rng: Random) -> bytes:
    if rng.random() < 0.3:
        return BN_G1[0] + BN_G2[0] + BN_G1[1] + BN_G2[0]
    return b"".join(
        _chosen(rng, BN_G1, BN_G1_BAD) + _chosen(rng, BN_G2, BN_G2_BAD)
        for _ in range(rng.choice([0, 1, 1, 2]))
    )


def blake2f(rng: Random) -> bytes:
    rounds = rng.choice([0, 1, 2, 10, 12, 13, 300, 2**32 - 1])
    final = rng.choice([0, 1, 0, 1, 0, 1, 2, 255])
    offsets = rng.choice([bytes(16), b"\x03" + bytes(15), b"\xff" * 16])
    state = rng.choice([bytes(192), rng.randbytes(192)])
    return rounds.to_bytes(4, "big") + state + offsets + bytes([final])


def kzg(rng: Random) -> bytes:
    z = rng.choice([0, 1, 5, BLS_ORDER - 1])
    commitment, y, proof = rng.choice(
        [
            (NOWHERE_SHORT, 0, NOWHERE_SHORT),
            (G1_SHORT, 1, NOWHERE_SHORT),
            (KZG_OF_X, z, G1_SHORT),
            (KZG_OF_X, z, G1_SHORT),
        ]
    )
    versioned = b"\x01" + sha256(commitment).digest()[1:]
    match rng.randrange(12):
        case 0:
            y = rng.choice([3, BLS_ORDER, y + BLS_ORDER])
        case 1:
            z = rng.choice([BLS_ORDER, 2**256 - 1])
        case 2:
            proof = rng.choice([bytes(48), b"\xff" * 48, b"\x80" + bytes(47), KZG_OF_X])
        case 3:
            versioned = rng.choice([b"\x02" + versioned[1:], versioned[:-1] + b"\x00"])
        case 4:
            commitment = b"\x80" + bytes(47)
            versioned = b"\x01" + sha256(commitment).digest()[1:]
        case _:
            pass
    return versioned + words(z, y % 2**256) + commitment + proof


def bls_g1_add(rng: Random) -> bytes:
    good = [*BLS_G1, BLS_G1_OUTSIDE]
    return _chosen(rng, good, BLS_G1_BAD) + _chosen(rng, good, BLS_G1_BAD)


def bls_g1_msm(rng: Random) -> bytes:
    return b"".join(
        _chosen(rng, BLS_G1, [*BLS_G1_BAD, BLS_G1_OUTSIDE], 0.1) + words(_scalar(rng, BLS_ORDER))
        for _ in range(rng.choice([0, 1, 1, 2, 3]))
    )


def bls_g2_add(rng: Random) -> bytes:
    good = [*BLS_G2, BLS_G2_OUTSIDE]
    return _chosen(rng, good, BLS_G2_BAD) + _chosen(rng, good, BLS_G2_BAD)


def bls_g2_msm(rng: Random) -> bytes:
    return b"".join(
        _chosen(rng, BLS_G2, [*BLS_G2_BAD, BLS_G2_OUTSIDE], 0.1) + words(_scalar(rng, BLS_ORDER))
        for _ in range(rng.choice([0, 1, 1, 2]))
    )


def bls_pairing(rng: Random) -> bytes:
    return b"".join(
        _chosen(rng, [*BLS_G1[:2], BLS_G1[3]], [*BLS_G1_BAD, BLS_G1_OUTSIDE], 0.08)
        + _chosen(rng, BLS_G2, [*BLS_G2_BAD, BLS_G2_OUTSIDE], 0.08)
        for _ in range(rng.choice([0, 1, 1, 2]))
    )


def bls_map_fp(rng: Random) -> bytes:
    return _wide(rng.choice([0, 1, 7, BLS_P - 1, BLS_P, 1 << 384]))


def bls_map_fp2(rng: Random) -> bytes:
    return _wide(*(rng.choice([0, 1, BLS_P - 1, 1, 0, BLS_P]) for _ in range(2)))


def p256(rng: Random) -> bytes:
    made = bytearray(rng.choice(P256))
    match rng.randrange(6):
        case 0:
            made[rng.randrange(160)] ^= 1 << rng.randrange(8)
        case 1:
            at = 32 * rng.randrange(1, 5)
            made[at : at + 32] = words(rng.choice([0, P256_ORDER, 2**256 - 1]))
        case 2:
            # The mirrored s is as good: this precompile knows no lower half.
            s = int.from_bytes(made[64:96], "big")
            made[64:96] = words(P256_ORDER - s)
        case _:
            pass
    return bytes(made)


INPUTS: dict[int, Callable[[Random], bytes]] = {
    1: ecrecover,
    2: any_bytes,
    3: any_bytes,
    4: any_bytes,
    5: modexp,
    6: bn_add,
    7: bn_mul,
    8: bn_pairing,
    9: blake2f,
    10: kzg,
    11: bls_g1_add,
    12: bls_g1_msm,
    13: bls_g2_add,
    14: bls_g2_msm,
    15: bls_pairing,
    16: bls_map_fp,
    17: bls_map_fp2,
    256: p256,
}

COSTS = dict(
    zip(
        INPUTS,
        (
            *(3_000, 200, 1_500, 100, 2_000, 150, 6_000, 113_000, 400, 50_000),
            *(375, 30_000, 600, 50_000, 105_000, 5_500, 23_800, 6_900),
        ),
        strict=True,
    )
)
"""About what a call takes, so that most get enough gas."""


def precompiles(fork: str) -> list[int]:
    """The addresses that are precompiles in the fork."""
    last = {"Cancun": 10, "Prague": 17}.get(fork, 256)
    return [address for address in INPUTS if address <= last]


def data_for(rng: Random, address: int) -> bytes:
    """What a precompile takes, now and then cut off or with more behind."""
    made = INPUTS[address](rng)
    match rng.randrange(12):
        case 0:
            return made[: rng.randrange(len(made) + 1)]
        case 1:
            return made + bytes(rng.choice([1, 16, 32]))
        case _:
            pass
    return made
