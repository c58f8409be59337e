"""One run from end to end, small; timings are printed and never judged."""

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from laneway.core.ids import IntentId, LaneId
from laneway.core.rows import Result
from laneway.cosmos.keys import HeldCosmosKey
from laneway.cosmos.messages import MsgSend
from laneway.cosmos.protobuf import decode
from laneway.cosmos.tx import is_signed, read
from laneway.engine.faults import fault_of
from laneway.ports import CosmosBlob, CosmosRequest
from laneway_bench import contest
from laneway_bench.child import BenchFailed, module
from laneway_bench.frame import Lines, Sample
from laneway_bench.guests import Guests
from laneway_bench.report import table
from laneway_bench.sequence import bench as sequence
from laneway_bench.sequence import commitment as sequence_commitment
from laneway_bench.sequence import driver as sequence_driver
from laneway_bench.sequence.bench import (
    CPU_RATIOS,
    FULL,
    GOALS,
    NEEDS,
    PEERS,
    QUICK,
    RATIOS,
    SIZES,
    SequenceBench,
    check,
    compared,
    main,
)
from laneway_bench.sequence.cosmos_node import counted as counted_on
from laneway_bench.sequence.cosmos_node import devnet, secret
from laneway_bench.sequence.driver import answer, fill, run
from laneway_bench.sequence.engine import AnswerCounter, SequenceContestant, open_bench_engine
from laneway_bench.sequence.raw import RawSequenceSender

ROOT = Path(__file__).parents[2]
THRESHOLDS = {
    "tps_vs_cosmjs": ">= 10",
    "tps_vs_cosmpy": ">= 10",
    "client_cpu_vs_sign_encode_post": "<= 2.5",
    "rss_over_byte_cap_mb": "<= 150",
    "commitment_mb_per_s_vs_pycelestia": ">= 0.8",
}
HELD: dict[str, Any] = {
    "accounts": 500,
    "blobs": 50_000,
    "blob_bytes": 65_536,
    "cap_mb": 268.4,
    "rss_mb": {"idle": 60.0, "peak": 400.0, "end": 300.0},
    "over_cap_mb": 71.6,
    "blobs_per_s": 300.0,
    "cpu_us_per_blob": 2_000.0,
}
MACHINE = {
    "cores": 2, "cpu": "c", "python": "3", "sqlite": "3", "kernel": "6", "filesystem": "ext4",
    "peers": {"cosmpy": "0.12"},
}  # fmt: skip
WORDS = {"denom": "utia", "gas": "100000", "fee": "400", "prefix": "celestia"}
PAYER, PAYEE = HeldCosmosKey(secret(1)), HeldCosmosKey(secret(2))


def commitments(slow: float) -> dict[str, Any]:
    return {
        "seconds": {"1024": 1.0 * slow, "4096": 3.0 * slow},
        "commitments": {"1024": "aa", "4096": "bb"},
    }


COMMITMENT = compared(
    {"laneway": [commitments(1.0)] * 3, "pycelestia": [commitments(2.0)] * 3}, 4_000_000
)
PARTS = {"bytes": HELD, "commitment": COMMITMENT}


class Counted(SequenceBench):
    """A run whose contestants answer at once: laneway takes twice the bare sender's CPU."""

    def measure(self, name: str, place: Path) -> Sample:
        self.node_cpu_s.setdefault(name, []).append(300e-6)
        cpu_s = 0.1 if name == "laneway_sqlite" else 0.05
        return Sample(jobs=100, seconds=10.0 if name == "cosmpy" else 0.5, cpu_s=cpu_s)


@pytest.fixture(autouse=True)
def quick_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(contest, "fdatasync_per_s", lambda _: 1_000.0)


def counted(tmp_path: Path) -> Counted:
    bench = Counted(QUICK, tmp_path, Guests(), Lines(1.0))
    bench.run_rounds()
    return bench


def test_the_goals_are_those_of_the_issue() -> None:
    assert {goal.name: goal.words() for goal in GOALS} == THRESHOLDS


