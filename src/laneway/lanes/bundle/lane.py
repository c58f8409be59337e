"""A bundle lane in memory, and its rows."""

from collections.abc import Iterator
from copy import copy

import msgspec

from laneway.core.ids import IntentId, LaneId
from laneway.core.intent import IntentRow
from laneway.core.jam import BlockRef, Package
from laneway.core.reason import clip
from laneway.core.rows import (
    START,
    Cursors,
    HeadWrite,
    Returned,
    RowKey,
    RowPut,
    Rows,
    Table,
    Touch,
    taken,
)
from laneway.lanes.bundle.limits import WAITS_BYTES_MAX
from laneway.lanes.bundle.rows import (
    BundleHead,
    Finished,
    History,
    Member,
    Slot,
    Tell,
    Tip,
    Version,
    Word,
)
from laneway.lanes.bundle.settings import BundleSettings

replace = msgspec.structs.replace
encode = msgspec.msgpack.Encoder().encode
decode_head = msgspec.msgpack.Decoder(BundleHead).decode
decode_slot = msgspec.msgpack.Decoder(Slot).decode
decode_version = msgspec.msgpack.Decoder(Version).decode
decode_members = msgspec.msgpack.Decoder(tuple[Member, ...]).decode
decode_tell = msgspec.msgpack.Decoder(Tell).decode
decode_returned = msgspec.msgpack.Decoder(Returned).decode
decode_finished = msgspec.msgpack.Decoder(Finished).decode
decode_block = msgspec.msgpack.Decoder(BlockRef).decode
decode_package = msgspec.msgpack.Decoder(Package).decode
decode_history = msgspec.msgpack.Decoder(History).decode

MEMBERS, MEMBER, PAYLOAD, PACKAGE = "members/", "member/", "payload/", "package/"
CHAIN, TELL, FINISHED = "chain/", "tell/", "finished/"
"""Rows beside slots and versions: what a block holds, which block a transaction is in, bytes that
are written once, the best chain, callbacks that are owed, and blocks that are final."""

NO_VERSIONS: tuple[Version, ...] = ()


class BundleLane:
    """An owned index over frozen rows."""

    def __init__(self, lane: LaneId, settings: BundleSettings) -> None:
        self.id = lane
        self.settings = settings
        self.head = BundleHead(
            number_next=settings.first_number, tip=Tip(settings.first_number - 1)
        )
        self.slots: dict[int, Slot] = {}
        self.numbers: dict[int, int] = {}
        """The slot of each number."""
        self.versions: dict[int, tuple[Version, ...]] = {}
        """By slot, the oldest first."""
        self.hashes: dict[bytes, tuple[int, int]] = {}
        """Whose package a hash is: slot and version."""
        self.members: dict[int, tuple[Member, ...]] = {}
        self.payloads: dict[int, bytes] = {}
        self.packages: dict[tuple[int, int], bytes] = {}
        self.returned: dict[IntentId, Returned] = {}
        self.tells: dict[int, Tell] = {}
        self.chain: dict[int, BlockRef] = {}
        """By height, the lowest first."""
        self.inherited: dict[tuple[int, int], None] = {}
        """Versions that were being submitted when the lane was stood up: some node may have taken
        them then, whatever it says now. Not a row: it is true of this life alone."""
        # What a decision only reads: these may be large, and a fork shares them.
        self.bound: dict[IntentId, int] = {}
        """The slot of each transaction that is in a block."""
        self.finished: dict[int, Finished] = {}
        """By number, in the order in which they became final."""
        self.intents: dict[str, IntentRow] = {}

    def fork(self) -> "BundleLane":
        """A lane to fold records into while a decision is made, of which this one knows nothing.

        It costs as much as blocks are open, and nothing for those that are final."""
        twin = copy(self)
        twin.head = replace(self.head)
        twin.slots, twin.numbers = dict(self.slots), dict(self.numbers)
        twin.versions, twin.hashes = dict(self.versions), dict(self.hashes)
        twin.members, twin.payloads = dict(self.members), dict(self.payloads)
        twin.packages, twin.returned = dict(self.packages), dict(self.returned)
        twin.tells, twin.chain = dict(self.tells), dict(self.chain)
        return twin

    def in_order(self) -> Iterator[Slot]:
        """Open blocks, the lowest number first."""
        for number in sorted(self.numbers):
            yield self.slots[self.numbers[number]]

    def of(self, slot: int) -> tuple[Version, ...]:
        return self.versions.get(slot, NO_VERSIONS)

    def version(self, slot: int, number: int) -> Version | None:
        for version in self.of(slot):
            if version.version == number:
                return version
        return None

    def named(self, package_hash: bytes) -> Version | None:
        found = self.hashes.get(package_hash)
        return None if found is None else self.version(*found)

    def height_of(self, block: BlockRef) -> int | None:
        """Of a block that is on the best chain, as far as that is remembered."""
        for height, known in self.chain.items():
            if known.header_hash == block.header_hash:
                return height
        return None

    def is_final(self, block: BlockRef) -> bool:
        """Of a block of the best chain: the final one is on the same fork, where slots order."""
        finalised = self.head.finalised
        return finalised is not None and block.slot <= finalised.slot

    def package(self, version: Version) -> Package:
        return decode_package(self.packages[version.slot, version.version])


