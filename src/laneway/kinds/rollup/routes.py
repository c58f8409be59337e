"""Rollups: their blocks on the way to finality, receipts and accounts, and the way in."""

from typing import Annotated, Any

from aiohttp import web
from msgspec import UNSET, Meta, Struct, UnsetType

from laneway.kinds.rollup.desk import RollupsDesk
from laneway.server.answers import reply
from laneway.server.call import Call, given
from laneway.server.route import Act, GoodAnswer, Route
from laneway.server.transactions import CursorText, Limit, WaitQuery, answered
from laneway.wire import rollup as wire
from laneway.wire.cursor import BundlePlace, unwrap, wrap
from laneway.wire.idempotency import HEADER, OTHER_HEADER, REPLAYED
from laneway.wire.limits import PAGE_DEFAULT
from laneway.wire.values import Tx

StateText = Annotated[wire.BundleState, Meta(description="Only blocks that are here.")]


class BundleQuery(Struct, frozen=True, forbid_unknown_fields=True):
    state: StateText | UnsetType = UNSET
    limit: Limit = PAGE_DEFAULT
    cursor: CursorText | UnsetType = UNSET


def rollups(call: Call) -> RollupsDesk:
    found: RollupsDesk = call.desk.part("rollup")
    return found


def lane_of(call: Call) -> str:
    """Of the rollup that the path names; a caller who may not see its lane is refused."""
    lane = rollups(call).lane(call.path("rollup"))
    call.caller.check_lane(lane)
    return lane


async def list_rollups(call: Call) -> web.Response:
    """The rollups that this process serves."""
    found = await rollups(call).listed()
    return reply(wire.RollupList([one for one in found if call.caller.may_see(one.lane)]))


async def rollup_status(call: Call) -> web.Response:
    """One rollup: its blocks by their state, its counters and its clock, and why it waits.

    Where another process holds the lane, `elsewhere` says what is not known here.
    """
    return reply(await rollups(call).status(lane_of(call)))


async def list_bundles(call: Call) -> web.Response:
    """A rollup's blocks: those that are open, the lowest first, then the newest final ones."""
    lane, query = lane_of(call), call.query(BundleQuery)
    cursor = given(query.cursor)
    after = None if cursor is None else unwrap(cursor, BundlePlace)
    page, place = await rollups(call).bundles(lane, given(query.state), after, query.limit)
    if place is not None:
        page = wire.BundlePage(items=page.items, next_cursor=wrap(place), elsewhere=page.elsewhere)
    return reply(page)


async def show_bundle(call: Call) -> web.Response:
    """One block with its versions, what nodes and the chain said of them, and its transactions."""
    return reply(await rollups(call).bundle(lane_of(call), call.path("bundle")))


async def show_receipt(call: Call) -> web.Response:
    """What became of a transaction, by its hash, once a block of this builder holds it.

    A block that is not final is known to the process that holds the lane.
    """
    return reply(await rollups(call).receipt(lane_of(call), call.path("hash")))


async def show_account(call: Call) -> web.Response:
    """An account as the newest block leaves it, and the nonce to sign with.

    Where another process holds the lane that is the newest final block. A builder that has yet to
    read final blocks from the chain answers 503, and never with what was before them.
    """
    return reply(await rollups(call).account(lane_of(call), call.path("account")))


async def send_to_rollup(call: Call) -> web.Response:
    """Queue a signed transaction; answers when it is durable.

    The same bytes are one transaction, whatever the key. What no block could hold is refused now.
    """
    query = call.query(WaitQuery)
    key = call.idempotency_key()
    new = await call.body(wire.NewRollupTx)
    asked = wire.NewLaneTx(
        lane=lane_of(call), payload=wire.RollupPayload(raw=new.raw), valid_until=new.valid_until
    )
    taken = await call.desk.submit(asked, key, call.caller.id, call.trace())
    return await answered(call, query, taken)


def reading(path: str, act: Act, summary: str, answer: GoodAnswer, **more: Any) -> Route:
    answers = {200: answer}
    path = f"/v1/rollup{path}"
    return Route(
        method="GET", path=path, act=act, summary=summary, scope="tx:read", answers=answers, **more
    )


ROUTES = (
    reading("", list_rollups, "List rollups", GoodAnswer("All of them.", wire.RollupList)),
    reading(
        "/{rollup}", rollup_status, "Show a rollup", GoodAnswer("As it stands.", wire.RollupStatus)
    ),
    reading(
        "/{rollup}/bundles",
        list_bundles,
        "List a rollup's blocks",
        GoodAnswer("One page.", wire.BundlePage),
        query=BundleQuery,
    ),
    reading(
        "/{rollup}/bundles/{bundle}",
        show_bundle,
        "Show a rollup's block",
        GoodAnswer("As it stands.", wire.BundleShown),
        problems=(409,),
    ),
    reading(
        "/{rollup}/receipts/{hash}",
        show_receipt,
        "Show a receipt",
        GoodAnswer("What became of it.", wire.RollupReceipt),
        problems=(409,),
    ),
    reading(
        "/{rollup}/accounts/{account}",
        show_account,
        "Show a rollup's account",
        GoodAnswer("As the newest block leaves it.", wire.RollupAccount),
        problems=(422,),
    ),
    Route(
        method="POST",
        path="/v1/rollup/{rollup}/transactions",
        act=send_to_rollup,
        summary="Queue a rollup's transaction",
        scope="tx:write",
        query=WaitQuery,
        body=wire.NewRollupTx,
        headers=(HEADER, OTHER_HEADER),
        answers={
            200: GoodAnswer("Final, within the wait.", Tx, headers=("Location", REPLAYED)),
            202: GoodAnswer("Durable.", Tx, headers=("Location", REPLAYED)),
        },
        writes=True,
        waits=True,
    ),
)
