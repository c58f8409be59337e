"""Carries out what a delivery lane orders, and turns the endpoint's answers into its events."""

import msgspec

from laneway.core.ids import LaneId, lane_key
from laneway.lanes.delivery.values import Effect, Event, PostDeclined, PostReturned
from laneway.ports import Clock, DeliveryMessage, Posted, Sender

decode_message = msgspec.msgpack.Decoder(DeliveryMessage).decode
encode_message = msgspec.msgpack.Encoder().encode


NOT_CONFIGURED = "no endpoint of this name is configured"


class NoSender:
    """For a process without webhooks. Deliveries of an endpoint that was taken out of the
    configuration climb their ladder, and are sent if it comes back in time."""

    async def post(self, _endpoint: str, _message: DeliveryMessage) -> Posted:
        return Posted(None, 0, NOT_CONFIGURED)

    async def close(self) -> None: ...


class DeliveryPerformer:
    """Every POST is answered, in the end by the sender's own time limit."""

    prompt = False

    def __init__(self, sender: Sender, clock: Clock) -> None:
        self._sender = sender
        self._clock = clock

    def perform_now(self, _lane: LaneId, _effect: Effect) -> None:
        return None

    def decline(self, _lane: LaneId, effect: Effect, _reason: str) -> Event:
        return PostDeclined(self._clock.now_ms(), effect.slot, effect.attempt)

    async def perform(self, lane: LaneId, effect: Effect) -> Event:
        posted = await self._sender.post(lane_key(lane), decode_message(effect.payload))
        return PostReturned(
            self._clock.now_ms(),
            effect.slot,
            effect.attempt,
            posted.duration_ms,
            posted.code,
            posted.reason,
            posted.preview,
            posted.retry_after_ms,
        )
