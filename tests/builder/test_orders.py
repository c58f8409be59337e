"""Orders: each is carried out once, and one that was given up is remembered."""

import asyncio
import gc
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from msgspec.structs import replace
from tests.builder.stage import build_order

from laneway.builder.limits import ORDERS_KEPT_MAX
from laneway.builder.orders import IF_IT_STAYS, Orders, carried_out, expected, guarded
from laneway.builder.thread import BuilderThread
from laneway.core.errors import BadRequest, Bug, BuildFailed, StoreBusy
from laneway.jam.errors import Unencodable

ORDER = build_order([b"raw"])


class Work:
    """A job that ends when it is allowed to, and how often it was begun."""

    def __init__(self, answer: Any = "done") -> None:
        self.answer = answer
        self.count = 0
        self.ended = 0
        self.may_end = asyncio.Event()

    async def __call__(self) -> str:
        self.count += 1
        await self.may_end.wait()
        self.ended += 1
        if isinstance(self.answer, Exception):
            raise self.answer
        return str(self.answer)


async def turns() -> None:
    """Let all others come as far as they can."""
    for _ in range(10):
        await asyncio.sleep(0)


def story(tale: Callable[[Orders[str]], Awaitable[None]]) -> list[dict[str, Any]]:
    """What the loop complained about."""
    complaints: list[dict[str, Any]] = []

    async def whole() -> None:
        asyncio.get_running_loop().set_exception_handler(lambda _, what: complaints.append(what))
        async with asyncio.timeout(60):
            await tale(Orders())
        gc.collect()
        await turns()

    asyncio.run(whole())
    return complaints


def test_an_order_that_is_given_twice_is_executed_once() -> None:
    async def tale(orders: Orders[str]) -> None:
        work = Work()
        asked = [asyncio.create_task(orders.once(ORDER, work)) for _ in range(3)]
        await turns()
        work.may_end.set()
        assert await asyncio.gather(*asked) == ["done"] * 3
        assert work.count == 1

    assert story(tale) == []


def test_an_order_is_the_same_when_a_block_below_it_became_final() -> None:
    """Whoever repeats it names fewer blocks then; what it asks for is what was begun."""

    async def tale(orders: Orders[str]) -> None:
        work = Work()
        for below in ((b"1", b"2"), (b"2",), ()):
            order = replace(ORDER, parent=b"p", below=below)
            asked = asyncio.create_task(orders.once(order, work))
            await turns()
            asked.cancel()
            await asyncio.gather(asked, return_exceptions=True)
        assert work.count == 1
        work.may_end.set()

    assert story(tale) == []


def test_an_order_that_was_given_up_goes_on_and_is_remembered() -> None:
    async def tale(orders: Orders[str]) -> None:
        work = Work()
        for _ in range(3):
            asked = asyncio.create_task(orders.once(ORDER, work))
            await turns()
            asked.cancel()
            await asyncio.gather(asked, return_exceptions=True)
        work.may_end.set()
        await turns()
        assert (work.count, work.ended) == (1, 1), "nobody waits, and it is done"
        assert await orders.once(ORDER, work) == "done"
        assert work.count == 1

    assert story(tale) == []


def test_an_answer_that_was_received_is_not_kept() -> None:
    async def tale(orders: Orders[str]) -> None:
        work = Work()
        work.may_end.set()
        assert await orders.once(ORDER, work) == "done"
        assert await orders.once(ORDER, work) == "done"
        assert work.count == 2

    assert story(tale) == []


def test_what_came_to_nothing_is_tried_again() -> None:
    async def tale(orders: Orders[str]) -> None:
        work = Work(BuildFailed("no"))
        work.may_end.set()
        for _ in range(2):
            with pytest.raises(BuildFailed):
                await orders.once(ORDER, work)
        asked = asyncio.create_task(orders.once(ORDER, work))
        await asyncio.sleep(0)
        asked.cancel()
        await turns()
        assert work.count == 3, "it failed when nobody waited"
        work.answer = "done"
        assert await orders.once(ORDER, work) == "done"

    assert story(tale) == []


def test_a_verdict_that_was_reached_when_nobody_waited_is_received_once() -> None:
    """That no block can be built is found after the lane gave up: the work is not done again."""

    async def tale(orders: Orders[str]) -> None:
        work = Work(BuildFailed("it takes longer than 45 s to execute", final=True))
        asked = asyncio.create_task(orders.once(ORDER, work))
        await turns()
        asked.cancel()
        await turns()
        work.may_end.set()
        await turns()
        with pytest.raises(BuildFailed, match="longer than 45 s") as failed:
            await orders.once(ORDER, work)
        assert (failed.value.final, work.count) == (True, 1)
        with pytest.raises(BuildFailed):
            await orders.once(ORDER, work)
        assert work.count == 2, "only once"

    assert story(tale) == []


