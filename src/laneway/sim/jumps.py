"""Machines whose clocks are set: forward or back, by seconds or by hours, at any step.

A clock that was set stays wrong for a while, is set again, and in the end is right. What a process
measures by its monotonic clock is not touched.
"""

from typing import TYPE_CHECKING

from laneway.sim.limits import JUMP_MS_MAX, JUMP_MS_MIN, JUMPS_MAX, WRONG_MS_MAX

if TYPE_CHECKING:
    from laneway.sim.link import Ground
    from laneway.sim.loops import VirtualClock


class ClockJumps:
    def __init__(self, world: "Ground") -> None:
        self._world = world
        self._dice = world.plan.rng("clocks")
        self._left = JUMPS_MAX
        self.set_ms = 0
        """When a clock was set last."""

    def step(self) -> None:
        """What may happen at every step of a process."""
        world = self._world
        if self._left and world.is_faulty and self._dice.random() < world.plan.jump:
            self._left -= 1
            self._jump(self._dice.choice(world.clocks))

    def _jump(self, clock: "VirtualClock") -> None:
        # As many seconds as hours: the logarithm of the distance is even.
        by_ms = int(JUMP_MS_MIN * (JUMP_MS_MAX / JUMP_MS_MIN) ** self._dice.random())
        self._set(clock, clock.ahead_ms + self._dice.choice((-1, 1)) * by_ms)
        wrong_ms = self._dice.randint(1, WRONG_MS_MAX)
        self._world.after(wrong_ms, "clock", lambda: self._set(clock, 0))

    def _set(self, clock: "VirtualClock", ahead_ms: int) -> None:
        world, by_ms = self._world, ahead_ms - clock.ahead_ms
        if not by_ms:
            return
        clock.ahead_ms, self.set_ms = ahead_ms, world.now_ms
        world.seen["clock jumped back" if by_ms < 0 else "clock jumped forward"] += 1
        world.seen["clock jumped while offering"] += world.is_offering()
        world.note(f"a machine's clock is set by {by_ms} ms, and is {ahead_ms} ms ahead")

    def end(self) -> None:
        """All clocks are right."""
        for clock in self._world.clocks:
            self._set(clock, 0)
