"""A wall clock that was set back: times that a lane waits for lie further ahead than they can by a
clock that is right, each by its own pause, and times that have passed lie ahead.

They are brought forward to now, and what was begun later than now counts as begun now, so that
nothing is waited for longer than with a clock that is right. One that was set forward needs
nothing: what was waited for is due.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING, TypeAlias

from laneway.core.rows import Touch
from laneway.lanes.bundle import records as r
from laneway.lanes.bundle.lane import BundleLane, put_back, put_slot, put_version, replace
from laneway.lanes.bundle.limits import LATE_EVENT_SLOT_SHARE, RETRY_GROWTH_MAX
from laneway.lanes.bundle.rows import Back, Slot, Version

if TYPE_CHECKING:
    from laneway.lanes.bundle.draft import DecisionDraft

AwaitedTime: TypeAlias = tuple[int | None, int]
"""A time that a lane keeps, and how far ahead of now it can be while the clock is right."""


def notice(draft: "DecisionDraft") -> None:
    """Whether the clock was set back by more than a lane can wait: two slots at the most, since a
    lane with open blocks looks at its chain more often than that."""
    lane, now_ms = draft.lane, draft.now_ms
    late_ms = slot_ms(lane) // LATE_EVENT_SLOT_SHARE
    for at_ms, pause_ms in awaited(lane, now_ms):
        if at_ms is not None and at_ms > now_ms + pause_ms + late_ms:
            draft.is_wide = True
            draft.say(r.ClockSetBack(now_ms))
            return


def slot_ms(lane: BundleLane) -> int:
    """Of the chain's slots, by which windows are reckoned."""
    return lane.settings.slot_ms if lane.head.clock is None else lane.head.clock.slot_ms


def awaited(lane: BundleLane, now_ms: int) -> Iterator[AwaitedTime]:
    """Times that are waited for, and times that have passed."""
    head, settings = lane.head, lane.settings
    build_ms = settings.build_retry_ms << RETRY_GROWTH_MAX
    tell_ms = settings.tell_retry_ms << RETRY_GROWTH_MAX
    yield head.block_ms, settings.block_interval_ms
    yield head.look_ms, 2 * settings.poll_ms
    yield head.hear_ms, tell_ms
    yield head.tell_ms, tell_ms
    due_ms = now_ms
    for slot in lane.slots.values():
        yield slot.retry_ms, build_ms
        yield slot.overdue_ms, settings.accumulate_timeout_ms
        due_ms = max(due_ms, slot.retry_ms or 0)
    for versions in lane.versions.values():
        for one in versions:
            yield one.built_ms, 0
            yield one.first_ms, 0
            yield one.last_ms, 0
            due_ms = max(due_ms, (one.last_ms or 0) + settings.submit_retry_ms)
    for back in lane.returned.values():
        yield None if back.deferral is None else back.deferral.since_ms, 0
    # The first window after something is due; one that is made in it may miss it.
    yield head.window_ms, due_ms - now_ms + 2 * slot_ms(lane)


# The fold of its record.


def brought_forward(lane: BundleLane, at_ms: int) -> tuple[Touch, ...]:
    head, settings = lane.head, lane.settings
    for name in ("block_ms", "look_ms", "window_ms", "hear_ms", "tell_ms"):
        setattr(head, name, sooner(getattr(head, name), at_ms))
    slots = [of_slot(one, at_ms, settings.accumulate_timeout_ms) for one in lane.slots.values()]
    versions = [of_version(one, at_ms) for some in lane.versions.values() for one in some]
    backs = [of_back(one, at_ms) for one in lane.returned.values()]
    return (
        *[put_slot(lane, one) for one in slots if one != lane.slots[one.id]],
        *[put_version(lane, one) for one in versions if one != lane.version(one.slot, one.version)],
        *[put_back(lane, one) for one in backs if one != lane.returned[one.intent]],
    )


def sooner(at_ms: int | None, most_ms: int) -> int | None:
    return None if at_ms is None else min(at_ms, most_ms)


def of_slot(slot: Slot, at_ms: int, timeout_ms: int) -> Slot:
    overdue_ms = sooner(slot.overdue_ms, at_ms + timeout_ms)
    return replace(slot, retry_ms=sooner(slot.retry_ms, at_ms), overdue_ms=overdue_ms)


def of_version(version: Version, at_ms: int) -> Version:
    first_ms, last_ms = sooner(version.first_ms, at_ms), sooner(version.last_ms, at_ms)
    built_ms = min(version.built_ms, at_ms)
    return replace(version, first_ms=first_ms, last_ms=last_ms, built_ms=built_ms)


def of_back(back: Back, at_ms: int) -> Back:
    if back.deferral is None:
        return back
    since_ms, again_ms = min(back.deferral.since_ms, at_ms), min(back.deferral.again_ms, at_ms)
    return replace(back, deferral=replace(back.deferral, since_ms=since_ms, again_ms=again_ms))
