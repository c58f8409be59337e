"""A sequence lane in memory, and its rows."""

from collections.abc import Collection, Iterable, Iterator

import msgspec

from laneway.core.ids import IntentId, LaneId
from laneway.core.intent import IntentRow
from laneway.core.majority import final_quorum
from laneway.core.rows import HeadWrite, RowKey, RowPut, Rows, Table, Touch, all_classes
from laneway.lanes.common.heads import encode, head_row
from laneway.lanes.sequence.rows import Attempt, History, Node, SequenceHead, Slot
from laneway.lanes.sequence.settings import SequenceSettings

replace = msgspec.structs.replace
decode_head = msgspec.msgpack.Decoder(SequenceHead).decode
decode_slot = msgspec.msgpack.Decoder(Slot).decode
decode_history = msgspec.msgpack.Decoder(History).decode

RAW = "raw/"
"""Rows of bytes that were signed."""


class SequenceLane:
    """An owned index over frozen rows."""

    def __init__(self, lane: LaneId, settings: SequenceSettings) -> None:
        self.id = lane
        self.settings = settings
        self.head = SequenceHead()
        self.slots: dict[int, Slot] = {}
        self.numbers: dict[int, int] = {}
        """The slot of each bound sequence."""
        self.hashes: dict[bytes, int] = {}
        """Whose bytes a hash is, also of bytes that can land no more."""
        self.raws: dict[int, bytes] = {}
        """Signed bytes that are too many for the slot's own row."""
        self.delayed: dict[int, None] = {}
        """Slots whose bytes are to be made again."""
        self.bound: dict[IntentId, int] = {}
        """The slot of each intent that has a number."""
        self.watched: dict[int, None] = {}
        """Slots of which nobody knows what became of them."""
        self.nodes: dict[str, Node] = {}
        self.inherited: dict[str, int] = {}
        """Nodes that were being offered something when the lane was stood up, and are offered it
        again by `resume`, with that offer's serial: they may have taken it then. Not a row: it is
        true of this life alone."""
        self.life = 1
        """Another number each time that the lane is stood up."""
        self.has_gone = False
        """Whether some node may be one that left."""
        self.is_rewired = False
        """Whether its nodes are others than its rows say: a record is due."""
        self.intents: dict[str, IntentRow] = {}
        stand_nodes(self)

    def slot_at(self, sequence: int) -> Slot | None:
        found = self.numbers.get(sequence)
        return None if found is None else self.slots[found]

    def slot_of(self, intent: IntentId | None) -> Slot | None:
        found = None if intent is None else self.bound.get(intent)
        return None if found is None else self.slots[found]

    def raw(self, slot: Slot) -> bytes:
        assert slot.attempt is not None
        return slot.attempt.raw or self.raws[slot.id]

    def in_order(self) -> Iterator[Slot]:
        """Slots that are in flight or on their way there, the lowest sequence first."""
        for sequence in sorted(self.numbers):
            yield self.slots[self.numbers[sequence]]

    def live(self) -> Iterator[Node]:
        return (node for node in self.nodes.values() if not node.gone)


def stand_nodes(lane: SequenceLane) -> None:
    """The nodes as the settings name them. One that is new begins with what is out; one that was
    named before is remembered for as long as it may hold something."""
    known = {node.name: node for node in lane.head.nodes}
    lowest = min(lane.numbers, default=lane.head.sequence_next or 0)
    nodes = {
        name: replace(known[name], gone=False) if name in known else Node(name, lowest, lowest)
        for name in lane.settings.nodes
    }
    for node in lane.head.nodes:
        if node.name not in nodes:
            nodes[node.name] = replace(node, gone=True, looking=False, look_ms=None)
    lane.nodes = {name: looked_after(lane, node) for name, node in nodes.items()}
    lane.has_gone = any(node.gone for node in nodes.values())
    forget_gone(lane)


def looked_after(lane: SequenceLane, node: Node) -> Node:
    """While bytes may be out, every node is looked at; one that was not named till now too."""
    if node.is_unseen() and any(slot.attempt is not None for slot in lane.slots.values()):
        return replace(node, look_ms=0)
    return node


