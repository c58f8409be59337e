"""The contract that recovers an account from a signature."""

import pytest

from laneway.evm.precompiles import ecrecover

N = 0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFEBAAEDCE6AF48A03BBFD25E8CD0364141
DIGEST = 0x456E9AEA5E197A1F1AF7A3E85A3212FA4049A3BA34C2289B4C860FC0B0C64EF3
R = 0x9242685BF161793CC25603C231BC2F568EB630EA16AA137D2664AC8038825608
S = 0x4F8AE3BD7535248D0BD448298CC2E2071E56992D0774DC340C368AE950852ADA
SIGNER = bytes(12) + bytes.fromhex("7156526fbd7a3c72969b54f64e42c10fbb768c8a")
"""The example that evm.codes has for this contract."""
OTHER = bytes(12) + bytes.fromhex("6c8f1f5ea89029d4c1746f1577cd621394843abd")


def words(*numbers: int) -> bytes:
    return b"".join(number.to_bytes(32, "big") for number in numbers)


CASES = {
    "a signature": (words(DIGEST, 28, R, S), SIGNER),
    "bytes after it": (words(DIGEST, 28, R, S) + b"\xff", SIGNER),
    "its mirror": (words(DIGEST, 27, R, N - S), SIGNER),
    "no input": (b"", b""),
    "a y parity instead of 27 or 28": (words(DIGEST, 1, R, S), b""),
    "26": (words(DIGEST, 26, R, S), b""),
    "29": (words(DIGEST, 29, R, S), b""),
    "28 with bits above": (words(DIGEST, 28 + (1 << 248), R, S), b""),
    "r of zero": (words(DIGEST, 28, 0, S), b""),
    "s of zero": (words(DIGEST, 28, R, 0), b""),
    "r of the order": (words(DIGEST, 28, N, S), b""),
    "s of the order": (words(DIGEST, 28, R, N), b""),
    "r that is no coordinate": (words(DIGEST, 28, 5, S), b""),
    "an s that is cut and so another": (words(DIGEST, 28, R, S)[:-1], OTHER),
}


@pytest.mark.parametrize("name", CASES)
def test_a_recovery_from(name: str) -> None:
    data, wanted = CASES[name]
    assert ecrecover.run(data) == wanted
    assert ecrecover.gas(data) == 3_000
