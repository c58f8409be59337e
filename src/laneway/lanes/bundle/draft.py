"""A decision while it is made: records folded into a fork of the lane, so that what follows from
them is decided on how things stand then. The lane itself is only read."""

from typing import TypeAlias

from laneway.core import records
from laneway.core.reason import clip
from laneway.lanes.bundle.fold import fold
from laneway.lanes.bundle.lane import BundleLane, replace
from laneway.lanes.bundle.limits import REASON_KEPT_BYTES_MAX
from laneway.lanes.bundle.rows import Slot, Version
from laneway.lanes.bundle.values import (
    BlockSealed,
    Effect,
    Record,
    SlotChanged,
    SlotClaimed,
    VersionChanged,
)

Decision: TypeAlias = records.Decision[Record, Effect]


class Draft:
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
        if isinstance(record, SlotClaimed | BlockSealed | SlotChanged):
            self.touched[record.slot.id] = None

    def order(self, effect: Effect) -> None:
        self._effects.append(effect)

    def change(self, slot: Slot, what: str, /, **fields: object) -> Slot:
        """The slot with these fields set otherwise."""
        if "wait_reason" in fields:
            fields["wait_reason"] = clip(str(fields["wait_reason"]), REASON_KEPT_BYTES_MAX)
        changed = replace(self.lane.slots[slot.id], **fields)
        self.say(SlotChanged(changed, what))
        return changed

    def alter(self, version: Version, what: str, /, **fields: object) -> Version:
        changed = replace(version, **fields)
        self.say(VersionChanged(changed, what))
        return changed

    def decision(self) -> Decision:
        return records.Decision(tuple(self._records), tuple(self._effects))
