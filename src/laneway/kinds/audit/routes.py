"""The audit trail: every operator's act, by whom and why."""

from aiohttp import web
from msgspec import UNSET, Struct, UnsetType

from laneway.core.errors import BadRequest
from laneway.core.ids import is_intent_id
from laneway.server.answers import reply
from laneway.server.call import Call, given
from laneway.server.desk import AuditListing
from laneway.server.route import GoodAnswer, Route
from laneway.server.transactions import CursorText, Limit
from laneway.wire.cursor import TxPlace, unwrap, wrap
from laneway.wire.limits import PAGE_DEFAULT
from laneway.wire.values import AuditPage, LaneName


class AuditQuery(Struct, frozen=True, forbid_unknown_fields=True):
    lane: LaneName | UnsetType = UNSET
    limit: Limit = PAGE_DEFAULT
    cursor: CursorText | UnsetType = UNSET


async def list_audit(call: Call) -> web.Response:
    """Who did what and why, oldest first: one entry before each act, one with what came of it."""
    query = call.query(AuditQuery)
    lane, cursor = given(query.lane), given(query.cursor)
    if lane is not None:
        lane = call.desk.lane_name(lane)
        call.caller.check_lane(lane)
    listing = AuditListing(
        lane=lane,
        after=None if cursor is None else unwrap(cursor, TxPlace),
        limit=query.limit,
        may_see=call.caller.may_see,
        may_see_all=call.caller.may_see_all(),
    )
    if listing.after is not None and not is_intent_id(listing.after.intent):
        raise BadRequest("cursor", "not a cursor of this list")
    items, place = await call.desk.part("audit").page(listing)
    return reply(AuditPage(list(items), None if place is None else wrap(place)))


ROUTES = (
    Route(
        method="GET",
        path="/v1/audit",
        act=list_audit,
        summary="The audit trail",
        scope="lane:admin",
        query=AuditQuery,
        problems=(404,),
        answers={200: GoodAnswer("One page.", AuditPage)},
    ),
)
