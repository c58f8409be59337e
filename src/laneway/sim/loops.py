"""Two event loops on virtual time, so that the engine's own coroutines run in every layer.

Layers S1 and S2 have a loop for each process: what its coroutines wait for are messages of the
world. Layer S3 has one loop that picks the next callback by a seed, and can die at any one.
"""

import asyncio
import heapq
import math
from collections.abc import Callable
from contextvars import Context
from random import Random
from typing import TYPE_CHECKING, Any, TypeVarTuple

if TYPE_CHECKING:
    from laneway.sim.process import Process
    from laneway.sim.world import World

Ts = TypeVarTuple("Ts")


class NothingHappens(AssertionError):
    """No callback is ready and no timer is set: what still waits waits for ever."""


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
        # An error that a killed life left unread is not one; when it is collected is chance.
        self.set_exception_handler(lambda *_: None)
        bury(self)


def bury(loop: asyncio.BaseEventLoop) -> None:
    """Drop what a dead process had under way, so that no `finally` of it does anything."""
    asyncio._set_running_loop(loop)
    try:
        for task in asyncio.all_tasks(loop):
            task._log_destroy_pending = False  # type: ignore[attr-defined]
            coroutine = task.get_coro()
            assert coroutine is not None
            coroutine.close()
    finally:
        asyncio._set_running_loop(None)
    loop._ready.clear()  # type: ignore[attr-defined]
    loop._scheduled.clear()  # type: ignore[attr-defined]
    loop.close()


class Timer(asyncio.TimerHandle):
    """A timer of a `ProcessLoop`; the world passes over those that were cancelled."""

    def __call__(self) -> None:
        self._run()


class ProcessLoop(asyncio.BaseEventLoop):
    """All that one process has under way. Nothing runs but in a step of this process, and whatever
    is ready then runs to its next wait, in its order."""

    def __init__(self, world: "World", process: "Process") -> None:
        super().__init__()
        self._world = world
        self._process = process
        self._error: BaseException | None = None
        self.set_exception_handler(self._failed)

    def run(self, act: Callable[[], object]) -> None:
        """One step of this process, and all that it sets in motion."""
        if self._world.running is not self:
            # It stays the running one until another is, which is a great deal quicker.
            self._world.running = self
            asyncio._set_running_loop(self)
        ready = self._ready  # type: ignore[attr-defined]
        act()
        while ready:
            handle = ready.popleft()
            if not handle._cancelled:
                handle._run()
        if self._error is not None:
            raise self._error

    def bury(self) -> None:
        bury(self)
        self._world.running = None

    def time(self) -> float:
        return self._world.now_ms / 1000

    def call_at(
        self,
        when: float,
        callback: Callable[[*Ts], object],
        *args: *Ts,
        context: Context | None = None,
    ) -> asyncio.TimerHandle:
        timer = Timer(when, callback, args, self, context)
        # A thousandth of a millisecond is what floats may add.
        delay_ms = max(0, math.ceil(when * 1000 - 0.001) - self._world.now_ms)
        self._world.after(delay_ms, "timer", timer, self._process)
        return timer

    def _timer_handle_cancelled(self, handle: asyncio.TimerHandle) -> None:
        """The world passes over it when its time has come."""

    def _failed(self, _loop: object, context: dict[str, Any]) -> None:
        self._error = context.get("exception") or AssertionError(context["message"])


class VirtualClock:
    """A machine's clock, on the time of a loop or a world. Its wall clock may be set; its monotonic
    time goes on whatever happens to that."""

    def __init__(self, true_ms: Callable[[], int]) -> None:
        self.monotonic_ms = true_ms
        self.ahead_ms = 0
        """How far the wall clock is from the true time."""

    def now_ms(self) -> int:
        return self.monotonic_ms() + self.ahead_ms
