"""Laws of the callable host: what a Python function's end proves."""

import asyncio
import threading
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from laneway.chains import contract_callable
from laneway.chains.contract_callable import CallableHost, Executed, InlineHost, Refuse
from laneway.core.errors import ChainUnreadable
from laneway.core.limits import REASON_CHARS_MAX
from laneway.core.outcome import Outcome
from laneway.ports import ChainFinding, ContractCall, ContractHost, Execution, PromptHost

CALL = ContractCall("Qm1", "did1", "Red")
OWN = Execution(Outcome.REFUSED, stale=True, reason="its own words")


def run(story: Coroutine[Any, Any, None]) -> None:
    asyncio.run(story)


def returning(answer: Any, *, plain: bool) -> Callable[[ContractCall, int], Any]:
    def execute(call: ContractCall, parent: int) -> Any:
        if isinstance(answer, Exception):
            raise answer
        return answer

    async def execute_async(call: ContractCall, parent: int) -> Any:
        return execute(call, parent)

    return execute if plain else execute_async


async def executed(execute: Callable[[ContractCall, int], Any], parent: int = 4) -> Execution:
    host = CallableHost(execute)
    try:
        return await host.execute(CALL, parent)
    finally:
        await host.close()


def test_a_callable_host_is_a_contract_host_without_a_chain() -> None:
    host: ContractHost = CallableHost(returning(None, plain=True))
    assert not host.traits.has_chain
    assert not host.traits.takes_parent


def test_a_host_that_reads_heights_has_a_chain() -> None:
    host = CallableHost(returning(None, plain=True), latest_block=lambda contract: 0)
    assert host.traits.has_chain
    assert CallableHost(returning(None, plain=True), takes_parent=True).traits.takes_parent


@pytest.mark.parametrize("plain", [True, False])
@pytest.mark.parametrize(
    ("answer", "execution"),
    [
        (0, Execution(Outcome.ACCEPTED, block=0)),
        (9, Execution(Outcome.ACCEPTED, block=9)),
        (OWN, OWN),
        (Refuse("never"), Execution(Outcome.REFUSED, final=True, reason="never")),
        (ValueError("what?"), Execution(Outcome.UNKNOWN, reason="ValueError: what?")),
        (TimeoutError(), Execution(Outcome.UNKNOWN, reason="TimeoutError: ")),
    ],
)
def test_an_answer_proves_what_it_says_and_an_error_proves_nothing(
    answer: Any, execution: Execution, plain: bool
) -> None:
    async def story() -> None:
        assert await executed(returning(answer, plain=plain)) == execution

    run(story())


@pytest.mark.parametrize("answer", [None, 9, OWN, Refuse("never"), ValueError("what?"), "5"])
def test_an_inline_host_says_at_once_what_the_callable_host_says(answer: Any) -> None:
    async def story() -> None:
        execute = returning(answer, plain=True)
        host = InlineHost(execute, takes_parent=True)
        assert isinstance(host, PromptHost)
        assert host.traits == CallableHost(execute, takes_parent=True).traits
        assert host.execute_now(CALL, 4) == await executed(execute)
        assert host.execute_now(CALL, 4) == await host.execute(CALL, 4)

    run(story())


def test_an_inline_host_runs_on_the_thread_that_asks() -> None:
    host = InlineHost(lambda call, parent: threading.get_ident())
    assert host.execute_now(CALL, 0).block == threading.get_ident()


def test_a_coroutine_function_cannot_run_inline() -> None:
    with pytest.raises(TypeError, match="give it to a CallableHost"):
        InlineHost(returning(None, plain=False))


def test_a_callable_host_is_not_prompt() -> None:
    assert not isinstance(CallableHost(returning(None, plain=True)), PromptHost)


@pytest.mark.parametrize(
    ("answer", "told"),
    [(None, "None"), (-1, "-1"), ("5", "str"), (True, "bool"), (5.0, "float"), ((), "tuple")],
)
def test_an_answer_that_is_no_block_number_is_unknown_and_says_so(answer: Any, told: str) -> None:
    async def story() -> None:
        done = await executed(returning(answer, plain=False))
        reason = f"the callable returned {told}, not the number of the block it made"
        assert done == Execution(Outcome.UNKNOWN, reason=reason)

    run(story())