def forget_gone(lane: SequenceLane) -> None:
    """A node that left is remembered for as long as it may hold something."""
    if not lane.has_gone:
        return
    lowest = min(lane.numbers, default=lane.head.sequence_next or 0)
    for node in list(lane.nodes.values()):
        if node.gone and node.offered_until() <= lowest:
            del lane.nodes[node.name]


def restore(rows: Rows, settings: SequenceSettings) -> SequenceLane:
    """Stand a lane up from its rows, as they were committed."""
    lane = SequenceLane(rows.head.lane, settings)
    lane.life = rows.head.fence + 1
    if rows.head.state:
        lane.head = decode_head(rows.head.state)
        lane.head.cursors = all_classes(lane.head.cursors)
    for row in rows.open:
        if row.table == Table.SLOT:
            index_slot(lane, decode_slot(row.body))
        else:
            assert row.table == Table.AUX
            lane.raws[int(row.key.removeprefix(RAW))] = row.body
    stand_nodes(lane)
    others = {node.name: node for node in lane.head.nodes} not in (lane.nodes, {})
    lane.is_rewired = others or lane.head.is_rewired
    lane.inherited = {node.name: node.serial for node in lane.nodes.values() if node.until}
    lane.intents = {intent.id: intent for intent in rows.intents}
    return lane


def head_write(lane: SequenceLane, wake_ms: int | None) -> HeadWrite:
    """The head as it is kept; what others hold in numbers is counted here, once a turn."""
    head = lane.head
    head.nodes, head.is_rewired = tuple(lane.nodes.values()), lane.is_rewired
    head.open_count, head.watched_count = len(lane.bound), len(lane.watched)
    head.filler_count = len(lane.slots) - len(lane.bound) - len(lane.watched)
    head.used_count = used_count(lane)
    if wake_ms is None and (lane.slots or any(node.looking for node in lane.nodes.values())):
        # What is being made or looked at is work, though no intent may wait for it: should this
        # process die, another has to end it.
        wake_ms = 0
    return head_row(head, wake_ms)


# What follows from the rows.


def need_of(lane: SequenceLane) -> int:
    """How many of the lane's nodes are a majority."""
    return final_quorum(len(lane.settings.nodes))


def is_out(lane: SequenceLane, slot: Slot, nodes: Iterable[Node]) -> bool:
    """Whether bytes of it may land: they are signed, and some node may have them."""
    attempt = slot.attempt
    if attempt is None or slot.is_unproven():
        return slot.is_unproven()
    offered = [node for node in nodes if node.offered_until() > slot.sequence]
    if any(may_have(node, slot.sequence, attempt.refused) for node in offered):
        return True
    return bool(offered) and not is_refused(lane, attempt)


def is_refused(lane: SequenceLane, attempt: Attempt) -> bool:
    """Of bytes that every node refused which was offered them: whether that is believed. One of
    several nodes may lie and keep them; a majority that calls the bytes themselves wrong does
    not."""
    need = need_of(lane)
    return need == 1 or sum([name in attempt.final for name in lane.settings.nodes]) >= need


def may_have(node: Node, sequence: int, refused: Collection[str]) -> bool:
    """Unless it was never offered this number, or refused it each time."""
    if node.until > sequence:
        return True
    return node.top > sequence and node.name not in refused


def is_clear_from(
    lane: SequenceLane,
    sequence: int,
    nodes: Collection[Node],
    dead: Collection[int] = (),
) -> bool:
    """Whether nothing at this number or above can land; `nodes` is how they stand, and `dead` are
    slots whose bytes have just ended."""
    return not any(
        above >= sequence and number not in dead and is_out(lane, lane.slots[number], nodes)
        for above, number in lane.numbers.items()
    )


def used_numbers(lane: SequenceLane, committed: int) -> list[int]:
    """Bound sequences below this one: someone else may have taken their place."""
    # In a full window `min` costs a third of a comprehension, and there is rarely one of them.
    if min(lane.numbers, default=committed) >= committed:
        return []
    return [sequence for sequence in lane.numbers if sequence < committed]


def used_count(lane: SequenceLane) -> int:
    """Slots that someone else may have taken the place of."""
    return len(used_numbers(lane, lane.head.committed))


def is_taken(lane: SequenceLane, slot: Slot) -> bool:
    """Whether some node took the bytes that it has now."""
    attempt = slot.attempt
    if attempt is None:
        return False
    return attempt.taken or (attempt.number == 1 and slot.sequence < lane.head.taken_next)


