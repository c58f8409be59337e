"""What each answer of a host proves, in the contract lane's own events."""

import asyncio
from typing import Any

import pytest
from tests.engine.virtual import VirtualTime

from laneway.core.errors import ChainError, ChainUnreachable, ChainUnreadable
from laneway.core.ids import LaneId
from laneway.core.limits import REASON_BYTES_MAX
from laneway.core.outcome import Outcome
from laneway.engine.contract import ContractPerformer, encode_call
from laneway.engine.limits import READ_TIMEOUT_MS
from laneway.lanes.contract.values import (
    Effect,
    Event,
    Execute,
    ExecutionReturned,
    FindExecution,
    HeightRead,
    ReadHeight,
    SearchReturned,
)
from laneway.ports import ChainFinding, ContractCall, Execution, HostTraits

LANE = LaneId("contract:Qm1")
CALL = ContractCall("Qm1", "did:1", "transfer 5")
PAYLOAD = encode_call(CALL)


class ScriptedHost:
    """Answers each question with what the script says, after a while."""

    traits = HostTraits(takes_parent=True)

    def __init__(self, answer: Any, takes_s: float = 0) -> None:
        self.answer = answer
        self.takes_s = takes_s
        self.asked: list[tuple[object, ...]] = []

    async def _say(self, *question: object) -> Any:
        self.asked.append(question)
        await asyncio.sleep(self.takes_s)
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer

    async def latest_block(self, contract: str) -> int:
        found: int = await self._say("latest", contract)
        return found

    async def execute(self, call: ContractCall, parent: int) -> Execution:
        found: Execution = await self._say("execute", call, parent)
        return found

    async def find(self, call: ContractCall, parent: int) -> ChainFinding:
        found: ChainFinding = await self._say("find", call, parent)
        return found

    async def close(self) -> None:
        pass


def perform(host: ScriptedHost, effect: Effect, time: VirtualTime | None = None) -> Event:
    time = time or VirtualTime()

    async def main() -> Event:
        return await asyncio.create_task(ContractPerformer(host, time).perform(LANE, effect))

    return time.run(main())


class PromptScript(ScriptedHost):
    """A scripted host that needs no time for an execution."""

    def execute_now(self, call: ContractCall, parent: int) -> Execution:
        self.asked.append(("now", call, parent))
        done: Execution = self.answer
        return done


def execute(time: VirtualTime, within_ms: int = 60_000) -> Execute:
    return Execute(3, 2, PAYLOAD, 7, time.now_ms() + within_ms)


@pytest.mark.parametrize(
    "done",
    [
        Execution(Outcome.ACCEPTED, block=8),
        Execution(Outcome.ACCEPTED),
        Execution(Outcome.REFUSED, final=True, reason="the contract says no"),
        Execution(Outcome.REFUSED, stale=True, reason="the parent was passed"),
        Execution(Outcome.REFUSED, reason="the consensus failed"),
        Execution(Outcome.UNKNOWN, reason="cut off"),
    ],
)
def test_what_the_host_says_of_an_execution_is_told_as_it_is(done: Execution) -> None:
    time = VirtualTime()
    host = ScriptedHost(done)
    event = perform(host, execute(time), time)
    assert host.asked == [("execute", CALL, 7)]
    assert isinstance(event, ExecutionReturned)
    assert (event.slot, event.attempt) == (3, 2)
    assert (event.outcome, event.block) == (done.outcome, done.block)
    assert (event.final, event.stale, event.reason) == (done.final, done.stale, done.reason)


@pytest.mark.parametrize(
    ("error", "outcome"),
    [
        (ChainUnreachable("http://node", "refused"), Outcome.REFUSED),
        (ChainUnreadable("http://node", "<html>"), Outcome.UNKNOWN),
        (ChainError("cut off"), Outcome.UNKNOWN),
    ],
)
def test_an_error_proves_a_refusal_only_when_nothing_was_sent(
    error: ChainError, outcome: Outcome
) -> None:
    time = VirtualTime()
    event = perform(ScriptedHost(error), execute(time), time)
    assert isinstance(event, ExecutionReturned)
    assert (event.outcome, event.final, event.stale) == (outcome, False, False)
    assert str(error)[:20] in event.reason


def test_a_hung_execution_is_answered_as_unknown_at_its_deadline() -> None:
    time = VirtualTime()
    begun_ms = time.now_ms()
    event = perform(ScriptedHost(None, takes_s=1e9), execute(time, 1_800_000), time)
    assert isinstance(event, ExecutionReturned)
    assert event.outcome is Outcome.UNKNOWN
    assert event.now_ms - begun_ms == 1_800_000
    assert "deadline" in event.reason


def test_an_execution_whose_deadline_passed_in_the_queue_is_not_sent() -> None:
    """Sent late it could land beside the try that took its place."""
    time = VirtualTime()
    host = ScriptedHost(Execution(Outcome.ACCEPTED, block=8))
    event = perform(host, execute(time, 0), time)
    assert host.asked == []
    assert isinstance(event, ExecutionReturned)
    assert (event.outcome, event.final) == (Outcome.REFUSED, False)


