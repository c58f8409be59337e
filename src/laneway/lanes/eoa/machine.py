"""All transitions of an account's lane: many nonces in flight, each bound to one intent.

Pending → borrowed (its signed bytes are durable before any node hears of them) → submitted →
included → confirmed. A nonce is free again only when every node refused every attempt of it for
good; unknown counts as sent. What is mined may be taken back by a reorg until it is final.
"""

from collections.abc import Mapping
from typing import assert_never

import msgspec

from laneway.core.ids import LaneId
from laneway.lanes.eoa.answers import judge_answers, judge_made
from laneway.lanes.eoa.claims import claim_offered, wants
from laneway.lanes.eoa.commands import judge_command
from laneway.lanes.eoa.expiry import expire
from laneway.lanes.eoa.fold import evolve
from laneway.lanes.eoa.lane import EoaLane, encode, head_write, left_rows, restore
from laneway.lanes.eoa.limits import PAGES_AHEAD
from laneway.lanes.eoa.settings import EoaSettings
from laneway.lanes.eoa.show import describe
from laneway.lanes.eoa.sightings import judge_chain, judge_proof
from laneway.lanes.eoa.timers import (
    deadline,
    expire_ms,
    is_due,
    judge_head,
    judge_timer,
    offered,
)
from laneway.lanes.eoa.tries import Decision, look, make, prove, said, send_again
from laneway.lanes.eoa.values import (
    AttemptsMade,
    BroadcastReturned,
    ChainRead,
    CommandTold,
    Effect,
    Event,
    HeadSeen,
    IntentsOffered,
    LookEnded,
    NonceProven,
    ReadFailed,
    Record,
    TimerFired,
)
from laneway.lanes.kind import LaneKind


def decide(lane: EoaLane, event: Event) -> Decision:
    """Say what becomes true and what must be done; change nothing."""
    match event:
        case IntentsOffered(intents=intents, now_ms=now_ms):
            return claim_offered(lane, intents, now_ms)
        case AttemptsMade(made=made, now_ms=now_ms):
            return judge_made(lane, made, now_ms)
        case BroadcastReturned(results=results, now_ms=now_ms):
            return judge_answers(lane, results, now_ms)
        case HeadSeen(now_ms=now_ms):
            return judge_head(lane, now_ms)
        case ChainRead():
            return judge_chain(lane, event)
        case ReadFailed(now_ms=now_ms):
            return said([LookEnded(now_ms + lane.settings.poll_ms)])
        case NonceProven():
            return judge_proof(lane, event)
        case TimerFired(now_ms=now_ms) if is_due(expire_ms(lane), now_ms):
            return expire(lane, now_ms)  # It moves numbers; what else is due follows at once.
        case TimerFired(now_ms=now_ms):
            return judge_timer(lane, now_ms)
        case CommandTold(command=command, now_ms=now_ms):
            return judge_command(lane, command, now_ms)
        case _:
            assert_never(event)


def resume(lane: EoaLane) -> tuple[Effect, ...]:
    """What a crash may have lost: bytes being made, bytes being sent, looks at the chain."""
    effects: list[Effect] = []
    if lane.head.looking:
        effects.append(look(lane))
    for slot in lane.slots.values():
        if slot.making and not slot.delayed:
            effects.append(make(lane, slot))
        if slot.proving:
            effects.append(prove(lane, slot))
    effects += [send_again(lane, lane.attempts[slot][number]) for slot, number in offered(lane)]
    return tuple(effects)


_decode = msgspec.msgpack.Decoder(tuple[Record, ...]).decode


def eoa_kind(settings: EoaSettings | Mapping[LaneId, EoaSettings]) -> LaneKind:
    """Accounts of one chain, or each with its own settings; without them it is not served."""

    def cursors(lane: EoaLane) -> tuple[int, ...]:
        return lane.head.cursors

    def of(lane: LaneId) -> EoaSettings:
        return settings if isinstance(settings, EoaSettings) else settings[lane]

    def serves(lane: LaneId) -> bool:
        return isinstance(settings, EoaSettings) or lane in settings

    return LaneKind(
        name="evm",
        empty=lambda lane: EoaLane(lane, of(lane)),
        restore=lambda rows: restore(rows, of(rows.head.lane)),
        serves=serves,
        pages=PAGES_AHEAD,
        decide=decide,
        evolve=evolve,
        left=left_rows,
        resume=resume,
        wants=wants,
        deadline=deadline,
        head=head_write,
        cursors=cursors,
        offered=IntentsOffered,
        told=CommandTold,
        woken=TimerFired,
        encode=encode,
        decode=_decode,
        describe=describe,
    )
