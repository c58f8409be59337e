"""Lanes: what is queued, in flight and stuck, and an operator's words to one."""

from typing import Any

from aiohttp import web
from msgspec import UNSET, Struct, UnsetType

from laneway.server.answers import reply
from laneway.server.call import Call, given
from laneway.server.desk import LaneVerb, Word
from laneway.server.route import Route, Told
from laneway.server.transactions import ACTED, CursorText, DryRunQuery, Limit, acted
from laneway.wire.cursor import LanePlace, unwrap, wrap
from laneway.wire.limits import PAGE_DEFAULT
from laneway.wire.values import (
    DrainOrder,
    Lane,
    LaneHealth,
    LanePage,
    Order,
    ReviveOrder,
    SequenceOrder,
)


class LaneQuery(Struct, frozen=True, forbid_unknown_fields=True):
    limit: Limit = PAGE_DEFAULT
    cursor: CursorText | UnsetType = UNSET


async def list_lanes(call: Call) -> web.Response:
    """All lanes that ever had work, by name."""
    query = call.query(LaneQuery)
    cursor = given(query.cursor)
    after = None if cursor is None else unwrap(cursor, LanePlace).lane
    # A page ends at a lane that the caller may see, so its cursor names no other.
    lanes = await call.desk.lanes(after, query.limit, call.caller.may_see)
    more = len(lanes) == query.limit
    return reply(LanePage(list(lanes), wrap(LanePlace(lanes[-1].id)) if more else None))


async def show_lane(call: Call) -> web.Response:
    """One lane: where it is, and why."""
    return reply(await visible(call))


async def visible(call: Call) -> Lane:
    return await call.desk.lane(name_of(call))


def name_of(call: Call) -> str:
    lane = call.desk.lane_name(call.path("lane"))
    call.caller.check_lane(lane)
    return lane


async def lane_health(call: Call) -> web.Response:
    """Whether a lane goes on by itself; of an account its numbers, and what a person should see."""
    return reply(await call.desk.health(name_of(call)))


async def reset_nonce(call: Call) -> web.Response:
    """Set an account's next nonce back to what the chain says, never below one that is bound.

    A dry run shows the numbers before and after, and why it would not become lower.
    """
    return await operated(call, "reset-nonce", await call.body(Order))


async def set_sequence(call: Call) -> web.Response:
    """Set where a Cosmos account's sequences go on, never at one that is used or may be.

    A dry run shows the numbers before and after, and why it would become no other.
    """
    order = await call.body(SequenceOrder)
    return await operated(call, "set-sequence", order, sequence=order.sequence)


async def pause_lane(call: Call) -> web.Response:
    """Start nothing more; what runs is finished."""
    return await operated(call, "pause", await call.body(Order))


async def resume_lane(call: Call) -> web.Response:
    """Go on after a pause, a drain or a halt."""
    return await operated(call, "resume", await call.body(Order))


async def revive_lane(call: Call) -> web.Response:
    """Go on with a lane that a bug stopped, without what stopped it.

    A dry run shows the evidence and what would be put aside. That transaction is cancelled, unless
    a node may have it: then it stays bound and is watched. Where the offender is not known, the
    lane goes on one step at a time, and names it if it is stopped again.
    """
    order = await call.body(ReviveOrder)
    return await operated(call, "revive", order, tx=order.tx, keep=order.keep)


async def drain_lane(call: Call) -> web.Response:
    """Finish what waits now (or only what runs), then pause."""
    order = await call.body(DrainOrder)
    return await operated(call, "drain", order, mode=order.mode)


async def operated(
    call: Call, verb: LaneVerb, order: Order | DrainOrder | SequenceOrder | ReviveOrder, **more: Any
) -> web.Response:
    dry_run = call.query(DryRunQuery).dry_run or order.dry_run
    lane = await visible(call)
    word = Word(reason=order.reason, by=call.caller.name(), dry_run=dry_run, **more)
    return acted(await call.desk.operate(lane.id, verb, word))


ROUTES = (
    Route(
        method="GET",
        path="/v1/lanes",
        act=list_lanes,
        summary="List lanes",
        scope="tx:read",
        query=LaneQuery,
        told={200: Told("One page.", LanePage)},
    ),
    Route(
        method="GET",
        path="/v1/lanes/{lane}",
        act=show_lane,
        summary="Show a lane",
        scope="tx:read",
        told={200: Told("As it stands.", Lane)},
    ),
    Route(
        method="GET",
        path="/v1/lanes/{lane}/health",
        act=lane_health,
        summary="Whether a lane goes on by itself",
        scope="tx:read",
        told={200: Told("As it stands.", LaneHealth)},
    ),
    *(
        Route(
            method="POST",
            path=f"/v1/lanes/{{lane}}/{verb}",
            act=act,
            summary=summary,
            scope="lane:operate",
            query=DryRunQuery,
            body=body,
            told=ACTED,
            problems=(409,),
            writes=True,
        )
        for verb, act, summary, body in (
            ("pause", pause_lane, "Pause a lane", Order),
            ("resume", resume_lane, "Resume a lane", Order),
            ("drain", drain_lane, "Drain a lane", DrainOrder),
            ("revive", revive_lane, "Revive a lane that a bug stopped", ReviveOrder),
            ("reset-nonce", reset_nonce, "Reset an EVM account's next nonce", Order),
            ("set-sequence", set_sequence, "Set a Cosmos account's next sequence", SequenceOrder),
        )
    ),
)
