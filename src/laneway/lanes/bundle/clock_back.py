"""A wall clock that was set back: times that a lane waits for lie further ahead than it ever waits.

They are brought forward to now, and what was begun later than now counts as begun now, so that
nothing is waited for longer than with a clock that is right. One that was set forward needs
nothing: what was waited for is due.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from laneway.core.rows import Touch
from laneway.lanes.bundle import records as r
from laneway.lanes.bundle.lane import BundleLane, put_back, put_slot, put_version, replace
from laneway.lanes.bundle.limits import RETRY_GROWTH_MAX, WAIT_MS_MIN
from laneway.lanes.bundle.rows import Back, Slot, Version
from laneway.lanes.bundle.settings import BundleSettings

if TYPE_CHECKING:
    from laneway.lanes.bundle.draft import DecisionDraft


def notice(draft: "DecisionDraft") -> None:
    """Whether the clock was set back by more than the lane ever waits."""
    lane = draft.lane
    horizon_ms = draft.now_ms + longest_ms(lane.settings)
    if any(at_ms > horizon_ms for at_ms in awaited(lane)):
        draft.is_wide = True
        draft.say(r.ClockSetBack(draft.now_ms))


def longest_ms(settings: BundleSettings) -> int:
    """Longer than any pause of a lane, deferrals and overdue accumulations aside."""
    pause_ms = max(settings.build_retry_ms, settings.tell_retry_ms) << RETRY_GROWTH_MAX
    others_ms = max(settings.poll_ms, settings.block_interval_ms, settings.slot_ms)
    others_ms = max(others_ms, settings.submit_retry_ms)
    return max(2 * max(pause_ms, others_ms), WAIT_MS_MIN)


def awaited(lane: BundleLane) -> Iterator[int]:
    """Times that are waited for a little, and times that have passed."""
    head = lane.head
    times = [head.block_ms, head.look_ms, head.window_ms, head.hear_ms, head.tell_ms]
    times += [slot.retry_ms for slot in lane.slots.values()]
    times += [one.first_ms for versions in lane.versions.values() for one in versions]
    times += [one.deferral.since_ms for one in lane.returned.values() if one.deferral]
    for at_ms in times:
        if at_ms is not None:
            yield at_ms


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