def test_the_same_id_for_another_order_is_another_order() -> None:
    """A store that was restored gives ids a second time."""

    async def tale(orders: Orders[str]) -> None:
        first, second = Work("first"), Work("second")
        other = replace(ORDER, payloads=(b"other",))
        one = asyncio.create_task(orders.once(ORDER, first))
        await turns()
        two = asyncio.create_task(orders.once(other, second))
        await turns()
        first.may_end.set()
        assert await one == "first"
        three = asyncio.create_task(orders.once(other, second))
        await turns()
        second.may_end.set()
        assert (await two, await three) == ("second", "second")
        assert second.count == 1, "the answer to the first takes nothing from the second"

    assert story(tale) == []


def test_stopping_waits_for_all_that_was_begun_also_for_what_was_replaced() -> None:
    async def tale(orders: Orders[str]) -> None:
        works = [Work(), Work(BuildFailed("no"))]
        for work, raw in zip(works, (b"one", b"two"), strict=True):
            order = replace(ORDER, payloads=(raw,))
            asked = asyncio.create_task(orders.once(order, work))
            await turns()
            asked.cancel()
        gc.collect()
        stopping = asyncio.create_task(orders.stop())
        for work in works:
            await turns()
            assert not stopping.done()
            work.may_end.set()
        await stopping
        assert [work.ended for work in works] == [1, 1]

    assert story(tale) == []


def test_only_the_newest_answers_are_remembered() -> None:
    async def tale(orders: Orders[str]) -> None:
        work = Work()
        work.may_end.set()
        given = [replace(ORDER, slot=slot) for slot in range(ORDERS_KEPT_MAX + 1)]
        for order in given:
            asked = asyncio.create_task(orders.once(order, work))
            await asyncio.sleep(0)
            asked.cancel()
            await turns()
        assert work.count == len(given)
        for order in given[1:]:
            assert await orders.once(order, work) == "done"
        assert work.count == len(given)
        await orders.once(given[0], work)
        assert work.count == len(given) + 1

    assert story(tale) == []


def raising(error: BaseException) -> Callable[[], None]:
    def job() -> None:
        raise error

    return job


class Panic(BaseException):
    """As an extension module raises it, beside `Exception`."""


@pytest.mark.parametrize(
    "error",
    [
        ZeroDivisionError("x"), TimeoutError(), BadRequest("x", "y"), Unencodable(problem=""),
        Panic("x"), SystemExit(1), asyncio.CancelledError(), KeyboardInterrupt(), GeneratorExit(),
        StopIteration(1),
    ],
)  # fmt: skip
def test_whatever_the_rules_raise_is_the_orders_fault(error: BaseException) -> None:
    with pytest.raises(BuildFailed, match="the rollup's rules raised") as failed:
        guarded(raising(error))
    assert failed.value.final
    assert failed.value.__cause__ is error


@pytest.mark.parametrize("error", [BuildFailed("not yet"), StoreBusy("the disk"), Bug("here")])
def test_what_is_no_fault_of_the_rules_is_passed_on_as_it_is(error: Exception) -> None:
    with pytest.raises(type(error)) as raised:
        guarded(raising(error))
    assert raised.value is error
    assert guarded(lambda: 3) == 3


def test_a_machine_without_memory_may_carry_out_less_and_refuses_nothing_alone() -> None:
    def large() -> None:
        raise MemoryError

    with pytest.raises(BuildFailed, match="no memory left for it; give it more") as failed:
        guarded(large)
    assert (failed.value.final, failed.value.needs_help) == (True, True)
    with pytest.raises(BuildFailed, match=r"no memory left for it$") as failed:
        guarded(large, final=False)
    assert (failed.value.final, failed.value.needs_help) == (False, False)


def test_what_the_rules_call_passing_says_what_to_do_if_it_stays() -> None:
    with pytest.raises(BuildFailed) as failed:
        carried_out(raising(BuildFailed("an oracle is away", needs_help=True)))
    assert str(failed.value) == f"an oracle is away{IF_IT_STAYS}"
    assert (failed.value.final, failed.value.needs_help) == (False, True)
    for error in (BuildFailed("never", final=True), BuildFailed("no disk; wait"), Bug("here")):
        with pytest.raises(type(error)) as raised:
            carried_out(raising(error))
        assert raised.value is error
    assert carried_out(lambda: 3) == 3


@pytest.mark.parametrize("error", [asyncio.CancelledError(), KeyboardInterrupt(), GeneratorExit()])
def test_the_end_of_a_task_passes_through_what_is_expected_around_an_await(
    error: BaseException,
) -> None:
    with pytest.raises(type(error)) as raised, expected():
        raising(error)()
    assert raised.value is error


def test_an_order_whose_rules_raise_a_cancellation_is_answered() -> None:
    """It looked like the thread's own, and the order stayed as it was for ever."""

    async def tale() -> None:
        thread = BuilderThread(5)
        for run in (thread.in_time, thread.ruled):
            async with asyncio.timeout(5):
                either = (BuildFailed, asyncio.CancelledError)
                with pytest.raises(either, match="rules raised CancelledError"):
                    await run(raising(asyncio.CancelledError()))
        await thread.close(lambda: None)

    asyncio.run(tale())
