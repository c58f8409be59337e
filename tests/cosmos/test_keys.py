"""Laws of keys: what is signed verifies, what is derived is BIP-32's, and no secret is shown."""

import copy
import pickle

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from laneway.cosmos.errors import MalformedMnemonic, MalformedPath
from laneway.cosmos.keys import HALF_N, HeldCosmosKey, N, address, derived, seed_of, verifies

WORDS = " ".join(["abandon"] * 11 + ["about"])
SECRET = b"\x07" * 32


@settings(max_examples=50)
@given(st.binary(max_size=300))
def test_what_is_signed_verifies_and_nothing_else_does(payload: bytes) -> None:
    key = HeldCosmosKey(SECRET)
    signature = key.sign(payload)
    assert signature == key.sign(payload), "deterministic"
    assert len(signature) == 64
    assert int.from_bytes(signature[32:], "big") <= HALF_N
    assert verifies(key.public_key, signature, payload)
    assert not verifies(key.public_key, signature, payload + b"x")
    assert not verifies(HeldCosmosKey(b"\x08" * 32).public_key, signature, payload)


def test_a_high_s_a_wrong_length_and_a_key_that_is_none_verify_nothing() -> None:
    key = HeldCosmosKey(SECRET)
    signature = key.sign(b"x")
    high = (N - int.from_bytes(signature[32:], "big")).to_bytes(32, "big")
    assert not verifies(key.public_key, signature[:32] + high, b"x")
    assert not verifies(key.public_key, signature[:-1], b"x")
    assert not verifies(b"\x02" + b"\xff" * 32, signature, b"x")
    assert not verifies(key.public_key, bytes(64), b"x")
    assert not verifies(key.public_key, b"\xff" * 32 + bytes(31) + b"\x01", b"x")


def test_a_mnemonic_is_bip39s_and_a_path_bip32s() -> None:
    """The seed is the standard's own example; the account is that of common wallets."""
    seed = seed_of(WORDS, "TREZOR")
    assert seed.hex().startswith("c55257c360c07c72029aebc1b53c05ed0362ada38ead3e3e9efa3708e5349553")
    key = HeldCosmosKey(derived(seed_of(WORDS)))
    assert key.address("cosmos") == "cosmos19rl4cm2hmr8afy4kldpxz3fka4jguq0auqdal4"
    assert address("cosmos", key.public_key) == key.address("cosmos")
    assert seed_of(f"  {WORDS.replace(' ', '   ')} ") == seed_of(WORDS)


def test_bip32s_own_example() -> None:
    seed = bytes(range(16))
    assert derived(seed, "m").hex().startswith("e8f32e723decf4051aefac8e2c93c9c5")
    assert derived(seed, "m/0'").hex().startswith("edb2e14f9ee77d26dd93b4ecede8d16e")
    assert derived(seed, "m/0'/1").hex().startswith("3c6cb8d0f6a264c91ea8b5030fadaa8e")


@pytest.mark.parametrize("path", ["", "44/118", "m/", "m/x", "m/0''", "m/2147483648", "m/-1"])
def test_a_path_that_is_none_is_refused(path: str) -> None:
    with pytest.raises(MalformedPath):
        derived(bytes(16), path)


@pytest.mark.parametrize("words", ["", "one", " ".join(["word"] * 13)])
def test_a_mnemonic_of_another_length_is_refused_and_not_shown(words: str) -> None:
    with pytest.raises(MalformedMnemonic) as error:
        seed_of(words)
    assert "word" not in str(error.value).replace("words", "")


@pytest.mark.parametrize("secret", [b"", bytes(31), bytes(32), b"\xff" * 32])
def test_what_is_no_secret_is_refused_and_not_shown(secret: bytes) -> None:
    with pytest.raises(ValueError) as error:
        HeldCosmosKey(secret)
    assert secret.hex() not in str(error.value) or not secret


def test_a_key_is_neither_shown_nor_copied() -> None:
    key = HeldCosmosKey(SECRET)
    assert SECRET.hex() not in repr(key)
    for take in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(TypeError):
            take(key)
