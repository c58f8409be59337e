"""What is made, offered and looked at next."""

from collections.abc import Collection, Iterable, Mapping
from typing import TypeAlias

from msgspec import Struct

from laneway.core import records
from laneway.core.ids import IntentId
from laneway.lanes.sequence import values as v
from laneway.lanes.sequence.lane import (
    SequenceLane,
    hashes_of,
    is_out,
    recovered,
    replace,
    used_numbers,
)
from laneway.lanes.sequence.limits import OFFER_BYTES_MAX, OFFER_COUNT_MAX
from laneway.lanes.sequence.rows import Node, Purpose, Slot

Decision: TypeAlias = records.Decision[v.Record, v.Effect]

NOTHING: Decision = records.Decision()


def decided(made: Iterable[v.Record], effects: Iterable[v.Effect] = ()) -> Decision:
    return records.Decision(tuple(made), tuple(effects))


def make(
    lane: SequenceLane, slot: Slot, payload: bytes | None = None, height: int | None = None
) -> v.MakeAttempt:
    """The payload of an intent that is just being claimed, and the height that is just seen, are
    not in the lane yet."""
    if slot.purpose != Purpose.INTENT:
        payload = b""
    elif payload is None:
        assert slot.intent is not None
        payload = lane.intents[slot.intent].payload
    return v.MakeAttempt(
        slot=slot.id,
        number=slot.attempt_next,
        sequence=slot.sequence,
        account_number=lane.head.account_number,
        height=lane.head.height if height is None else height,
        purpose=slot.purpose,
        payload=payload,
    )


def look(lane: SequenceLane, node: Node) -> v.LookAtNode:
    """At the lowest sequences, always; at those above, and at what is watched, in turn."""
    slots = [*lane.in_order(), *(lane.slots[one] for one in lane.watched)]
    hashes = [one for slot in slots for one in hashes_of(slot)]
    limit = lane.settings.statuses
    if len(hashes) > limit:
        lowest, others = hashes[: limit // 2], hashes[limit // 2 :]
        begin = node.looks * (limit - len(lowest)) % len(others)
        turned = (*others[begin:], *others[:begin])
        hashes = [*lowest, *turned[: limit - len(lowest)]]
    return v.LookAtNode(node.name, node.epoch, node.next, tuple(hashes))


def reason_of(slot: Slot) -> str:
    """Why its bytes, or the making of them, were refused last."""
    return slot.wait_reason if slot.attempt is None else slot.attempt.word


def about(slot: Slot) -> tuple[int, str, IntentId | None, int]:
    """What every record of a slot begins with."""
    return slot.id, reason_of(slot), slot.intent, slot.sequence


def looked_at(node: Node) -> Node:
    return replace(node, looking=True, look_ms=None, looks=node.looks + 1)


# Offers.


class SignedAttempt(Struct, frozen=True):
    hash: bytes
    raw: bytes


def held(lane: SequenceLane, sequence: int) -> SignedAttempt | None:
    slot = lane.slot_at(sequence)
    if slot is None or slot.attempt is None:
        return None
    return SignedAttempt(slot.attempt.hash, lane.raw(slot))


def offers(
    lane: SequenceLane,
    nodes: Mapping[str, Node],
    changed: Mapping[int, SignedAttempt | None] | None = None,
    *,
    committed: int = 0,
    ended: Collection[int] = (),
) -> Decision:
    """What each node is offered now: its next ones, without a gap. `nodes` is how they stand after
    this decision, `changed` what it makes of the bytes at some numbers, `committed` the account's
    sequence as it is seen now, and `ended` are slots that just had their answer."""
    limit = offered_below(lane, nodes.values(), max(committed, lane.head.committed), ended)
    orders = [order(lane, node, changed or {}, limit) for node in nodes.values()]
    return decided(
        [record for found in orders for record in found.records],
        [effect for found in orders for effect in found.effects],
    )


def offered_below(
    lane: SequenceLane, nodes: Collection[Node], committed: int, ended: Collection[int]
) -> int | None:
    """The lowest number that others used while nothing of its slot is anywhere; None if there is
    none. Nothing from there on is offered before that slot has another number or its answer: it
    would land after those that came after it."""
    passed = [
        sequence
        for sequence in used_numbers(lane, committed)
        if lane.numbers[sequence] not in ended
        and not is_out(lane, lane.slots[lane.numbers[sequence]], nodes)
    ]
    return min(passed, default=None)


def order(
    lane: SequenceLane,
    node: Node,
    changed: Mapping[int, SignedAttempt | None],
    limit: int | None = None,
) -> Decision:
    chosen: list[SignedAttempt] = []
    size = 0
    is_free = node.is_free() and not lane.head.halt
    while is_free and len(chosen) < OFFER_COUNT_MAX:
        number = node.next + len(chosen)
        if limit is not None and number >= limit:
            break
        one = changed[number] if number in changed else held(lane, number)
        if one is None or (chosen and size + len(one.raw) > OFFER_BYTES_MAX):
            break
        chosen.append(one)
        size += len(one.raw)
    if not chosen:
        if node.reason and is_free and node.next >= node.top:
            node = recovered(node)
        return NOTHING if node == lane.nodes.get(node.name) else decided([v.NodeChanged(node)])
    offering = replace(node, until=node.next + len(chosen), serial=node.serial + 1)
    return decided([v.NodeChanged(offering)], [offer_to(offering, chosen)])


def offer_to(node: Node, chosen: list[SignedAttempt], again: int = 0) -> v.OfferToNode:
    hashes, raws = tuple([one.hash for one in chosen]), tuple([one.raw for one in chosen])
    return v.OfferToNode(node.name, node.serial, node.epoch, node.next, hashes, raws, again)


def offer_again(lane: SequenceLane, node: Node) -> v.OfferToNode:
    """What it was being offered when the process ended: it may have taken it."""
    chosen: list[SignedAttempt] = []
    for number in range(node.next, node.until):
        one = held(lane, number)
        if one is None:
            break
        chosen.append(one)
    return offer_to(node, chosen, again=lane.life)


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
