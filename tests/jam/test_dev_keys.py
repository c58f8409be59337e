"""Laws of development keys: they are those of JIP-5."""

import pytest

from laneway.jam.dev_keys import dev_key, dev_keys, ed25519_seed, trivial_seed


def test_a_trivial_seed_is_the_number_eight_times() -> None:
    assert trivial_seed(0) == bytes(32)
    assert trivial_seed(0x04030201) == bytes([1, 2, 3, 4]) * 8


def test_the_first_key_is_jip5s_own_example() -> None:
    secret = "996542becdf1e78278dc795679c825faca2e9ed2bf101bf3c4a236d3ed79cf59"
    public = "4418fb8c85bb3985394a8c2756d3643457ce614546202a2f50b093d762499ace"
    assert ed25519_seed(bytes(32)).hex() == secret
    assert dev_key(0).public_key.hex() == public


def test_keys_come_in_the_order_of_validators_and_differ() -> None:
    keys = [key.public_key for key in dev_keys(12)]
    assert keys[5] == dev_key(5).public_key
    assert len(set(keys)) == 12


@pytest.mark.parametrize("count", [0, 31, 33])
def test_a_seed_of_another_length_is_refused_and_not_shown(count: int) -> None:
    with pytest.raises(ValueError, match=r"^a seed has 32 bytes$"):
        ed25519_seed(b"s" * count)
