"""The worlds that kinds of other distributions hand to the simulator."""

from laneway.kinds.registry import kinds
from laneway.sim.kinds import register


def register_worlds() -> None:
    """Let the simulator run the worlds of every kind that is installed, by their names."""
    for kind in kinds().values():
        for world in kind.worlds():
            register(world)
