"""What the records of one commit say of blocks beside what each of them is about.

A record names a block by its slot and a package by its version. What people know them by stands in
its neighbours: the block's number, the package's hash, how many transactions it holds.
"""

from collections.abc import Sequence
from typing import Any, get_args

from laneway.lanes.bundle import records as v
from laneway.lanes.bundle.lane import BundleLane
from laneway.lanes.bundle.rows import Slot, Version


class Marks:
    """Of one commit; with the lane in memory also of blocks that the commit does not describe."""

    def __init__(self, records: Sequence[Any], lane: BundleLane | None = None) -> None:
        self.lane = lane
        self._numbers: dict[int, int] = {}
        self._counts: dict[int, int] = {}
        self._hashes: dict[tuple[int, int], bytes] = {}
        for record in records:
            note = NOTES.get(type(record))
            if note is not None:
                note(self, record)

    def number(self, slot: int) -> int | None:
        found = self._numbers.get(slot)
        if found is None and self.lane is not None and slot in self.lane.slots:
            return self.lane.slots[slot].number
        return found

    def count(self, slot: int) -> int | None:
        found = self._counts.get(slot)
        if found is None and self.lane is not None and slot in self.lane.slots:
            return self.lane.slots[slot].count
        return found

    def slot(self, slot: int) -> Slot | None:
        """The block itself, as it stands after the commit."""
        return None if self.lane is None else self.lane.slots.get(slot)

    def package(self, slot: int, version: int) -> bytes | None:
        found = self._hashes.get((slot, version))
        if found is None and self.lane is not None:
            held = self.lane.version(slot, version)
            return None if held is None else held.package_hash
        return found

    def see_slot(self, slot: Slot) -> None:
        self._numbers[slot.id], self._counts[slot.id] = slot.number, slot.count

    def see_version(self, version: Version | v.OfVersion) -> None:
        self._hashes[version.slot, version.version] = version.package_hash

    def see_number(self, record: v.StatusChanged | v.SlotNumbered) -> None:
        self._numbers[record.slot] = record.number
        if record.count is not None:
            self._counts[record.slot] = record.count

    def see_sealed(self, record: v.VersionSealed) -> None:
        self.see_slot(record.slot)
        self.see_version(record.version)

    def see_tell(self, record: v.TellOwed) -> None:
        tell = record.tell
        self._numbers[tell.slot], self._counts[tell.slot] = tell.number, len(tell.hashes)
        if tell.package_hash:
            self._hashes[tell.slot, tell.version] = tell.package_hash


NOTES: dict[type, Any] = {
    v.SlotClaimed: lambda marks, record: marks.see_slot(record.slot),
    v.BlockSealed: lambda marks, record: marks.see_slot(record.slot),
    v.StatusChanged: Marks.see_number,
    v.SlotNumbered: Marks.see_number,
    v.VersionSealed: Marks.see_sealed,
    **dict.fromkeys(get_args(v.OfVersion), Marks.see_version),
    v.TellOwed: Marks.see_tell,
}


def bundle_id(slot: int) -> str:
    """The builder's own name for a block, which no chain ever sees."""
    return f"B-{slot}"
