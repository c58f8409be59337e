"""One that hangs holds nobody, and says what that proves."""

import asyncio

import pytest
from tests.engine.virtual import VirtualTime

from laneway.chains.nodes import gathered
from laneway.core.errors import ChainUnreachable


def test_the_others_are_given_a_little_longer_than_the_first() -> None:
    said: list[tuple[str, float]] = []

    async def work(name: str, takes_s: float) -> None:
        loop = asyncio.get_running_loop()
        try:
            await asyncio.sleep(takes_s)
        except asyncio.CancelledError:
            said.append((f"{name} was cut off", loop.time()))
            raise
        said.append((name, loop.time()))

    async def story() -> None:
        begun_s = asyncio.get_running_loop().time()
        await gathered([work("slow", 60), work("first", 1), work("second", 2.5)], 2)
        assert [(name, at_s - begun_s) for name, at_s in said] == [
            ("first", 1), ("second", 2.5), ("slow was cut off", 3),
        ]  # fmt: skip

    VirtualTime().run(story())


def test_a_bug_is_not_swallowed_and_leaves_nobody_behind() -> None:
    ended: list[str] = []

    async def breaks() -> None:
        raise ValueError("a bug")

    async def waits() -> None:
        try:
            await asyncio.sleep(60)
        finally:
            ended.append("waits")

    async def story() -> None:
        with pytest.raises(ValueError, match="a bug"):
            await gathered([waits(), breaks()], 1)
        assert ended == ["waits"]

    VirtualTime().run(story())


def test_whoever_is_cancelled_takes_all_along() -> None:
    ended: list[int] = []

    async def waits(number: int) -> None:
        try:
            await asyncio.sleep(60)
        finally:
            ended.append(number)

    async def story() -> None:
        asking = asyncio.create_task(gathered([waits(1), waits(2)], 1))
        await asyncio.sleep(1)
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
        assert ended == [1, 2]

    VirtualTime().run(story())


def test_answers_are_awaited_from_the_first_and_shorter_once_there_are_enough() -> None:
    async def answer(name: str, takes_s: float) -> str:
        await asyncio.sleep(takes_s)
        if name == "dead":
            raise ChainUnreachable(name, "refused")
        return name

    async def story() -> None:
        loop = asyncio.get_running_loop()
        begun_s = loop.time()
        asks = [answer("slow", 60), answer("dead", 0), answer("a", 1), answer("b", 2)]
        ended = await gathered(asks, 3, enough=2, enough_grace_s=0.5)
        assert [one for one in ended if isinstance(one, str)] == ["a", "b"]
        assert len(ended) == 3
        assert loop.time() - begun_s == 2.5
        begun_s = loop.time()
        assert await gathered([answer("a", 1), answer("slow", 60)], 3) == ["a"]
        assert loop.time() - begun_s == 4

    VirtualTime().run(story())
