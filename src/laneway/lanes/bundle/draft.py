"""A decision while it is made: records folded into a fork of the lane, so that what follows from
them is decided on how things stand then. The lane itself is only read."""

from typing import TypeAlias

from laneway.core import records
from laneway.lanes.bundle.fold import fold
from laneway.lanes.bundle.lane import BundleLane
from laneway.lanes.bundle.records import BlockSealed, OfSlot, OfVersion, Record, SlotClaimed
from laneway.lanes.bundle.rows import Slot, Version
from laneway.lanes.bundle.values import Effect

Decision: TypeAlias = records.Decision[Record, Effect]


class DecisionDraft:
    def __init__(self, lane: BundleLane, now_ms: int) -> None:
        self.lane = lane.fork()
        self.now_ms = now_ms
        self.is_wide = False
        """Whether it may concern blocks that it does not touch."""
        self.touched: dict[int, None] = {}
        """Blocks that it begins or changes."""
        self._records: list[Record] = []
        self._effects: list[Effect] = []

    def say(self, record: Record) -> None:
        fold(self.lane, record)
        self._records.append(record)
        if isinstance(record, SlotClaimed | BlockSealed):
            self.touched[record.slot.id] = None

    def order(self, effect: Effect) -> None:
        self._effects.append(effect)

    def change(self, record: OfSlot) -> Slot:
        """The block as it stands after this record."""
        self.say(record)
        self.touched[record.slot] = None
        return self.lane.slots[record.slot]

    def alter(self, record: OfVersion) -> Version:
        """The version as it stands after this record."""
        self.say(record)
        changed = self.lane.version(record.slot, record.version)
        assert changed is not None
        return changed

    def decision(self) -> Decision:
        return records.Decision(tuple(self._records), tuple(self._effects))
