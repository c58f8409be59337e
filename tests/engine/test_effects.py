"""Effects: bounded, checked right before each send, and always answered."""

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from msgspec import Struct
from tests.engine.virtual import VirtualTime

from laneway.core.errors import StoreClosed, StoreError
from laneway.core.ids import LaneId
from laneway.engine import effects as effects_module
from laneway.engine.effects import Effects
from laneway.engine.orders import Perform

LANE = LaneId("toy:A")


class Stage:
    """Everything around the effects, each piece with a switch."""

    def __init__(self) -> None:
        self.time = VirtualTime()
        self.alive = True
        self.fence = 1
        self.answers: list[tuple[LaneId, Any]] = []
        self.bugs: list[Exception] = []
        self.broken_by: list[Any] = []
        self.failures: list[StoreError] = []
        self.running = 0
        self.running_max = 0
        self.lasts_s = 1.0
        self.prompt = False
        self.prompt_for: set[str] = set()
        """The effects that need no waiting."""
        self.error: Exception | None = None
        self.moves = 0
        anything: Any = self
        self.effects = Effects(anything, {"toy": self}, self.may_act)
        self.effects.moved = self._move
        self.effects.failed = self.failures.append

    def _move(self) -> None:
        self.moves += 1

    # The reactor.

    def owns(self, lane: LaneId, fence: int) -> bool:
        return fence == self.fence

    def answered(self, lane: LaneId, event: Any) -> None:
        self.answers.append((lane, event))

    def broken(self, lane: LaneId, error: Exception, effect: Any = None) -> None:
        self.bugs.append(error)
        self.broken_by.append(effect)

    # The heart and the performer.

    def may_act(self) -> bool:
        return self.alive

    async def perform(self, lane: LaneId, effect: Any) -> Any:
        self.running += 1
        self.running_max = max(self.running, self.running_max)
        try:
            await asyncio.sleep(self.lasts_s)
            if self.error is not None:
                raise self.error
        finally:
            self.running -= 1
        return ("did", effect)

    def perform_now(self, lane: LaneId, effect: Any) -> Any:
        if effect not in self.prompt_for:
            return None
        if self.error is not None:
            raise self.error
        return ("did at once", effect)

    def decline(self, lane: LaneId, effect: Any, reason: str) -> Any:
        return ("declined", effect, reason)

    async def go(self, *effects: Any) -> None:
        for effect in effects:
            self.effects.add(Perform(LANE, effect, 1))
        self.effects.begin()
        while not self.effects.is_quiet():
            await asyncio.sleep(0.1)


def test_an_effect_is_carried_out_and_its_answer_brought_back() -> None:
    stage = Stage()
    stage.time.run(stage.go("x"))
    assert stage.answers == [(LANE, ("did", "x"))]
    assert stage.moves == 1


def test_an_effect_that_needs_no_waiting_is_answered_without_a_task() -> None:
    stage = Stage()
    stage.prompt, stage.prompt_for = True, {"x"}
    stage.effects.add(Perform(LANE, "x", 1))

    async def story() -> None:
        stage.effects.begin()
        assert stage.effects.is_quiet()

    stage.time.run(story())
    assert stage.answers == [(LANE, ("did at once", "x"))]
    assert stage.moves == 0  # Whoever began it is there to look.


def test_a_prompt_performer_may_still_need_time_for_some() -> None:
    stage = Stage()
    stage.prompt, stage.prompt_for = True, {"x"}
    stage.time.run(stage.go("slow", "x"))
    assert stage.answers == [(LANE, ("did at once", "x")), (LANE, ("did", "slow"))]


def test_what_may_not_be_sent_is_not_sent_at_once_either() -> None:
    stage = Stage()
    stage.prompt, stage.prompt_for = True, {"x"}
    stage.alive = False
    stage.time.run(stage.go("x"))
    assert stage.answers == [(LANE, ("declined", "x", "not sent: the lease may be over"))]


def test_a_prompt_performer_that_raises_stops_its_lane() -> None:
    stage = Stage()
    stage.prompt, stage.prompt_for = True, {"x"}
    stage.error = RuntimeError("a bug")
    stage.time.run(stage.go("x"))
    assert stage.bugs == [stage.error]
    assert not stage.answers


