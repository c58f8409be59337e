"""The contracts of BLS12-381: what they answer, and which inputs fail (EIP-2537)."""

import sys
from collections.abc import Callable

import pytest

from laneway.evm.precompiles.bls12381 import calls
from laneway.evm.precompiles.errors import PrecompileUnavailable

P = int(
    "1a0111ea397fe69a4b1ba7b6434bacd764774b84f38512bf"
    "6730d2a0f6b0f6241eabfffeb153ffffb9feffffffffaaab",
    16,
)
ORDER = 0x73EDA753299D7D483339D80809A1D80553BDA402FFFE5BFEFFFFFFFF00000001
Call = Callable[[bytes], bytes | None]


def coordinates(raw: str) -> bytes:
    """Coordinates of 48 bytes in hexadecimal, each after its zeros."""
    data = bytes.fromhex(raw)
    return b"".join(bytes(16) + data[at : at + 48] for at in range(0, len(data), 48))


def number(value: int) -> bytes:
    return value.to_bytes(64, "big")


def scalar(value: int) -> bytes:
    return value.to_bytes(32, "big")


def opposite(point: bytes) -> bytes:
    half = len(point) // 2
    parts = (int.from_bytes(point[at : at + 64], "big") for at in range(half, 2 * half, 64))
    return point[:half] + b"".join(number(P - part) for part in parts)


G1 = coordinates(
    "17f1d3a73197d7942695638c4fa9ac0fc3688c4f9774b905"
    "a14e3a3f171bac586c55e83ff97a1aeffb3af00adb22c6bb"
    "08b3f481e3aaa0f1a09e30ed741d8ae4fcf5e095d5d00af6"
    "00db18cb2c04b3edd03cc744a2888ae40caa232946c5e7e1"
)
G1_TWICE = coordinates(
    "0572cbea904d67468808c8eb50a9450c9721db3091280125"
    "43902d0ac358a62ae28f75bb8f1c7c42c39a8c5529bf0f4e"
    "166a9d8cabc673a322fda673779d8e3822ba3ecb8670e461"
    "f73bb9021d5fd76a4c56d9d4cd16bd1bba86881979749d28"
)
G2 = coordinates(
    "024aa2b2f08f0a91260805272dc51051c6e47ad4fa403b02"
    "b4510b647ae3d1770bac0326a805bbefd48056c8c121bdb8"
    "13e02b6052719f607dacd3a088274f65596bd0d09920b61a"
    "b5da61bbdc7f5049334cf11213945d57e5ac7d055d042b7e"
    "0ce5d527727d6e118cc9cdc6da2e351aadfd9baa8cbdd3a7"
    "6d429a695160d12c923ac9cc3baca289e193548608b82801"
    "0606c4a02ea734cc32acd2b02bc28b99cb3e287e85a763af"
    "267492ab572e99ab3f370d275cec1da1aaa9075ff05f79be"
)
G2_TWICE = coordinates(
    "1638533957d540a9d2370f17cc7ed5863bc0b995b8825e0e"
    "e1ea1e1e4d00dbae81f14b0bf3611b78c952aacab827a053"
    "0a4edef9c1ed7f729f520e47730a124fd70662a904ba1074"
    "728114d1031e1572c6c886f6b57ec72a6178288c47c33577"
    "0468fb440d82b0630aeb8dca2b5256789a66da69bf91009c"
    "bfe6bd221e47aa8ae88dece9764bf3bd999d95d71e4c9899"
    "0f6d4552fa65dd2638b361543f887136a43253d9c66c4116"
    "97003f7a13c308f5422e1aa0a59c8967acdefd8b6e36ccf3"
)
G1_OF_ORDER_3, G1_OF_ORDER_3_TWICE = number(0) + number(2), number(0) + number(P - 2)
G2_OUTSIDE = (
    number(2)
    + number(0)
    + coordinates(
        "18c6b864ae17dc9da64203ffefb966306425a7bc6aeb7c75"
        "247438372716284a4173830420cd476ba1a365b95bfcec38"
        "172e93db764a8400a7d5071b6b6f5de0da2f0f4a063119ab"
        "ca014006b7c40a2cfe291a1924e65db0d6d0fcfbf3bf3d5c"
    )
)
G2_OUTSIDE_TWICE = coordinates(
    "17675cec66f31c57a9ff4a24095db52840d1c3f7a7f7c412"
    "a9abf0c41138dd86e86799986c653332f4324ccccccc7fff"
    "1233f2f0c1d987d267c68eff9581c5c9f986b4dd10dd26b9"
    "2ea22d0a4648ac4c7bdecccbe28799996898e66666662aaa"
    "16a60336c734336c2e2a97dca413c918329ef5ea8d26cb8b"
    "2b800361b645555d26de5b42003e67e9a1de50b7adb0845a"
    "01bdc3e8fed50d43dc545a8fc7e054d4bc796e18659bb2f9"
    "ce2039e7c69ed88be275cea1a9278d42c8667788f7ce04d6"
)
I1, I2 = bytes(128), bytes(256)
TRUE, FALSE = scalar(1), scalar(0)
UNREDUCED_1 = number(P) + number(2)
"""Of the point (0, 2)."""
UNREDUCED_2 = number(2) + number(P) + G2_OUTSIDE[128:]
NO_ZEROS_1, NO_ZEROS_2 = b"\1" + G1[1:], G2[:64] + b"\1" + G2[65:]
OFF_1, OFF_2 = number(0) + number(1), number(0) + number(0) + number(0) + number(1)

