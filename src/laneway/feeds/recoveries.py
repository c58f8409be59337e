"""When nodes of sequence lanes begin and end to be given something again before anything new."""

from collections.abc import Iterator, Sequence
from typing import Any

from msgspec.structs import replace

from laneway.core.ids import LaneId
from laneway.lanes.sequence.rows import Node
from laneway.lanes.sequence.show import recovery
from laneway.lanes.sequence.values import NodeChanged, SlotFellOut, SlotsRenumbered

CLEARS = (SlotFellOut, SlotsRenumbered)
"""Records behind which nothing is left that could be given again."""


class Recoveries:
    """Remembers which nodes are recovered, of the lanes that are held here."""

    def __init__(self) -> None:
        self._lanes: dict[LaneId, dict[str, Node]] = {}

    def heard(self, lane: LaneId, records: Sequence[Any]) -> Iterator[tuple[Node, bool]]:
        """Each node that one commit put into recovery (True) or took out of it."""
        before = self._lanes.get(lane, {})
        after = dict(before)
        for record in records:
            if isinstance(record, NodeChanged) and record.node.reason:
                after[record.node.name] = record.node
            elif isinstance(record, NodeChanged):
                after.pop(record.node.name, None)
            elif isinstance(record, CLEARS):
                after.clear()
        self._lanes[lane] = after
        for name, node in after.items():
            if name not in before:
                yield node, True
        for name, node in before.items():
            if name not in after:
                yield node, False

    def forget(self, lane: LaneId) -> None:
        self._lanes.pop(lane, None)


def what_next(node: Node) -> str:
    """The last words of its recovery."""
    return recovery(replace(node, reason="", ours=None)).removeprefix(f"{node.name}: , ")
