"""The event stream: server-sent events with a cursor to resume by, in order for each lane."""

import asyncio
from functools import partial
from typing import Annotated

from aiohttp import web
from msgspec import UNSET, Meta, Struct, UnsetType

from laneway.server.answers import SERVER, RequestRefused
from laneway.server.call import Call, given
from laneway.server.connection import Connection
from laneway.server.limits import EVENT_CLIENTS_MAX, EVENT_RETRY_MS, EVENT_WRITE_S, HEARTBEAT_S
from laneway.server.route import get, one
from laneway.wire import sse
from laneway.wire.limits import EVENT_CURSOR_CHARS_MAX
from laneway.wire.values import LaneName

LAST_EVENT_ID = "Last-Event-ID"

HEADERS = {
    "Content-Type": sse.CONTENT_TYPE,
    "Cache-Control": "no-store",
    "X-Accel-Buffering": "no",
    "Server": SERVER,
}


CursorText = Annotated[
    str,
    Meta(
        max_length=EVENT_CURSOR_CHARS_MAX,
        description="As Last-Event-ID, for clients that cannot set it; empty is the beginning.",
    ),
]


class EventQuery(Struct, frozen=True, forbid_unknown_fields=True):
    lane: LaneName | UnsetType = UNSET
    cursor: CursorText | UnsetType = UNSET


async def events(call: Call) -> web.StreamResponse:
    """Events as they happen: `transaction.` and a status, `lane.` and what happened.

    Of contracts and accounts there is no `transaction.queued`: the 202 says it, to the one who
    asked, and their lanes have done nothing yet with what waits. A rollup reports it when a block
    takes a transaction, with the block's name.
    """
    query = call.query(EventQuery)
    lane = given(query.lane)
    if lane is not None:
        lane = call.desk.lane_name(lane)
        call.caller.check_lane(lane)
    after = call.request.headers.get(LAST_EVENT_ID, given(query.cursor))
    if after is not None and len(after) > EVENT_CURSOR_CHARS_MAX:
        raise RequestRefused(422, "bad_request", "not a cursor", field=LAST_EVENT_ID)
    if call.counts.streams >= EVENT_CLIENTS_MAX:
        detail = f"{EVENT_CLIENTS_MAX} streams are open already"
        raise RequestRefused(503, "too_many_streams", detail, retryable=True)
    call.counts.streams += 1
    try:
        return await stream(call, lane, after)
    finally:
        call.counts.streams -= 1


async def stream(call: Call, lane: str | None, after: str | None) -> web.StreamResponse:
    may_see = None if call.caller.may_see_all() else call.caller.may_see
    reader = await call.desk.follow(after, lane, may_see)
    connection = call.request.protocol
    assert isinstance(connection, Connection)
    task = asyncio.current_task()
    assert task is not None
    # A silent stream would notice a client that left only with its next heartbeat.
    connection.lost = task.cancel
    try:
        response = web.StreamResponse(headers=HEADERS)
        await response.prepare(call.request)
        await response.write(sse.hello(EVENT_RETRY_MS, reader.cursor))
        # It ends where it cannot follow, or the server is about to: it resumes by its cursor.
        await reader.run(connection.write_chunk, partial(drained, connection), HEARTBEAT_S)
    except (TimeoutError, ConnectionError):
        if call.request.transport is not None:
            call.request.transport.abort()
    finally:
        connection.lost = None
        reader.leave()
    return response


async def drained(connection: Connection) -> None:
    async with asyncio.timeout(EVENT_WRITE_S):
        await connection.drained()


ROUTES = (
    get(
        "/v1/events",
        events,
        "Follow events (SSE)",
        one("A stream that does not end.", str, sse.CONTENT_TYPE),
        query=EventQuery,
        headers=(LAST_EVENT_ID,),
        problems=(404,),
        endless=True,
    ),
)
