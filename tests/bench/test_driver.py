"""The driver offers what it says, bounded, and counts only what is durable."""

import asyncio
import json
import subprocess
import sys
from pathlib import Path

import pytest

from laneway.core.errors import Bug
from laneway.core.ids import IntentId, LaneId
from laneway.core.rows import Result
from laneway.engine.faults import fault_of
from laneway.ports import ContractCall
from laneway_bench.contract import driver
from laneway_bench.contract.driver import Count, Driven, JobGate, answer, outstanding_max, producers
from laneway_bench.limits import BATCH, OUTSTANDING_MIN

LANE = LaneId("contract:c0")
DONE = Result(IntentId("tx_00"), "confirmed", settled_ms=1)


def test_a_lane_never_runs_dry_and_the_number_outstanding_is_bounded() -> None:
    assert outstanding_max(1) == OUTSTANDING_MIN >= 2 * BATCH
    assert outstanding_max(100) == 500
    assert outstanding_max(10_000) == 50_000


def test_whoever_waits_for_a_number_is_woken_when_it_is_durable() -> None:
    async def story() -> None:
        count = Count()
        await count.reach(0)
        later, sooner, as_soon = (asyncio.create_task(count.reach(n)) for n in (2, 1, 1))
        await asyncio.sleep(0)
        count.notified(LANE, (), (DONE,))
        await sooner
        await as_soon
        assert not later.done()
        count.notified(LANE, (), (DONE,))
        await later
        assert count.done == 2

    asyncio.run(story())


@pytest.mark.parametrize(
    ("outstanding", "batch", "expected"),
    [(200, 100, 2), (500, 100, 5), (50_000, 100, 200), (50, 100, 1)],
)
def test_producers_are_enough_to_reach_the_bound_and_no_crowd(
    outstanding: int, batch: int, expected: int
) -> None:
    assert producers(outstanding, batch) == expected


def test_no_more_is_outstanding_than_allowed(tmp_path: Path) -> None:
    async def story() -> None:
        driven = Driven(str(tmp_path / "laneway.db"), "gated")
        await driven.start()
        offering = asyncio.create_task(driven._offer(1_000, 10, 300, BATCH))
        while (await driven._laneway.store.lanes(None, 1))[:1] == []:
            await asyncio.sleep(0)
        for _ in range(200):
            await asyncio.sleep(0)
            views = await driven._laneway.store.lanes(None, 10)
            assert sum(view.depth() for view in views) <= 300
        assert driven._gate is not None
        driven._gate.let_pass(1_000)
        await offering
        await driven._count.reach(1_000)
        assert await driven.close() == 1_000

    asyncio.run(story())


def test_a_gate_lets_exactly_so_many_pass() -> None:
    async def story() -> None:
        gate = JobGate()
        call = ContractCall("c", "did", "data")
        calls = [asyncio.create_task(gate.execute(call, 0)) for _ in range(5)]
        for passing in (2, 2, 1):
            before = sum(one.done() for one in calls)
            gate.let_pass(passing)
            for _ in range(4):
                await asyncio.sleep(0)
            assert sum(one.done() for one in calls) == before + passing

    asyncio.run(story())


def test_a_backlog_stands_still_while_it_is_filled_and_as_long_after_a_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    async def story() -> None:
        driven = Driven(str(tmp_path / "laneway.db"), "gated")
        await driven.start()
        assert await answer(driven, {"do": "fill", "jobs": 250, "contracts": 10}) == {}
        assert driven._count.done == 0
        spent = await answer(driven, {"do": "run", "jobs": 130, "contracts": 10})
        assert set(spent) == {"seconds", "cpu_s"}
        assert driven._count.done == 130
        assert driven._sent == 380
        # What was running at the gate is let through, and nothing more is taken.
        assert await answer(driven, {"do": "close"}) == {"executed": 140}

    asyncio.run(story())
    said = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert said[-1] == {"progress": 1.0}


def test_once_runs_every_contract_once(tmp_path: Path) -> None:
    async def story() -> None:
        driven = Driven(str(tmp_path / "laneway.db"), "inline")
        await driven.start()
        await answer(driven, {"do": "once", "jobs": 300})
        metrics = await driven._laneway.metrics()
        assert len(metrics) == 300
        assert (await answer(driven, {"do": "rss"}))["rss_mb"] > 1
        assert await answer(driven, {"do": "close"}) == {"executed": 300}

    asyncio.run(story())


def test_nobody_waits_for_an_engine_that_has_stopped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(driver, "GUARD_S", 0.0)

    async def story() -> None:
        driven = Driven(str(tmp_path / "laneway.db"), "inline")
        await driven.start()
        driven._laneway.engine.faults[LANE] = fault_of(LANE, KeyError("a bug"), None, (), 0)
        with pytest.raises(Bug, match="a bug"):
            await driven.guard()
        await driven.close()

    asyncio.run(story())


def test_an_unknown_question_is_refused(tmp_path: Path) -> None:
    async def story() -> None:
        driven = Driven(str(tmp_path / "laneway.db"), "inline")
        await driven.start()
        with pytest.raises(ValueError):
            await answer(driven, {"do": "dance"})
        await driven.close()

    asyncio.run(story())


@pytest.mark.slow
def test_the_process_answers_until_the_benchmark_hangs_up(tmp_path: Path) -> None:
    questions = [
        {"store": str(tmp_path / "laneway.db"), "host": "inline"},
        {"do": "run", "jobs": 50, "contracts": 5},
        {"do": "close"},
    ]
    ran = subprocess.run(
        [sys.executable, "-m", "laneway_bench.contract.driver"],
        input="".join(json.dumps(question) + "\n" for question in questions),
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    answers = [json.loads(line)["result"] for line in ran.stdout.splitlines()]
    assert answers[0] == {}
    assert answers[1]["seconds"] > 0
    assert answers[2] == {"executed": 50}
