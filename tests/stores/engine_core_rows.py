"""All that a lane shows in engine-core's layout, drawn from its rows at once.

What commits change one by one must add up to this; the lists of attempts and the receipts aside,
which are history and stand in no row.
"""

from typing import TypeAlias

from tests.stores.lane_cells import LaneRows

from laneway.core.rows import Table
from laneway.lanes.eoa.lane import FREE, RAW, as_taken, decode_attempt, decode_head, decode_kept
from laneway.lanes.eoa.rows import FIRST, Attempt, Slot
from laneway.stores.redis.engine_core.keys import QUEUE, RESET, AccountKeys
from laneway.stores.redis.engine_core.values import (
    BORROWED,
    PENDING,
    SUBMITTED,
    Shot,
    borrowed_json,
    ended_fields,
    health_json,
    hexed,
    request_json,
    submitted_member,
)
from laneway.stores.redis.engine_core.view import decode_end, place_of

Keys: TypeAlias = dict[str, bytes | dict[bytes, bytes] | dict[bytes, float]]
"""Strings, hashes and sorted sets by the names of their keys."""


def keys_shown(account: AccountKeys, lane: LaneRows) -> Keys:
    found: Keys = {}
    if lane.intents:
        found[account.registry] = {one.id.encode(): QUEUE.encode() for one in lane.intents}
        found[account.jobs] = {account.job().encode(): lane.head.lane.encode()}
    if lane.head.owner is not None:
        found[account.lock] = lane.head.owner.encode()
    resets = [told for told in lane.mailbox if told.verb == RESET]
    if resets:
        found[account.reset] = b"%d" % resets[-1].at_ms
        found[account.resets] = {b"%d" % told.id: b"%d" % told.at_ms for told in resets}
    found |= head_shown(account, lane) | intents_shown(account, lane) | slots_shown(account, lane)
    return {key: value for key, value in found.items() if value}


def head_shown(account: AccountKeys, lane: LaneRows) -> Keys:
    found: Keys = {}
    if lane.head.state:
        head = decode_head(lane.head.state)
        if head.nonce_next is not None:
            found[account.optimistic] = b"%d" % head.nonce_next
        if head.read_ms or head.latest:
            found[account.counted] = b"%d" % head.latest
        if head.read_ms:
            found[account.health] = health_json(head.health)
    free: dict[bytes, float] = {}
    for row in lane.open:
        if row.table == Table.AUX and row.key.startswith(FREE):
            for number in range(int(row.key.removeprefix(FREE)), decode_end(row.body)):
                free[b"%d" % number] = float(number)
    found[account.recycled] = free
    return found


def intents_shown(account: AccountKeys, lane: LaneRows) -> Keys:
    ended = {result.intent: result for result in lane.results}
    slots, tries, _ = slots_of(lane)
    places = {slot.intent: place_of(slot.intent, tries.get(slot.id, {})) for slot in slots}
    waiting: dict[bytes, float] = {}
    found: Keys = {account.pending: waiting}
    for intent in lane.intents:
        place = places.get(intent.id, PENDING)
        told: dict[bytes, bytes] = {
            b"user_request": request_json(account.chain, account.address, intent),
            b"status": (SUBMITTED if place == SUBMITTED else PENDING).encode(),
            b"created_at": b"%d" % intent.accepted_ms,
        }
        if intent.id in ended:
            for field, value in ended_fields(ended[intent.id]).items():
                told[field.encode()] = value if isinstance(value, bytes) else str(value).encode()
        elif place == PENDING:
            waiting[intent.id.encode()] = float(intent.accepted_ms)
        found[account.data(intent.id)] = told
    return found


def slots_shown(account: AccountKeys, lane: LaneRows) -> Keys:
    slots, tries, raws = slots_of(lane)
    queued = {intent.id: intent.accepted_ms for intent in lane.intents}
    borrowed: dict[bytes, bytes] = {}
    submitted: dict[bytes, float] = {}
    found: Keys = {account.borrowed: borrowed, account.submitted: submitted}
    for slot in slots:
        made = tries.get(slot.id, {})
        queued_ms = 0 if slot.intent is None else queued[slot.intent]
        place = place_of(slot.intent, made)
        for number, attempt in sorted(made.items()):
            one = Shot(slot.intent, slot.nonce, hexed(attempt.hash), attempt, queued_ms)
            if place == SUBMITTED:
                submitted[submitted_member(one).encode()] = float(slot.nonce)
            if slot.intent is not None:
                found[account.hash(one.hash)] = slot.intent.encode()
            if place == BORROWED and number == max(made):
                assert slot.intent is not None
                raw = attempt.raw or raws[attempt.key()]
                borrowed[slot.intent.encode()] = borrowed_json(one, raw)
    return found


def slots_of(lane: LaneRows) -> tuple[list[Slot], dict[int, dict[int, Attempt]], dict[str, bytes]]:
    slots: list[Slot] = []
    tries: dict[int, dict[int, Attempt]] = {}
    raws: dict[str, bytes] = {}
    taken_next = decode_head(lane.head.state).taken_next if lane.head.state else 0
    for row in lane.open:
        if row.table == Table.SLOT:
            kept = decode_kept(row.body)
            slots.append(kept.slot)
            if kept.first is not None:
                tries.setdefault(kept.slot.id, {})[FIRST] = as_taken(kept.first, taken_next)
        elif row.table == Table.ATTEMPT:
            attempt = decode_attempt(row.body)
            tries.setdefault(attempt.slot, {})[attempt.number] = attempt
        elif row.key.startswith(RAW):
            raws[row.key.removeprefix(RAW)] = row.body
    return slots, tries, raws
