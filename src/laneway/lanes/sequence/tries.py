"""What is made, offered and looked at next."""

from collections.abc import Iterable, Mapping
from typing import TypeAlias

from msgspec import Struct

from laneway.core import records
from laneway.core.reason import clip
from laneway.lanes.sequence.lane import SequenceLane, hashes_of, replace
from laneway.lanes.sequence.limits import (
    LOG_BYTES_MAX,
    OFFER_BYTES_MAX,
    OFFER_COUNT_MAX,
    PAST_KEPT_MAX,
)
from laneway.lanes.sequence.rows import Node, Past, Purpose, Slot
from laneway.lanes.sequence.values import (
    Effect,
    LookAtNode,
    MakeAttempt,
    NodeChanged,
    OfferToNode,
    Record,
)

Decision: TypeAlias = records.Decision[Record, Effect]

NOTHING: Decision = records.Decision()


def said(made: Iterable[Record], effects: Iterable[Effect] = ()) -> Decision:
    return records.Decision(tuple(made), tuple(effects))


def make(
    lane: SequenceLane, slot: Slot, payload: bytes | None = None, height: int | None = None
) -> MakeAttempt:
    """The payload of an intent that is just being claimed, and the height that is just seen, are
    not in the lane yet."""
    if slot.purpose != Purpose.INTENT:
        payload = b""
    elif payload is None:
        assert slot.intent is not None
        payload = lane.intents[slot.intent].payload
    return MakeAttempt(
        slot=slot.id,
        number=slot.attempt_next,
        sequence=slot.sequence,
        account_number=lane.head.account_number,
        height=lane.head.height if height is None else height,
        purpose=slot.purpose,
        payload=payload,
    )


def look(lane: SequenceLane, node: Node) -> LookAtNode:
    """At the lowest sequences, always; at those above, and at what is watched, in turn."""
    slots = [*lane.in_order(), *(lane.slots[one] for one in lane.watched)]
    hashes = [one for slot in slots for one in hashes_of(slot)]
    room = lane.settings.statuses
    if len(hashes) > room:
        lowest, others = hashes[: room // 2], hashes[room // 2 :]
        begin = node.looks * (room - len(lowest)) % len(others)
        turned = (*others[begin:], *others[:begin])
        hashes = [*lowest, *turned[: room - len(lowest)]]
    return LookAtNode(node.name, node.epoch, node.next, tuple(hashes))


def looked_at(node: Node) -> Node:
    return replace(node, looking=True, look_ms=None, looks=node.looks + 1)


def ended(slot: Slot, reason: str, *, proven: bool = True) -> Slot:
    """Its bytes can land no more, as far as is `proven`; others are made at the same number."""
    assert slot.attempt is not None
    reason = clip(reason, LOG_BYTES_MAX)
    last = slot.attempt
    gone = Past(last.hash, last.timeout_height, reason, proven, last.made_ms, last.made_height)
    past = slot.past if slot.intent is not None else slot.past[1 - PAST_KEPT_MAX :]
    return replace(
        slot,
        making=True,
        delayed=False,
        make_tries=0,
        attempt_next=slot.attempt.number + 1,
        attempt=None,
        past=(*past, gone),
        wait_reason=reason,
        shown=(),
    )


# Offers.


class Signed(Struct, frozen=True):
    hash: bytes
    raw: bytes


def held(lane: SequenceLane, sequence: int) -> Signed | None:
    slot = lane.slot_at(sequence)
    if slot is None or slot.attempt is None:
        return None
    return Signed(slot.attempt.hash, lane.raw(slot))


def offers(
    lane: SequenceLane,
    nodes: Mapping[str, Node],
    changed: Mapping[int, Signed | None] | None = None,
) -> Decision:
    """What each node is offered now: its next ones, without a gap. `nodes` is how they stand after
    this decision, and `changed` what it makes of the bytes at some numbers."""
    orders = [order(lane, node, changed or {}) for node in nodes.values()]
    return said(
        [record for found in orders for record in found.records],
        [effect for found in orders for effect in found.effects],
    )


def order(lane: SequenceLane, node: Node, changed: Mapping[int, Signed | None]) -> Decision:
    chosen: list[Signed] = []
    size = 0
    is_free = node.is_free() and not lane.head.halt
    while is_free and len(chosen) < OFFER_COUNT_MAX:
        number = node.next + len(chosen)
        one = changed[number] if number in changed else held(lane, number)
        if one is None or (chosen and size + len(one.raw) > OFFER_BYTES_MAX):
            break
        chosen.append(one)
        size += len(one.raw)
    if not chosen:
        if node.reason and is_free and node.next >= node.top:
            node = recovered(node)
        return NOTHING if node == lane.nodes.get(node.name) else said([NodeChanged(node)])
    serial = node.serial + 1
    offering = replace(node, until=node.next + len(chosen), serial=serial)
    effect = OfferToNode(
        node.name,
        serial,
        node.epoch,
        node.next,
        tuple([one.hash for one in chosen]),
        tuple([one.raw for one in chosen]),
    )
    return said([NodeChanged(offering)], [effect])


def offer_again(lane: SequenceLane, node: Node) -> OfferToNode:
    """What it was being offered when the process ended: it may have taken it."""
    chosen: list[Signed] = []
    for number in range(node.next, node.until):
        one = held(lane, number)
        if one is None:
            break
        chosen.append(one)
    return OfferToNode(
        node.name,
        node.serial,
        node.epoch,
        node.next,
        tuple([one.hash for one in chosen]),
        tuple([one.raw for one in chosen]),
        again=lane.life,
    )


def set_back(node: Node, sequence: int, reason: str, height: int) -> Node:
    """It is offered everything from here on again, the lowest first."""
    return replace(
        node,
        next=sequence,
        epoch=node.epoch + 1,
        reason=reason,
        expected=None,
        ours=None,
        since_height=node.since_height if node.reason else height,
    )


def recovered(node: Node) -> Node:
    """It has all that it was ever offered, as far as is known."""
    return replace(node, reason="", expected=None, ours=None)
