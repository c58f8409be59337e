"""Blocks that a start finds unanswered: executing one of them may be what ended the process.

Nothing is left of a process that a segmentation fault or the kernel ended. All that is known is
that the same order was under way each time; whatever else ended it, a smaller block does no harm.
"""

from laneway.lanes.bundle import records as r
from laneway.lanes.bundle.blocks import awaited, build, judge_not_built
from laneway.lanes.bundle.draft import DecisionDraft
from laneway.lanes.bundle.limits import STARTS_MAX
from laneway.lanes.bundle.values import BlockNotBuilt, BuildUnanswered

UNANSWERED = "starts find it begun, so it may end the process; cancel it, or give more memory"


def judge_unanswered(draft: DecisionDraft, event: BuildUnanswered) -> None:
    """It is ordered again, and after some starts with less in it: for each half of it one more
    start is enough. One transaction alone is left to an operator, for it may be the machine."""
    lane = draft.lane
    slot = awaited(lane, event.slot, event.order)
    if slot is None:
        return
    if slot.starts + 1 < STARTS_MAX:
        slot = draft.change(r.StartsCounted(slot.id, slot.starts + 1))
        draft.order(build(lane, slot, lane.intents))
        return
    failed = BlockNotBuilt(draft.now_ms, slot.id, slot.order, UNANSWERED, True, needs_help=True)
    judge_not_built(draft, failed)
    draft.change(r.StartsCounted(slot.id, STARTS_MAX - 1))
