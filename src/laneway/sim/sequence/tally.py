"""Counts the rare states of sequence lanes, from the records that they tell."""

from collections import Counter
from collections.abc import Sequence
from typing import assert_never

from laneway.core.ids import LaneId
from laneway.core.outcome import Status
from laneway.lanes.sequence.rows import Node, Purpose
from laneway.lanes.sequence.values import (
    AccountMissing,
    AttemptSigned,
    CommandRefused,
    LaneHalted,
    MakingDelayed,
    NodeChanged,
    Record,
    SequenceSet,
    SlotChanged,
    SlotCorrected,
    SlotFellOut,
    SlotSettled,
    SlotsRenumbered,
)

COUNTED = (
    AccountMissing,
    AttemptSigned,
    CommandRefused,
    LaneHalted,
    MakingDelayed,
    NodeChanged,
    SequenceSet,
    SlotChanged,
    SlotCorrected,
    SlotFellOut,
    SlotSettled,
    SlotsRenumbered,
)


class Tally:
    """It knows how each node stood before, and when the bytes of each slot were made."""

    def __init__(self, seen: Counter[str]) -> None:
        self._seen = seen
        self._nodes: dict[tuple[LaneId, str], Node] = {}
        self._made_ms: dict[tuple[LaneId, int], int] = {}
        self._fillers: dict[LaneId, tuple[int, int]] = {}
        """The last filler's sequence, and when it became one."""

    def count(self, lane: LaneId, records: Sequence[Record]) -> None:
        for record in records:
            for word in self._words(lane, record):
                self._seen[word] += 1

    def _words(self, lane: LaneId, record: Record) -> list[str]:
        if not isinstance(record, COUNTED):
            return []
        match record:
            case NodeChanged(node=node):
                return self._moved(lane, node)
            case AttemptSigned(slot=slot):
                assert slot.attempt is not None
                self._made_ms[lane, slot.id] = slot.attempt.made_ms
                return []
            case SlotChanged(slot=slot, what=what):
                if what != "dead":
                    return [what]
                timed_out = slot.past[-1].reason.startswith("not in a block")
                return ["signed again after its timeout" if timed_out else "signed again, refused"]
            case SlotSettled():
                return self._settled(lane, record)
            case SlotFellOut():
                return ["fell out"]
            case SlotsRenumbered():
                return ["renumbered"]
            case SlotCorrected(seen=seen):
                return ["forgotten" if seen is None else "corrected"]
            case AccountMissing():
                return ["account missing"]
            case LaneHalted():
                return ["halted"]
            case MakingDelayed():
                return ["making delayed"]
            case SequenceSet():
                return ["sequence set"]
            case CommandRefused(verb=verb):
                return [f"refused:{verb}"]
            case _:
                assert_never(record)

    def _moved(self, lane: LaneId, node: Node) -> list[str]:
        before = self._nodes.get((lane, node.name), Node(node.name))
        self._nodes[lane, node.name] = node
        words = []
        kind = node.reason.partition(":")[0]
        if node.reason and not before.reason:
            words.append("recovery entered")
        if before.reason and not node.reason:
            words.append("recovery left")
        if node.gate is not None and before.gate is None:
            words.append(f"gate:{kind}")
        if node.gate is None and before.gate is not None:
            words.append("gate opened")
        if node.retry_ms is not None and before.retry_ms is None:
            words.append(f"retry:{kind}")
        if node.epoch > before.epoch and node.reason:
            words.append(f"set back:{kind}" if ":" in node.reason else "set back")
        return words

    def _settled(self, lane: LaneId, record: SlotSettled) -> list[str]:
        stays = record.stays
        if stays is not None and stays.purpose == Purpose.FILLER:
            self._fillers[lane] = (record.sequence, record.at_ms)
            return ["filler made"]
        if record.intent is None:
            return ["filler landed" if record.seen else "number filled by others"]
        if record.status == Status.INDETERMINATE.value:
            return ["indeterminate"]
        if record.status == Status.REFUSED.value:
            return ["conflict refused"]
        place, since_ms = self._fillers.get(lane, (0, 0))
        made_ms = self._made_ms.get((lane, record.slot), 0)
        if since_ms and record.sequence > place and made_ms < since_ms:
            return ["casualty landed behind a filler"]
        return []
