"""Rollups: their blocks on the way to finality, receipts and accounts, and the way in."""

from typing import Annotated

from aiohttp import web
from msgspec import UNSET, Meta, Struct, UnsetType

from laneway.server.answers import reply
from laneway.server.call import Call, given
from laneway.server.route import Route, Told
from laneway.server.transactions import CursorText, Limit, WaitQuery, location, waited
from laneway.wire.cursor import BundlePlace, unwrap, wrap
from laneway.wire.idempotency import HEADER, OTHER_HEADER, REPLAYED
from laneway.wire.limits import PAGE_DEFAULT
from laneway.wire.rollup import (
    BundlePage,
    BundleShown,
    BundleState,
    NewRollupTx,
    RollupAccount,
    RollupList,
    RollupReceipt,
    RollupStatus,
)
from laneway.wire.values import Tx

StateText = Annotated[BundleState, Meta(description="Only blocks that are here.")]


class BundleQuery(Struct, frozen=True, forbid_unknown_fields=True):
    state: StateText | UnsetType = UNSET
    limit: Limit = PAGE_DEFAULT
    cursor: CursorText | UnsetType = UNSET


def lane_of(call: Call) -> str:
    """Of the rollup that the path names; who may not see its lane is told so."""
    lane = call.desk.rollups.lane(call.path("rollup"))
    call.caller.check_lane(lane)
    return lane


async def list_rollups(call: Call) -> web.Response:
    """The rollups that this process was given."""
    found = await call.desk.rollups.listed()
    return reply(RollupList([one for one in found if call.caller.may_see(one.lane)]))


async def rollup_status(call: Call) -> web.Response:
    """One rollup: its blocks by their state, its counters and its clock, and why it waits.

    Where another process holds the lane, `elsewhere` says what is not known here.
    """
    return reply(await call.desk.rollups.status(lane_of(call)))


async def list_bundles(call: Call) -> web.Response:
    """A rollup's blocks: those that are open, the lowest first, then the newest final ones."""
    lane, query = lane_of(call), call.query(BundleQuery)
    cursor = given(query.cursor)
    after = None if cursor is None else unwrap(cursor, BundlePlace)
    page, place = await call.desk.rollups.bundles(lane, given(query.state), after, query.limit)
    if place is not None:
        page = BundlePage(items=page.items, next_cursor=wrap(place), elsewhere=page.elsewhere)
    return reply(page)


async def show_bundle(call: Call) -> web.Response:
    """One block with its versions, what nodes and the chain said of them, and its transactions."""
    return reply(await call.desk.rollups.bundle(lane_of(call), call.path("bundle")))


async def show_receipt(call: Call) -> web.Response:
    """What became of a transaction, by its hash, once a block of this builder holds it.

    A block that is not final is known to the process that holds the lane.
    """
    return reply(await call.desk.rollups.receipt(lane_of(call), call.path("hash")))


async def show_account(call: Call) -> web.Response:
    """An account as the newest block leaves it, and the nonce to sign with.

    Where another process holds the lane that is the newest final block. A builder that has yet to
    read final blocks from the chain answers 503, and never with what was before them.
    """
    return reply(await call.desk.rollups.account(lane_of(call), call.path("account")))


async def send_to_rollup(call: Call) -> web.Response:
    """Queue a signed transaction; answers when it is durable.

    The same bytes are one transaction, whatever the key. What no block could hold is refused now.
    """
    query = call.query(WaitQuery)
    key = call.idempotency_key()
    new = await call.body(NewRollupTx)
    taken = await call.desk.rollups.submit(lane_of(call), new, key, call.caller.id)
    tx = taken.tx
    if query.wait is not UNSET and not tx.final:
        tx = await waited(call, tx.id, query.timeout)
    headers = {"Location": location(tx.id)}
    if taken.replayed:
        headers[REPLAYED] = "true"
    return reply(tx, 200 if query.wait is not UNSET and tx.final else 202, headers)


ROUTES = (
    Route(
        method="GET",
        path="/v1/rollup",
        act=list_rollups,
        summary="List rollups",
        scope="tx:read",
        told={200: Told("All of them.", RollupList)},
    ),
    Route(
        method="GET",
        path="/v1/rollup/{rollup}",
        act=rollup_status,
        summary="Show a rollup",
        scope="tx:read",
        told={200: Told("As it stands.", RollupStatus)},
    ),
    Route(
        method="GET",
        path="/v1/rollup/{rollup}/bundles",
        act=list_bundles,
        summary="List a rollup's blocks",
        scope="tx:read",
        query=BundleQuery,
        told={200: Told("One page.", BundlePage)},
    ),
    Route(
        method="GET",
        path="/v1/rollup/{rollup}/bundles/{bundle}",
        act=show_bundle,
        summary="Show a rollup's block",
        scope="tx:read",
        told={200: Told("As it stands.", BundleShown)},
        problems=(409,),
    ),
    Route(
        method="GET",
        path="/v1/rollup/{rollup}/receipts/{hash}",
        act=show_receipt,
        summary="Show a receipt",
        scope="tx:read",
        told={200: Told("What became of it.", RollupReceipt)},
        problems=(409,),
    ),
    Route(
        method="GET",
        path="/v1/rollup/{rollup}/accounts/{account}",
        act=show_account,
        summary="Show a rollup's account",
        scope="tx:read",
        told={200: Told("As the newest block leaves it.", RollupAccount)},
        problems=(422,),
    ),
    Route(
        method="POST",
        path="/v1/rollup/{rollup}/transactions",
        act=send_to_rollup,
        summary="Queue a rollup's transaction",
        scope="tx:write",
        query=WaitQuery,
        body=NewRollupTx,
        headers=(HEADER, OTHER_HEADER),
        told={
            200: Told("Final, within the wait.", Tx, headers=("Location", REPLAYED)),
            202: Told("Durable.", Tx, headers=("Location", REPLAYED)),
        },
        writes=True,
        waits=True,
    ),
)
