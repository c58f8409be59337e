"""A signer's address is read and printed; a key in its place is neither."""

import pytest

from laneway.core.urls import REDACTED
from laneway.signers.place import (
    COSMOS_SCHEMES,
    HELD,
    SignerUnusable,
    is_like_a_key,
    shown_place,
    shown_signer,
    split,
)

KEY = "46" * 32
WORDS = " ".join(["abandon"] * 11 + ["about"])
HOLDER = f"0x{'5a' * 20}"


def test_what_may_be_a_key_is_not_shown() -> None:
    assert is_like_a_key("46" * 32)
    assert is_like_a_key(f" 0x{'aB' * 32}\n")
    assert not is_like_a_key("46" * 31)
    assert not is_like_a_key("46" * 64)
    assert shown_place(f"keys/{'46' * 32}") == "(not shown)"
    assert shown_place("keys/hot") == "keys/hot"


@pytest.mark.parametrize("uri", [KEY, f"0x{KEY}", f"file:{KEY}", f"env:{KEY}", WORDS])
def test_a_key_in_the_place_of_an_address_is_refused_and_not_shown(uri: str) -> None:
    with pytest.raises(SignerUnusable, match="looks like a key itself") as caught:
        split(uri)
    assert KEY not in repr(caught.value)
    assert "abandon" not in repr(caught.value)
    assert shown_signer(uri) == REDACTED


def test_each_kind_of_account_has_its_schemes() -> None:
    assert split("file:keys/hot") == ("file", "keys/hot")
    assert split("mnemonic:words", COSMOS_SCHEMES) == ("mnemonic", "words")
    with pytest.raises(SignerUnusable, match="begins with one of keystore:"):
        split("mnemonic:words")
    with pytest.raises(SignerUnusable, match="begins with one of keystore:, file:, env:"):
        split("web3signer:http://h#x", HELD)
    with pytest.raises(SignerUnusable, match="not built yet"):
        split("gcp-kms:x")
    with pytest.raises(SignerUnusable, match="something belongs"):
        split("env:")


@pytest.mark.parametrize(
    ("uri", "shown"),
    [
        ("keystore:keys/hot.json", "keystore:keys/hot.json"),
        ("mnemonic:words#m/44'", "mnemonic:words#m/44'"),
        (f"web3signer:http://h:1#{HOLDER}", f"web3signer:http://h:1#{HOLDER}"),
        (f"web3signer:http://u:hunter2@h#{HOLDER}", f"web3signer:http://{REDACTED}@h#{HOLDER}"),
        (f"web3signer:http://h/{KEY}#{HOLDER}", f"web3signer:http://h/{REDACTED}#{HOLDER}"),
        (f"web3signer:http://h#{KEY}", f"web3signer:http://h#{REDACTED}"),
        ("web3signer:http://h", "web3signer:http://h"),
        ("hunter2", REDACTED),
    ],
)
def test_a_signer_is_shown_without_its_secrets(uri: str, shown: str) -> None:
    assert shown_signer(uri) == shown