def test_what_a_callable_raised_is_logged_with_its_place(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def story() -> None:
        await executed(returning(ValueError("no such account"), plain=False))
        await executed(returning(Refuse("never"), plain=False))

    run(story())
    (record,) = caplog.records
    assert record.getMessage() == "The callable raised ValueError: no such account"
    assert record.exc_info is not None


def test_the_callable_gets_the_call_and_its_parent() -> None:
    async def story() -> None:
        async def execute(call: ContractCall, parent: int) -> Executed:
            assert call is CALL
            return parent + 10

        assert (await executed(execute, 7)).block == 17

    run(story())


def test_callable_objects_and_wrapped_coroutines_are_awaited() -> None:
    class Contract:
        async def __call__(self, call: ContractCall, parent: int) -> Executed:
            return 8

    async def story() -> None:
        contract = Contract()
        assert (await executed(contract)).block == 8
        assert (await executed(lambda call, parent: contract(call, parent + 1))).block == 8

    run(story())


def test_a_plain_callable_does_not_block_the_loop() -> None:
    async def story() -> None:
        go = threading.Event()

        def execute(call: ContractCall, parent: int) -> Executed:
            go.wait()
            return parent + 1

        waiting = asyncio.ensure_future(executed(execute))
        await asyncio.sleep(0)
        go.set()
        assert (await waiting).outcome is Outcome.ACCEPTED

    run(story())


def test_plain_callables_run_in_a_bounded_pool(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(contract_callable, "THREADS_MAX", 2)

    async def story() -> None:
        names = set()

        def execute(call: ContractCall, parent: int) -> Executed:
            names.add(threading.current_thread().name)
            return parent + 1

        host = CallableHost(execute)
        answers = await asyncio.gather(*(host.execute(CALL, number) for number in range(20)))
        assert [answer.block for answer in answers] == list(range(1, 21))
        assert len(names) <= 2
        await host.close()

    run(story())


def test_a_long_reason_is_cut() -> None:
    async def story() -> None:
        for error in (ValueError("x" * 9_999), Refuse("x" * 9_999)):
            assert len((await executed(returning(error, plain=False))).reason) == REASON_CHARS_MAX

    run(story())


def test_a_cancelled_execution_stays_cancelled() -> None:
    async def story() -> None:
        async def execute(call: ContractCall, parent: int) -> Executed:
            await asyncio.sleep(3_600)
            return parent + 1

        with pytest.raises(TimeoutError):
            await asyncio.wait_for(executed(execute), 0.001)

    run(story())


def test_without_a_chain_the_height_is_zero_and_nothing_is_found() -> None:
    async def story() -> None:
        host = CallableHost(returning(None, plain=False))
        assert await host.latest_block("Qm1") == 0
        assert await host.find(CALL, 7) == ChainFinding(7, None)
        await host.close()

    run(story())


def test_with_a_chain_but_no_search_only_the_height_is_known() -> None:
    async def story() -> None:
        async def latest_block(contract: str) -> int:
            return 12

        host = CallableHost(returning(None, plain=False), latest_block=latest_block)
        assert await host.latest_block("Qm1") == 12
        assert await host.find(CALL, 7) == ChainFinding(12, None)
        await host.close()

    run(story())


def test_a_search_may_be_plain_or_a_coroutine() -> None:
    async def story() -> None:
        async def find(call: ContractCall, parent: int) -> ChainFinding:
            return ChainFinding(9, 8)

        for search in (find, lambda call, parent: ChainFinding(9, 8)):
            host = CallableHost(returning(None, plain=False), find=search)
            assert await host.find(CALL, 7) == ChainFinding(9, 8)
            await host.close()

    run(story())


def test_a_read_that_fails_or_answers_nonsense_is_unreadable() -> None:
    async def story() -> None:
        def fail(*arguments: object) -> Any:
            raise OSError("no chain today")

        def nonsense(*arguments: object) -> Any:
            return "nine"

        for broken in (fail, nonsense):
            host = CallableHost(returning(None, plain=False), latest_block=broken, find=broken)
            with pytest.raises(ChainUnreadable):
                await host.latest_block("Qm1")
            with pytest.raises(ChainUnreadable):
                await host.find(CALL, 7)
            await host.close()

    run(story())
