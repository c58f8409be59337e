"""Counts the rare states of sequence lanes, from their records."""

from collections import Counter

from laneway.core.ids import LaneId
from laneway.core.outcome import Status
from laneway.lanes.common.values import CommandRefused
from laneway.lanes.sequence.rows import Node, Purpose
from laneway.lanes.sequence.values import (
    AccountMissing,
    AttemptDelayed,
    AttemptEnded,
    AttemptRefused,
    AttemptSigned,
    AttemptTaken,
    InclusionShown,
    LaneHalted,
    MakingDelayed,
    NodeChanged,
    PastProven,
    ProofFailed,
    ProofOrdered,
    Record,
    RecoveryBegan,
    RecoveryEnded,
    RefusalDoubted,
    SequenceSet,
    SlotCorrected,
    SlotFellOut,
    SlotSettled,
    SlotsRenumbered,
)
from laneway.sim.tally import Tally


class SequenceTally(Tally):
    """It knows how each node stood before, and when the bytes of each slot were made."""

    named = {  # noqa: RUF012
        AccountMissing: "account missing",
        AttemptDelayed: "delayed",
        AttemptEnded: lambda one: (
            "signed again after its timeout"
            if one.reason.startswith("not in a block")
            else "signed again, refused"
        ),
        AttemptRefused: "refused",
        AttemptTaken: "taken",
        CommandRefused: lambda one: f"refused:{one.verb}",
        InclusionShown: "shown",
        LaneHalted: "halted",
        MakingDelayed: "making delayed",
        PastProven: "over",
        ProofFailed: "doubted",
        ProofOrdered: "proving",
        RecoveryBegan: "recovery entered",
        RecoveryEnded: "recovery left",
        RefusalDoubted: "unsure",
        SequenceSet: "sequence set",
        SlotCorrected: lambda one: "forgotten" if one.seen is None else "corrected",
        SlotFellOut: "fell out",
        SlotsRenumbered: "renumbered",
    }

    def __init__(self, seen: Counter[str]) -> None:
        super().__init__(seen)
        self._nodes: dict[tuple[LaneId, str], Node] = {}
        self._made_ms: dict[tuple[LaneId, int], int] = {}
        self._fillers: dict[LaneId, tuple[int, int]] = {}
        """The last filler's sequence, and when it became one."""

    def _states(self, lane: LaneId, record: Record) -> list[str]:
        if isinstance(record, NodeChanged):
            return self._moved(lane, record.node)
        if isinstance(record, SlotSettled):
            return self._settled(lane, record)
        if isinstance(record, AttemptSigned):
            assert record.slot.attempt is not None
            self._made_ms[lane, record.slot.id] = record.slot.attempt.made_ms
        return self._by_class(record)

    def _moved(self, lane: LaneId, node: Node) -> list[str]:
        before = self._nodes.get((lane, node.name), Node(node.name))
        self._nodes[lane, node.name] = node
        states = []
        kind = node.reason.partition(":")[0]
        if node.gate is not None and before.gate is None:
            states.append(f"gate:{kind}")
        if node.gate is None and before.gate is not None:
            states.append("gate opened")
        if node.retry_ms is not None and before.retry_ms is None:
            states.append(f"retry:{kind}")
        if node.epoch > before.epoch and node.reason:
            states.append(f"set back:{kind}" if ":" in node.reason else "set back")
        return states

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