def test_a_height_is_told_or_why_not() -> None:
    event = perform(ScriptedHost(41), ReadHeight(3, PAYLOAD))
    assert isinstance(event, HeightRead)
    assert (event.slot, event.height, event.reason) == (3, 41, "")
    event = perform(ScriptedHost(ChainUnreadable("node", "?")), ReadHeight(3, PAYLOAD))
    assert isinstance(event, HeightRead)
    assert event.height is None
    assert "unreadable" in event.reason


def test_a_finding_is_told_or_that_the_host_could_not_be_asked() -> None:
    effect = FindExecution(3, 2, PAYLOAD, 7)
    host = ScriptedHost(ChainFinding(9, 8))
    event = perform(host, effect)
    assert host.asked == [("find", CALL, 7)]
    assert isinstance(event, SearchReturned)
    assert (event.slot, event.attempt, event.latest, event.block) == (3, 2, 9, 8)
    event = perform(ScriptedHost(ChainUnreachable("node", "refused")), effect)
    assert isinstance(event, SearchReturned)
    assert (event.latest, event.block) == (None, None)


@pytest.mark.parametrize("effect", [ReadHeight(3, PAYLOAD), FindExecution(3, 2, PAYLOAD, 7)])
def test_a_question_that_hangs_is_given_up_and_told(effect: Effect) -> None:
    time = VirtualTime()
    begun_ms = time.now_ms()
    event = perform(ScriptedHost(None, takes_s=1e9), effect, time)
    assert isinstance(event, HeightRead | SearchReturned)
    assert event.now_ms - begun_ms == READ_TIMEOUT_MS
    assert "did not" in event.reason


@pytest.mark.parametrize(
    "effect",
    [Execute(3, 2, PAYLOAD, 7, 1), ReadHeight(3, PAYLOAD), FindExecution(3, 2, PAYLOAD, 7)],
)
def test_an_effect_that_was_not_begun_is_answered_with_what_that_proves(effect: Effect) -> None:
    time = VirtualTime()
    event = ContractPerformer(ScriptedHost(None), time).decline(LANE, effect, "stopping")
    assert event.slot == 3  # type: ignore[union-attr]
    assert event.reason == "stopping"  # type: ignore[union-attr]
    match event:
        case ExecutionReturned():
            assert (event.outcome, event.attempt, event.final) == (Outcome.REFUSED, 2, False)
        case HeightRead():
            assert event.height is None
        case SearchReturned():
            assert (event.latest, event.block) == (None, None)
        case _:
            raise AssertionError(event)


def test_foreign_words_are_cut_before_they_reach_a_row() -> None:
    long = "x" * 100_000 + "\ud800"
    answers: list[Any] = [
        Execution(Outcome.REFUSED, final=True, reason=long),
        ChainError(long),
    ]
    for answer in answers:
        event = perform(ScriptedHost(answer), execute(VirtualTime()))
        assert isinstance(event, ExecutionReturned)
        assert len(event.reason.encode()) <= REASON_BYTES_MAX
    for effect in (ReadHeight(3, PAYLOAD), FindExecution(3, 2, PAYLOAD, 7)):
        told = perform(ScriptedHost(ChainError(long)), effect)
        assert isinstance(told, HeightRead | SearchReturned)
        assert len(told.reason.encode()) <= REASON_BYTES_MAX


def test_a_cancelled_call_is_not_answered() -> None:
    time = VirtualTime()

    async def main() -> None:
        performer = ContractPerformer(ScriptedHost(None, takes_s=1e9), time)
        task = asyncio.create_task(performer.perform(LANE, execute(time)))
        await asyncio.sleep(1)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    time.run(main())


def test_a_prompt_host_executes_at_once_and_proves_as_much() -> None:
    time = VirtualTime()
    done = Execution(Outcome.ACCEPTED, block=8, reason="r" * (REASON_BYTES_MAX + 1))
    host = PromptScript(done)
    performer = ContractPerformer(host, time)
    assert performer.prompt
    event = performer.perform_now(LANE, execute(time))
    assert host.asked == [("now", CALL, 7)]
    assert event == perform(ScriptedHost(done), execute(time), time)


def test_a_prompt_host_is_not_asked_past_the_deadline() -> None:
    time = VirtualTime()
    host = PromptScript(Execution(Outcome.ACCEPTED, block=8))
    event = ContractPerformer(host, time).perform_now(LANE, execute(time, within_ms=0))
    assert isinstance(event, ExecutionReturned)
    assert event.outcome is Outcome.REFUSED
    assert not host.asked


def test_only_executions_of_prompt_hosts_are_answered_at_once() -> None:
    time = VirtualTime()
    slow = ContractPerformer(ScriptedHost(None), time)
    assert not slow.prompt
    assert slow.perform_now(LANE, execute(time)) is None
    quick = ContractPerformer(PromptScript(None), time)
    assert quick.perform_now(LANE, ReadHeight(3, PAYLOAD)) is None
