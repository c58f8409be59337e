"""Deadlines of many calls under one timer.

A call that is still out when its deadline passes is cancelled, and told that this was why. A
timer for each call would cost more than the call itself where calls are short.
"""

import asyncio

from laneway.ports import Clock


class Expiry:
    """One call's deadline."""

    __slots__ = ("_expiries", "deadline_ms", "passed", "task")

    def __init__(
        self, expiries: "Expiries", task: "asyncio.Task[object]", deadline_ms: int
    ) -> None:
        self._expiries = expiries
        self.task = task
        self.deadline_ms = deadline_ms
        self.passed = False

    def end(self) -> None:
        self._expiries.out.pop(self, None)


class Expiries:
    """The deadlines that are out, in the order in which they were set."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self.out: dict[Expiry, None] = {}
        self._timer: asyncio.TimerHandle | None = None
        self._timer_ms = 0

    def watch(self, deadline_ms: int) -> Expiry:
        """Cancel the running task when `deadline_ms` passes, unless its expiry ends before."""
        task = asyncio.current_task()
        assert task is not None
        expiry = Expiry(self, task, deadline_ms)
        self.out[expiry] = None
        if self._timer is None or deadline_ms < self._timer_ms:
            self._arm(deadline_ms)
        return expiry

    def _arm(self, at_ms: int) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer_ms = at_ms
        wait_s = max(0, at_ms - self._clock.now_ms()) / 1000
        self._timer = asyncio.get_running_loop().call_later(wait_s, self._sweep)

    def _sweep(self) -> None:
        """Cancel what is due; the timer is set again only for what is still out."""
        self._timer = None
        now_ms = self._clock.now_ms()
        for expiry in [expiry for expiry in self.out if expiry.deadline_ms <= now_ms]:
            expiry.passed = True
            expiry.task.cancel()
            del self.out[expiry]
        if self.out:
            self._arm(min(expiry.deadline_ms for expiry in self.out))

    def close(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
