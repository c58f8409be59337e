"""The chain's slots on this machine's clock, from when blocks of each slot first arrived.

A block cannot arrive before its slot begins, so the quickest of the last ones says best when
slots begin. How far that is from the chain's calendar is the clock's skew: a network's delay adds
to it, and only a clock that is slow takes from it.

Arrivals are kept by a clock that nobody sets. What they are by this machine's clock is reckoned
when it is asked for, so one that was set, forward or back, is noticed by the next question.
"""

from collections import deque
from collections.abc import Callable
from time import monotonic_ns, time_ns
from typing import Final

from laneway.chains.jam.limits import HEADS_KEPT_MAX, NEW_SLOTS_MAX
from laneway.core.jam import SlotClock

JAM_ERA_MS: Final = 1_735_732_800_000
"""When slot 0 of the common era began: noon of 1 January 2025, UTC (Gray Paper, §4.4). Chains for
development count from their own beginning."""


def wall_ms() -> int:
    return time_ns() // 1_000_000


def steady_ms() -> int:
    return monotonic_ns() // 1_000_000


class BlockArrivals:
    """When blocks arrived; only the first of each slot counts, and no older one.

    `steady` is a clock that is never set. It may stand still while the machine sleeps; then the
    first block after that says again when slots begin."""

    def __init__(
        self,
        now_ms: Callable[[], int] = wall_ms,
        era_ms: int | None = None,
        steady: Callable[[], int] = steady_ms,
    ) -> None:
        self._now_ms = now_ms
        self._era_ms = era_ms
        self._steady_ms = steady
        self._arrived: deque[tuple[int, int]] = deque(maxlen=HEADS_KEPT_MAX)

    def saw(self, slot: int) -> None:
        if not self._arrived or slot > self._arrived[-1][0]:
            self._arrived.append((slot, self._steady_ms()))

    def agreed(self, slot: int) -> None:
        """Several nodes have a block of this slot, and none of a later one: what one alone said
        before is forgotten."""
        while self._arrived and self._arrived[-1][0] > slot + NEW_SLOTS_MAX:
            self._arrived.pop()
        self.saw(slot)

    def is_too_new(self, slot: int, slot_ms: int) -> bool:
        """Whether a block of this slot cannot be yet, as far as blocks have arrived here."""
        if not self._arrived:
            return False
        newest, arrived_ms = self._arrived[-1]
        return slot > newest + (self._steady_ms() - arrived_ms) // slot_ms + NEW_SLOTS_MAX

    def clock(self, slot_ms: int) -> SlotClock | None:
        """None if no block has arrived yet."""
        if not self._arrived:
            return None
        slot, arrived_ms = self._arrived[-1]
        ahead_ms = self._now_ms() - self._steady_ms()
        begin_ms = ahead_ms + min(at_ms - one * slot_ms for one, at_ms in self._arrived)
        return SlotClock(
            slot_ms=slot_ms,
            slot=slot,
            heard_ms=ahead_ms + arrived_ms,
            begin_ms=begin_ms,
            skew_ms=None if self._era_ms is None else begin_ms - self._era_ms,
        )
