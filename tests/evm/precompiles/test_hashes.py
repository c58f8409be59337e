"""The contracts of hashes, and the one that returns its input."""

import hashlib
from typing import NoReturn

import pytest

from laneway.evm.precompiles import hashes

EMPTY_SHA256 = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
EMPTY_RIPEMD160 = "0000000000000000000000009c1185a5c5e9fc54612808977ee8f548b2258d31"
SIZES = [(0, 0), (1, 1), (31, 1), (32, 1), (33, 2), (1000, 32)]


@pytest.mark.parametrize(("size", "words"), SIZES)
def test_a_price_counts_begun_words(size: int, words: int) -> None:
    data = bytes(size)
    assert hashes.sha256_gas(data) == 60 + 12 * words
    assert hashes.ripemd160_gas(data) == 600 + 120 * words
    assert hashes.identity_gas(data) == 15 + 3 * words


def test_the_hashes_of_nothing_are_the_published_ones() -> None:
    assert hashes.sha256_run(b"").hex() == EMPTY_SHA256
    assert hashes.ripemd160_run(b"").hex() == EMPTY_RIPEMD160


def test_the_input_comes_back() -> None:
    assert hashes.identity_run(b"abc") == b"abc"


def test_ripemd160_is_computed_here_where_openssl_has_none(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def unsupported(name: str, *, usedforsecurity: bool) -> NoReturn:
        raise ValueError(f"unsupported hash type {name}, {usedforsecurity}")

    wanted = hashes.ripemd160_run(b"abc")
    monkeypatch.setattr(hashes, "new", unsupported)
    hashes.openssl_has_ripemd160.cache_clear()
    try:
        assert hashes.ripemd160_run(b"abc") == wanted
    finally:
        hashes.openssl_has_ripemd160.cache_clear()


def test_ripemd160_is_computed_by_openssl_where_it_has_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def other(name: str, data: bytes = b"", *, usedforsecurity: bool) -> "hashlib._Hash":
        assert (name, usedforsecurity) == ("ripemd160", False)
        return hashlib.sha1(data, usedforsecurity=False)

    monkeypatch.setattr(hashes, "new", other)
    hashes.openssl_has_ripemd160.cache_clear()
    try:
        assert hashes.ripemd160_run(b"abc") == bytes(12) + hashlib.sha1(b"abc").digest()
    finally:
        hashes.openssl_has_ripemd160.cache_clear()
