"""One rollup: the chain that its packages go to, and the builder that makes them."""

from collections.abc import Awaitable, Callable
from typing import TypeAlias

from laneway.core.ids import LaneId, lane_id
from laneway.lanes.bundle.rows import Tell
from laneway.ports import JamChain, RollupBuilder

KIND = "rollup"

Heard: TypeAlias = Callable[[LaneId, Tell], Awaitable[None] | None]
"""A user's callback. It may be called twice for one tell, whose id stays the same."""


def rollup_lane(service: int) -> LaneId:
    return lane_id(KIND, str(service))


class Rollup:
    def __init__(self, chain: JamChain, builder: RollupBuilder) -> None:
        self.chain = chain
        self.builder = builder
