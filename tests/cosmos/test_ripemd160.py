"""RIPEMD-160 by the examples of its authors, and by OpenSSL where that has it."""

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from laneway.cosmos.ripemd160 import ripemd160


@pytest.mark.parametrize(
    ("data", "digest"),
    [
        (b"", "9c1185a5c5e9fc54612808977ee8f548b2258d31"),
        (b"a", "0bdc9d2d256b3ee9daae347be6f4dc835a467ffe"),
        (b"abc", "8eb208f7e05d987a9b044a8e98c6b087f15a0bfc"),
        (b"message digest", "5d0689ef49d2fae572b881b123a85ffa21595f36"),
        (b"abcdefghijklmnopqrstuvwxyz", "f71c27109c692c1b56bbdceb5b9d2865b3708dbc"),
        (
            b"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
            "12a053384a9c0c88e405a06c27dcf49ada62eb2b",
        ),
        (b"1234567890" * 8, "9b752e45573d4b39f4dbd3323cab82bf63326bfb"),
    ],
)
def test_the_authors_examples(data: bytes, digest: str) -> None:
    assert ripemd160(data).hex() == digest


@given(st.binary(max_size=200))
def test_openssl_agrees_where_it_can(data: bytes) -> None:
    if "ripemd160" in hashlib.algorithms_available:
        assert ripemd160(data) == hashlib.new("ripemd160", data).digest()
    assert len(ripemd160(data)) == 20