def test_only_so_many_are_under_way_and_the_rest_follow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(effects_module, "EFFECTS_INFLIGHT_MAX", 3)
    stage = Stage()
    stage.time.run(stage.go(*range(10)))
    assert [event[1] for _, event in stage.answers] == list(range(10))
    assert stage.running_max == 3


@pytest.mark.parametrize("why", ["lease", "given up", "stopping"])
def test_what_must_not_be_begun_any_more_is_declined_and_the_lane_hears_it(why: str) -> None:
    stage = Stage()

    async def main() -> None:
        stage.effects.add(Perform(LANE, "x", 1))
        stage.effects.begin()
        # Ordered and begun, but not yet sent: the check comes right before the send.
        if why == "lease":
            stage.alive = False
        elif why == "given up":
            stage.fence = 2
        else:
            stage.effects._closing = True
        await stage.go()

    stage.time.run(main())
    ((_, (word, effect, reason)),) = stage.answers
    assert (word, effect) == ("declined", "x")
    assert why in reason
    assert stage.running_max == 0


def test_a_performer_that_raises_is_a_bug_of_that_lane() -> None:
    stage = Stage()
    stage.error = KeyError("x")
    stage.time.run(stage.go("x", "y"))
    assert [type(bug) for bug in stage.bugs] == [KeyError, KeyError]
    assert stage.answers == []


def test_a_store_that_fails_under_an_effect_is_the_engines_failure() -> None:
    stage = Stage()
    stage.error = StoreClosed("x.db", "EIO")
    stage.time.run(stage.go("x"))
    assert stage.failures == [stage.error]


