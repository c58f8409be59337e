"""The performer of delivery lanes: a POST becomes an event, and one that was not sent is none."""

import asyncio

from laneway.core.ids import lane_id
from laneway.engine.delivery import DeliveryPerformer, NoSender, encode_message
from laneway.lanes.delivery.values import Post, PostDeclined, PostReturned
from laneway.ports import DeliveryMessage, Posted

LANE = lane_id("delivery", "hook")
MESSAGE = DeliveryMessage("msg_1", "webhook.test", b"{}")


class Clock:
    def now_ms(self) -> int:
        return 50

    def monotonic_ms(self) -> int:
        return 5


class Fake:
    def __init__(self) -> None:
        self.sent: list[tuple[str, DeliveryMessage]] = []

    async def post(self, endpoint: str, message: DeliveryMessage) -> Posted:
        self.sent.append((endpoint, message))
        return Posted(429, 12, "HTTP 429", b"slow down", 9_000)

    async def close(self) -> None: ...


def test_what_the_endpoint_answered_is_told_to_the_lane() -> None:
    sender = Fake()
    performer = DeliveryPerformer(sender, Clock())
    effect = Post(3, 2, encode_message(MESSAGE))
    assert not performer.prompt
    performer.perform_now(LANE, effect)
    assert sender.sent == [], "nothing is sent without waiting"
    event = asyncio.run(performer.perform(LANE, effect))
    assert event == PostReturned(50, 3, 2, 12, 429, "HTTP 429", b"slow down", 9_000)
    assert sender.sent == [("hook", MESSAGE)]


def test_without_webhooks_nothing_is_sent_and_that_is_the_answer() -> None:
    answer = asyncio.run(NoSender().post("hook", MESSAGE))
    assert (answer.code, "configured" in answer.reason) == (None, True)


def test_what_was_not_sent_is_said_so() -> None:
    performer = DeliveryPerformer(Fake(), Clock())
    declined = performer.decline(LANE, Post(3, 2, b""), "the engine is stopping")
    assert declined == PostDeclined(50, 3, 2)
