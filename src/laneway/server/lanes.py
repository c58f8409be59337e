"""Lanes: what is queued, in flight and stuck, and an operator's commands to one."""

from typing import Any

from aiohttp import web
from msgspec import Struct

from laneway.server.answers import reply
from laneway.server.call import Call, given
from laneway.server.route import Act, Route, get, one
from laneway.server.transactions import PageQuery, acted, operator_route, reason_of
from laneway.wire.cursor import LanePlace, unwrap, wrap
from laneway.wire.values import DrainOrder, Lane, LaneHealth, LanePage, Order, ReviveOrder


async def list_lanes(call: Call) -> web.Response:
    """All lanes that ever had work, by name."""
    query = call.query(PageQuery)
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
    call: Call, verb: str, order: Any, argument: Any = None, **more: Any
) -> web.Response:
    """An operator's command to the lane that the path names; `order` is its body."""
    reason = reason_of(call, order, **more)
    return acted(await call.desk.operate((await visible(call)).id, verb, reason, argument))


def verb_route(verb: str, act: Act, summary: str, body: type[Struct]) -> Route:
    """The route of a command to a lane."""
    return operator_route(f"/v1/lanes/{{lane}}/{verb}", act, summary, body, "lane:operate")


ROUTES = (
    get("/v1/lanes", list_lanes, "List lanes", one("One page.", LanePage), query=PageQuery),
    get("/v1/lanes/{lane}", show_lane, "Show a lane", one("As it stands.", Lane)),
    get(
        "/v1/lanes/{lane}/health",
        lane_health,
        "Whether a lane goes on by itself",
        one("As it stands.", LaneHealth),
    ),
    verb_route("pause", pause_lane, "Pause a lane", Order),
    verb_route("resume", resume_lane, "Resume a lane", Order),
    verb_route("drain", drain_lane, "Drain a lane", DrainOrder),
    verb_route("revive", revive_lane, "Revive a lane that a bug stopped", ReviveOrder),
)
