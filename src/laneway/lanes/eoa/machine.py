"""All transitions of an account's lane: many nonces in flight, each bound to one intent.

Pending → borrowed (its signed bytes are durable before any node is offered them) → submitted →
included → confirmed. A nonce is free again only when every node refused every attempt of it for
good; unknown counts as sent. What is mined may be taken back by a reorg until it is final.
"""

from collections.abc import Mapping
from typing import assert_never

from laneway.core.ids import LaneId
from laneway.lanes.common.timers import is_due
from laneway.lanes.common.values import CommandReceived, IntentsOffered, TimerFired
from laneway.lanes.eoa import values as v
from laneway.lanes.eoa.answers import judge_answers, judge_made
from laneway.lanes.eoa.claims import claim_offered, wants
from laneway.lanes.eoa.commands import judge_command
from laneway.lanes.eoa.expiry import expire
from laneway.lanes.eoa.fold import evolve
from laneway.lanes.eoa.lane import EoaLane, head_write, left_rows, restore
from laneway.lanes.eoa.limits import PAGES_AHEAD
from laneway.lanes.eoa.settings import EoaSettings
from laneway.lanes.eoa.show import describe
from laneway.lanes.eoa.sightings import judge_chain, judge_proof
from laneway.lanes.eoa.timers import (
    deadline,
    expire_ms,
    judge_head,
    judge_timer,
    offered,
)
from laneway.lanes.eoa.tries import Decision, decided, look, make, prove, send_again
from laneway.lanes.kind import LaneKind, PerLane


def decide(lane: EoaLane, event: v.Event) -> Decision:
    """Say what becomes true and what must be done; change nothing."""
    match event:
        case IntentsOffered(intents=intents, now_ms=now_ms):
            return claim_offered(lane, intents, now_ms)
        case v.AttemptsMade(made=made, now_ms=now_ms):
            return judge_made(lane, made, now_ms)
        case v.BroadcastReturned(results=results, now_ms=now_ms):
            return judge_answers(lane, results, now_ms)
        case v.HeadSeen(now_ms=now_ms):
            return judge_head(lane, now_ms)
        case v.ChainRead():
            return judge_chain(lane, event)
        case v.ReadFailed(now_ms=now_ms):
            return decided([v.LookEnded(now_ms + lane.settings.poll_ms)])
        case v.NonceProven():
            return judge_proof(lane, event)
        case TimerFired(now_ms=now_ms) if is_due(expire_ms(lane), now_ms):
            return expire(lane, now_ms)  # It moves numbers; what else is due follows at once.
        case TimerFired(now_ms=now_ms):
            return judge_timer(lane, now_ms)
        case CommandReceived(command=command, now_ms=now_ms):
            return judge_command(lane, command, now_ms)
        case _:
            assert_never(event)


def resume(lane: EoaLane) -> tuple[v.Effect, ...]:
    """What a crash may have lost: bytes being made, bytes being sent, looks at the chain."""
    effects: list[v.Effect] = []
    if lane.head.looking:
        effects.append(look(lane))
    for slot in lane.slots.values():
        if slot.making and not slot.delayed:
            effects.append(make(lane, slot))
        if slot.proving:
            effects.append(prove(lane, slot))
    effects += [send_again(lane, lane.attempts[slot][number]) for slot, number in offered(lane)]
    return tuple(effects)


def eoa_kind(settings: EoaSettings | Mapping[LaneId, EoaSettings]) -> LaneKind:
    """Accounts of one chain, or each with its own settings; without them it is not served."""
    known = PerLane(settings)
    return LaneKind(
        name="evm",
        empty=lambda lane: EoaLane(lane, known.of(lane)),
        restore=lambda rows: restore(rows, known.of(rows.head.lane)),
        serves=known.serves,
        pages=PAGES_AHEAD,
        decide=decide,
        evolve=evolve,
        left=left_rows,
        resume=resume,
        wants=wants,
        deadline=deadline,
        head=head_write,
        decode=v.decode_records,
        describe=describe,
    )
