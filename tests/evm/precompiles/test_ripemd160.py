"""RIPEMD-160 without OpenSSL: the examples of its authors."""

import hashlib

import pytest

from laneway.evm.precompiles.hashes import openssl_has_ripemd160
from laneway.evm.precompiles.ripemd160 import ripemd160

PUBLISHED = {
    b"": "9c1185a5c5e9fc54612808977ee8f548b2258d31",
    b"a": "0bdc9d2d256b3ee9daae347be6f4dc835a467ffe",
    b"abc": "8eb208f7e05d987a9b044a8e98c6b087f15a0bfc",
    b"message digest": "5d0689ef49d2fae572b881b123a85ffa21595f36",
    b"abcdefghijklmnopqrstuvwxyz": "f71c27109c692c1b56bbdceb5b9d2865b3708dbc",
    b"1234567890" * 8: "9b752e45573d4b39f4dbd3323cab82bf63326bfb",
}


@pytest.mark.parametrize("data", PUBLISHED)
def test_the_published_examples_have_their_hashes(data: bytes) -> None:
    assert ripemd160(data).hex() == PUBLISHED[data]


@pytest.mark.skipif(not openssl_has_ripemd160(), reason="OpenSSL has no RIPEMD-160 here")
def test_every_length_has_the_hash_that_openssl_finds() -> None:
    for size in range(130):
        data = bytes(range(size))
        assert ripemd160(data) == hashlib.new("ripemd160", data).digest()
