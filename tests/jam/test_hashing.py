"""The hashes are the ones that the chain names."""

from laneway.jam.hashing import HASH_BYTES, ZERO_HASH, blake2b, keccak


def test_blake2b_has_32_bytes() -> None:
    said = "0e5751c026e543b2e8ab2eb06099daa1d1e5df47778f7787faab45cdf12fe3a8"
    assert blake2b(b"").hex() == said
    assert blake2b(memoryview(b"abc")) == blake2b(bytearray(b"abc")) == blake2b(b"abc")
    assert len(blake2b(b"abc")) == HASH_BYTES


def test_keccak_is_the_one_before_the_standard() -> None:
    said = "c5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470"
    assert keccak(b"").hex() == said


def test_the_zero_hash_is_as_long_as_a_hash() -> None:
    assert bytes(HASH_BYTES) == ZERO_HASH
