"""Transactions: queue one, look at one, list them, take one back, put a new one in its place."""

import re
from collections.abc import Sequence
from typing import Annotated, Any, Literal
from urllib.parse import quote

from aiohttp import web
from msgspec import UNSET, Meta, Struct, UnsetType

from laneway.core.errors import IntentNotFound
from laneway.server.access import Scope
from laneway.server.answers import reply
from laneway.server.call import Call, decode, given, too_large
from laneway.server.desk import Listing, OperatorReason, TakenTransaction
from laneway.server.limits import WAIT_S_DEFAULT, WAIT_S_MAX, WAITS_MAX
from laneway.server.route import Act, GoodAnswer, Route, get, one
from laneway.wire.cursor import TxPlace, unwrap, wrap
from laneway.wire.idempotency import HEADER, OTHER_HEADER, REPLAYED
from laneway.wire.limits import CURSOR_CHARS_MAX, PAGE_DEFAULT, PAGE_MAX
from laneway.wire.values import Action, DeadLetterPage, LaneName, Order, StatusWord, Tx, TxPage

Limit = Annotated[int, Meta(ge=1, le=PAGE_MAX, description="Items of a page at most.")]
CursorText = Annotated[
    str,
    Meta(
        min_length=1,
        max_length=CURSOR_CHARS_MAX,
        description="`next_cursor` of the page before; left out, the list begins.",
    ),
]
WaitWord = Annotated[
    Literal["confirmed"], Meta(description="Answer when it is final, or when the time is over.")
]
Seconds = Annotated[int, Meta(ge=1, le=WAIT_S_MAX, description="Of the wait.")]
KeyText = Annotated[
    str, Meta(min_length=1, max_length=255, description="An idempotency key of this caller.")
]
HashText = Annotated[
    str,
    Meta(
        pattern=r"^(0x)?[0-9a-fA-F]{64}$", description="Of an attempt of an account's transaction."
    ),
]
DryRun = Annotated[bool, Meta(description="Show what would happen and do nothing.")]


class WaitQuery(Struct, frozen=True, forbid_unknown_fields=True):
    wait: WaitWord | UnsetType = UNSET
    timeout: Seconds = WAIT_S_DEFAULT


class TxQuery(Struct, frozen=True, forbid_unknown_fields=True):
    lane: LaneName | UnsetType = UNSET
    status: StatusWord | UnsetType = UNSET
    key: KeyText | UnsetType = UNSET
    hash: HashText | UnsetType = UNSET
    limit: Limit = PAGE_DEFAULT
    cursor: CursorText | UnsetType = UNSET


class DryRunQuery(Struct, frozen=True, forbid_unknown_fields=True):
    dry_run: DryRun = False


class PageQuery(Struct, frozen=True, forbid_unknown_fields=True):
    limit: Limit = PAGE_DEFAULT
    cursor: CursorText | UnsetType = UNSET


def place_of(query: PageQuery) -> TxPlace | None:
    cursor = given(query.cursor)
    return None if cursor is None else unwrap(cursor, TxPlace)


async def enqueue(call: Call) -> web.Response:
    """Queue a transaction; answers when it is durable.

    A W3C `traceparent` header is kept with it and sent to the node; a malformed one is ignored.
    """
    query = call.query(WaitQuery)
    key = call.idempotency_key()
    raw = await call.raw()
    new = read_new(call, raw)
    if len(raw) > call.request.client_max_size and not call.desk.is_large(new.lane):
        raise too_large(call.request.client_max_size)
    call.caller.check_lane(call.desk.lane_name(new.lane))
    taken = await call.desk.submit(new, key, call.caller.id, call.trace())
    return await answered(call, query, taken)


async def answered(call: Call, query: WaitQuery, taken: TakenTransaction) -> web.Response:
    """The answer to a transaction that is durable: at once, or after the wait that was asked."""
    tx = taken.tx
    if query.wait is not UNSET and not tx.final:
        tx = await waited(call, tx.id, query.timeout)
    headers = {"Location": location(tx.id)}
    if taken.replayed:
        headers[REPLAYED] = "true"
    return reply(tx, 200 if query.wait is not UNSET and tx.final else 202, headers)


LANE = re.compile(rb'"lane"\s*:\s*"([a-z]+):')
"""The kind of lane that a body names. Inside a text its quotation marks would be escaped."""


def read_new(call: Call, raw: bytes) -> Any:
    """A request in the type of its kind of lane, read once."""
    named = LANE.search(raw)
    return decode(raw, call.desk.body("" if named is None else named[1].decode()))


async def waited(call: Call, intent: str, timeout_s: int) -> Tx:
    if call.counts.waits >= WAITS_MAX:
        return await call.desk.show(intent)
    call.counts.waits += 1
    try:
        return await call.desk.wait(intent, timeout_s)
    finally:
        call.counts.waits -= 1


def location(intent: str) -> str:
    return "/v1/transactions/" + quote(intent, safe="")


async def show(call: Call) -> web.Response:
    """One transaction: where it is, and why.

    Of an EVM account's that was mined, nodes are asked briefly for its logs where what is kept of
    its ABI has events, and for the reason where it reverted; `unexplained` says why they do not
    know. After a wait only the reason of a revert is asked for.
    """
    query = call.query(WaitQuery)
    tx = await visible(call)
    if query.wait is not UNSET and not tx.final:
        tx = await waited(call, tx.id, query.timeout)
    # Those who wait are many, and what went well needs no node's time.
    if query.wait is UNSET or tx.status == "reverted":
        tx = await call.desk.explained(tx)
    return reply(tx)


