"""When a node begins, and when it ends, to be given something again before anything new."""

from collections.abc import Mapping, Sequence
from copy import copy

from laneway.core.records import Decision as CoreDecision
from laneway.lanes.sequence import values as v
from laneway.lanes.sequence.fold import evolve
from laneway.lanes.sequence.lane import SequenceLane, replace
from laneway.lanes.sequence.rows import Node
from laneway.lanes.sequence.tries import Decision

CLEARING = (v.AccountSeen, v.SequenceSet, v.SlotFellOut, v.SlotsRenumbered)
"""Records after which there may be nothing left that a node could be given again."""


def with_recoveries(lane: SequenceLane, decision: Decision) -> Decision:
    """A decision that also says which recoveries begin and end with it."""
    found = recoveries(lane.nodes, nodes_after(lane, decision.records))
    if not found:
        return decision
    return CoreDecision((*decision.records, *found), decision.effects)


def recoveries(before: Mapping[str, Node], after: Mapping[str, Node]) -> list[v.Record]:
    found: list[v.Record] = []
    for name, node in after.items():
        known = before.get(name)
        was = "" if known is None else known.reason
        if node.reason and not was:
            found.append(began(node))
        elif was and not node.reason:
            found.append(v.RecoveryEnded(name, was))
    return found


def began(node: Node) -> v.RecoveryBegan:
    return v.RecoveryBegan(
        node.name, node.reason, node.next, node.height, node.expected, node.ours, what_next(node)
    )


def what_next(node: Node) -> str:
    """What happens next to a node in recovery."""
    if node.gate is not None:
        return f"asked again after block {node.gate}"
    if node.retry_ms is not None:
        return f"asked again soon, {node.failures} times without an answer"
    return f"offered again from sequence {node.next} on"


def nodes_after(lane: SequenceLane, records: Sequence[v.Record]) -> Mapping[str, Node]:
    """How the nodes stand once these records are folded."""
    changed = {one.node.name: one.node for one in records if isinstance(one, v.NodeChanged)}
    after = {**lane.nodes, **changed}
    has_reason = any(node.reason for node in (*lane.nodes.values(), *changed.values()))
    if not has_reason or not any(isinstance(one, CLEARING) for one in records):
        return after
    twin = fork(lane)
    for record in records:
        evolve(twin, record)
    return twin.nodes


def fork(lane: SequenceLane) -> SequenceLane:
    """A lane to fold records into, of which this one knows nothing."""
    twin = copy(lane)
    twin.head = replace(lane.head)
    for name, index in vars(lane).items():
        if isinstance(index, dict):
            setattr(twin, name, dict(index))
    return twin
