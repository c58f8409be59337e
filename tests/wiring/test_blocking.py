"""Laws of the blocking twin: the same answers and errors, from any thread, and no thread left."""

import inspect
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from laneway import CallableHost, ContractSettings, Handle, Laneway, LanewaySync, Settled
from laneway.chains.contract_callable import Refuse
from laneway.core.errors import (
    BadRequest,
    Draining,
    IntentConflict,
    IntentNotFound,
    LaneFull,
    LaneNotFound,
    StoreRefused,
)
from laneway.engine.shell import EngineStopped
from laneway.ports import ContractCall
from laneway.wiring.blocking import HandleSync


async def next_block(call: ContractCall, parent: int) -> int:
    if call.data == "bad":
        raise Refuse("bad data")
    return parent + 1


@pytest.fixture
def lw() -> Iterator[LanewaySync]:
    with LanewaySync.open(":memory:", host=CallableHost(next_block)) as laneway:
        yield laneway


class Gate:
    """A host whose executions wait until they are let through."""

    def __init__(self) -> None:
        self.open = threading.Event()
        self.entered = threading.Event()

    def __call__(self, _call: ContractCall, parent: int) -> int:
        self.entered.set()
        self.open.wait(10)
        return parent + 1


def test_an_execution_is_answered_with_its_block(lw: LanewaySync) -> None:
    handles = [lw.submit("Qm1", f"{n}", executor="did", key=f"k{n}") for n in range(3)]
    settled = [handle.result(timeout_s=10) for handle in handles]
    assert [end.block for end in settled] == [1, 2, 3]
    assert {type(end) for end in settled} == {Settled}
    assert all(end.is_confirmed() for end in settled)


def test_the_same_key_and_body_are_one_intent(lw: LanewaySync) -> None:
    first = lw.submit("Qm1", "x", key="k")
    again = lw.submit("Qm1", "x", key="k")
    assert (again.id, again.replayed, first.replayed) == (first.id, True, False)
    assert again.result(10) == first.result(10) == lw.wait(first.id, 10)


def test_errors_are_the_classes_of_the_asynchronous_twin(lw: LanewaySync) -> None:
    lw.submit("Qm1", "x", key="k")
    with pytest.raises(IntentConflict):
        lw.submit("Qm1", "y", key="k")
    with pytest.raises(IntentNotFound):
        lw.show("tx_none")
    with pytest.raises(BadRequest):
        lw.submit("not printable\n", "x")
    with pytest.raises(LaneNotFound):
        lw.lane("nothing")


def test_a_refusal_is_an_answer(lw: LanewaySync) -> None:
    end = lw.submit("Qm1", "bad").result(10)
    assert (end.status, end.reason) == ("refused", "bad data")
    assert lw.submit("Qm1", "good").result(10).is_confirmed()


def test_a_batch_is_queued_in_its_order(lw: LanewaySync) -> None:
    calls = [ContractCall("Qm1", "did", str(n)) for n in range(5)]
    handles = lw.submit_many(calls, [f"k{n}" for n in range(5)])
    assert [handle.result(10).block for handle in handles] == [1, 2, 3, 4, 5]
    refused = lw.submit_many([ContractCall("Qm1", "did", "other")], ["k0"])
    assert isinstance(refused[0].refusal, IntentConflict)