async def visible(call: Call) -> Tx:
    tx = await call.desk.show(call.path("id"))
    call.caller.check_tx(tx.lane)
    return tx


async def find(call: Call) -> web.Response:
    """List transactions: of a lane in its order, of a status, or the one with a key or a hash.

    What only a chain can say (`logs`, `revert`) is asked for that one alone.
    """
    query = call.query(TxQuery)
    lane, key, cursor = given(query.lane), given(query.key), given(query.cursor)
    if lane is not None:
        lane = call.desk.lane_name(lane)
        call.caller.check_lane(lane)
    listing = Listing(
        lane=lane,
        status=given(query.status),
        after=None if cursor is None else unwrap(cursor, TxPlace),
        limit=query.limit,
        may_see=call.caller.may_see,
    )
    if key is not None or query.hash is not UNSET:
        return reply(await by_name(call, key, given(query.hash), listing))
    items, place = await call.desk.listing(listing)
    return reply(TxPage(list(items), None if place is None else wrap(place)))


async def by_name(call: Call, key: str | None, mined: str | None, listing: Listing) -> TxPage:
    """At most one, on one page."""
    found = None
    if key is not None:
        found = await call.desk.find(key, call.caller.id)
    if mined is not None:
        try:
            other = await call.desk.show(mined)
        except IntentNotFound:
            return TxPage([], None)
        found = other if key is None or (found is not None and found.id == other.id) else None
    items = [
        await call.desk.explained(tx)
        for tx in (() if found is None else (found,))
        if listing.may_see(tx.lane)
        and listing.lane in (None, tx.lane)
        and listing.status in (None, tx.status)
    ]
    return TxPage(items, None)


async def cancel(call: Call) -> web.Response:
    """Take back a transaction that waits; an execution that runs cannot be called back.

    An EVM account's that has a nonce is taken back by a no-op at that nonce, never by a hole:
    whichever of the two is mined decides, and then its status is `cancelled` or not. A Cosmos
    account's is taken back only while no node can have it.
    """
    return await commanded(call, "cancel", await call.body(Order))


async def commanded(call: Call, verb: str, order: Any, argument: Any = None) -> web.Response:
    """An operator's command about the transaction that the path names; `order` is its body."""
    reason = reason_of(call, order)
    return acted(await call.desk.command((await visible(call)).id, verb, reason, argument))


def reason_of(call: Call, order: Any, **more: Any) -> OperatorReason:
    """Who commands this and why, and whether it is a dry run; `order` is the request's body."""
    dry_run = call.query(DryRunQuery).dry_run or order.dry_run
    return OperatorReason(reason=order.reason, by=call.caller.name(), dry_run=dry_run, **more)


async def list_dead_letters(call: Call) -> web.Response:
    """Transactions and deliveries that were given up, the oldest first."""
    query = call.query(PageQuery)
    items, place = await call.desk.dead_letters(place_of(query), query.limit, call.caller.may_see)
    return reply(DeadLetterPage(list(items), None if place is None else wrap(place)))


async def retry(call: Call) -> web.Response:
    """Queue the content of one again, as a new transaction that names it in `retry_of`.

    Only where every try of the old one is proven dead: refused, expired, cancelled or dead. Asked
    twice, it answers with the transaction it made the first time. That the old one was not begun
    after some moment (`valid_until`) does not bind the new one.
    """
    reason = reason_of(call, await call.body(Order))
    return acted(await call.desk.retry((await visible(call)).id, reason))


def acted(action: Action) -> web.Response:
    return reply(action, 202 if action.outcome == "told" else 200)


ACTED = {
    200: GoodAnswer("Done, or what would be done in a dry run.", Action),
    202: GoodAnswer("Durable in the lane's mailbox; it has not followed yet.", Action),
}


def command_route(
    verb: str, act: Act, summary: str, body: type[Struct], scope: Scope = "tx:write"
) -> Route:
    """The route of a command about one transaction."""
    return operator_route(f"/v1/transactions/{{id}}/{verb}", act, summary, body, scope)


def operator_route(path: str, act: Act, summary: str, body: type[Struct], scope: Scope) -> Route:
    return Route(
        "POST",
        path,
        act,
        summary,
        scope,
        ACTED,
        query=DryRunQuery,
        body=body,
        problems=(409,),
        writes=True,
    )


def routes(bodies: Sequence[type[Struct]]) -> tuple[Route, ...]:
    """`bodies` are the requests of each kind of lane; that of most comes first."""
    return (
        Route(
            "POST",
            "/v1/transactions",
            enqueue,
            "Queue a transaction",
            "tx:write",
            {
                200: GoodAnswer("Final, within the wait.", Tx, headers=("Location", REPLAYED)),
                202: GoodAnswer("Durable.", Tx, headers=("Location", REPLAYED)),
            },
            query=WaitQuery,
            body=bodies[0],
            other_bodies=tuple(bodies[1:]),
            headers=(HEADER, OTHER_HEADER),
            problems=(404,),
            writes=True,
            waits=True,
            large=True,
        ),
        get(
            "/v1/transactions",
            find,
            "List transactions",
            one("One page.", TxPage),
            query=TxQuery,
            problems=(404,),
        ),
        get(
            "/v1/transactions/{id}",
            show,
            "Show a transaction",
            one("As it stands.", Tx),
            query=WaitQuery,
            waits=True,
        ),
        command_route("cancel", cancel, "Take back a transaction that waits", Order),
        command_route("retry", retry, "Put a new transaction in the place of a dead one", Order),
        get(
            "/v1/dead-letters",
            list_dead_letters,
            "List dead letters",
            one("One page.", DeadLetterPage),
            query=PageQuery,
        ),
    )
