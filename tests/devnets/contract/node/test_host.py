"""Laws of the embedded host, on an event loop whose time is virtual."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from laneway.core.errors import ChainUnreachable
from laneway.core.outcome import Outcome
from laneway.devnets.contract.model import ContractChain, RequestFault
from laneway.devnets.contract.node.host import EmbeddedHost, Rounds
from laneway.ports import ChainFinding, ContractCall, ContractHost, Execution

ROUND = 600_000
ROUND_S = 600
CALL = ContractCall("Qm1", "did1", "a")


class VirtualLoop(asyncio.SelectorEventLoop):
    """Jumps to the next timer instead of waiting for it."""

    jumped_s = 1.0

    def time(self) -> float:
        return self.jumped_s

    def _run_once(self) -> None:
        if not self._ready and self._scheduled:  # type: ignore[attr-defined]
            self.jumped_s = max(self.jumped_s, self._scheduled[0].when())  # type: ignore[attr-defined]
        super()._run_once()  # type: ignore[misc]


def run(story: Coroutine[Any, Any, None]) -> None:
    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        runner.run(story)


def now_ms() -> int:
    return round(asyncio.get_running_loop().time() * 1000)


def always(fault: RequestFault) -> Callable[[ContractCall], RequestFault]:
    return lambda call: fault


def test_an_embedded_host_is_a_contract_host() -> None:
    host: ContractHost = EmbeddedHost(ContractChain())
    assert host.traits.takes_parent
    assert host.traits.has_chain


def test_an_execution_is_answered_when_its_round_ends() -> None:
    async def story() -> None:
        host = EmbeddedHost(ContractChain(round_ms=ROUND))
        began = now_ms()
        assert await host.execute(CALL, 0) == Execution(Outcome.ACCEPTED, block=1)
        assert now_ms() == began + ROUND
        assert await host.latest_block("Qm1") == 1
        assert await host.find(CALL, 0) == ChainFinding(1, 1)
        await host.close()

    run(story())


def test_a_shorter_round_that_begins_later_is_answered_first() -> None:
    async def story() -> None:
        chain = ContractChain(round_ms=ROUND)
        host = EmbeddedHost(chain)
        slow = asyncio.ensure_future(host.execute(CALL, 0))
        await asyncio.sleep(1)
        chain.round_ms = 10
        quick = await host.execute(ContractCall("Qm2", "did1", "b"), 0)
        assert quick.outcome is Outcome.ACCEPTED
        assert not slow.done()
        assert (await slow).block == 1
        await host.close()

    run(story())


def test_a_stale_parent_is_refused_as_stale() -> None:
    async def story() -> None:
        host = EmbeddedHost(ContractChain(round_ms=ROUND))
        await host.execute(CALL, 0)
        answer = await host.execute(CALL, 0)
        assert answer.outcome is Outcome.REFUSED
        assert answer.stale
        assert not answer.final
        await host.close()

    run(story())


def test_a_host_without_parents_builds_on_the_latest_block() -> None:
    async def story() -> None:
        host = EmbeddedHost(ContractChain(round_ms=ROUND), takes_parent=False)
        await host.execute(CALL, 0)
        assert (await host.execute(CALL, 0)).block == 2
        assert await host.find(CALL, 1) == ChainFinding(2, 2)
        await host.close()

    run(story())


def test_ten_executions_at_once_race_for_one_block() -> None:
    async def story() -> None:
        host = EmbeddedHost(ContractChain(round_ms=ROUND), takes_parent=False)
        calls = (ContractCall("Qm1", "did1", f"test_{i}") for i in range(10))
        answers = await asyncio.gather(*(host.execute(call, 0) for call in calls))
        assert [answer.block for answer in answers] == [1] + [None] * 9
        assert [answer.stale for answer in answers] == [False] + [True] * 9
        await host.close()

    run(story())


def test_a_final_refusal_is_final() -> None:
    async def story() -> None:
        host = EmbeddedHost(ContractChain(round_ms=ROUND, refuses=lambda call: "never"))
        answer = await host.execute(CALL, 0)
        assert answer == Execution(Outcome.REFUSED, final=True, reason="never")
        await host.close()

    run(story())


def test_a_consensus_that_fails_and_says_so_is_refused_but_not_for_good() -> None:
    async def story() -> None:
        chain = ContractChain(round_ms=ROUND)
        host = EmbeddedHost(chain, fault=always(RequestFault.CRASH_TOLD))
        answer = await host.execute(CALL, 0)
        assert answer.outcome is Outcome.REFUSED
        assert not answer.final
        assert not answer.stale
        await host.close()

    run(story())


@pytest.mark.parametrize(("fault", "height"), [(RequestFault.CRASH, 0), (RequestFault.LOST, 1)])
def test_an_untold_end_leaves_the_caller_waiting_until_its_own_deadline(
    fault: RequestFault, height: int
) -> None:
    async def story() -> None:
        host = EmbeddedHost(ContractChain(round_ms=ROUND), fault=always(fault))
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(host.execute(CALL, 0), 10 * ROUND_S)
        assert await host.latest_block("Qm1") == height
        await host.close()

    run(story())


def test_a_doubled_request_is_answered_by_the_end_that_is_told() -> None:
    async def story() -> None:
        faults = [RequestFault.DOUBLE, RequestFault.DOUBLE_SECOND_TOLD]
        host = EmbeddedHost(ContractChain(round_ms=ROUND), fault=lambda call: faults.pop(0))
        assert (await host.execute(CALL, 0)).block == 1
        second = await host.execute(CALL, 1)
        assert second.stale
        assert await host.find(CALL, 1) == ChainFinding(2, 2)
        await host.close()

    run(story())


def test_a_caller_that_gives_up_does_not_stop_the_round() -> None:
    async def story() -> None:
        host = EmbeddedHost(ContractChain(round_ms=ROUND))
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(host.execute(CALL, 0), ROUND_S / 2)
        assert await host.find(CALL, 0) == ChainFinding(0, None)
        await asyncio.sleep(ROUND_S)
        assert await host.find(CALL, 0) == ChainFinding(1, 1)
        await host.close()

    run(story())


def test_a_restart_kills_the_round_and_its_answer() -> None:
    async def story() -> None:
        host = EmbeddedHost(ContractChain(round_ms=ROUND))
        waiting = asyncio.ensure_future(host.execute(CALL, 0))
        await asyncio.sleep(1)
        host.restart()
        await asyncio.sleep(10 * ROUND_S)
        assert not waiting.done()
        assert await host.latest_block("Qm1") == 0
        await host.close()
        assert (await waiting).outcome is Outcome.UNKNOWN

    run(story())


def test_closing_leaves_running_executions_in_doubt_and_takes_no_more() -> None:
    async def story() -> None:
        host = EmbeddedHost(ContractChain(round_ms=ROUND), fault=always(RequestFault.DOUBLE))
        waiting = asyncio.ensure_future(host.execute(CALL, 0))
        await asyncio.sleep(1)
        await host.close()
        assert (await waiting).outcome is Outcome.UNKNOWN
        for late in (host.execute(CALL, 0), host.find(CALL, 0), host.latest_block("Qm1")):
            with pytest.raises(ChainUnreachable):
                await late

    run(story())


def test_a_round_outlives_the_host_that_began_it() -> None:
    async def story() -> None:
        chain = ContractChain(round_ms=ROUND)
        first = EmbeddedHost(chain)
        waiting = asyncio.ensure_future(first.execute(CALL, 0))
        await asyncio.sleep(1)
        await first.close()
        await waiting
        second = EmbeddedHost(chain)
        answer = await second.execute(ContractCall("Qm1", "did1", "b"), 0)
        assert answer.stale
        assert await second.find(CALL, 0) == ChainFinding(1, 1)
        await second.close()

    run(story())


def test_rounds_keep_one_timer_for_the_next_end() -> None:
    async def story() -> None:
        loop = asyncio.get_running_loop()
        rounds = Rounds(ContractChain(round_ms=ROUND))
        before = len(loop._scheduled)  # type: ignore[attr-defined]
        for index in range(100):
            rounds.run(ContractCall(f"Qm{index}", "did1", "a"), None, RequestFault.NONE)
        assert len(loop._scheduled) == before + 1  # type: ignore[attr-defined]
        rounds.close()

    run(story())
