"""What every event ends with: all that has become possible or due is done, in one order.

After every event nothing is left that could be done. So one that concerns a single block or none
needs a look at that block alone, unless a time has come: it costs the same however many are open.

The lane's clock is here too: what it waits for, and when it must be woken.
"""

from collections.abc import Iterable, Iterator

from laneway.core.jam import Watched
from laneway.lanes.bundle.blocks import (
    begin_returned,
    build_again,
    build_ms,
    is_drained,
    pool_ms,
)
from laneway.lanes.bundle.draft import DecisionDraft
from laneway.lanes.bundle.ends import judge_ends, over_ms
from laneway.lanes.bundle.lane import BundleLane
from laneway.lanes.bundle.limits import LOOK_PAUSE_MS, WATCHED_MAX
from laneway.lanes.bundle.line import asked
from laneway.lanes.bundle.packages import (
    is_open,
    may_act,
    needs_version,
    opens_ms,
    pop,
    retry_ms,
    submit,
)
from laneway.lanes.bundle.records import BlockDue, LookBegun, LookEnded, WindowAwaited
from laneway.lanes.bundle.rows import BlockState
from laneway.lanes.bundle.standing import current
from laneway.lanes.bundle.tells import tell_next, tell_statuses
from laneway.lanes.bundle.values import LookAtChain
from laneway.lanes.common.timers import earliest, is_due
from laneway.lanes.common.values import ModeChanged


def drive(draft: DecisionDraft) -> None:
    lane, head = draft.lane, draft.lane.head
    draft.is_wide |= is_due(wide_ms(lane), draft.now_ms)
    if head.block_ms is not None and head.block_ms <= draft.now_ms:
        draft.say(BlockDue())
    if draft.is_wide:
        judge_ends(draft)
    begin_returned(draft)
    build_again(draft)
    if draft.is_wide:
        submit(draft)
    if draft.is_wide or draft.touched:
        pop(draft)
    tell_statuses(draft)
    tell_next(draft)
    look_on(draft)
    await_window(draft)
    if is_drained(lane):
        draft.say(ModeChanged("paused", head.reason, head.by, draft.now_ms))


# Looks at the chain.


def look_on(draft: DecisionDraft) -> None:
    """While a block is open the chain is looked at."""
    lane, head = draft.lane, draft.lane.head
    if head.looking:
        return
    if not lane.slots:
        if head.look_ms is not None:
            draft.say(LookEnded(None))
    elif head.look_ms is None or head.look_ms <= draft.now_ms:
        draft.say(LookBegun())
        draft.order(look(lane))


def look_soon(draft: DecisionDraft) -> None:
    """The next look is brought forward, though not to right after the last one: a node that
    notifies without end makes no lane look without end."""
    lane, head = draft.lane, draft.lane.head
    if head.look_ms is None:
        return  # The chain is being looked at, or nothing is open.
    poll_ms = lane.settings.poll_ms
    pause_ms = min(LOOK_PAUSE_MS, poll_ms // 4)
    if head.look_ms - draft.now_ms > pause_ms:
        # Of a clock that was set back nobody knows when the last look was.
        soon_ms = min(draft.now_ms + pause_ms, head.look_ms - poll_ms + pause_ms)
        soon_ms = max(draft.now_ms, soon_ms)
        draft.say(LookEnded(soon_ms, reason=head.look_reason))


def look(lane: BundleLane) -> LookAtChain:
    """At all that may land first, then at what should not any more, and last at what has."""
    keeps = lane.settings.keeps_records
    sent = [one for versions in lane.versions.values() for one in versions if one.is_sent()]
    sent.sort(key=lambda one: (one.is_accumulated(keeps), one.is_dead()))
    packages = [
        Watched(
            package_hash=one.package_hash,
            anchor=one.anchor,
            service=lane.settings.service,
            keeps_records=lane.settings.keeps_records,
        )
        for one in sent[:WATCHED_MAX]
    ]
    return LookAtChain(tuple(lane.chain.values()), tuple(packages), asked(lane))


# Windows.


def await_window(draft: DecisionDraft) -> None:
    """When something is tried next that only a window allows."""
    lane, awaited = draft.lane, draft.lane.head.window_ms
    if draft.is_wide:
        window_ms = min(windows(lane, lane.slots, draft.now_ms), default=None)
    else:
        found = windows(lane, draft.touched, draft.now_ms)
        window_ms = min(found, default=awaited)
        if awaited is not None and window_ms is not None:
            window_ms = min(window_ms, awaited)
    if window_ms != awaited:
        draft.say(WindowAwaited(window_ms))


def windows(lane: BundleLane, chosen: Iterable[int], now_ms: int) -> Iterator[int]:
    if not may_act(lane):
        return
    settings = lane.settings
    for one in chosen:
        if lane.words.get(one) not in (BlockState.QUEUED, BlockState.SUBMITTED):
            continue
        slot = lane.slots[one]
        version = current(lane, slot)
        if needs_version(lane, slot):
            due = now_ms if slot.retry_ms is None else slot.retry_ms
            yield within(lane, now_ms, due, settings.build_from_ms, settings.build_until_ms)
        elif version is not None:
            again = now_ms if not version.is_sent() else retry_ms(lane, slot, version)
            if again is not None:
                yield within(lane, now_ms, again, settings.submit_from_ms, settings.submit_until_ms)


def within(lane: BundleLane, now_ms: int, due_ms: int, from_ms: int, until_ms: int) -> int:
    """The first moment after now, and not before it is due, at which the window is open."""
    clock = lane.head.clock
    assert clock is not None
    if due_ms > now_ms and is_open(clock, due_ms, from_ms, until_ms):
        return due_ms
    return opens_ms(clock, max(now_ms, due_ms), from_ms)


# When it must be woken.


def deadline(lane: BundleLane) -> int | None:
    head = lane.head
    times = [head.block_ms, head.look_ms, head.hear_ms, head.tell_ms, wide_ms(lane)]
    return earliest([*times, pool_ms(lane), build_ms(lane)])


def wide_ms(lane: BundleLane) -> int | None:
    """When a time comes that concerns blocks which nothing has touched."""
    times = [lane.head.window_ms, min(lane.overdue.values(), default=None)]
    times += [over_ms(lane, lane.slots[one]) for one in lane.over]
    return earliest(times)
