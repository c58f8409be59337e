"""Transactions: queue one, look at one, list them, take one back, put a new one in its place."""

from typing import Annotated, Literal
from urllib.parse import quote

from aiohttp import web
from msgspec import UNSET, Meta, Struct, UnsetType

from laneway.core.errors import IntentNotFound
from laneway.core.ids import is_account, is_cosmos
from laneway.server.answers import reply
from laneway.server.call import Call, check_size, decode, given
from laneway.server.desk import Listing, Word
from laneway.server.limits import WAIT_S_DEFAULT, WAIT_S_MAX, WAITS_MAX
from laneway.server.route import Route, Told
from laneway.wire.cursor import TxPlace, unwrap, wrap
from laneway.wire.idempotency import HEADER, OTHER_HEADER, REPLAYED
from laneway.wire.limits import CURSOR_CHARS_MAX, PAGE_DEFAULT, PAGE_MAX
from laneway.wire.values import (
    Action,
    LaneName,
    NewCosmosTx,
    NewEvmTx,
    NewTx,
    Order,
    ReplaceOrder,
    SettleOrder,
    StatusWord,
    Tx,
    TxPage,
)

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
        pattern=r"^(0x)?[0-9a-fA-F]{64}$",
        description="Of an attempt of an account's transaction.",
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


async def enqueue(call: Call) -> web.Response:
    """Queue a transaction; answers when it is durable.

    A W3C `traceparent` header is kept with it and told to the node; a malformed one is ignored.
    """
    query = call.query(WaitQuery)
    key = call.idempotency_key()
    raw = await call.raw()
    new = read_new(raw)
    if not isinstance(new, NewCosmosTx):
        check_size(call, raw)
    call.caller.check_lane(call.desk.lane_name(new.lane))
    taken = await call.desk.submit(new, key, call.caller.id, call.trace())
    tx = taken.tx
    if query.wait is not UNSET and not tx.final:
        tx = await waited(call, tx.id, query.timeout)
    headers = {"Location": location(tx.id)}
    if taken.replayed:
        headers[REPLAYED] = "true"
    return reply(tx, 200 if query.wait is not UNSET and tx.final else 202, headers)


class Named(Struct, frozen=True):
    """As much of a body as says what the rest is."""

    lane: str


def read_new(raw: bytes) -> NewTx | NewEvmTx | NewCosmosTx:
    """Most are for contracts, and are read once."""
    if b'"evm:' in raw or b'"cosmos:' in raw:
        lane = decode(raw, Named).lane
        if is_account(lane):
            return decode(raw, NewEvmTx)
        if is_cosmos(lane):
            return decode(raw, NewCosmosTx)
    return decode(raw, NewTx)


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
    """One transaction: where it is, and why."""
    query = call.query(WaitQuery)
    tx = await visible(call)
    if query.wait is not UNSET and not tx.final:
        tx = await waited(call, tx.id, query.timeout)
    return reply(tx)


async def visible(call: Call) -> Tx:
    tx = await call.desk.show(call.path("id"))
    call.caller.check_tx(tx.lane)
    return tx


async def find(call: Call) -> web.Response:
    """List transactions: of a lane in its order, of a status, or the one with a key or a hash."""
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
        tx
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
    dry_run = call.query(DryRunQuery).dry_run
    order = await call.body(Order)
    tx = await visible(call)
    word = Word(reason=order.reason, by=call.caller.name(), dry_run=dry_run or order.dry_run)
    return acted(await call.desk.cancel(tx.id, word))


async def bump(call: Call) -> web.Response:
    """Offer more for an EVM account's transaction, at the same nonce.

    At least 1.125 of what the last attempt offered, and 1.2 of what the chain asks now.
    """
    dry_run = call.query(DryRunQuery).dry_run
    order = await call.body(Order)
    tx = await visible(call)
    word = Word(reason=order.reason, by=call.caller.name(), dry_run=dry_run or order.dry_run)
    return acted(await call.desk.bump(tx.id, word))


