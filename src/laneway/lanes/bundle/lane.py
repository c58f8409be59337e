"""A bundle lane in memory, and its rows."""

from collections import OrderedDict
from collections.abc import Iterator
from copy import copy

import msgspec

from laneway.core.ids import IntentId, LaneId
from laneway.core.intent import IntentRow
from laneway.core.jam import JamBlockRef, Package
from laneway.core.reason import clip
from laneway.core.rows import HeadWrite, RowKey, RowPut, Rows, Table, Touch, all_classes
from laneway.lanes.bundle.limits import (
    HEAD_REASONS_BYTES_MAX,
    OPEN_BYTES_MAX,
    TROUBLE_BYTES_MAX,
    WAITS_BYTES_MAX,
)
from laneway.lanes.bundle.rows import (
    Back,
    BlockState,
    BundleHead,
    Finished,
    History,
    Member,
    Slot,
    Tell,
    Tip,
    Version,
)
from laneway.lanes.bundle.settings import BundleSettings
from laneway.lanes.common.heads import encode, head_row

replace = msgspec.structs.replace
decode_head = msgspec.msgpack.Decoder(BundleHead).decode
decode_slot = msgspec.msgpack.Decoder(Slot).decode
decode_version = msgspec.msgpack.Decoder(Version).decode
decode_members = msgspec.msgpack.Decoder(tuple[Member, ...]).decode
decode_tell = msgspec.msgpack.Decoder(Tell).decode
decode_back = msgspec.msgpack.Decoder(Back).decode
decode_finished = msgspec.msgpack.Decoder(Finished).decode
decode_block = msgspec.msgpack.Decoder(JamBlockRef).decode
decode_package = msgspec.msgpack.Decoder(Package).decode
decode_history = msgspec.msgpack.Decoder(History).decode

MEMBERS, MEMBER, PAYLOAD, PACKAGE = "members/", "member/", "payload/", "package/"
CHAIN, TELL, FINISHED = "chain/", "tell/", "finished/"
"""Rows beside slots and versions: what a block holds, which block a transaction is in, bytes that
are written once, the best chain, callbacks that are owed, and blocks that are final."""

NO_VERSIONS: tuple[Version, ...] = ()

OPEN_STATES = (
    BlockState.BUILDING,
    BlockState.QUEUED,
    BlockState.SUBMITTED,
    BlockState.GUARANTEED,
    BlockState.ACCUMULATED,
)
"""Where an open block may be."""
WAITING = (BlockState.BUILDING, BlockState.QUEUED)

RUNNING = ("running", "draining")
"""Modes in which a lane begins blocks, has versions built and submits them."""

