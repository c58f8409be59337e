"""An event loop on virtual time that picks the next callback by a seed, and can die at any one."""

import asyncio
import heapq
from collections.abc import Callable
from random import Random
from typing import Any


class NothingHappens(AssertionError):
    """No callback is ready and no timer is set: whoever still waits waits for ever."""


class SimLoop(asyncio.BaseEventLoop):
    """Time jumps to the next timer when nothing is ready. No selector, no thread, no clock."""

    def __init__(self, dice: Random, now_s: float) -> None:
        super().__init__()
        self._dice = dice
        self._now_s = now_s
        self._clock_resolution = 1e-6
        self.callbacks = 0
        self.dies_at: int | None = None
        self.on_callback: Callable[[float], None] | None = None
        self.errors: list[dict[str, Any]] = []
        self.set_exception_handler(lambda _, context: self.errors.append(context))

    def time(self) -> float:
        return self._now_s

    def is_dead(self) -> bool:
        return self.dies_at is not None and self.callbacks >= self.dies_at

    def _run_once(self) -> None:
        timers: list[asyncio.TimerHandle] = self._scheduled  # type: ignore[attr-defined]
        ready = self._ready  # type: ignore[attr-defined]
        while timers and timers[0]._cancelled:
            heapq.heappop(timers)._scheduled = False  # type: ignore[attr-defined]
        if not ready and timers:
            self._now_s = max(self._now_s, timers[0].when())
        while timers and timers[0].when() <= self._now_s:
            timer = heapq.heappop(timers)
            timer._scheduled = False  # type: ignore[attr-defined]
            ready.append(timer)
        if not ready:
            raise NothingHappens("nothing is ready and no timer is set")
        place = self._dice.randrange(len(ready))
        handle = ready[place]
        del ready[place]
        if handle._cancelled:
            return
        self.callbacks += 1
        if self.is_dead():
            self.stop()
            return
        handle._run()
        if self.on_callback is not None:
            self.on_callback(self._now_s)

    def _timer_handle_cancelled(self, handle: asyncio.TimerHandle) -> None:
        """Cancelled timers are dropped when they come to the top of the heap."""

    def _process_events(self, _event_list: object) -> None:
        raise AssertionError("a virtual loop has no events from outside")

    def _write_to_self(self) -> None:
        """Nothing to wake: the loop never sleeps."""

    def bury(self) -> None:
        """Drop what a dead process had under way, so that no `finally` of it does anything."""
        # What a killed life leaves unheard is not an error; when it is collected is chance.
        self.set_exception_handler(lambda *_: None)
        asyncio._set_running_loop(self)
        try:
            for task in asyncio.all_tasks(self):
                task._log_destroy_pending = False  # type: ignore[attr-defined]
                coroutine = task.get_coro()
                assert coroutine is not None
                coroutine.close()
        finally:
            asyncio._set_running_loop(None)
        self._ready.clear()  # type: ignore[attr-defined]
        self._scheduled.clear()  # type: ignore[attr-defined]
        self.close()


class LoopClock:
    """The engine's clock, told by the loop."""

    def __init__(self, loop: SimLoop) -> None:
        self._loop = loop

    def now_ms(self) -> int:
        return int(self._loop.time() * 1000)

    def monotonic_ms(self) -> int:
        return int(self._loop.time() * 1000)