G1_ADDITIONS: dict[str, tuple[bytes, bytes | None]] = {
    "a point twice": (G1 + G1, G1_TWICE),
    "a point and infinity": (G1 + I1, G1),
    "infinity and a point": (I1 + G1, G1),
    "infinity twice": (I1 + I1, I1),
    "a point and its opposite": (G1 + opposite(G1), I1),
    "a point outside the subgroup": (G1_OF_ORDER_3 * 2, G1_OF_ORDER_3_TWICE),
    "no input": (b"", None),
    "one point": (G1, None),
    "a byte too few": ((G1 + G1)[:-1], None),
    "a byte too many": (G1 + G1 + b"\0", None),
    "a coordinate that is not reduced": (UNREDUCED_1 + G1, None),
    "a second coordinate that is not reduced": (G1 + number(0) + number(2 + P), None),
    "a coordinate without its zeros": (NO_ZEROS_1 + G1, None),
    "a point off the curve": (G1 + OFF_1, None),
    "coordinates of 48 bytes that have flags": (b"\0" * 16 + b"\xc0" + bytes(111) + G1, None),
}
G2_ADDITIONS: dict[str, tuple[bytes, bytes | None]] = {
    "a point twice": (G2 + G2, G2_TWICE),
    "a point and infinity": (G2 + I2, G2),
    "infinity and a point": (I2 + G2, G2),
    "infinity twice": (I2 + I2, I2),
    "a point and its opposite": (G2 + opposite(G2), I2),
    "a point outside the subgroup": (G2_OUTSIDE * 2, G2_OUTSIDE_TWICE),
    "no input": (b"", None),
    "one point": (G2, None),
    "a byte too many": (G2 + G2 + b"\0", None),
    "a coordinate that is not reduced": (UNREDUCED_2 + G2, None),
    "a coordinate without its zeros": (G2 + NO_ZEROS_2, None),
    "a point off the curve": (G2 + OFF_2, None),
}
G1_SUMS: dict[str, tuple[bytes, bytes | None]] = {
    "one term": (G1 + scalar(2), G1_TWICE),
    "two terms": ((G1 + scalar(1)) * 2, G1_TWICE),
    "many terms": ((G1 + scalar(ORDER - 1)) * 40 + G1_TWICE + scalar(21), G1_TWICE),
    "opposites": (G1 + scalar(5) + opposite(G1) + scalar(5), I1),
    "zero": (G1 + scalar(0), I1),
    "infinity": (I1 + scalar(5), I1),
    "infinity and a point": (I1 + scalar(5) + G1 + scalar(2), G1_TWICE),
    "the order": (G1 + scalar(ORDER), I1),
    "more than the order": (G1 + scalar(ORDER + 2), G1_TWICE),
    "no input": (b"", None),
    "a byte too few": (G1 + scalar(2)[:-1], None),
    "a byte too many": (G1 + scalar(2) + b"\0", None),
    "a point outside the subgroup": (G1_OF_ORDER_3 + scalar(3), None),
    "a point outside the subgroup times zero": (G1 + scalar(1) + G1_OF_ORDER_3 + scalar(0), None),
    "a coordinate that is not reduced": (UNREDUCED_1 + scalar(1), None),
    "a coordinate without its zeros": (NO_ZEROS_1 + scalar(1), None),
    "a point off the curve": (OFF_1 + scalar(0), None),
}
G2_SUMS: dict[str, tuple[bytes, bytes | None]] = {
    "one term": (G2 + scalar(2), G2_TWICE),
    "two terms": ((G2 + scalar(1)) * 2, G2_TWICE),
    "many terms": ((G2 + scalar(ORDER - 1)) * 40 + G2_TWICE + scalar(21), G2_TWICE),
    "zero": (G2 + scalar(0), I2),
    "infinity": (I2 + scalar(5), I2),
    "more than the order": (G2 + scalar(ORDER + 2), G2_TWICE),
    "no input": (b"", None),
    "a byte too few": (G2 + scalar(2)[:-1], None),
    "a point outside the subgroup": (G2_OUTSIDE + scalar(3), None),
    "a point outside the subgroup times zero": (G2_OUTSIDE + scalar(0), None),
    "a coordinate that is not reduced": (UNREDUCED_2 + scalar(1), None),
    "a coordinate without its zeros": (NO_ZEROS_2 + scalar(1), None),
    "a point off the curve": (OFF_2 + scalar(0), None),
}
PAIRINGS: dict[str, tuple[bytes, bytes | None]] = {
    "one pair": (G1 + G2, FALSE),
    "opposites": (G1 + G2 + opposite(G1) + G2, TRUE),
    "opposites in the second group": (G1 + G2 + G1 + opposite(G2), TRUE),
    "factors on either side": (G1_TWICE + G2 + opposite(G1) + G2_TWICE, TRUE),
    "factors that do not cancel": (G1_TWICE + G2 + opposite(G1) + G2, FALSE),
    "infinity with a point": (I1 + G2, TRUE),
    "a point with infinity": (G1 + I2, TRUE),
    "infinity with infinity": (I1 + I2, TRUE),
    "infinity beside a pair": (I1 + I2 + G1 + G2, FALSE),
    "no input": (b"", None),
    "a byte too few": ((G1 + G2)[:-1], None),
    "a byte too many": (G1 + G2 + b"\0", None),
    "a first point outside the subgroup": (G1_OF_ORDER_3 + G2, None),
    "a first point outside the subgroup, with infinity": (G1_OF_ORDER_3 + I2, None),
    "a second point outside the subgroup": (G1 + G2_OUTSIDE, None),
    "a second point outside the subgroup, with infinity": (I1 + G2_OUTSIDE, None),
    "a coordinate that is not reduced": (UNREDUCED_1 + G2, None),
    "a second point off the curve": (I1 + OFF_2, None),
}
G1_MAPS: dict[str, tuple[bytes, bytes | None]] = {
    "zero": (
        number(0),
        coordinates(
            "11a9a0372b8f332d5c30de9ad14e50372a73fa4c45d5f2fa"
            "5097f2d6fb93bcac592f2e1711ac43db0519870c7d0ea415"
            "092c0f994164a0719f51c24ba3788de240ff926b55f58c44"
            "5116e8bc6a47cd63392fd4e8e22bdf9feaa96ee773222133"
        ),
    ),
    "the largest element": (
        number(P - 1),
        coordinates(
            "1073311196f8ef19477219ccee3a48035ff432295aa9419e"
            "ed45d186027d88b90832e14c4f0e2aa4d15f54d1c3ed0f93"
            "16b3a3b2e3dddf6a11459ddaf657fde21c4f10282a56029d"
            "9b55ab3ce1f41e1cf39ad27e0ea35823c7d3250e81ff3d66"
        ),
    ),
    "no input": (b"", None),
    "a byte too few": (bytes(63), None),
    "a byte too many": (bytes(65), None),
    "an element that is not reduced": (number(P), None),
    "an element without its zeros": (b"\1" + bytes(63), None),
}
G2_MAPS: dict[str, tuple[bytes, bytes | None]] = {
    "zero": (
        number(0) * 2,
        coordinates(
            "018320896ec9eef9d5e619848dc29ce266f413d02dd31d9b"
            "9d44ec0c79cd61f18b075ddba6d7bd20b7ff27a4b324bfce"
            "0a67d12118b5a35bb02d2e86b3ebfa7e23410db93de39fb0"
            "6d7025fa95e96ffa428a7a27c3ae4dd4b40bd251ac658892"
            "0260e03644d1a2c321256b3246bad2b895cad13890cbe6f8"
            "5df55106a0d334604fb143c7a042d878006271865bc35941"
            "04c69777a43f0bda07679d5805e63f18cf4e0e7c6112ac7f"
            "70266d199b4f76ae27c6269a3ceebdae30806e9a76aadf5c"
        ),
    ),
    "one and the largest part": (
        number(1) + number(P - 1),
        coordinates(
            "1192902dd01ecb3aabbbef02287fb2139a8d87dd87bbd550"
            "7ba8fd6ccb828cd3780b5d8b998171f85976e42b5bc0a976"
            "0607ac8f6ee4aae172e48db3b35504818e20b09a5d44b30b"
            "c2b52526be1ba1ce9d3f70eeb5f95f8605e24fff59fd69c0"
            "0a3234171e8d4724c896911c3e0888ff11a14d2b08c72ad3"
            "2549c4bd63d29d8cbd5739fa3bf2874696a084856ebac4c8"
            "03892abb5c45ed21e28ed2dceaae7366880d395ee7e3e42d"
            "6ef4ea4996d832d65c8d564c266ef612b6a77d1ea438a640"
        ),
    ),
    "no input": (b"", None),
    "one part": (bytes(64), None),
    "a part that is not reduced": (number(0) + number(P), None),
    "a part without its zeros": (bytes(64) + b"\1" + bytes(63), None),
}
TABLES: dict[str, tuple[Call, dict[str, tuple[bytes, bytes | None]]]] = {
    "an addition in the first group": (calls.g1_addition, G1_ADDITIONS),
    "an addition in the second group": (calls.g2_addition, G2_ADDITIONS),
    "a sum in the first group": (calls.g1_sum, G1_SUMS),
    "a sum in the second group": (calls.g2_sum, G2_SUMS),
    "a pairing": (calls.pairing, PAIRINGS),
    "a map to the first group": (calls.g1_map, G1_MAPS),
    "a map to the second group": (calls.g2_map, G2_MAPS),
}


@pytest.mark.parametrize(
    ("table", "name"), [(table, name) for table, (_, cases) in TABLES.items() for name in cases]
)
def test_the_answer_of(table: str, name: str) -> None:
    call, cases = TABLES[table]
    data, wanted = cases[name]
    assert call(data) == wanted


@pytest.mark.parametrize("table", TABLES)
def test_without_the_library_there_is_no_answer(
    table: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    call, cases = TABLES[table]
    monkeypatch.setitem(sys.modules, "py_arkworks_bls12381", None)
    with pytest.raises(PrecompileUnavailable):
        call(next(iter(cases.values()))[0])