def test_every_ratio_divides_two_who_run() -> None:
    for ours, theirs in (*RATIOS.values(), *CPU_RATIOS.values()):
        assert {ours, theirs} <= set(FULL.jobs)
    assert set(FULL.jobs) == set(QUICK.jobs) == set(NEEDS) - set(SequenceBench.parts)
    assert {*PEERS, "sign_encode_post", "laneway_sqlite"} == set(FULL.jobs)


def test_a_full_run_means_something() -> None:
    assert FULL.rounds >= 3
    assert FULL.jobs["sign_encode_post"] == FULL.jobs["laneway_sqlite"] >= 5_000
    assert (FULL.accounts, FULL.blobs, FULL.blob_bytes) == (500, 100, 64 << 10)
    assert FULL.cap_bytes == 256 << 20
    assert (SIZES[0], SIZES[-1]) == (1 << 10, 4 << 20)
    assert all(FULL.commitment_bytes % size == 0 for size in SIZES)
    assert SequenceBench.seconds_of(FULL, list(NEEDS)) < 20 * 60


def test_the_object_holds_every_goal(tmp_path: Path) -> None:
    found = counted(tmp_path).assembled(MACHINE, PARTS)
    assert list(found["goals"]) == list(THRESHOLDS)
    assert set(found["ratios"]) == {*RATIOS, *CPU_RATIOS}
    goals = found["goals"]
    assert goals["tps_vs_cosmjs"] == {"value": 1.0, "goal": ">= 10", "met": False}
    assert goals["tps_vs_cosmpy"]["value"] == 20
    assert goals["client_cpu_vs_sign_encode_post"]["value"] == 2
    assert goals["rss_over_byte_cap_mb"] == {"value": 71.6, "goal": "<= 150", "met": True}
    assert goals["commitment_mb_per_s_vs_pycelestia"]["value"] == 2


def test_the_table_tells_of_the_node_of_memory_and_of_commitments(tmp_path: Path) -> None:
    said = table(counted(tmp_path).assembled(MACHINE, PARTS))
    assert "| `client_cpu_vs_sign_encode_post` | 2 | <= 2.5 | yes |" in said
    assert "the devnet itself for each transfer: sign_encode_post 300, laneway_sqlite 300" in said
    assert "50,000 blobs of 65,536 bytes from 500 accounts under a cap of 268 MB" in said
    assert "resident memory 60 MB before, 400 MB at most, 300 MB afterwards." in said
    assert "| commitment of | laneway MB/s | pycelestia MB/s |" in said
    assert "| 4 KiB | 1 | 1 |" in said


def test_who_did_not_run_leaves_its_goals_unmet(tmp_path: Path) -> None:
    bench = Counted(replace(QUICK, jobs={}), tmp_path, Guests(), Lines(1.0))
    found = bench.assembled(MACHINE, {})
    assert "not measured" in table(found)
    assert all(goal["value"] is None and not goal["met"] for goal in found["goals"].values())


def test_every_size_counts_alike_and_a_ratio_is_the_median_of_the_rounds() -> None:
    rounds = {
        "laneway": [commitments(1.0), commitments(1.0), commitments(4.0)],
        "pycelestia": [commitments(2.0), commitments(3.0), commitments(4.0)],
    }
    found = compared(rounds, 4_000_000)
    assert found["ratio"] == 2
    assert found["mb_per_s"]["laneway"] == {"all": 2.0, "sizes": {"1024": 4.0, "4096": 1.333}}


def test_commitments_that_differ_are_compared_no_further() -> None:
    other = {**commitments(1.0), "commitments": {"1024": "aa", "4096": "cc"}}
    with pytest.raises(BenchFailed, match="differ"):
        compared({"laneway": [commitments(1.0)], "pycelestia": [other]}, 1)


def test_contestants_are_chosen_by_name() -> None:
    assert SequenceBench.chosen("") == list(NEEDS)
    assert SequenceBench.chosen("bytes,cosmjs") == ["cosmjs", "bytes"]
    with pytest.raises(BenchFailed, match="nobody is called dance"):
        SequenceBench.chosen("cosmjs,dance")