def restore(rows: Rows, settings: BundleSettings) -> BundleLane:
    """Stand a lane up from its rows, as they were committed."""
    lane = BundleLane(rows.head.lane, settings)
    if rows.head.state:
        lane.head = decode_head(rows.head.state)
        lane.head.cursors += START[len(lane.head.cursors) :]
    finished: list[Finished] = []
    for row in rows.open:
        match row.table:
            case Table.SLOT:
                index_slot(lane, decode_slot(row.body))
            case Table.ATTEMPT:
                index_version(lane, decode_version(row.body))
            case Table.RETURNED:
                back = decode_returned(row.body)
                lane.returned[back.intent] = back
            case _:
                assert row.table == Table.AUX
                if row.key.startswith(FINISHED):
                    finished.append(decode_finished(row.body))
                else:
                    restore_aux(lane, row)
    lane.chain = dict(sorted(lane.chain.items()))
    lane.tells = dict(sorted(lane.tells.items()))
    finished.sort(key=lambda one: (one.finished_ms, one.number))
    lane.finished = {one.number: one for one in finished}
    lane.intents = {intent.id: intent for intent in rows.intents}
    lane.inherited = {
        (one.slot, one.version): None
        for versions in lane.versions.values()
        for one in versions
        if one.offering
    }
    return lane


def restore_aux(lane: BundleLane, row: RowPut) -> None:
    kind, _, key = row.key.partition("/")
    match kind + "/":
        case "members/":
            lane.members[int(key)] = decode_members(row.body)
        case "payload/":
            lane.payloads[int(key)] = row.body
        case "package/":
            slot, _, version = key.partition("/")
            lane.packages[int(slot), int(version)] = row.body
        case "chain/":
            lane.chain[int(key)] = decode_block(row.body)
        case "tell/":
            tell = decode_tell(row.body)
            lane.tells[tell.id] = tell
        case _:
            assert kind + "/" == MEMBER
            assert row.intent is not None
            lane.bound[row.intent] = int(row.body)


def head_write(lane: BundleLane, wake_ms: int | None) -> HeadWrite:
    """The head as it is kept; what it says for people is counted here, once a turn."""
    head = lane.head
    head.open_count, head.returned_count = len(lane.slots), len(lane.returned)
    waiting = [slot for slot in lane.in_order() if slot.word in (Word.BUILDING, Word.QUEUED)]
    head.queued_count = len(waiting)
    waits = next((slot.wait_reason for slot in waiting if slot.wait_reason), "")
    head.waits = clip(waits, WAITS_BYTES_MAX)
    if wake_ms is None and (lane.slots or lane.returned or lane.tells):
        # What is being built, looked at or told is work, though no intent may wait for it: should
        # this process die, another has to end it.
        wake_ms = 0
    return HeadWrite(head.cursors, head.settled_count, head.settled_bytes, wake_ms, encode(head))


def passed(cursors: Cursors, priority: int, seq: int) -> Cursors:
    assert seq > taken(cursors, priority)
    return (*cursors[:priority], seq, *cursors[priority + 1 :])


# Rows, each put in one place alone.


def index_slot(lane: BundleLane, slot: Slot) -> None:
    before = lane.slots.get(slot.id)
    if before is not None and lane.numbers.get(before.number) == slot.id:
        del lane.numbers[before.number]
    lane.slots[slot.id] = slot
    lane.numbers[slot.number] = slot.id


def put_slot(lane: BundleLane, slot: Slot) -> Touch:
    index_slot(lane, slot)
    return RowPut(Table.SLOT, str(slot.id), None, encode(slot))


def index_version(lane: BundleLane, version: Version) -> None:
    others = [one for one in lane.of(version.slot) if one.version != version.version]
    lane.versions[version.slot] = tuple(sorted([*others, version], key=lambda one: one.version))
    lane.hashes[version.package_hash] = version.slot, version.version


def version_key(version: Version) -> str:
    return f"{version.slot}/{version.version}"


def put_version(lane: BundleLane, version: Version) -> Touch:
    index_version(lane, version)
    return RowPut(Table.ATTEMPT, version_key(version), None, encode(version))


def drop_version(lane: BundleLane, version: Version) -> list[Touch]:
    left = tuple([one for one in lane.of(version.slot) if one.version != version.version])
    if left:
        lane.versions[version.slot] = left
    else:
        del lane.versions[version.slot]
    if lane.hashes.get(version.package_hash) == (version.slot, version.version):
        del lane.hashes[version.package_hash]
    del lane.packages[version.slot, version.version]
    key = version_key(version)
    return [RowKey(Table.ATTEMPT, key), RowKey(Table.AUX, PACKAGE + key)]


def drop_slot(lane: BundleLane, slot: Slot) -> list[Touch]:
    """The block with its versions and bytes; what becomes of its transactions is another matter."""
    gone: list[Touch] = [RowKey(Table.SLOT, str(slot.id)), RowKey(Table.AUX, f"{MEMBERS}{slot.id}")]
    for version in lane.of(slot.id):
        gone += drop_version(lane, version)
    if lane.payloads.pop(slot.id, None) is not None:
        gone.append(RowKey(Table.AUX, f"{PAYLOAD}{slot.id}"))
    del lane.members[slot.id]
    del lane.slots[slot.id]
    del lane.numbers[slot.number]
    return gone


def put_returned(lane: BundleLane, member: Member) -> list[Touch]:
    back = Returned(member.intent, member.seq, member.priority)
    lane.returned[member.intent] = back
    return [
        RowKey(Table.AUX, MEMBER + member.intent),
        RowPut(Table.RETURNED, member.intent, member.intent, encode(back)),
    ]
