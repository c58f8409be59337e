"""Webhooks as a process serves them: delivery lanes, and the courier that fills them."""

from collections.abc import Sequence

from laneway.engine.delivery import DeliveryPerformer
from laneway.engine.listeners import Listener
from laneway.feeds.courier import Courier
from laneway.feeds.events import EventsOf
from laneway.kinds.delivery.desk import WebhooksDesk
from laneway.kinds.delivery.log import DeliveryLog
from laneway.kinds.delivery.webhooks import ConfiguredWebhook, open_sender
from laneway.kinds.served import Operator, Served
from laneway.lanes.delivery import delivery_kind
from laneway.lanes.kind import LaneKind
from laneway.ports import Clock


class DeliveryServed(Served):
    name = "delivery"
    is_listed = False

    def __init__(
        self, webhooks: Sequence[ConfiguredWebhook], clock: Clock, events_of: EventsOf
    ) -> None:
        self.webhooks = tuple(webhooks)
        self._clock = clock
        self._sender = open_sender(webhooks, clock)
        subscriptions = [webhook.subscription() for webhook in webhooks]
        self._courier = Courier(subscriptions, clock, events_of)
        self.performer = DeliveryPerformer(self._sender, clock)

    def machine(self) -> LaneKind:
        return delivery_kind()

    def listeners(self) -> Sequence[Listener]:
        return (self._courier, DeliveryLog()) if self.webhooks else ()

    async def started(self) -> None:
        await self._courier.start(self.engine)

    async def stopping(self) -> None:
        await self._courier.stop()

    async def close(self) -> None:
        await self._sender.close()

    def part(self, operator: Operator) -> WebhooksDesk:
        sections = [webhook.section for webhook in self.webhooks]
        return WebhooksDesk(self.home, operator, sections, self._clock)