OPEN_BYTES_FULL = "its blocks that are not final are too large together to begin another"


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
        self.returned: dict[IntentId, Back] = {}
        self.tells: dict[int, Tell] = {}
        self.chain: dict[int, JamBlockRef] = {}
        """By height, the lowest first."""
        # What follows from the rows, kept so that nobody has to go through all of them.
        self.open_bytes = 0
        """Of all payloads and packages."""
        self.heights: dict[bytes, int] = {}
        """Of the blocks of `chain`, by their hashes."""
        self.words: dict[int, str] = {}
        """Where each block is, finality aside."""
        self.places: dict[str, dict[int, None]] = {word: {} for word in OPEN_STATES}
        """The blocks that are in one place."""
        self.overdue: dict[int, int] = {}
        """When blocks are overdue for accumulation."""
        self.over: dict[int, None] = {}
        """Blocks that were submitted, and no version of them can land."""
        self.line: list[bytes] = []
        """Payloads of the newest sealed block and of those below it, each on the one before; the
        lowest first. Their numbers have no gap."""
        self.line_top = 0
        """The number of the last of them."""
        self.inherited: dict[tuple[int, int], None] = {}
        """Versions that were being submitted when the lane was stood up: some node may have taken
        them then, whatever it says now. Not a row: it is true of this life alone."""
        self.cut_off: dict[tuple[int, int], int] = {}
        """Of these, the serials of submissions that were not repeated because the lane is stopped:
        nobody answers them. Not a row either."""
        # What a decision only reads: these may be large, and a fork shares them.
        self.bound: dict[IntentId, int] = {}
        """The slot of each transaction that is in a block."""
        self.finished: OrderedDict[int, Finished] = OrderedDict()
        """By number, in the order in which they became final; the oldest is found at once."""
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
        twin.heights, twin.words = dict(self.heights), dict(self.words)
        twin.places = {word: dict(slots) for word, slots in self.places.items()}
        twin.overdue, twin.over, twin.line = dict(self.overdue), dict(self.over), list(self.line)
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

    def height_of(self, block: JamBlockRef) -> int | None:
        """Of a block that is on the best chain, as far as that is remembered."""
        return self.heights.get(block.header_hash)

    def is_final(self, block: JamBlockRef) -> bool:
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
        lane.head.cursors = all_classes(lane.head.cursors)
    finished: list[Finished] = []
    for row in rows.open:
        match row.table:
            case Table.SLOT:
                index_slot(lane, decode_slot(row.body))
            case Table.ATTEMPT:
                index_version(lane, decode_version(row.body))
            case Table.RETURNED:
                back = decode_back(row.body)
                lane.returned[back.intent] = back
            case _:
                assert row.table == Table.AUX
                if row.key.startswith(FINISHED):
                    finished.append(decode_finished(row.body))
                else:
                    restore_aux(lane, row)
    lane.chain = dict(sorted(lane.chain.items()))
    lane.heights = {block.header_hash: height for height, block in lane.chain.items()}
    lane.open_bytes = sum(map(len, (*lane.payloads.values(), *lane.packages.values())))
    redraw(lane)
    lane.tells = dict(sorted(lane.tells.items()))
    # By their serials and not by the clock, which may be set back.
    finished.sort(key=lambda one: (one.serial, one.finished_ms, one.number))
    lane.finished = OrderedDict([(one.number, one) for one in finished])
    lane.intents = {intent.id: intent for intent in rows.intents}
    lane.inherited = {
        (one.slot, one.version): None
        for versions in lane.versions.values()
        for one in versions
        if one.offering
    }
    if lane.head.mode not in RUNNING:
        found = [(one, lane.version(*one)) for one in lane.inherited]
        lane.cut_off = {one: version.serial for one, version in found if version is not None}
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
    head.owed_count = len(lane.tells)
    waiting = [lane.slots[one] for word in WAITING for one in lane.places[word]]
    head.queued_count = len(waiting)
    head.build_tries = max([slot.tries for slot in waiting if slot.wait_reason], default=0)
    reasons = [(slot.number, slot.wait_reason) for slot in waiting if slot.wait_reason]
    full = OPEN_BYTES_FULL if is_large(lane) else ""
    others = head.reason + head.look_reason + head.tell_reason
    left = HEAD_REASONS_BYTES_MAX - len(others.encode())
    head.waits = shortened(min(reasons, default=(0, full))[1], min(WAITS_BYTES_MAX, left))
    if wake_ms is None and (lane.slots or lane.returned or lane.tells):
        # A build, a look or a callback under way is work, though no intent may wait for it: should
        # this process die, another has to end it.
        wake_ms = 0
    return head_row(head, wake_ms)


def shortened(reason: str, bytes_max: int) -> str:
    """A reason cut to what is left for it; empty where its remedy would be cut too."""
    kept = clip(reason, max(0, bytes_max))
    return kept if kept == reason or bytes_max >= TROUBLE_BYTES_MAX else ""


def is_large(lane: BundleLane) -> bool:
    """Whether the blocks that are not final hold so much that none may be begun."""
    return lane.open_bytes >= OPEN_BYTES_MAX


# Rows, each put in one place alone.


def index_slot(lane: BundleLane, slot: Slot) -> None:
    before = lane.slots.get(slot.id)
    if before is not None and lane.numbers.get(before.number) == slot.id:
        del lane.numbers[before.number]
    lane.slots[slot.id] = slot
    lane.numbers[slot.number] = slot.id
    reckon(lane, slot)


def reckon(lane: BundleLane, slot: Slot) -> None:
    """What follows from a block's rows, when one of them has changed."""
    versions = lane.of(slot.id)
    word = status_by_rows(slot, versions, lane.settings.keeps_records)
    known = lane.words.get(slot.id)
    if word != known:
        if known is not None:
            del lane.places[known][slot.id]
        lane.words[slot.id] = word
        lane.places[word][slot.id] = None
    if slot.overdue_ms is None:
        lane.overdue.pop(slot.id, None)
    else:
        lane.overdue[slot.id] = slot.overdue_ms
    if word == BlockState.SUBMITTED and all(one.is_dead() for one in versions):
        lane.over[slot.id] = None
    else:
        lane.over.pop(slot.id, None)


def status_by_rows(slot: Slot, versions: tuple[Version, ...], keeps_records: bool) -> str:
    """The status of a block, were nothing final."""
    if slot.building:
        return BlockState.BUILDING
    if slot.line is not None:
        return BlockState.ACCUMULATED
    for version in versions:
        if version.version == slot.winner:
            done = version.is_accumulated(keeps_records)
            return BlockState.ACCUMULATED if done else BlockState.GUARANTEED
    if slot.queued or not any(version.is_sent() for version in versions):
        return BlockState.QUEUED
    return BlockState.SUBMITTED


def extend(lane: BundleLane, slot: Slot) -> None:
    """A block was sealed."""
    below = lane.slots.get(lane.numbers.get(lane.line_top, 0)) if lane.line else None
    if below is not None and (slot.number, slot.parent) == (lane.line_top + 1, below.block):
        lane.line.append(lane.payloads[slot.id])
        lane.line_top = slot.number
    else:
        redraw(lane)


