import pytest

from laneway.devnets.jam.model.epochs import (
    drawn,
    epoch_mark,
    fallback_places,
    first_era,
    is_first_of_epoch,
    next_era,
    turned,
)
from laneway.devnets.jam.model.keyring import Keyring
from laneway.jam.hashing import blake2b
from laneway.jam.spec import TINY
from laneway.jam.state import FallbackSeals
from laneway.jam.validators import marked_keys

ENTROPY = tuple(blake2b(bytes([age])) for age in range(4))


@pytest.mark.parametrize(
    ("before", "slot", "is_first"), [(0, 11, False), (11, 12, True), (12, 13, False), (5, 40, True)]
)
def test_an_epoch_begins_with_its_first_block(before: int, slot: int, is_first: bool) -> None:
    assert is_first_of_epoch(before, slot, TINY) is is_first


def test_the_first_two_epochs_have_one_set_and_then_the_staged_ones_come() -> None:
    keyring = Keyring(TINY, 9, signs=False)
    era = first_era(keyring, ENTROPY, TINY)
    assert era.active == era.previous == era.safrole.pending == keyring.set_after(0)
    following = next_era(era, ENTROPY, keyring, TINY)
    assert (following.turns, following.active) == (1, keyring.set_after(0))
    assert following.safrole.pending == era.staged == keyring.set_after(1)
    third = next_era(following, ENTROPY, keyring, TINY)
    assert third.active == keyring.set_after(1)
    assert third.previous == following.active
    assert third.active_keys == tuple(entry.ed25519 for entry in third.active)
    assert third.previous_keys == tuple(entry.ed25519 for entry in third.previous)
    assert third.standing(ENTROPY).previous == third.previous_keys


def test_entropy_moves_on_with_the_epoch_and_is_drawn_into_with_every_block() -> None:
    moved = turned(ENTROPY)
    assert moved == (ENTROPY[0], ENTROPY[0], ENTROPY[1], ENTROPY[2])
    assert drawn(moved, b"draw") == (blake2b(ENTROPY[0] + b"draw"), *moved[1:])


def test_a_mark_names_the_validators_of_the_next_epoch() -> None:
    keyring = Keyring(TINY, 9, signs=False)
    era = next_era(first_era(keyring, ENTROPY, TINY), ENTROPY, keyring, TINY)
    mark = epoch_mark(ENTROPY, era)
    assert (mark.entropy, mark.tickets_entropy) == ENTROPY[:2]
    assert marked_keys(mark) == tuple(entry.ed25519 for entry in keyring.set_after(1))


def test_slots_are_sealed_by_keys_that_the_entropy_draws() -> None:
    era = first_era(Keyring(TINY, 0, signs=False), ENTROPY, TINY)
    assert era.authors == fallback_places(ENTROPY[2], TINY)
    assert len(set(era.authors)) > 1
    assert era.safrole.seals == FallbackSeals(
        tuple(era.active[place].bandersnatch for place in era.authors)
    )
