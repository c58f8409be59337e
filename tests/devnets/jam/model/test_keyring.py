from laneway.devnets.jam.model.keyring import Keyring, stand_in_signature, stand_in_vrf, vrf_output
from laneway.jam.dev_keys import dev_key
from laneway.jam.ed25519 import verifies
from laneway.jam.spec import TINY


def test_a_validator_is_known_by_its_development_key() -> None:
    keyring = Keyring(TINY, 0, signs=True)
    keys = [entry.ed25519 for entry in keyring.set_after(0)]
    assert len(keyring) == TINY.validator_count
    assert keys == [dev_key(number).public_key for number in range(6)]
    assert tuple(map(keyring.number, keys[::-1])) == (5, 4, 3, 2, 1, 0)
    assert keyring.number(keys[3]) == 3


def test_signatures_are_real_unless_told_otherwise() -> None:
    key = dev_key(2).public_key
    real, stand_in = Keyring(TINY, 0, signs=True), Keyring(TINY, 0, signs=False)
    assert verifies(key, real.sign_as(2, b"said"), b"said")
    assert real.sign_as(2, b"said") == real.sign_as(2, b"said")
    assert stand_in.sign_as(2, b"said") == stand_in_signature(key, b"said")
    assert len(stand_in.sign_as(2, b"said")) == 64


def test_a_set_stays_where_there_are_no_more_validators_than_places() -> None:
    keyring = Keyring(TINY, 3, signs=False)
    assert keyring.set_after(0) == keyring.set_after(9)


def test_a_set_moves_along_a_pool_of_validators() -> None:
    keyring = Keyring(TINY, 8, signs=False)
    for turns in range(20):
        places = [keyring.number(entry.ed25519) for entry in keyring.set_after(turns)]
        assert places == [(turns + place) % 8 for place in range(6)]


def test_a_stand_in_for_a_vrf_has_its_length_and_differs_by_key_and_message() -> None:
    made = {stand_in_vrf(key, said) for key in (b"a", b"b") for said in (b"1", b"2")}
    assert {len(one) for one in made} == {96}
    assert len(made) == len({vrf_output(one) for one in made}) == 4
