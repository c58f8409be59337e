"""Several calls are under way at once, and one alone needs no task."""

import asyncio

import pytest

from laneway.engine.performers import all_of


async def named(name: str) -> str:
    await asyncio.sleep(0)
    return name


def test_several_calls_answer_in_their_order() -> None:
    assert asyncio.run(all_of(map(named, ("first", "second", "third")))) == [
        "first",
        "second",
        "third",
    ]
    assert asyncio.run(all_of([])) == []


def test_one_call_runs_in_the_task_of_its_caller() -> None:
    async def task() -> object:
        return asyncio.current_task()

    async def main() -> bool:
        return await all_of([task()]) == [asyncio.current_task()]

    assert asyncio.run(main())


def test_what_one_call_raises_reaches_its_caller() -> None:
    async def failing() -> None:
        raise ValueError("seen")

    with pytest.raises(ValueError, match="seen"):
        asyncio.run(all_of([failing()]))