def test_an_unknown_name_is_told_and_nothing_is_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(json=True, quick=True, out=tmp_path / "out", only="dance") == 2
    assert "nobody is called dance" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


class Said:
    """A child that has its answers ready."""

    def __init__(self, *answers: dict[str, Any]) -> None:
        self._answers = list(answers)
        self.asked: list[dict[str, Any]] = []

    def ask(self, question: dict[str, Any], *_: object) -> dict[str, Any]:
        self.asked.append(question)
        return self._answers.pop(0)

    def __enter__(self) -> "Said":
        return self

    def __exit__(self, *_: object) -> None: ...


@pytest.mark.parametrize(("committed", "failed"), [(99, 0), (101, 0), (100, 1)])
def test_a_contestant_of_whom_the_chain_shows_something_else_fails_the_run(
    committed: int, failed: int
) -> None:
    node: Any = Said({"committed": committed, "failed": failed})
    with pytest.raises(BenchFailed, match=f"cosmpy: {committed} of 100 are on the chain, {failed}"):
        check("cosmpy", node, 100)


def test_memory_counts_above_what_was_idle_and_the_cap(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spent = {"idle_mb": 60.0, "peak_mb": 460.0, "end_mb": 200.0, "seconds": 100.0, "cpu_s": 50.0}
    node = Said({"committed": 50_000, "failed": 0})
    engine = Said(spent)
    settings: list[Any] = []

    @contextmanager
    def noded(_ms: int, *, accounts: int) -> Any:
        yield node, {"accounts_there": accounts}

    @contextmanager
    def engined(*words: Any) -> Any:
        settings.extend(words)
        yield engine

    bench = SequenceBench(FULL, tmp_path, Guests(), Lines(1.0))
    monkeypatch.setattr(bench, "_node", noded)
    monkeypatch.setattr(bench, "_engine", engined)
    found = bench.run_bytes()
    assert found["over_cap_mb"] == pytest.approx(460 - 60 - 268.4, abs=0.1)
    assert (found["blobs_per_s"], found["cpu_us_per_blob"]) == (500, 1_000)
    assert engine.asked == [{"do": "fill", "blobs": 100, "size": 65_536}]
    assert settings[1] == {"accounts_there": 500}
    assert settings[3]["process_bytes_max"] == 256 << 20


def test_commitments_are_computed_in_turn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ours, theirs = Said(commitments(1.0)), Said(commitments(2.0))
    monkeypatch.setattr(sequence, "module", lambda _: ours)
    monkeypatch.setattr(sequence, "Child", lambda _: theirs)
    bench = SequenceBench(QUICK, tmp_path, Guests(), Lines(1.0))
    assert bench.run_commitment()["ratio"] == 2
    assert ours.asked == theirs.asked == [{"sizes": SIZES, "bytes": 4 << 20}]


def test_commitments_are_of_bytes_that_everybody_can_make() -> None:
    found = sequence_commitment.measure({"sizes": [1_024, 2_048], "bytes": 4_096})
    assert set(found["seconds"]) == {1_024, 2_048}
    assert found == {**sequence_commitment.measure({"sizes": [1_024, 2_048], "bytes": 4_096}),
                     "seconds": found["seconds"]}  # fmt: skip


# The bare sender.


def test_the_bare_sender_signs_what_the_chain_takes() -> None:
    words = {**WORDS, "chain_id": "c-1", "key": secret(1).hex(), "jobs": 1}
    sender = RawSequenceSender({**words, "to": PAYEE.address("celestia")})
    made = sender.signed(7)
    found = read(made.raw)
    assert is_signed(found, "c-1", 0)
    (message,) = found.body.messages
    sent = decode(MsgSend, message.value)
    assert (sent.to_address, sent.amount[0].amount) == (PAYEE.address("celestia"), "1")
    assert (found.sequence(), found.auth.fee and found.auth.fee.gas_limit) == (7, 100_000)


# The engine's place.


def result(status: str) -> Result:
    return Result(IntentId("i"), status, 0, reason="why")


def test_answers_are_counted_and_one_that_is_not_good_ends_the_waiting() -> None:
    async def story() -> None:
        answers = AnswerCounter()
        await answers.reach(0)
        waiting = asyncio.ensure_future(answers.reach(3))
        await asyncio.sleep(0)
        good, bad = result("confirmed"), result("reverted")
        answers.notified(lane := LaneId("cosmos:a:b"), (), [good, good])
        await asyncio.sleep(0)
        assert not waiting.done()
        answers.notified(lane, (), [bad])
        await waiting
        assert (answers.done, answers.bad) == (3, bad)
        later = asyncio.ensure_future(answers.reach(99))
        await asyncio.sleep(0)
        answers.notified(lane, (), [bad])
        await later

    asyncio.run(story())


class Taking:
    """An engine that answers at once."""

    def __init__(self, lanes: int) -> None:
        self.lanes = [LaneId(f"cosmos:c:a{number}") for number in range(lanes)]
        self.batches: list[list[CosmosRequest]] = []
        self.blobs: list[tuple[LaneId, CosmosBlob]] = []
        self.reached: list[int] = []

    async def submit_many(self, lane: LaneId, requests: Sequence[CosmosRequest]) -> None:
        assert lane == self.lanes[0]
        self.batches.append(list(requests))

    async def submit_blob(self, lane: LaneId, blob: CosmosBlob) -> None:
        self.blobs.append((lane, blob))
        await asyncio.sleep(0)

    async def reach(self, done: int) -> None:
        self.reached.append(done)
        while len(self.blobs) < done and not self.batches:
            await asyncio.sleep(0)


def test_a_run_offers_a_hundred_at_once_and_ends_with_the_last_answer() -> None:
    engine: Any = Taking(1)
    question = {**WORDS, "jobs": 250, "sender": "celestia1a", "to": "celestia1b"}
    spent = asyncio.run(answer(engine, {"do": "run", **question}))
    assert [len(batch) for batch in engine.batches] == [100, 100, 50]
    assert engine.reached == [250]
    assert set(spent) == {"seconds", "cpu_s"}
    request = engine.batches[0][0]
    assert (request.gas, request.fee) == (100_000, 400)
    assert decode(MsgSend, request.messages[0][1]).to_address == "celestia1b"
    assert asyncio.run(run(engine, question))["seconds"] >= 0


def test_blobs_come_from_every_account_in_turn(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sequence_driver, "forget_peak", lambda: None)
    engine: Any = Taking(3)
    found = asyncio.run(fill(engine, 4, 100))
    assert [lane for lane, _ in engine.blobs] == engine.lanes * 4
    assert len({blob.data for _, blob in engine.blobs}) == 12, "no two blobs are alike"
    assert {len(blob.data) for _, blob in engine.blobs} == {100}
    assert engine.reached[-1] == 12
    assert found["peak_mb"] >= found["idle_mb"] > 1
    assert capsys.readouterr().out.splitlines()[-1] == '{"progress": 1.0}'


def test_a_peak_can_be_forgotten() -> None:
    sequence_driver.forget_peak()
    before = sequence_driver.peak_mb()
    some = bytearray(b"x" * (30 << 20))
    assert sequence_driver.peak_mb() > before + 20
    del some


def test_the_driver_answers_no_other_question() -> None:
    engine: Any = Taking(1)
    with pytest.raises(ValueError, match="dance"):
        asyncio.run(answer(engine, {"do": "dance"}))


# Real nodes.


def question(at: dict[str, Any], jobs: int) -> dict[str, Any]:
    return {
        **WORDS, **at, "jobs": jobs, "key": secret(1).hex(),
        "sender": PAYER.address("celestia"), "to": PAYEE.address("celestia"),
    }  # fmt: skip


@pytest.mark.slow
def test_an_engine_that_stops_or_an_answer_that_is_bad_ends_the_run(tmp_path: Path) -> None:
    async def story() -> None:
        async with devnet({"block_ms": 20, "accounts": 2}) as net:
            asked = {"url": net.url, "chain_id": net.chain_id, "accounts": 1}
            settings = {"settings": {"poll_ms": 20}}
            store = {"store": str(tmp_path / "l.db")}
            async with open_bench_engine({**asked, **store, **settings}) as engine:
                assert isinstance(engine, SequenceContestant)
                await run(engine, question(asked, 20))
                await engine.submit_blob(
                    engine.lanes[0], CosmosBlob(sequence_driver.NAMESPACE, b"b")
                )
                await engine.reach(21)
                assert counted_on(net) == {"committed": 21, "failed": 0, "height": net.chain.height}
                poor = question(asked, 1)
                wrong = {**poor, "to": "celestia1nobody"}
                with pytest.raises(BenchFailed, match="a transaction is "):
                    await run(engine, {**wrong, "jobs": 30})
                lane = engine.lanes[0]
                broke = RuntimeError("it broke")
                engine._engine.faults[lane] = fault_of(lane, broke, None, (), 0)
                engine.answers.bad = None
                with pytest.raises(BenchFailed, match="it broke"):
                    await engine.reach(10_000)
                engine._engine.faults.clear()

    asyncio.run(story())


@pytest.mark.slow
def test_the_bare_sender_leaves_every_transfer_on_the_chain() -> None:
    with module("sequence.cosmos_node") as node, module("sequence.raw") as child:
        at = node.ask({"block_ms": 50, "accounts": 2})
        assert child.ask(question(at, 50))["seconds"] > 0
        check("sign_encode_post", node, 50)


@pytest.mark.slow
def test_a_refusal_ends_the_bare_sender() -> None:
    with module("sequence.cosmos_node") as node, module("sequence.raw") as child:
        at = node.ask({"block_ms": 50, "accounts": 2})
        with pytest.raises(BenchFailed, match="refused a transfer with code 13"):
            child.ask({**question(at, 5), "fee": "1"})


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_a_quick_slice_measures_and_leaves_only_its_results(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "laneway_bench", "sequence", "--quick", "--json"]
    command += ["--only", "sign_encode_post,laneway_sqlite,bytes", "--out", str(tmp_path / "out")]
    (tmp_path / "here").mkdir()
    ran = subprocess.run(
        command, cwd=tmp_path / "here", capture_output=True, text=True, check=False, timeout=600
    )
    assert ran.returncode == 0, ran.stderr
    found = json.loads(ran.stdout)
    assert found["quick"] is True
    assert found["only"] == ["sign_encode_post", "laneway_sqlite", "bytes"]
    assert found["results"]["laneway_sqlite"]["jobs_per_s"] > 0
    assert found["results"]["bytes"]["blobs"] == 100
    assert found["goals"]["client_cpu_vs_sign_encode_post"]["value"] > 0
    assert str(tmp_path) not in ran.stdout
    assert {path.name for path in (tmp_path / "out").iterdir()} == {
        "sequence-quick.json",
        "sequence-quick.md",
        "sequence-quick.svg",
    }
    assert list((tmp_path / "here").iterdir()) == []


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_the_peers_leave_every_transfer_on_the_chain_and_agree_on_commitments(
    tmp_path: Path,
) -> None:
    peers = Path(os.environ.get("LANEWAY_PEERS", ROOT / ".venv-peers"))
    command = [sys.executable, "-m", "laneway_bench", "sequence", "--quick", "--json"]
    command += ["--only", ",".join((*PEERS, "commitment"))]
    command += ["--out", str(tmp_path / "out"), "--peers", str(peers)]
    ran = subprocess.run(
        command, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=600
    )
    assert ran.returncode == 0, ran.stderr
    found = json.loads(ran.stdout)
    for name in PEERS:
        assert found["results"][name]["jobs"] == QUICK.jobs[name], found["machine"]["peers"]
    assert found["machine"]["peers"]["pyCelestia"] == "0.1.7"
    assert found["goals"]["commitment_mb_per_s_vs_pycelestia"]["value"] > 0
