"""Keccak-256."""

from laneway.evm.keccak import keccak


def test_keccak_is_ethereums_and_not_sha3() -> None:
    empty = "c5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470"
    assert keccak(b"").hex() == empty