def test_any_thread_may_call(lw: LanewaySync) -> None:
    blocks: list[int | None] = []

    def submit() -> None:
        blocks.extend(lw.submit("Qm1", "x").result(10).block for _ in range(10))

    threads = [threading.Thread(target=submit) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(block for block in blocks if block is not None) == list(range(1, 81))
    assert lw.metrics()[0].execute_count == 80


def test_questions_and_commands_reach_the_engine() -> None:
    gate = Gate()
    with LanewaySync.open(":memory:", host=CallableHost(gate)) as lw:
        running = lw.submit("Qm1", "runs")
        waiting = lw.submit("Qm1", "waits")
        assert gate.entered.wait(10)
        lw.pause("Qm1", reason="lunch", by="me")
        assert lw.lane("Qm1").waiting == 1
        assert [lane.id for lane in lw.lanes()] == ["contract:Qm1"]
        waiting.cancel(reason="no longer needed")
        gate.open.set()
        assert running.result(10).is_confirmed()
        assert waiting.result(10).status == "cancelled"
        assert lw.show(waiting.id).status == "cancelled"
        lw.resume("Qm1")
        assert lw.submit("Qm1", "more").result(10).is_confirmed()
        lw.drain_lane("Qm1", "queue")
        lw.check()


def test_a_wait_that_is_too_long_takes_nothing_back() -> None:
    gate = Gate()
    with LanewaySync.open(":memory:", host=CallableHost(gate)) as lw:
        handle = lw.submit("Qm1", "x")
        with pytest.raises(TimeoutError):
            handle.result(timeout_s=0.01)
        gate.open.set()
        assert handle.result(timeout_s=10).is_confirmed()


def test_a_full_lane_says_so() -> None:
    gate = Gate()
    settings = ContractSettings(count_max=1, limit_policy="reject")
    with LanewaySync.open(":memory:", host=CallableHost(gate), settings=settings) as lw:
        lw.submit("Qm1", "x")
        with pytest.raises(LaneFull):
            lw.submit("Qm1", "y")
        gate.open.set()


def test_draining_finishes_the_queue() -> None:
    lw = LanewaySync.open(":memory:", host=CallableHost(next_block))
    with lw:
        handles = [lw.submit("Qm1", str(n)) for n in range(20)]
        assert lw.close(drain="queue", timeout_s=10)
        assert lw.close()
    del handles
    with pytest.raises(EngineStopped):
        lw.submit("Qm1", "late")


def test_whoever_waits_while_another_thread_closes_is_told() -> None:
    gate = Gate()
    told: list[BaseException] = []
    lw = LanewaySync.open(":memory:", host=CallableHost(gate))
    with lw:
        handle = lw.submit("Qm1", "x")

        def wait() -> None:
            try:
                handle.result()
            except EngineStopped as error:
                told.append(error)

        thread = threading.Thread(target=wait)
        thread.start()
        assert gate.entered.wait(10)
    thread.join(10)
    gate.open.set()
    assert len(told) == 1


def test_no_thread_is_left(tmp_path: Path) -> None:
    before = set(threading.enumerate())
    with LanewaySync.open(str(tmp_path / "l.db"), host=CallableHost(next_block)) as lw:
        lw.submit("Qm1", "x").result(10)
    assert not [thread for thread in set(threading.enumerate()) - before if thread.is_alive()]


def test_a_file_that_another_owns_is_refused_and_leaves_no_thread(tmp_path: Path) -> None:
    path = str(tmp_path / "l.db")
    with LanewaySync.open(path, host=CallableHost(next_block)):
        before = set(threading.enumerate())
        with (
            pytest.raises(StoreRefused, match="another laneway process"),
            LanewaySync.open(path, host=CallableHost(next_block)),
        ):
            pass
        assert set(threading.enumerate()) == before
    with LanewaySync.open(path, host=CallableHost(next_block)) as lw:
        assert lw.submit("Qm1", "x").result(10).is_confirmed()


def test_whoever_tires_of_draining_still_leaves_a_closed_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = str(tmp_path / "l.db")
    gate = Gate()
    lw = LanewaySync.open(path, host=CallableHost(gate))

    def interrupt() -> None:
        assert gate.entered.wait(10)
        while not lw._closing.locked():
            time.sleep(0.01)
        time.sleep(0.05)
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)

    # Whoever runs the tests in the background may have SIGINT ignored.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    with lw:
        handle = lw.submit("Qm1", "x", key="k")
        tired = threading.Thread(target=interrupt)
        tired.start()
        with pytest.raises(KeyboardInterrupt):
            lw.close(drain="queue")
        tired.join()
        gate.open.set()
    signal.signal(signal.SIGINT, before)
    del handle
    with LanewaySync.open(path, host=CallableHost(next_block)) as again:
        assert again.submit("Qm1", "x", key="k").replayed


def test_many_threads_that_call_while_it_closes_all_come_back() -> None:
    ended: list[str] = []

    def submit() -> None:
        try:
            while True:
                laneway.submit("Qm1", "x")
        except Draining as error:
            ended.append(error.code)

    with LanewaySync.open(":memory:", host=CallableHost(next_block)) as laneway:
        threads = [threading.Thread(target=submit) for _ in range(8)]
        for thread in threads:
            thread.start()
        laneway.submit("Qm1", "x").result(10)
    for thread in threads:
        thread.join(10)
    assert len(ended) == 8


