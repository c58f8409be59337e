"""All transitions of a sequence lane: many sequences in flight, offered in strict order.

Queued → signed (the bytes are durable before any node receives them) → pending → committed. What a
node dropped it is offered again, the same bytes, the lowest sequence first; while every node has
something to be given again the lane is in recovery, and nothing new is signed. Bytes end with a
block that holds their number, or with their timeout height; only then is an intent signed anew.
"""

from collections.abc import Mapping
from typing import assert_never

from laneway.core.ids import LaneId
from laneway.lanes.common.heads import encode
from laneway.lanes.common.timers import earliest, is_due
from laneway.lanes.common.values import CommandReceived, IntentsOffered, ModeChanged, TimerFired
from laneway.lanes.kind import LaneKind, PerLane
from laneway.lanes.sequence import values as v
from laneway.lanes.sequence.answers import judge_made, judge_offer
from laneway.lanes.sequence.claims import claim_offered, is_drained, wants
from laneway.lanes.sequence.commands import judge_command
from laneway.lanes.sequence.fold import evolve
from laneway.lanes.sequence.lane import SequenceLane, head_write, replace, restore
from laneway.lanes.sequence.limits import PAGES_AHEAD
from laneway.lanes.sequence.recovery import with_recoveries
from laneway.lanes.sequence.released import decode_records
from laneway.lanes.sequence.rows import Node
from laneway.lanes.sequence.settings import SequenceSettings
from laneway.lanes.sequence.show import describe
from laneway.lanes.sequence.sightings import judge_look, judge_proof
from laneway.lanes.sequence.tries import (
    NOTHING,
    Decision,
    decided,
    look,
    looked_at,
    make,
    offer_again,
    offers,
)


def decide(lane: SequenceLane, event: v.Event) -> Decision:
    """Say what becomes true and what must be done; change nothing."""
    return with_recoveries(lane, judge(lane, event))


def judge(lane: SequenceLane, event: v.Event) -> Decision:
    match event:
        case IntentsOffered(intents=intents, now_ms=now_ms):
            return claim_offered(lane, intents, now_ms)
        case v.AttemptsMade():
            return judge_made(lane, event)
        case v.OfferReturned():
            return judge_offer(lane, event)
        case v.NodeLooked():
            return judge_look(lane, event)
        case v.LookFailed():
            return judge_failed(lane, event)
        case v.SequenceProven():
            return judge_proof(lane, event)
        case TimerFired(now_ms=now_ms):
            return judge_timer(lane, now_ms)
        case CommandReceived(command=command, now_ms=now_ms):
            return judge_command(lane, command, now_ms)
        case _:
            assert_never(event)


def resume(lane: SequenceLane) -> tuple[v.Effect, ...]:
    """What a crash may have lost: bytes being made or offered, looks at nodes."""
    effects: list[v.Effect] = []
    for slot in lane.in_order():
        if slot.making and not slot.delayed:
            effects.append(make(lane, slot))
        if slot.proving:
            effects.append(v.ProveSequence(slot.sequence))
    for node in lane.live():
        if node.until:
            effects.append(offer_again(lane, node))
        if node.looking:
            effects.append(look(lane, node))
    return tuple(effects)


def encode_for_feed(records: tuple[v.Record, ...]) -> bytes:
    """As the feed keeps them: large bytes stand in their own row, and are named by their hash."""
    signed = v.AttemptSigned
    return encode([replace(one, raw=b"") if isinstance(one, signed) else one for one in records])


def sequence_kind(settings: SequenceSettings | Mapping[LaneId, SequenceSettings]) -> LaneKind:
    """Accounts of one chain, or each with its own settings; without them it is not served."""
    known = PerLane(settings)
    return LaneKind(
        name="cosmos",
        empty=lambda lane: SequenceLane(lane, known.of(lane)),
        restore=lambda rows: restore(rows, known.of(rows.head.lane)),
        serves=known.serves,
        pages=PAGES_AHEAD,
        decide=decide,
        evolve=evolve,
        resume=resume,
        wants=wants,
        deadline=deadline,
        head=head_write,
        encode=encode_for_feed,
        decode=decode_records,
        describe=describe,
    )


def drained_ms(lane: SequenceLane) -> int | None:
    return lane.head.mode_ms if is_drained(lane) else None


def make_ms(lane: SequenceLane) -> int | None:
    """A halted lane makes nothing until it goes on."""
    return lane.head.make_ms if lane.delayed and not lane.head.halt else None


def deadline(lane: SequenceLane) -> int | None:
    times = [drained_ms(lane), make_ms(lane), 0 if lane.is_rewired else None]
    for node in lane.live():
        times += [node.look_ms, node.retry_ms]
    return earliest(times)


def judge_timer(lane: SequenceLane, now_ms: int) -> Decision:
    records: list[v.Record] = []
    effects: list[v.Effect] = []
    if lane.is_rewired:
        # Nodes that come and go by a setting are recorded, and the work of those that left ends.
        records += [v.NodeChanged(node) for node in lane.nodes.values()]
    if is_due(drained_ms(lane), now_ms):
        records.append(ModeChanged("paused", lane.head.reason, lane.head.by, now_ms))
    if is_due(make_ms(lane), now_ms):
        records.append(v.MakingResumed())
        effects += [make(lane, lane.slots[one]) for one in lane.delayed]
    nodes: dict[str, Node] = {}
    for node in lane.live():
        if is_due(node.look_ms, now_ms):
            effects.append(look(lane, node))
            node = looked_at(node)
        if is_due(node.retry_ms, now_ms):
            node = replace(node, retry_ms=None)
        nodes[node.name] = node
    sent = offers(lane, nodes)
    return decided((*records, *sent.records), (*effects, *sent.effects))


def judge_failed(lane: SequenceLane, event: v.LookFailed) -> Decision:
    """Asked again soon, and nothing is known."""
    node = lane.nodes.get(event.node)
    if node is None or not node.looking:
        return NOTHING
    later = event.now_ms + lane.settings.poll_ms
    return decided([v.NodeChanged(replace(node, looking=False, look_ms=later, blind=True))])
