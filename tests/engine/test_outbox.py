"""Messages between lanes: handed over until they are durable, and made one however often."""

import asyncio
from typing import Any

import pytest
from tests.engine.virtual import VirtualTime

from laneway.core.errors import Bug, StoreBusy, StoreClosed, StoreUnknown
from laneway.core.ids import LaneId, intent_id
from laneway.core.intent import Accepted, Answer, Arrival, Full, Replayed
from laneway.core.records import PassOn
from laneway.core.rows import Outbox
from laneway.engine.outbox import Messenger

MESSAGE = intent_id(1, bytes(10))
TARGET = LaneId("toy:B")
EFFECT = PassOn(Outbox(MESSAGE, TARGET, b"hello", 5))


class Post:
    """A store's door with a script, and who was woken."""

    def __init__(self, *script: Answer | Exception) -> None:
        self.time = VirtualTime()
        self.script = list(script)
        self.arrivals: list[Arrival] = []
        self.entered: list[Arrival] = []
        self.woken: list[LaneId] = []
        store: Any = self
        self.messenger = Messenger(
            store, self.time, lambda one, _: self.entered.append(one), self.woken.append
        )

    async def accept(self, arrivals: list[Arrival]) -> list[Answer]:
        self.arrivals += arrivals
        answer = self.script.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return [answer]


def test_a_message_becomes_an_intent_of_the_other_lane_under_its_own_id() -> None:
    post = Post(Accepted(MESSAGE, 1, 1, 5, True))
    assert post.time.run(post.messenger.pass_on(EFFECT)) == MESSAGE
    (arrival,) = post.entered
    assert (arrival.id, arrival.lane, arrival.payload) == (MESSAGE, TARGET, b"hello")
    assert not arrival.fresh, "the store must look whether it knows this id"


def test_a_message_handed_over_before_wakes_the_other_lane_all_the_same() -> None:
    """Its first acceptance may have been durable without anyone being told."""
    post = Post(Replayed(MESSAGE))
    assert post.time.run(post.messenger.pass_on(EFFECT)) == MESSAGE
    assert post.woken == [TARGET]


def test_a_busy_or_unsure_store_is_asked_again_with_growing_pauses() -> None:
    post = Post(StoreBusy("1"), StoreUnknown("2"), StoreBusy("3"), Replayed(MESSAGE))

    async def main() -> float:
        begun_s = asyncio.get_running_loop().time()
        await post.messenger.pass_on(EFFECT)
        return asyncio.get_running_loop().time() - begun_s

    assert post.time.run(main()) == pytest.approx(0.05 + 0.1 + 0.2)
    assert {arrival.id for arrival in post.arrivals} == {MESSAGE}


def test_a_closed_store_is_not_asked_again() -> None:
    post = Post(StoreClosed("x.db", "EIO"))
    with pytest.raises(StoreClosed):
        post.time.run(post.messenger.pass_on(EFFECT))


def test_a_message_that_is_refused_is_a_bug_and_never_taken_for_delivered() -> None:
    post = Post(Full("intents", 5))
    with pytest.raises(Bug):
        post.time.run(post.messenger.pass_on(EFFECT))
