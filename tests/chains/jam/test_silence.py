"""Laws of silence: it proves something only when nothing can come any more, however blocks came."""

from random import Random

import pytest
from tests.jam.lookups import reportable_blocks

from laneway.chains.jam.parameters import parameters_of
from laneway.chains.jam.silence import OVER, blocks_needed, is_over
from laneway.core.jam import PackageKind
from laneway.jam.spec import TINY
from laneway.jam.windows import engaged_until_slot, is_engaged

PARAMETERS = parameters_of(
    {"epoch_period": TINY.epoch_slots, "max_lookup_anchor_age": TINY.lookup_anchor_slots_max}
)
ANCHOR = 100


def first(slots: list[int]) -> int | None:
    """The block of these at which it is over, if at any."""
    ends = [slot for place, slot in enumerate(slots) if over(slots[: place + 1])]
    return ends[0] if ends else None


def over(slots: list[int]) -> bool:
    return is_over(slots, ANCHOR, PARAMETERS)


def test_with_a_block_in_each_slot_it_takes_eight_blocks_five_slots_and_an_epoch() -> None:
    slots = list(range(ANCHOR - 9, ANCHOR + 60))
    assert first(slots) == ANCHOR + 8 + 5 + 12 == ANCHOR + blocks_needed(PARAMETERS)


def test_once_over_it_is_over_for_ever() -> None:
    slots = list(range(ANCHOR + 1, ANCHOR + 200))
    ends = [over(slots[:count]) for count in range(1, len(slots))]
    assert ends == sorted(ends)
    assert ends[-1]


def test_skipped_slots_do_not_age_an_anchor_but_a_lookup_anchor() -> None:
    """Seven blocks in a long time: an eighth might report it, if its lookup anchor were younger."""
    slots = [ANCHOR + 3 * place for place in range(1, 8)]
    assert first([*slots, *range(ANCHOR + 22, ANCHOR + 60)]) == ANCHOR + 22 + 5 + 12
    slots = [ANCHOR + 5 * place for place in range(1, 5)]
    assert first([*slots, *range(ANCHOR + 26, ANCHOR + 60)]) == ANCHOR + 24 + 5 + 12


@pytest.mark.parametrize("pause", [1, 4, 5, 100, 10_000])
def test_the_first_block_behind_a_pause_may_make_it_available(pause: int) -> None:
    """It was reported in the eighth block, and the ninth comes late: it can be made available there
    for the last time, and from there on it may wait for an epoch."""
    reported = ANCHOR + 8
    late = reported + pause
    slots = [*range(ANCHOR + 1, reported + 1), *range(late, late + 60)]
    available = max(late, engaged_until_slot(reported))
    assert first(slots) == available + 12


def test_the_first_block_behind_a_pause_is_the_last_that_can_accumulate_it() -> None:
    """It waits in the queue until there is a block behind its epoch, which drops it."""
    available = ANCHOR + 8 + 5
    slots = [*range(ANCHOR + 1, available + 12), available + 500, available + 501]
    assert first(slots) == available + 500


@pytest.mark.parametrize("known_from", [2, 5, 30, 64, 500])
def test_blocks_that_are_not_known_make_it_later_and_never_sooner(known_from: int) -> None:
    whole = list(range(ANCHOR + 1, ANCHOR + 700))
    end, found = first(whole), first(whole[known_from:])
    assert end is not None
    assert found is not None
    assert end <= found <= max(end, ANCHOR + 1 + known_from) + blocks_needed(PARAMETERS)


def test_of_few_blocks_nothing_follows() -> None:
    assert not over([])
    assert not over([ANCHOR - 1, ANCHOR])
    assert not over([ANCHOR + 10_000])
    assert first([ANCHOR + 10_000, ANCHOR + 10_011, ANCHOR + 10_012]) == ANCHOR + 10_012


def test_so_many_blocks_are_enough_whatever_was_before_them() -> None:
    count = blocks_needed(PARAMETERS)
    assert over(list(range(ANCHOR + 1, ANCHOR + 1 + count)))
    assert over(list(range(ANCHOR + 999, ANCHOR + 999 + count)))


def test_what_it_says_allows_another_version() -> None:
    assert OVER.kind is PackageKind.ANCHOR_NOT_RECENT


def may_come(slots: list[int]) -> bool:
    """The chain's own rules, way by way: whether it can be reported after these blocks, or be on a
    core or in the ready queue behind the last of them."""
    last_slot = ANCHOR + TINY.lookup_anchor_slots_max
    heights = reportable_blocks(0)
    if len(slots) + 1 in heights and slots[-1] < last_slot:
        return True
    for place, reported in enumerate(slots):
        if place + 1 not in heights or reported > last_slot:
            break
        following = slots[place + 1 :]
        if all(is_engaged(reported, slot) for slot in following):
            return True
        for slot in following:
            if slots[-1] < slot + TINY.epoch_slots:
                return True
            if not is_engaged(reported, slot):
                break
    return False


def test_it_is_never_over_while_anything_can_come_by_the_rules() -> None:
    random = Random(7)
    proven = 0
    for _ in range(2_000):
        gaps = random.choice([(1,), (1, 1, 2), (1, 3, 9), (1, 1, 1, 1, 30)])
        slots = [ANCHOR + random.choice(gaps)]
        while len(slots) < random.randrange(1, 60):
            slots.append(slots[-1] + random.choice(gaps))
        known = slots[random.choice([0, 0, random.randrange(len(slots))]) :]
        if is_over(known, ANCHOR, PARAMETERS):
            proven += 1
            assert not may_come(slots), slots
    assert proven > 200
    whole = list(range(ANCHOR + 1, ANCHOR + blocks_needed(PARAMETERS)))
    assert may_come(whole)
    assert not may_come([*whole, whole[-1] + 1])
