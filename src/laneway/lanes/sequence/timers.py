"""What is due: a look at a node, bytes made again, an offer to a node that did not answer."""

from laneway.lanes.sequence.claims import is_drained
from laneway.lanes.sequence.lane import SequenceLane, replace
from laneway.lanes.sequence.rows import Node
from laneway.lanes.sequence.tries import (
    NOTHING,
    Decision,
    look,
    looked_at,
    make,
    offers,
    said,
)
from laneway.lanes.sequence.values import (
    Effect,
    LookFailed,
    MakingResumed,
    ModeChanged,
    NodeChanged,
    Record,
)


def drained_ms(lane: SequenceLane) -> int | None:
    return lane.head.mode_ms if is_drained(lane) else None


def make_ms(lane: SequenceLane) -> int | None:
    """A halted lane makes nothing until it goes on."""
    return lane.head.make_ms if lane.delayed and not lane.head.halt else None


def deadline(lane: SequenceLane) -> int | None:
    times = [drained_ms(lane), make_ms(lane), 0 if lane.is_rewired else None]
    for node in lane.live():
        times += [node.look_ms, node.retry_ms]
    return min((at_ms for at_ms in times if at_ms is not None), default=None)


def is_due(at_ms: int | None, now_ms: int) -> bool:
    return at_ms is not None and at_ms <= now_ms


def judge_timer(lane: SequenceLane, now_ms: int) -> Decision:
    records: list[Record] = []
    effects: list[Effect] = []
    if lane.is_rewired:
        # Whoever comes and goes by a setting is told of, and what their work was is work no more.
        records += [NodeChanged(node) for node in lane.nodes.values()]
    if is_due(drained_ms(lane), now_ms):
        records.append(ModeChanged("paused", lane.head.reason, lane.head.by, now_ms))
    if is_due(make_ms(lane), now_ms):
        records.append(MakingResumed())
        effects += [make(lane, lane.slots[one]) for one in lane.delayed]
    nodes: dict[str, Node] = {}
    for node in lane.live():
        if is_due(node.look_ms, now_ms):
            effects.append(look(lane, node))
            node = looked_at(node)
        if is_due(node.retry_ms, now_ms):
            node = replace(node, retry_ms=None)
        nodes[node.name] = node
    sent = offers(lane, nodes)
    return said((*records, *sent.records), (*effects, *sent.effects))


def judge_failed(lane: SequenceLane, event: LookFailed) -> Decision:
    """Asked again soon, and nothing is known."""
    node = lane.nodes.get(event.node)
    if node is None or not node.looking:
        return NOTHING
    later = event.now_ms + lane.settings.poll_ms
    return said([NodeChanged(replace(node, looking=False, look_ms=later, blind=True))])
