"""Webhooks: the endpoints, what became of each message, and an operator's commands."""

from aiohttp import web

from laneway.kinds.delivery.desk import WebhooksDesk, WebhookVerb
from laneway.server.answers import reply
from laneway.server.call import Call
from laneway.server.desk import OperatorReason
from laneway.server.route import GoodAnswer, Route
from laneway.server.transactions import DryRunQuery, PageQuery, place_of
from laneway.wire.cursor import wrap
from laneway.wire.values import DeliveryPage, Order, WebhookAction, WebhookList


def webhooks(call: Call) -> WebhooksDesk:
    found: WebhooksDesk = call.desk.part("delivery")
    return found


async def list_webhooks(call: Call) -> web.Response:
    """The endpoints of this server's configuration, and how each fares."""
    found = await webhooks(call).listed()
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
    items, place = await webhooks(call).deliveries(webhook, place_of(query), query.limit)
    return reply(DeliveryPage(list(items), None if place is None else wrap(place)))


async def resend_delivery(call: Call) -> web.Response:
    """Send the same message once more, as a new delivery; its `webhook-id` stays."""
    webhook, order = allowed(call), await ordered(call)
    return acted(await webhooks(call).resend(webhook, call.path("delivery"), order))


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
    webhook, order = allowed(call), await ordered(call)
    return acted(await webhooks(call).operate(webhook, verb, order))


async def ordered(call: Call) -> OperatorReason:
    body = await call.body(Order)
    dry_run = call.query(DryRunQuery).dry_run or body.dry_run
    return OperatorReason(reason=body.reason, by=call.caller.name(), dry_run=dry_run)


def acted(action: WebhookAction) -> web.Response:
    return reply(action, 202 if action.outcome == "told" else 200)


ACTED = {
    200: GoodAnswer("Done, or what would be done in a dry run.", WebhookAction),
    202: GoodAnswer("Durable in the lane's mailbox; it has not followed yet.", WebhookAction),
}

ROUTES = (
    Route(
        method="GET",
        path="/v1/webhooks",
        act=list_webhooks,
        summary="List webhooks",
        scope="lane:operate",
        answers={200: GoodAnswer("All of them.", WebhookList)},
    ),
    Route(
        method="GET",
        path="/v1/webhooks/{webhook}/deliveries",
        act=list_deliveries,
        summary="The delivery log of a webhook",
        scope="lane:operate",
        query=PageQuery,
        answers={200: GoodAnswer("One page.", DeliveryPage)},
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
            answers=ACTED,
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
)
