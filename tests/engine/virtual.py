"""A loop whose time jumps to the next timer: hours pass in no time, and nothing sleeps."""

import asyncio
import selectors
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")

TURNS_MAX = 200_000
"""More than any test here needs, and done in seconds."""


class VirtualSelector(selectors.SelectSelector):
    """Waiting is moving the clock; only the loop's own self-pipe is real."""

    now_s = 1_000.0

    def select(self, timeout: float | None = None) -> list[Any]:
        ready = super().select(0)
        if not ready:
            assert timeout is not None, "nothing is ready and no timer is set: it waits for ever"
            self.now_s += timeout
        return ready


class VirtualLoop(asyncio.SelectorEventLoop):
    def __init__(self) -> None:
        self._selector_of_time = VirtualSelector()
        self.turns = 0
        super().__init__(self._selector_of_time)

    def time(self) -> float:
        return self._selector_of_time.now_s

    def _run_once(self) -> None:
        self.turns += 1
        assert self.turns < TURNS_MAX, "it spins, or waits for something that never comes"
        super()._run_once()  # type: ignore[misc]


class VirtualTime:
    """The clock that goes with the loop. The wall may be moved against it."""

    def __init__(self) -> None:
        self._loop: VirtualLoop | None = None
        self.wall_ms = 1_700_000_000_000
        self.frozen_ms = 0
        """Time in which the process stood still: the loop did not see it pass."""

    @property
    def loop(self) -> VirtualLoop:
        if self._loop is None:
            self._loop = VirtualLoop()
        return self._loop

    def now_ms(self) -> int:
        return self.wall_ms + self.monotonic_ms()

    def monotonic_ms(self) -> int:
        begun_s = VirtualSelector.now_s
        now_s = begun_s if self._loop is None else self._loop.time()
        return round((now_s - begun_s) * 1000) + self.frozen_ms

    def timers(self) -> list[asyncio.TimerHandle]:
        scheduled: list[asyncio.TimerHandle] = self.loop._scheduled  # type: ignore[attr-defined]
        return [timer for timer in scheduled if not timer.cancelled()]

    def run(self, main: Coroutine[Any, Any, T]) -> T:
        escaped: list[dict[str, Any]] = []
        self.loop.set_exception_handler(lambda _, context: escaped.append(context))
        try:
            answer = self.loop.run_until_complete(main)
            for task in asyncio.all_tasks(self.loop):
                task.cancel()
                self.loop.run_until_complete(asyncio.gather(task, return_exceptions=True))
        finally:
            self.loop.close()
        assert not escaped, escaped
        return answer
