"""Laws of a read on several nodes: the first good answer wins, and losing is no fault."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any

import pytest
from tests.engine.virtual import VirtualTime

from laneway.chains.endpoint import NodeEndpoint, NodePlace, loop_s
from laneway.chains.limits import ALONE_HEDGES
from laneway.chains.nodes import AnswerUnconfirmed, NodeLags, NodeSet
from laneway.chains.race import Patience, Race
from laneway.core.errors import ChainError, ChainUnreachable
from laneway.ports.nodes import UNREACHABLE
from laneway.wire.jsonrpc import RpcAnswerLost

PATIENCE = Patience(turn_s=100, hedge_s=1, silent_ms=5_000)


class Slow(NodeEndpoint):
    """A node that answers each question after some seconds; never if these are infinite."""

    def __init__(self, name: str, takes_s: float = 0.0, answer: Any = None) -> None:
        super().__init__(NodePlace("http://127.0.0.1:1", name=name))
        self.takes_s = takes_s
        self.answer = name if answer is None else answer
        self.asked_s: list[float] = []
        self.cancelled_s: list[float] = []
        self.greetings = 0

    async def _hear_chain(self) -> str | None:
        self.greetings += 1
        await self._asked(1, self._work())
        return None

    async def step(self) -> Any:
        self.asked_s.append(loop_s())
        (answer,) = await self._asked(1, self._work())
        return answer

    async def _work(self) -> list[Any]:
        try:
            await asyncio.sleep(self.takes_s)
        except asyncio.CancelledError:
            self.cancelled_s.append(loop_s())
            raise
        if isinstance(self.answer, Exception):
            raise self.answer
        return [self.answer]


def once(node: Slow) -> Awaitable[Any]:
    return node.step()


async def thrice(node: Slow) -> Any:
    for _ in range(3):
        answer = await node.step()
    return answer


def of(*nodes: Slow, patience: Patience = PATIENCE) -> NodeSet[Slow]:
    return NodeSet(nodes, lambda: patience)


def play(story: Callable[[], Coroutine[Any, Any, None]]) -> None:
    async def alone() -> None:
        await story()
        left = asyncio.all_tasks() - {asyncio.current_task()}
        assert not left, "no task outlives its read"

    VirtualTime().run(alone())


def test_a_node_that_is_silent_is_no_longer_asked_alone() -> None:
    async def story() -> None:
        silent, quick, spare = Slow("a", 1_000), Slow("b", 0.5), Slow("c")
        begun_s = loop_s()
        nodes = of(silent, quick, spare)
        assert await nodes.read(once, at_head=False) == "b"
        assert loop_s() - begun_s == pytest.approx(1.5)
        assert silent.cancelled_s == [loop_s()]
        assert spare.asked_s == []
        assert silent.standing.now.trouble == "", "not yet"
        # Whether it is slow or dead is seen by one question of its own.
        await asyncio.sleep(5.1)
        assert silent.standing.now.trouble == UNREACHABLE
        assert (silent.greetings, quick.greetings) == (1, 0)
        await nodes.close()

    play(story)


def test_a_node_that_lost_a_race_is_slow_and_sound_and_asked_later() -> None:
    async def story() -> None:
        slow, quick = Slow("a", 4), Slow("b", 1.8)
        nodes = of(slow, quick)
        assert await nodes.read(once, at_head=False) == "b"
        assert slow.cancelled_s == [loop_s()], "it waited for longer than a silence may last"
        assert slow.standing.now.trouble == ""
        await asyncio.sleep(4.5)
        assert (slow.standing.now.trouble, slow.is_resting()) == ("", False)
        assert await nodes.read(once, at_head=False) == "b"
        assert len(slow.asked_s) == 2, "b was silent for long too"
        await asyncio.sleep(60)
        quick.takes_s = slow.takes_s = 0.5
        assert await nodes.read(once, at_head=False) == "a", "it is not late for ever"
        await nodes.close()

    play(story)


def test_two_races_that_are_lost_at_once_are_one_question() -> None:
    async def story() -> None:
        silent = Slow("a", 1_000)
        nodes = of(silent, Slow("b"))
        reads = [nodes.read(once, at_head=False) for _ in range(5)]
        assert await asyncio.gather(*reads) == ["b"] * 5
        await asyncio.sleep(0)
        assert silent.greetings == 1
        await nodes.close()

    play(story)


def test_a_node_that_answers_step_by_step_is_given_its_time() -> None:
    async def story() -> None:
        steady, other = Slow("a", 0.9), Slow("b")
        nodes = of(steady, other)
        assert await nodes.read(thrice, at_head=False) == "a"
        assert other.asked_s == []
        await nodes.close()

    play(story)


def test_a_node_that_is_slow_at_every_step_is_soon_not_asked_alone() -> None:
    async def story() -> None:
        steady, other = Slow("a", 0.9), Slow("b", 0.1)
        begun_s = loop_s()
        nodes = of(steady, other)

        async def twice_thrice(node: Slow) -> Any:
            await thrice(node)
            return await thrice(node)

        assert await nodes.read(twice_thrice, at_head=False) == "b"
        assert other.asked_s[0] - begun_s == pytest.approx(ALONE_HEDGES)
        assert nodes.is_late(steady)
        await nodes.close()

    play(story)


def test_one_that_loses_nothing_for_it_is_not_looked_after() -> None:
    """Asked a moment ago, it had no time to be late."""

    async def story() -> None:
        first, second = Slow("a", 1.2), Slow("b", 9)
        nodes = of(first, second)
        assert await nodes.read(once, at_head=False) == "a"
        assert second.cancelled_s == [loop_s()]
        await asyncio.sleep(60)
        assert second.greetings == 0
        await nodes.close()

    play(story)


def test_a_failure_is_followed_by_the_next_node_at_once() -> None:
    async def story() -> None:
        away = ChainUnreachable("b", "away")
        silent, dead, third = Slow("a", 1_000), Slow("b", 0.25, away), Slow("c", 0.25)
        begun_s = loop_s()
        nodes = of(silent, dead, third)
        assert await nodes.read(once, at_head=False) == "c"
        assert loop_s() - begun_s == pytest.approx(1.5)
        await nodes.close()

    play(story)


def test_the_last_node_is_given_its_whole_turn() -> None:
    async def story() -> None:
        nodes = of(Slow("a", 1_000), Slow("b", 50))
        assert await nodes.read(once, at_head=False) == "b"
        with pytest.raises(RpcAnswerLost, match="not done in 100 s"):
            await of(Slow("a", 1_000)).read(once)
        await nodes.close()

    play(story)


def test_without_a_hedge_nodes_are_asked_one_after_the_other() -> None:
    async def story() -> None:
        slow, other = Slow("a", 3_000), Slow("b")
        assert await of(slow, other, patience=Patience()).read(once) == "a"
        assert other.asked_s == []

    play(story)


def test_a_reader_that_is_cancelled_leaves_nothing_and_notes_the_silence() -> None:
    async def story() -> None:
        silent, other = Slow("a", 1_000), Slow("b", 1_000)
        reading = asyncio.create_task(of(silent, other).read(once, at_head=False))
        await asyncio.sleep(3)
        reading.cancel()
        with pytest.raises(asyncio.CancelledError):
            await reading
        assert silent.cancelled_s == other.cancelled_s == [loop_s()]
        assert silent.standing.now.trouble == UNREACHABLE

    play(story)


def test_a_bug_is_raised_and_leaves_nothing() -> None:
    async def story() -> None:
        silent, buggy = Slow("a", 1_000), Slow("b", 0, ValueError("a bug"))
        with pytest.raises(ValueError, match="a bug"):
            await of(silent, buggy).read(once, at_head=False)
        assert silent.cancelled_s == [loop_s()]

    play(story)


def test_a_race_has_no_more_than_its_nodes() -> None:
    async def story() -> None:
        race: Race[Slow, str] = Race([Slow("a"), Slow("b", 0, ChainError("no"))], once, PATIENCE)
        names = []
        while (done := await race.next()) is not None:
            names.append(done[0].name)
        assert names == ["a", "b"]
        assert race.lost() == []
        await race.leave()

    play(story)


def test_a_node_that_lost_before_it_named_its_chain_is_asked_for_it_again() -> None:
    """Its address may have passed to a node of another chain meanwhile."""

    async def story() -> None:
        node = Slow("a")
        await node.prepare(1)
        await asyncio.sleep(60)
        node.takes_s = 50
        preparing = asyncio.create_task(node.prepare(1))
        await asyncio.sleep(1)
        preparing.cancel()
        await asyncio.wait([preparing])
        assert node.greetings == 2
        node.takes_s = 0
        await node.prepare(1)
        assert node.greetings == 3
        await node.prepare(1)
        assert node.greetings == 3

    play(story)


# Answers that one node alone is not believed.


def is_nothing(answer: Any) -> bool:
    return answer in ("nothing", "garbage")


@pytest.mark.parametrize("place", range(3))
def test_one_node_that_has_nothing_hides_no_value(place: int) -> None:
    async def story() -> None:
        found = [Slow(name) for name in "abc"]
        found[place].answer = "nothing"
        nodes = of(*found)
        first = "abc"[place]
        answer = await nodes.read(once, first=first, at_head=False, doubts=is_nothing)
        assert answer not in (first, "nothing")
        # The others are asked before it for a while; it is not blamed.
        await nodes.read(once, at_head=False, doubts=is_nothing)
        assert len(found[place].asked_s) == 1
        assert [node.standing.now.trouble for node in found] == ["", "", ""]

    play(story)


AWAY, GONE = ChainUnreachable("n", "it is away"), ChainError("no such block")


@pytest.mark.parametrize(
    ("answers", "believed"),
    [
        (["nothing"], True),
        (["nothing", "nothing"], True),
        (["nothing", "nothing", AWAY], True),
        (["nothing", "garbage", "nothing"], True),
        (["nothing", AWAY], False),
        (["nothing", AWAY, AWAY], False),
        (["nothing", GONE], False),
        (["nothing", "garbage"], False),
        ([AWAY, "nothing", "garbage"], False),
    ],
)
def test_absence_is_believed_on_the_word_of_two_nodes_or_the_only_one(
    answers: list[Any], believed: bool
) -> None:
    async def story() -> None:
        nodes = of(*(Slow(name, 0, said) for name, said in zip("abc", answers, strict=False)))
        if believed:
            assert await nodes.read(once, at_head=False, doubts=is_nothing) == "nothing"
            return
        with pytest.raises(AnswerUnconfirmed, match="no other node confirms") as caught:
            await nodes.read(once, at_head=False, doubts=is_nothing)
        assert (caught.value.retry, caught.value.changed) == ("later", False)
        assert ("it is away" in str(caught.value)) == (AWAY in answers)

    play(story)


def test_a_doubtful_answer_of_a_node_that_lags_counts_for_nothing() -> None:
    async def story() -> None:
        ahead, behind = Slow("a", 0, "nothing"), Slow("b", 0, "nothing")
        ahead.saw_head(7)
        behind.saw_head(3)
        with pytest.raises(AnswerUnconfirmed, match="its newest block is 3"):
            await of(ahead, behind).read(once, doubts=is_nothing)
        with pytest.raises(NodeLags):
            await of(Slow("c", 0, AWAY), behind, ahead).read(only_behind)

    play(story)


async def only_behind(node: Slow) -> Any:
    if node.name == "a":
        raise ChainUnreachable("a", "it is away")
    return await node.step()
