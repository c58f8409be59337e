"""Deadlines of many calls under one timer.

A call that is still out when its deadline passes is cancelled, and can see that this was why. A
timer for each call would cost more than the call itself where calls are short.
"""

import asyncio
from typing import Any

from laneway.ports import Clock

Task = asyncio.Task[Any]


class Expiries:
    """The deadlines that are out, by the task that each would end."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._out: dict[Task, int] = {}
        self._passed: set[Task] = set()
        self._timer: asyncio.TimerHandle | None = None
        self._timer_ms = 0
        self._arming = False

    def watch(self, deadline_ms: int) -> Task:
        """Cancel the running task when `deadline_ms` passes, unless it says `end` before."""
        task = asyncio.current_task()
        assert task is not None
        self._out[task] = deadline_ms
        if not self._arming and (self._timer is None or deadline_ms < self._timer_ms):
            # Later, when calls that end at once have ended: they need no timer at all.
            self._arming = True
            asyncio.get_running_loop().call_soon(self._arm_next)
        return task

    def has_passed(self, task: Task) -> bool:
        return task in self._passed

    def end(self, task: Task) -> None:
        self._out.pop(task, None)
        self._passed.discard(task)
        if self._timer is not None and not self._out:
            self.close()  # Nothing is out: an idle engine has no timer here.

    def _arm_next(self) -> None:
        self._arming = False
        if self._out:
            self.close()
            self._timer_ms = min(self._out.values())
            wait_s = max(0, self._timer_ms - self._clock.now_ms()) / 1000
            self._timer = asyncio.get_running_loop().call_later(wait_s, self._sweep)

    def _sweep(self) -> None:
        """Cancel what is due; the timer is set again only for what is still out."""
        self._timer = None
        now_ms = self._clock.now_ms()
        for task in [task for task, at_ms in self._out.items() if at_ms <= now_ms]:
            del self._out[task]
            self._passed.add(task)
            task.cancel()
        self._arm_next()

    def close(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