def shown_by(lane: SequenceLane, slot: Slot) -> str:
    """Which nodes show bytes of it in a block while they are too few; empty where none does."""
    names = lane.settings.nodes
    shown = [one for one in slot.shown if one.node in names and not one.unused]
    found = [f"{one.node} in block {one.height}" for one in shown]
    if not found:
        return ""
    count = f"{len(found)} of {len(names)} nodes"
    return f"shown in a block by {count}, {need_of(lane)} are needed: {', '.join(found)}"


def recovered(node: Node) -> Node:
    """A node that has all that it was ever offered, as far as is known."""
    return replace(node, reason="", expected=None, ours=None)


def reached(node: Node, committed: int) -> Node:
    """A node after blocks used all sequences below `committed`."""
    if node.next >= committed:
        return node
    return replace(node, next=committed, top=max(node.top, committed))


def is_recovering(lane: SequenceLane) -> bool:
    """No node takes what is new: each has to be given something again first."""
    return bool(lane.numbers) and all(node.reason for node in lane.live())


# Rows, each put in one place alone.


def index_slot(lane: SequenceLane, slot: Slot) -> None:
    number = slot.id
    lane.slots[number] = slot
    for hash_ in hashes_of(slot):
        lane.hashes[hash_] = number
    if slot.told:
        lane.watched[number] = None
        return
    lane.numbers[slot.sequence] = number
    if slot.delayed:
        lane.delayed[number] = None
    else:
        lane.delayed.pop(number, None)
    if slot.intent is not None:
        lane.bound[slot.intent] = number


def put_slot(lane: SequenceLane, slot: Slot) -> list[Touch]:
    """The slot as it stands now, and the bytes it has no more."""
    before = lane.slots.get(slot.id)
    touched: list[Touch] = []
    if before is not None:
        forget_hashes(lane, before)
        if before.attempt is not None and not has(slot, before.attempt):
            touched += drop_raw(lane, before)
    index_slot(lane, slot)
    # Of an intent that was answered the payload is needed no more.
    intent = None if slot.told else slot.intent
    touched.append(RowPut(Table.SLOT, str(slot.id), intent, encode(slot)))
    return touched


def hashes_of(slot: Slot) -> list[bytes]:
    """Its bytes, and those that should land no more: had one of them, it would count."""
    hashes = [past.hash for past in slot.past]
    return hashes if slot.attempt is None else [slot.attempt.hash, *hashes]


def forget_hashes(lane: SequenceLane, slot: Slot) -> None:
    """Bytes that no node ever had may have been made again just the same, by this slot or, as those
    of a filler, by another."""
    for hash_ in hashes_of(slot):
        if lane.hashes.get(hash_) == slot.id:
            del lane.hashes[hash_]


def has(slot: Slot, attempt: Attempt) -> bool:
    return slot.attempt is not None and slot.attempt.number == attempt.number


def put_raw(lane: SequenceLane, slot: Slot, attempt: Attempt, raw: bytes) -> list[Touch]:
    lane.head.signed_bytes += attempt.size
    if attempt.raw:
        return []
    lane.raws[slot.id] = raw
    return [RowPut(Table.AUX, f"{RAW}{slot.id}", None, raw)]


def drop_raw(lane: SequenceLane, slot: Slot) -> list[Touch]:
    assert slot.attempt is not None
    lane.head.signed_bytes -= slot.attempt.size
    if slot.attempt.raw:
        return []
    del lane.raws[slot.id]
    return [RowKey(Table.AUX, f"{RAW}{slot.id}")]


def unbind(lane: SequenceLane, slot: Slot) -> None:
    """Its number and its intent are no longer its own."""
    if lane.numbers.get(slot.sequence) == slot.id:
        del lane.numbers[slot.sequence]
    if slot.intent is not None:
        lane.bound.pop(slot.intent, None)
    lane.delayed.pop(slot.id, None)


def drop_slot(lane: SequenceLane, slot: Slot) -> list[Touch]:
    unbind(lane, slot)
    del lane.slots[slot.id]
    lane.watched.pop(slot.id, None)
    forget_hashes(lane, slot)
    gone: list[Touch] = [RowKey(Table.SLOT, str(slot.id))]
    return gone if slot.attempt is None else [*gone, *drop_raw(lane, slot)]
