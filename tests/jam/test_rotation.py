"""Laws of the rotation: who guarantees for which core, now and one rotation ago."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.jam.lookups import are_at, of_core

from laneway.jam.ed25519 import ZERO_KEY
from laneway.jam.hashing import blake2b
from laneway.jam.rotation import (
    Guarantors,
    ValidatorStanding,
    assignment,
    current_guarantors,
    draws,
    guarantee_slots,
    guarantors_for,
    previous_guarantors,
    shuffled,
    without_offenders,
)
from laneway.jam.spec import FULL, TINY, ChainSpec

ENTROPY = tuple(bytes([number]) * 32 for number in range(4))
ACTIVE = tuple(bytes([16 + number]) * 32 for number in range(6))
PREVIOUS = tuple(bytes([32 + number]) * 32 for number in range(6))
STANDING = ValidatorStanding(entropy=ENTROPY, active=ACTIVE, previous=PREVIOUS)
CHAINS = pytest.mark.parametrize("spec", [TINY, FULL], ids=["tiny", "full"])


@CHAINS
def test_every_core_has_three_guarantors_at_every_slot(spec: ChainSpec) -> None:
    for slot in (0, 1, spec.rotation_slots, spec.epoch_slots - 1, 7 * spec.epoch_slots + 3):
        cores = assignment(ENTROPY[2], slot, spec)
        assert len(cores) == spec.validator_count
        assert all(cores.count(core) == 3 for core in range(0, spec.core_count, 31))


@CHAINS
def test_an_epoch_begins_with_the_shuffle_and_each_rotation_moves_all_by_one_core(
    spec: ChainSpec,
) -> None:
    ranked = [
        spec.core_count * place // spec.validator_count for place in range(spec.validator_count)
    ]
    begun = assignment(ENTROPY[2], 5 * spec.epoch_slots, spec)
    assert begun == shuffled(ranked, ENTROPY[2])
    last = assignment(ENTROPY[2], 6 * spec.epoch_slots - 1, spec)
    turns = spec.epoch_slots // spec.rotation_slots - 1
    assert last == tuple((core + turns) % spec.core_count for core in begun)


@given(st.integers(0, 1 << 20))
def test_an_assignment_stays_for_a_rotation(slot: int) -> None:
    begun = slot - slot % TINY.rotation_slots
    assert assignment(ENTROPY[2], slot, TINY) == assignment(ENTROPY[2], begun, TINY)


@given(st.integers(4, 1 << 20))
def test_one_rotation_earlier_is_what_was_current_then(slot: int) -> None:
    """Where the epoch changed in between, what is now the previous set and entropy was current."""
    earlier = slot - TINY.rotation_slots
    then = STANDING
    if earlier // TINY.epoch_slots < slot // TINY.epoch_slots:
        aged = (b"-" * 32, b"-" * 32, ENTROPY[3], b"-" * 32)
        then = ValidatorStanding(entropy=aged, active=PREVIOUS, previous=())
    assert previous_guarantors(STANDING, slot, TINY) == current_guarantors(then, earlier, TINY)


@given(st.integers(0, 1 << 20))
def test_a_guarantee_may_name_this_rotation_and_the_one_before(slot: int) -> None:
    slots = guarantee_slots(slot, TINY)
    assert slots[-1] == slot
    for named in slots:
        rotations = slot // TINY.rotation_slots - named // TINY.rotation_slots
        assert rotations in (0, 1)
        expected = (current_guarantors, previous_guarantors)[rotations](STANDING, slot, TINY)
        assert guarantors_for(STANDING, slot, named, TINY) == expected
    assert slots[0] == 0 or (slots[0] - 1) // TINY.rotation_slots == slot // TINY.rotation_slots - 2


@pytest.mark.parametrize("named", [3, 13])
def test_for_other_slots_nobody_is_named(named: int) -> None:
    with pytest.raises(AssertionError):
        guarantors_for(STANDING, 12, named, TINY)


def test_the_first_rotation_of_a_chain_looks_back_without_falling_off() -> None:
    assert list(guarantee_slots(2, TINY)) == [0, 1, 2]
    before = previous_guarantors(STANDING, 2, TINY)
    assert before == Guarantors(assignment(ENTROPY[3], 10, TINY), PREVIOUS)


def test_an_offender_keeps_its_place_and_core_and_loses_its_key() -> None:
    guilty = ValidatorStanding(
        entropy=ENTROPY, active=ACTIVE, previous=PREVIOUS, offenders=(ACTIVE[1], PREVIOUS[4])
    )
    now = current_guarantors(guilty, 12, TINY)
    assert now.cores == current_guarantors(STANDING, 12, TINY).cores
    assert now.keys == (ACTIVE[0], ZERO_KEY, *ACTIVE[2:])
    before = previous_guarantors(guilty, 12, TINY)
    assert before.keys == (*PREVIOUS[:4], ZERO_KEY, PREVIOUS[5])
    assert without_offenders(ACTIVE, ()) == ACTIVE


@given(st.integers(0, 1 << 20))
def test_the_places_of_all_cores_are_all_places_once(slot: int) -> None:
    now = current_guarantors(STANDING, slot, TINY)
    places = [of_core(now, core) for core in range(TINY.core_count)]
    assert sorted(sum(places, ())) == list(range(6))
    for core, those in enumerate(places):
        assert are_at(now, core, those)
        assert not are_at(now, 1 - core, those)
        assert not are_at(now, core, (*those[:2], 6))


SHUFFLE_ENTROPY = bytes(range(32))


@given(st.lists(st.integers(), max_size=40), st.binary(min_size=32, max_size=32))
def test_a_shuffle_loses_and_invents_nothing(items: list[int], entropy: bytes) -> None:
    found = shuffled(items, entropy)
    assert sorted(found) == sorted(items)
    assert found == shuffled(tuple(items), entropy)


@given(st.lists(st.integers(), max_size=40), st.binary(min_size=32, max_size=32))
def test_a_shuffle_is_what_appendix_f_defines_by_recursion(items: list[int], h: bytes) -> None:
    def defined(left: list[int], numbers: list[int]) -> list[int]:
        if not left:
            return []
        at = numbers[0] % len(left)
        rest = [*left[:at], left[-1], *left[at + 1 :]][: len(left) - 1]
        return [left[at], *defined(rest, numbers[1:])]

    assert list(shuffled(items, h)) == defined(items, draws(h, len(items)))


@pytest.mark.parametrize("count", [0, 1, 7, 8, 9, 16, 1023])
def test_draws_are_the_words_of_hashes_of_the_entropy_and_a_counter(count: int) -> None:
    hashes = b"".join(blake2b(SHUFFLE_ENTROPY + n.to_bytes(4, "little")) for n in range(128))
    words = [int.from_bytes(hashes[4 * i : 4 * i + 4], "little") for i in range(count)]
    assert draws(SHUFFLE_ENTROPY, count) == words


def test_the_given_order_is_left_as_it_was() -> None:
    items = list(range(9))
    shuffled(items, SHUFFLE_ENTROPY)
    assert items == list(range(9))