def test_closing_cancels_what_is_under_way_and_declines_what_waits(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(effects_module, "EFFECTS_INFLIGHT_MAX", 1)
    stage = Stage()

    async def main() -> None:
        stage.lasts_s = 1e9
        stage.effects.add(Perform(LANE, "sent", 1))
        stage.effects.add(Perform(LANE, "waits", 1))
        stage.effects.begin()
        await asyncio.sleep(1)
        stage.effects.close()
        await stage.go()

    stage.time.run(main())
    ((_, (word, effect, _)),) = stage.answers
    assert (word, effect) == ("declined", "waits")
    assert stage.running == 0


def test_an_effect_whose_task_had_not_begun_at_the_close_is_declined_too() -> None:
    """Cancelled before its first step, a task would never say that it ended."""
    stage = Stage()

    async def main() -> None:
        stage.effects.add(Perform(LANE, "x", 1))
        stage.effects.begin()
        stage.effects.close()
        await stage.go()

    stage.time.run(main())
    assert [event[0] for _, event in stage.answers] == ["declined"]


def test_after_a_failure_nothing_more_is_begun() -> None:
    stage = Stage()

    async def main() -> None:
        stage.effects.add(Perform(LANE, "x", 1))
        stage.effects.stop()
        stage.effects.begin()
        await asyncio.sleep(10)

    stage.time.run(main())
    assert stage.answers == []
    assert stage.running_max == 0


# Many together: a performer that is a Batcher.


class Batching(Stage):
    """The same, with a performer that takes all effects of a class at once."""

    def __init__(self) -> None:
        super().__init__()
        self.batches: list[tuple[LaneId, list[Any]]] = []
        self.permits: list[str | None] = []
        self.meanwhile: Callable[[], None] = lambda: None
        """What happens while a batch waits inside of the performer."""
        anything: Any = self
        performers: dict[str, Any] = {"toy": Batch(self), "lone": self}
        self.effects = Effects(anything, performers, self.may_act)
        self.effects.moved = self._move

    async def go_in(self, *orders: Perform) -> None:
        for order in orders:
            self.effects.add(order)
        await self.go()


class Batch:
    prompt = False

    def __init__(self, stage: Batching) -> None:
        self._stage = stage
        self.perform, self.perform_now = stage.perform, stage.perform_now
        self.decline = stage.decline

    async def perform_all(
        self, lane: LaneId, effects: Sequence[Any], permit: Callable[[], str | None]
    ) -> list[Any]:
        stage = self._stage
        stage.batches.append((lane, list(effects)))
        await asyncio.sleep(stage.lasts_s)
        if stage.error is not None:
            raise stage.error
        stage.meanwhile()
        stage.permits.append(permit())
        return [("did", effect) for effect in effects]


OTHER = LaneId("toy:B")


def test_effects_of_one_lane_and_class_that_wait_in_a_row_are_one_batch() -> None:
    stage = Batching()
    orders = [Perform(LANE, effect, 1) for effect in (1, "a", 2, "b")]
    stage.time.run(stage.go_in(*orders))
    assert stage.batches == [(LANE, [1, 2]), (LANE, ["a", "b"])]
    assert sorted(event[1] for _, event in stage.answers if isinstance(event[1], int)) == [1, 2]
    assert len(stage.answers) == 4


class ForNode(Struct, frozen=True):
    node: str
    number: int


def test_effects_that_name_their_node_are_one_batch_for_each_node() -> None:
    """One that hangs must not hold the answers of the others."""
    stage = Batching()
    first, second, other = ForNode("a", 1), ForNode("a", 2), ForNode("b", 3)
    stage.time.run(stage.go_in(*[Perform(LANE, one, 1) for one in (first, other, "x", second)]))
    assert stage.batches == [(LANE, [first, second]), (LANE, [other]), (LANE, ["x"])]
    assert len(stage.answers) == 4


def test_another_lane_or_another_lease_begins_another_batch() -> None:
    stage = Batching()
    orders = [Perform(LANE, 1, 1), Perform(OTHER, 2, 1), Perform(LANE, 3, 1), Perform(LANE, 4, 2)]
    stage.time.run(stage.go_in(*orders))
    assert stage.batches == [(LANE, [1]), (OTHER, [2]), (LANE, [3])]
    assert (LANE, ("declined", 4, "not sent: the lane was given up before its turn came")) in (
        stage.answers
    )


def test_kinds_without_batches_are_carried_out_one_by_one_beside_them() -> None:
    stage = Batching()
    lone = LaneId("lone:C")
    stage.time.run(stage.go_in(Perform(lone, 1, 1), Perform(lone, 2, 1), Perform(LANE, 3, 1)))
    assert stage.batches == [(LANE, [3])]
    assert stage.running_max == 2
    assert len(stage.answers) == 3


@pytest.mark.parametrize("why", ["lease", "given up", "stopping"])
def test_a_batch_that_must_not_be_begun_is_declined_effect_by_effect(why: str) -> None:
    stage = Batching()

    async def main() -> None:
        stage.effects.add(Perform(LANE, 1, 1))
        stage.effects.add(Perform(LANE, 2, 1))
        stage.effects.begin()
        if why == "lease":
            stage.alive = False
        elif why == "given up":
            stage.fence = 2
        else:
            stage.effects.close()
        await stage.go()

    stage.time.run(main())
    assert stage.batches == []
    assert [event[:2] for _, event in stage.answers] == [("declined", 1), ("declined", 2)]


def test_a_permit_says_what_holds_when_it_is_asked() -> None:
    stage = Batching()
    stage.time.run(stage.go_in(Perform(LANE, 1, 1)))
    assert stage.permits == [None]
    stage = Batching()

    def over() -> None:
        stage.alive = False

    stage.meanwhile = over
    stage.time.run(stage.go_in(Perform(LANE, 1, 1)))
    assert stage.permits == ["not sent: the lease may be over"]


def test_a_batcher_that_raises_stops_its_lane() -> None:
    stage = Batching()
    stage.error = KeyError("x")
    stage.time.run(stage.go_in(Perform(LANE, 1, 1), Perform(LANE, 2, 1)))
    assert stage.bugs == [stage.error]
    assert stage.answers == []


def test_closing_cancels_a_batch_that_is_under_way() -> None:
    stage = Batching()
    stage.lasts_s = 1e9

    async def main() -> None:
        stage.effects.add(Perform(LANE, 1, 1))
        stage.effects.begin()
        await asyncio.sleep(1)
        stage.effects.close()
        await stage.go()

    stage.time.run(main())
    assert stage.batches == [(LANE, [1])]
    assert stage.answers == [], "nobody knows what became of it; the next start asks"
