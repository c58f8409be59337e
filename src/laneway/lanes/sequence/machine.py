"""All transitions of a sequence lane: many sequences in flight, offered in strict order.

Queued → signed (the bytes are durable before any node hears of them) → pending → committed. What a
node dropped it is offered again, the same bytes, the lowest sequence first; while every node has
something to be given again the lane is in recovery, and nothing new is signed. Bytes end with a
block that holds their number, or with their timeout height; only then is an intent signed anew.
"""

from collections.abc import Mapping
from typing import assert_never

import msgspec

from laneway.core.ids import LaneId
from laneway.lanes.kind import LaneKind
from laneway.lanes.sequence.answers import judge_made, judge_offer
from laneway.lanes.sequence.claims import claim_offered, wants
from laneway.lanes.sequence.commands import judge_command
from laneway.lanes.sequence.fold import evolve
from laneway.lanes.sequence.lane import SequenceLane, encode, head_write, replace, restore
from laneway.lanes.sequence.limits import PAGES_AHEAD
from laneway.lanes.sequence.settings import SequenceSettings
from laneway.lanes.sequence.show import describe
from laneway.lanes.sequence.sightings import judge_look, judge_proof
from laneway.lanes.sequence.timers import deadline, judge_failed, judge_timer
from laneway.lanes.sequence.tries import Decision, look, make, offer_again
from laneway.lanes.sequence.values import (
    AttemptSigned,
    AttemptsMade,
    CommandTold,
    Effect,
    Event,
    IntentsOffered,
    LookFailed,
    NodeLooked,
    OfferReturned,
    ProveSequence,
    Record,
    SequenceProven,
    TimerFired,
)


def decide(lane: SequenceLane, event: Event) -> Decision:
    """Say what becomes true and what must be done; change nothing."""
    match event:
        case IntentsOffered(intents=intents, now_ms=now_ms):
            return claim_offered(lane, intents, now_ms)
        case AttemptsMade():
            return judge_made(lane, event)
        case OfferReturned():
            return judge_offer(lane, event)
        case NodeLooked():
            return judge_look(lane, event)
        case LookFailed():
            return judge_failed(lane, event)
        case SequenceProven():
            return judge_proof(lane, event)
        case TimerFired(now_ms=now_ms):
            return judge_timer(lane, now_ms)
        case CommandTold(command=command, now_ms=now_ms):
            return judge_command(lane, command, now_ms)
        case _:
            assert_never(event)


def resume(lane: SequenceLane) -> tuple[Effect, ...]:
    """What a crash may have lost: bytes being made or offered, looks at nodes."""
    effects: list[Effect] = []
    for slot in lane.in_order():
        if slot.making and not slot.delayed:
            effects.append(make(lane, slot))
        if slot.proving:
            effects.append(ProveSequence(slot.sequence))
    for node in lane.live():
        if node.until:
            effects.append(offer_again(lane, node))
        if node.looking:
            effects.append(look(lane, node))
    return tuple(effects)


def encode_told(records: tuple[Record, ...]) -> bytes:
    """As the feed keeps them: large bytes stand in their own row, and are named by their hash."""
    return encode(
        tuple(
            [
                replace(record, raw=b"") if isinstance(record, AttemptSigned) else record
                for record in records
            ]
        )
    )


_decode = msgspec.msgpack.Decoder(tuple[Record, ...]).decode


def sequence_kind(settings: SequenceSettings | Mapping[LaneId, SequenceSettings]) -> LaneKind:
    """Accounts of one chain, or each with its own settings; without them it is not served."""

    def cursors(lane: SequenceLane) -> tuple[int, ...]:
        return lane.head.cursors

    def of(lane: LaneId) -> SequenceSettings:
        return settings if isinstance(settings, SequenceSettings) else settings[lane]

    def serves(lane: LaneId) -> bool:
        return isinstance(settings, SequenceSettings) or lane in settings

    return LaneKind(
        name="cosmos",
        empty=lambda lane: SequenceLane(lane, of(lane)),
        restore=lambda rows: restore(rows, of(rows.head.lane)),
        serves=serves,
        pages=PAGES_AHEAD,
        decide=decide,
        evolve=evolve,
        resume=resume,
        wants=wants,
        deadline=deadline,
        head=head_write,
        cursors=cursors,
        offered=IntentsOffered,
        told=CommandTold,
        woken=TimerFired,
        encode=encode_told,
        decode=_decode,
        describe=describe,
    )
