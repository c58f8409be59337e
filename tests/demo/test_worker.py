"""Laws of the parent's side: what was not answered is sent again, in order, with the same key."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from laneway.demo.worker import WorkerCaller, WorkerGone
from laneway.wiring.worker_lines import Stop, Submit

pytestmark = pytest.mark.slow

CONFIG = """\
[store]
path = "{folder}/laneway.db"
[host]
round_ms = 20
"""


def submit(number: int) -> Submit:
    return Submit(f"k{number}", "Qm1", f"data {number}", "did")


def use(
    folder: Path, work: Callable[[WorkerCaller], Awaitable[None]], config: str = CONFIG
) -> WorkerCaller:
    (folder / "laneway.toml").write_text(config.format(folder=folder))
    caller = WorkerCaller(folder / "laneway.toml", folder / "worker.log")

    async def run() -> None:
        try:
            await work(caller)
        finally:
            await caller.kill()

    asyncio.run(run())
    return caller


async def until(is_so: Callable[[], bool]) -> None:
    async with asyncio.timeout(20):
        while not is_so():
            await asyncio.sleep(0.005)


def test_what_was_said_before_a_worker_lived_is_sent_to_it(tmp_path: Path) -> None:
    async def work(caller: WorkerCaller) -> None:
        for number in range(5):
            caller.send(submit(number))
        await caller.spawn()
        await caller.ready()
        await until(lambda: len(caller.ended) == 5)
        assert await caller.stop(Stop("queue")) == 0

    caller = use(tmp_path, work)
    assert not caller.unanswered
    assert [caller.ended[f"k{n}"].block for n in range(5)] == [1, 2, 3, 4, 5]
    assert (caller.lives, caller.resent_count, caller.replayed_count) == (1, 0, 0)


def test_what_a_killed_worker_did_not_answer_is_sent_to_the_next(tmp_path: Path) -> None:
    async def work(caller: WorkerCaller) -> None:
        await caller.spawn()
        for number in range(5):
            caller.send(submit(number))
        await caller.kill()
        assert list(caller.unanswered) == [f"k{n}" for n in range(5)]
        caller.send(submit(5))
        await caller.spawn()
        await caller.ready()
        assert caller.is_ready()
        await until(lambda: len(caller.ended) == 6)

    caller = use(tmp_path, work)
    assert [caller.ended[f"k{n}"].block for n in range(6)] == [1, 2, 3, 4, 5, 6]
    assert (caller.lives, caller.resent_count) == (2, 6)


def test_an_end_that_was_told_to_nobody_is_asked_for(tmp_path: Path) -> None:
    async def work(caller: WorkerCaller) -> None:
        await caller.spawn()
        caller.send(submit(0))
        await until(lambda: len(caller.ended) == 1)
        caller.ended.clear()
        caller.ask_again()
        await until(lambda: len(caller.ended) == 1)
        caller.send(submit(0))
        await until(lambda: caller.replayed_count == 1)

    assert use(tmp_path, work).contradictions == []


def test_a_refusal_is_kept_and_not_sent_again(tmp_path: Path) -> None:
    async def work(caller: WorkerCaller) -> None:
        await caller.spawn()
        caller.send(Submit("k", "not a contract", "data"))
        await until(lambda: len(caller.refused) == 1)

    caller = use(tmp_path, work)
    assert (caller.refused[0].key, caller.unanswered) == ("k", {})


def test_a_worker_that_cannot_start_says_why(tmp_path: Path) -> None:
    async def work(caller: WorkerCaller) -> None:
        await caller.spawn()
        with pytest.raises(WorkerGone, match=r"ended with code 2 \(laneway: .*unknown field"):
            await caller.ready()
        with pytest.raises(WorkerGone, match=r"its log is .*worker\.log"):
            await caller.check()

    use(tmp_path, work, "[nonsense]\n")


def test_without_a_worker_there_is_nothing_to_end(tmp_path: Path) -> None:
    async def work(caller: WorkerCaller) -> None:
        await caller.check()
        await caller.kill()
        await caller.flush()
        assert await caller.stop(Stop()) == 0
        assert caller.pid is None
        assert not caller.is_ready()

    use(tmp_path, work)
