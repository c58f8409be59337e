"""Webhooks: the endpoints, what became of each message, and an operator's words to one."""

from aiohttp import web
from msgspec import UNSET, Struct, UnsetType

from laneway.server.answers import reply
from laneway.server.call import Call, given
from laneway.server.desk import WebhookVerb, Word
from laneway.server.route import Route, Told
from laneway.server.transactions import CursorText, DryRunQuery, Limit
from laneway.wire.cursor import TxPlace, unwrap, wrap
from laneway.wire.limits import PAGE_DEFAULT
from laneway.wire.values import DeadLetterPage, DeliveryPage, Order, WebhookAction, WebhookList


class PageQuery(Struct, frozen=True, forbid_unknown_fields=True):
    limit: Limit = PAGE_DEFAULT
    cursor: CursorText | UnsetType = UNSET


def place_of(query: PageQuery) -> TxPlace | None:
    cursor = given(query.cursor)
    return None if cursor is None else unwrap(cursor, TxPlace)


async def list_webhooks(call: Call) -> web.Response:
    """The endpoints of this server's configuration, and how each fares."""
    found = await call.desk.webhooks.listed()
    return reply(WebhookList([one for one in found if call.caller.may_see(lane_of(one.id))]))


def lane_of(webhook: str) -> str:
    return f"delivery:{webhook}"


def allowed(call: Call) -> str:
    webhook = call.path("webhook")
    call.caller.check_lane(lane_of(webhook))
    return webhook


async def list_deliveries(call: Call) -> web.Response:
    """The delivery log of one endpoint, oldest first."""
    query = call.query(PageQuery)
    webhook = allowed(call)
    items, place = await call.desk.webhooks.deliveries(webhook, place_of(query), query.limit)
    return reply(DeliveryPage(list(items), None if place is None else wrap(place)))


async def resend_delivery(call: Call) -> web.Response:
    """Send the same message once more, as a new delivery; its `webhook-id` stays."""
    webhook, word = allowed(call), await worded(call)
    return acted(await call.desk.webhooks.resend(webhook, call.path("delivery"), word))


async def test_webhook(call: Call) -> web.Response:
    """Send a message of the type `webhook.test`, to see that it arrives."""
    return await operated(call, "test")


async def pause_webhook(call: Call) -> web.Response:
    """Send nothing more; messages wait."""
    return await operated(call, "pause")


async def resume_webhook(call: Call) -> web.Response:
    """Go on after a pause, or after the endpoint answered 410 Gone."""
    return await operated(call, "resume")


async def revive_webhook(call: Call) -> web.Response:
    """Go on with a webhook whose lane a bug stopped, without the message that stopped it."""
    return await operated(call, "revive")


async def operated(call: Call, verb: WebhookVerb) -> web.Response:
    webhook, word = allowed(call), await worded(call)
    return acted(await call.desk.webhooks.operate(webhook, verb, word))


async def worded(call: Call) -> Word:
    order = await call.body(Order)
    dry_run = call.query(DryRunQuery).dry_run or order.dry_run
    return Word(reason=order.reason, by=call.caller.name(), dry_run=dry_run)


def acted(action: WebhookAction) -> web.Response:
    return reply(action, 202 if action.outcome == "told" else 200)


async def list_dead_letters(call: Call) -> web.Response:
    """What was given up: transactions and deliveries, the oldest first."""
    query = call.query(PageQuery)
    items, place = await call.desk.dead_letters(place_of(query), query.limit, call.caller.may_see)
    return reply(DeadLetterPage(list(items), None if place is None else wrap(place)))


ACTED = {
    200: Told("Done, or what would be done in a dry run.", WebhookAction),
    202: Told("Durable in the lane's mailbox; it has not followed yet.", WebhookAction),
}

ROUTES = (
    Route(
        method="GET",
        path="/v1/webhooks",
        act=list_webhooks,
        summary="List webhooks",
        scope="lane:operate",
        told={200: Told("All of them.", WebhookList)},
    ),
    Route(
        method="GET",
        path="/v1/webhooks/{webhook}/deliveries",
        act=list_deliveries,
        summary="The delivery log of a webhook",
        scope="lane:operate",
        query=PageQuery,
        told={200: Told("One page.", DeliveryPage)},
    ),
    *(
        Route(
            method="POST",
            path=f"/v1/webhooks/{{webhook}}/{verb}",
            act=act,
            summary=summary,
            scope="lane:operate",
            query=DryRunQuery,
            body=Order,
            told=ACTED,
            problems=(409,),
            writes=True,
        )
        for verb, act, summary in (
            ("deliveries/{delivery}/resend", resend_delivery, "Resend a delivery"),
            ("test", test_webhook, "Test a webhook"),
            ("pause", pause_webhook, "Pause a webhook"),
            ("resume", resume_webhook, "Resume a webhook"),
            ("revive", revive_webhook, "Revive a webhook that a bug stopped"),
        )
    ),
    Route(
        method="GET",
        path="/v1/dead-letters",
        act=list_dead_letters,
        summary="List dead letters",
        scope="tx:read",
        query=PageQuery,
        told={200: Told("One page.", DeadLetterPage)},
    ),
)