def shorten(lane: BundleLane, number: int) -> None:
    """The block of this number is final."""
    if number == lane.line_top - len(lane.line) + 1 and number < lane.line_top:
        del lane.line[0]
    else:
        redraw(lane)


def redraw(lane: BundleLane) -> None:
    """The line anew, from the newest sealed block down."""
    sealed = [number for number, slot in lane.numbers.items() if slot in lane.payloads]
    lane.line_top = max(sealed, default=0)
    lane.line = []
    slot = lane.slots.get(lane.numbers.get(lane.line_top, 0))
    if slot is not None:
        below = walked(lane, slot.number, slot.parent)
        lane.line = [*below, lane.payloads[slot.id]]


def walked(lane: BundleLane, number: int, parent: bytes) -> list[bytes]:
    """Payloads of the open blocks that a block of this number and parent stands on, the lowest
    first."""
    found: list[bytes] = []
    while parent:
        number -= 1
        below = lane.slots.get(lane.numbers.get(number, 0))
        if below is None or below.block != parent:
            break
        found.append(lane.payloads[below.id])
        parent = below.parent
    found.reverse()
    return found


def put_slot(lane: BundleLane, slot: Slot) -> Touch:
    index_slot(lane, slot)
    return RowPut(Table.SLOT, str(slot.id), None, encode(slot))


def index_version(lane: BundleLane, version: Version) -> None:
    others = [one for one in lane.of(version.slot) if one.version != version.version]
    lane.versions[version.slot] = tuple(sorted([*others, version], key=lambda one: one.version))
    lane.hashes[version.package_hash] = version.slot, version.version
    slot = lane.slots.get(version.slot)
    if slot is not None:  # Rows are restored in any order.
        reckon(lane, slot)


def name_of(version: Version) -> tuple[int, int, bytes]:
    """What every record of a version begins with."""
    return version.slot, version.version, version.package_hash


def version_key(version: Version) -> str:
    return f"{version.slot}/{version.version}"


def put_version(lane: BundleLane, version: Version) -> Touch:
    index_version(lane, version)
    return RowPut(Table.ATTEMPT, version_key(version), None, encode(version))


def put_payload(lane: BundleLane, slot: int, payload: bytes) -> Touch:
    lane.payloads[slot] = payload
    lane.open_bytes += len(payload)
    return RowPut(Table.AUX, f"{PAYLOAD}{slot}", None, payload)


def put_package(lane: BundleLane, version: Version, package: bytes) -> Touch:
    lane.packages[version.slot, version.version] = package
    lane.open_bytes += len(package)
    return RowPut(Table.AUX, PACKAGE + version_key(version), None, package)


def drop_version(lane: BundleLane, version: Version) -> list[Touch]:
    left = tuple([one for one in lane.of(version.slot) if one.version != version.version])
    if left:
        lane.versions[version.slot] = left
    else:
        del lane.versions[version.slot]
    if lane.hashes.get(version.package_hash) == (version.slot, version.version):
        del lane.hashes[version.package_hash]
    lane.open_bytes -= len(lane.packages.pop((version.slot, version.version)))
    reckon(lane, lane.slots[version.slot])
    key = version_key(version)
    return [RowKey(Table.ATTEMPT, key), RowKey(Table.AUX, PACKAGE + key)]


def drop_slot(lane: BundleLane, slot: Slot) -> list[Touch]:
    """The block with its versions and bytes; what becomes of its transactions is another matter."""
    gone: list[Touch] = [RowKey(Table.SLOT, str(slot.id)), RowKey(Table.AUX, f"{MEMBERS}{slot.id}")]
    for version in lane.of(slot.id):
        gone += drop_version(lane, version)
    payload = lane.payloads.pop(slot.id, None)
    if payload is not None:
        lane.open_bytes -= len(payload)
        gone.append(RowKey(Table.AUX, f"{PAYLOAD}{slot.id}"))
    del lane.members[slot.id]
    del lane.slots[slot.id]
    del lane.numbers[slot.number]
    del lane.places[lane.words.pop(slot.id)][slot.id]
    lane.overdue.pop(slot.id, None)
    lane.over.pop(slot.id, None)
    return gone


def put_returned(lane: BundleLane, member: Member) -> list[Touch]:
    # What was in its block has only that to wait for.
    reason = "" if member.deferral is None else member.reason
    back = Back(member.intent, member.seq, member.priority, member.deferral, reason)
    return [RowKey(Table.AUX, MEMBER + member.intent), put_back(lane, back)]


def put_back(lane: BundleLane, back: Back) -> Touch:
    lane.returned[back.intent] = back
    return RowPut(Table.RETURNED, back.intent, back.intent, encode(back))