def test_outside_of_a_with_statement_it_says_what_to_do() -> None:
    lw = LanewaySync.open(":memory:", host=CallableHost(next_block))
    with pytest.raises(BadRequest, match="use it in a with statement"):
        lw.submit("Qm1", "x")
    assert lw.close()


def test_its_own_thread_cannot_wait_for_itself() -> None:
    told: list[Exception] = []

    async def execute(_call: ContractCall, parent: int) -> int:
        try:
            laneway.metrics()
        except BadRequest as error:
            told.append(error)
        return parent + 1

    with LanewaySync.open(":memory:", host=CallableHost(execute)) as laneway:
        assert laneway.submit("Qm1", "x").result(10).is_confirmed()
    assert "asynchronous" in str(told[0])


@pytest.mark.slow
def test_a_rollups_transfers_and_blocks_have_their_twins() -> None:
    from tests.kinds.rollup.stage import LANE, made, table
    from tests.rollup_stage import Purse

    heard: list[tuple[str, str]] = []
    with LanewaySync(lambda: made(":memory:", table("devnet", slot_ms=100))) as lw:
        lw.on_block(lambda lane, tell: heard.append((lane, tell.word)))
        lanes = lw._engine().rollups.lanes
        assert lanes is not None
        assert lanes.devnet is not None
        first, *rest = Purse(lanes.devnet.model.genesis).transfers(3)
        handle = lw.transfer("rollup:main", first, key="a")
        others = lw.transfer_many(LANE, rest, keys=["b", None])
        done = handle.result(timeout_s=60)
        assert (done.status, done.block, done.nonce) == ("confirmed", 1, None)
        assert done == lw.wait(handle.id, 60)
        assert done.hash is not None
        assert all(other.result(60).is_confirmed() for other in others)
        assert lw.transfer(LANE, first).replayed
    assert (LANE, "accumulated") in heard


PUBLIC = [name for name, found in inspect.getmembers(Laneway, callable) if not name.startswith("_")]


@pytest.mark.parametrize("name", PUBLIC)
def test_the_twin_has_every_method_with_the_same_arguments(name: str) -> None:
    ours, theirs = arguments(getattr(LanewaySync, name)), arguments(getattr(Laneway, name))
    assert ours[: len(theirs)] == theirs


@pytest.mark.parametrize("name", ["result", "cancel"])
def test_the_handle_has_every_method_with_the_same_arguments(name: str) -> None:
    assert arguments(getattr(HandleSync, name)) == arguments(getattr(Handle, name))


def arguments(method: Callable[..., object]) -> list[tuple[str, object]]:
    parameters = inspect.signature(method).parameters.values()
    return [(each.name, each.default) for each in parameters]


INTERRUPTED = """
import os, signal, sys, threading, time
from laneway import CallableHost, LanewaySync

signal.signal(signal.SIGINT, signal.default_int_handler)  # It may be ignored where this runs.

def execute(call, parent):
    time.sleep(0.3)
    return parent + 1

def interrupt():
    time.sleep(0.2)
    os.kill(os.getpid(), signal.SIGINT)

try:
    with LanewaySync.open(sys.argv[1], host=CallableHost(execute)) as lw:
        handle = lw.submit("Qm1", "x", key="k")
        threading.Thread(target=interrupt).start()
        for n in range(100):
            lw.submit("Qm1", str(n)).result()
except KeyboardInterrupt:
    ours = [thread.name for thread in threading.enumerate() if thread.name.startswith("laneway")]
    print("left:", ours, flush=True)
"""


@pytest.mark.slow
def test_an_interrupt_leaves_no_hanging_thread_and_a_closed_file(tmp_path: Path) -> None:
    path = str(tmp_path / "l.db")
    ran = subprocess.run(
        [sys.executable, "-c", INTERRUPTED, path],
        capture_output=True, text=True, timeout=30, check=False,
    )  # fmt: skip
    assert (ran.stdout, ran.returncode) == ("left: []\n", 0), ran.stderr
    with LanewaySync.open(path, host=CallableHost(next_block)) as lw:
        assert lw.submit("Qm1", "x", key="k").replayed
