"""The plan of a world, drawn from its seed before it begins: sizes, settings, chances of faults."""

from collections.abc import Callable
from random import Random
from typing import Any

from msgspec import Struct

from laneway.engine.run import Windows


class WorldPlan(Struct, frozen=True, kw_only=True):
    """The part of a plan that worlds of all kinds have."""

    seed: int
    intents: int
    windows: Windows
    crash: float
    """Chance that a step kills the process it belongs to."""
    freeze: float
    """Chance that a step freezes it past its lease; only where two processes can share a store."""
    lose: float
    """Chance that an answer is lost, and that a host cannot be reached."""
    foreign: float
    """Chance that someone else writes to a contract, or uses an account."""
    operator: float
    """Chance of an operator's command."""
    delay_ms: int
    """The longest that a message takes."""
    processes: int = 1
    """How many share the store from the start."""
    jump: float = 0.0
    """Chance that a machine's clock is set at a step."""
    clocks: int = 1
    """Machines with a clock of their own, among which the processes are spread."""

    def rng(self, actor: str) -> Random:
        """The dice of one actor: its draws leave those of others alone."""
        return Random(f"{self.seed}/{actor}")


def unless_calm(rng: Random, *, calm: bool) -> Callable[..., float]:
    """A function that picks one of some chances, and 0 without a draw in a calm world."""
    return lambda *chances: 0.0 if calm else rng.choice(chances)


def crash_chances(
    rng: Random,
    some: Callable[..., float],
    *,
    shared: bool,
    freeze: float = 0.005,
    crash: tuple[float, ...] = (0.0, 0.004, 0.02),
) -> dict[str, Any]:
    """The fields `windows`, `crash`, `freeze` and `lose` of a plan, drawn in this order."""
    return {
        "windows": Windows(
            backlog_page=rng.choice((1, 2, 12)),
            events_per_turn=rng.choice((1, 2, 256)),
            idle_lanes=rng.choice((0, 1, 100)),
        ),
        "crash": some(*crash),
        "freeze": freeze if shared and rng.random() < 0.3 else 0.0,
        "lose": some(0.0, 0.03, 0.15),
    }
