"""The contract that checks signatures on P-256 (EIP-7951)."""

import pytest

from laneway.evm.precompiles import p256

P = 2**256 - 2**224 + 2**192 + 2**96 - 1
N = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551
X = 0x9FAD84AEAE08BBEF7F010014D82CEF6A09DE2B0CF871B5CE0C4F1D13A59A5934
Y = 0x7CB45769F1070E2C2470FE5B1BFE63133C0B0CDC64EA4BF3791A8EC2A07FD4F
"""The key of the secret 0x1234567890ABCDEF."""
DIGEST = int.from_bytes(b"\x11" * 32, "big")
R = 0xC1F44DFC210D0FF76AAF5E203A4B19A915D9AEA872AE406DB5EEB60268328AE5
S = 0x8B2A2F6AE4F9694EA1535513F3D150A2EF37D28713BB009111FA72BBD12751DB


def call(digest: int, r: int, s: int, x: int, y: int) -> bytes:
    return b"".join(number.to_bytes(32, "big") for number in (digest, r, s, x, y))


RIGHT = call(DIGEST, R, S, X, Y)
VALID, INVALID = bytes(31) + b"\1", b""
CASES = {
    "a signature": (RIGHT, VALID),
    "its mirror": (call(DIGEST, R, N - S, X, Y), VALID),
    "a digest of zero": (
        call(
            0,
            0xF9B0FA3A33E065F24946763E48627CA2CCBCD5AD3CAA8EE4C5E97AB6C82C4504,
            0xCAD72322C105C256337433A42B3A4A131A5AEB4F430E2BCFBEF88112657F3401,
            X,
            Y,
        ),
        VALID,
    ),
    "a digest above the order": (
        call(
            (1 << 256) - 1,
            0xD847175A90CF3B6DDA095E5FF605E99D493C57BC65C99D102ABFE1C3026659C4,
            0x639CBE4F26E6CF658E6A9FD56EF808AF86430D339CA4CDB05B264041EE25C3B8,
            X,
            Y,
        ),
        VALID,
    ),
    "a point whose x is above the order, so that r is less": (
        call(
            5,
            3,
            1,
            0x64017C83AD46A09B075407FD37A704AEF3735BA42C3C683F2500265E915AB288,
            0x9656A8D698ACCF52CCA7BE0557DB103DC52BA8253FE3278AA615DABA7E252D90,
        ),
        VALID,
    ),
    "a sum of infinity": (
        call(
            5,
            7,
            11,
            0x50AAAC26FD211D5646CA1710F89ECC793649242BDC6AD1F7A506ADC30895C683,
            0xD89166CC29BF142AC1EF4653EF78EA8A97EA68D7A61D871A648BD545DB2AA798,
        ),
        INVALID,
    ),
    "another digest": (call(DIGEST + 1, R, S, X, Y), INVALID),
    "another r": (call(DIGEST, R + 1, S, X, Y), INVALID),
    "another s": (call(DIGEST, R, S + 1, X, Y), INVALID),
    "the opposite key": (call(DIGEST, R, S, X, P - Y), INVALID),
    "r of zero": (call(DIGEST, 0, S, X, Y), INVALID),
    "s of zero": (call(DIGEST, R, 0, X, Y), INVALID),
    "r of the order": (call(DIGEST, N, S, X, Y), INVALID),
    "s of the order": (call(DIGEST, R, N, X, Y), INVALID),
    "a key at infinity": (call(DIGEST, R, S, 0, 0), INVALID),
    "a key off the curve": (call(DIGEST, R, S, X, Y + 1), INVALID),
    "an x that is not reduced": (call(DIGEST, R, S, P, Y), INVALID),
    "a y that is not reduced": (call(DIGEST, R, S, X, P), INVALID),
    "no input": (b"", INVALID),
    "a byte too few": (RIGHT[:-1], INVALID),
    "a byte too many": (RIGHT + b"\0", INVALID),
}


@pytest.mark.parametrize("name", CASES)
def test_a_signature_with(name: str) -> None:
    data, wanted = CASES[name]
    assert p256.run(data) == wanted
    assert p256.gas(data) == 6_900