async def replace(call: Call) -> web.Response:
    """Put other content in the place of an EVM account's transaction, at the same nonce.

    What was sent before may still be mined instead: whichever is decides, and `reason` says which.
    One that has no nonce yet is sent with the new content alone.
    """
    dry_run = call.query(DryRunQuery).dry_run
    order = await call.body(ReplaceOrder)
    tx = await visible(call)
    word = Word(reason=order.reason, by=call.caller.name(), dry_run=dry_run or order.dry_run)
    return acted(await call.desk.replace(tx.id, order.payload, word))


async def settle(call: Call) -> web.Response:
    """Say what became of a contract's execution whose lane is halted, because no call can tell.

    Look at the chain first: `executed` of one that is not there loses it, and `not_executed` of one
    that is there does it twice.
    """
    dry_run = call.query(DryRunQuery).dry_run
    order = await call.body(SettleOrder)
    tx = await visible(call)
    word = Word(reason=order.reason, by=call.caller.name(), dry_run=dry_run or order.dry_run)
    return acted(await call.desk.settle(tx.id, order.word, word))


async def retry(call: Call) -> web.Response:
    """Queue what one said again, as a new transaction that names it in `retry_of`.

    Only where every try of the old one is proven dead: refused, expired, cancelled or dead. Asked
    twice, it answers with the transaction it made the first time. That the old one was not begun
    after some moment (`valid_until`) does not bind the new one.
    """
    dry_run = call.query(DryRunQuery).dry_run
    order = await call.body(Order)
    tx = await visible(call)
    word = Word(reason=order.reason, by=call.caller.name(), dry_run=dry_run or order.dry_run)
    return acted(await call.desk.retry(tx.id, word))


def acted(action: Action) -> web.Response:
    return reply(action, 202 if action.outcome == "told" else 200)


ACTED = {
    200: Told("Done, or what would be done in a dry run.", Action),
    202: Told("Durable in the lane's mailbox; it has not followed yet.", Action),
}

ROUTES = (
    Route(
        method="POST",
        path="/v1/transactions",
        act=enqueue,
        summary="Queue a transaction",
        scope="tx:write",
        query=WaitQuery,
        body=NewTx,
        other_bodies=(NewEvmTx, NewCosmosTx),
        headers=(HEADER, OTHER_HEADER),
        told={
            200: Told("Final, within the wait.", Tx, headers=("Location", REPLAYED)),
            202: Told("Durable.", Tx, headers=("Location", REPLAYED)),
        },
        problems=(404,),
        writes=True,
        waits=True,
        large=True,
    ),
    Route(
        method="GET",
        path="/v1/transactions",
        act=find,
        summary="List transactions",
        scope="tx:read",
        query=TxQuery,
        told={200: Told("One page.", TxPage)},
        problems=(404,),
    ),
    Route(
        method="GET",
        path="/v1/transactions/{id}",
        act=show,
        summary="Show a transaction",
        scope="tx:read",
        query=WaitQuery,
        told={200: Told("As it stands.", Tx)},
        waits=True,
    ),
    Route(
        method="POST",
        path="/v1/transactions/{id}/cancel",
        act=cancel,
        summary="Take back a transaction that waits",
        scope="tx:write",
        query=DryRunQuery,
        body=Order,
        told=ACTED,
        problems=(409,),
        writes=True,
    ),
    Route(
        method="POST",
        path="/v1/transactions/{id}/bump",
        act=bump,
        summary="Offer more for an account's transaction",
        scope="tx:write",
        query=DryRunQuery,
        body=Order,
        told=ACTED,
        problems=(409,),
        writes=True,
    ),
    Route(
        method="POST",
        path="/v1/transactions/{id}/replace",
        act=replace,
        summary="Put other content in the place of an account's transaction",
        scope="tx:write",
        query=DryRunQuery,
        body=ReplaceOrder,
        told=ACTED,
        problems=(409,),
        writes=True,
    ),
    Route(
        method="POST",
        path="/v1/transactions/{id}/settle",
        act=settle,
        summary="Say what became of an execution that halted its lane",
        scope="lane:operate",
        query=DryRunQuery,
        body=SettleOrder,
        told=ACTED,
        problems=(409,),
        writes=True,
    ),
    Route(
        method="POST",
        path="/v1/transactions/{id}/retry",
        act=retry,
        summary="Put a new transaction in the place of a dead one",
        scope="tx:write",
        query=DryRunQuery,
        body=Order,
        told=ACTED,
        problems=(409,),
        writes=True,
    ),
)
