"""REST routes of counters: the commands that no other kind has, and a counter as it stands."""

from typing import Annotated

from aiohttp import web
from msgspec import Meta, Struct
from tests.foreign.counter.machine import RETRY_MS_MAX

from laneway.server.answers import reply
from laneway.server.call import Call
from laneway.server.lanes import operated, verb_route
from laneway.server.route import GoodAnswer, Route
from laneway.server.transactions import command_route, commanded
from laneway.wire.values import Order, Reason


class TuneOrder(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """How long a counter's lane waits between two tries from now on."""

    reason: Reason
    retry_ms: Annotated[int, Meta(ge=1, le=RETRY_MS_MAX)]
    dry_run: bool = False


class CounterValue(Struct, frozen=True, kw_only=True):
    """A counter as it stands, no matter who added to it."""

    name: str
    count: int
    total: int


async def hurry(call: Call) -> web.Response:
    """Read the counter now, for an addition that waits for its next try."""
    return await commanded(call, "hurry", await call.body(Order))


async def tune(call: Call) -> web.Response:
    """Set how long a counter's lane waits between two tries."""
    order = await call.body(TuneOrder)
    return await operated(call, "tune", order, order.retry_ms)


async def show_counter(call: Call) -> web.Response:
    """One counter: how many additions it has, and their sum."""
    name = call.path("counter")
    call.caller.check_lane(f"counter:{name}")
    entries = await call.desk.part("counter").counters.entries(name)
    total = sum(entry.amount for entry in entries)
    return reply(CounterValue(name=name, count=len(entries), total=total))


ROUTES = (
    command_route("hurry", hurry, "Read the counter of an addition now", Order),
    verb_route("tune", tune, "Set how long a counter's lane waits", TuneOrder),
    Route(
        method="GET",
        path="/v1/counters/{counter}",
        act=show_counter,
        summary="Show a counter",
        scope="tx:read",
        answers={200: GoodAnswer("As it stands.", CounterValue)},
    ),
)
