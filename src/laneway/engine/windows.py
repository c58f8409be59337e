"""How much one lane, and one turn, may hold in memory."""

from msgspec import Struct

from laneway.engine.limits import BACKLOG_PAGE, EVENTS_PER_TURN_MAX, IDLE_LANES_MAX


class Windows(Struct, frozen=True):
    """Points where the simulator may make a window tiny, so that its edges are met often."""

    backlog_page: int = BACKLOG_PAGE
    events_per_turn: int = EVENTS_PER_TURN_MAX
    idle_lanes: int = IDLE_LANES_MAX
