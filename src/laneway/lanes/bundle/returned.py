"""Transactions that had a block and are in none: who is tried again, when, and for how long.

Those whose block was dropped or had no room for them make a block at once. Those that the builder
puts off, for another has to come before them, wait for what the backlog brings, and are in every
block that is begun with that. Alone they are tried after pauses that grow, and not for ever.
"""

from collections.abc import Iterable

from laneway.core.intent import IntentRow
from laneway.core.reason import clip
from laneway.lanes.bundle.lane import BundleLane, replace
from laneway.lanes.bundle.limits import REASON_KEPT_BYTES_MAX, RETRY_GROWTH_MAX
from laneway.lanes.bundle.rows import Back, Deferral, Member, Verdict
from laneway.lanes.bundle.settings import BundleSettings

TOO_LONG = "that did not come in {seconds:g} s: send it first, and then this one again"
TOO_MANY = "too many others are put off already: send this one again later"


def in_order(lane: BundleLane) -> list[Back]:
    return sorted(lane.returned.values(), key=lambda one: (one.priority, one.seq))


def has_urgent(lane: BundleLane) -> bool:
    """Whether some wait for nothing but a block."""
    return any(one.deferral is None for one in lane.returned.values())


def due_ms(lane: BundleLane) -> int | None:
    """When a block may be begun of them alone; None: there are none."""
    found = [one.deferral for one in lane.returned.values()]
    return min([0 if one is None else one.again_ms for one in found], default=None)


# Who.


def share(settings: BundleSettings) -> tuple[int, int]:
    """How many may be put off at a time, and bytes of them: half a block. The other half is for
    those who come behind them, whatever they wait for."""
    return max(1, settings.block_txs_max // 2), settings.block_bytes_max // 2


def picked(lane: BundleLane, now_ms: int) -> list[IntentRow]:
    """Those of the next block, in their order. It has room for each that is put off, unless its
    settings were others then; in that case those go first whose time has come."""
    settings = lane.settings
    backs = in_order(lane)
    late = [one for one in backs if one.deferral is not None]
    late.sort(key=lambda one: one.deferral is not None and one.deferral.again_ms > now_ms)
    count, size = share(settings)
    chosen = fitting(lane, late, count, size)
    count = max(1, settings.block_txs_max - len(chosen))
    size = settings.block_bytes_max - sum([intent.size() for intent in chosen])
    chosen += fitting(lane, [one for one in backs if one.deferral is None], count, size)
    return sorted(chosen, key=lambda one: (one.priority, one.seq))


def fitting(lane: BundleLane, backs: Iterable[Back], count: int, size: int) -> list[IntentRow]:
    """As many of them as fit, from the first on; one always does."""
    chosen: list[IntentRow] = []
    for back in backs:
        intent = lane.intents[back.intent]
        size -= intent.size()
        if chosen and (len(chosen) >= count or size < 0):
            break
        chosen.append(intent)
    return chosen


# For how long.


class Room:
    """How many more may be put off."""

    def __init__(self, lane: BundleLane) -> None:
        self._count_max, self._size_max = share(lane.settings)
        self._count = self._size = 0
        for back in lane.returned.values():
            if back.deferral is not None:
                self.take(lane.intents[back.intent].size())

    def take(self, size: int) -> bool:
        """Whether there is room for one of this size; there is for the first."""
        is_full = self._count >= self._count_max or self._size + size > self._size_max
        if self._count and is_full:
            return False
        self._count += 1
        self._size += size
        return True


def put_off(
    settings: BundleSettings, member: Member, room: Room, *, now_ms: int, begin_ms: int
) -> Member:
    """What becomes of a transaction that the builder puts off. The next block may be begun at
    `begin_ms`: what comes until then is tried with it, before it is tried alone."""
    known = member.deferral
    since_ms, tries = (now_ms, 0) if known is None else (known.since_ms, known.tries)
    until_ms = since_ms + settings.deferred_ms_max
    if now_ms >= until_ms:
        return refused(member, TOO_LONG.format(seconds=settings.deferred_ms_max / 1_000))
    if not room.take(member.size):
        return refused(member, TOO_MANY)
    pause_ms = settings.build_retry_ms << min(tries, RETRY_GROWTH_MAX)
    again_ms = min(begin_ms + pause_ms, until_ms)
    deferral = Deferral(since_ms, tries + 1, again_ms)
    return replace(member, verdict=Verdict.DEFERRED, deferral=deferral)


def refused(member: Member, why: str) -> Member:
    """The builder's reason stands first."""
    reason = clip(f"{clip(member.reason, REASON_KEPT_BYTES_MAX)}; {why}")
    return replace(member, verdict=Verdict.REFUSED, reason=reason, deferral=None)
