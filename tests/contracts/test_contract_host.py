"""One suite for every ContractHost: what the engine may rely on, whoever runs the contract."""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

import pytest

from laneway.chains.contract_callable import CallableHost, Executed, InlineHost, Refuse
from laneway.chains.contract_rest import RestHost
from laneway.core.outcome import Outcome
from laneway.devnets.contract.model import ContractChain, RequestFault
from laneway.devnets.contract.node.host import EmbeddedHost
from laneway.devnets.contract.node.socket import ContractSocket
from laneway.ports import ChainFinding, ContractCall, ContractHost, Execution

DEADLINE_S = 0.2
"""Far beyond a round of one millisecond; a caller that hears nothing until then is in doubt."""

World = Callable[[], AbstractAsyncContextManager[ContractHost]]


def call(data: str, contract: str = "Qm1") -> ContractCall:
    return ContractCall(contract, "did1", data)


def chain() -> ContractChain:
    return ContractChain(
        round_ms=1, refuses=lambda asked: "it is bad" if asked.data == "bad" else None
    )


def faults() -> Callable[[ContractCall], RequestFault]:
    """The data of a call names its fault, which strikes once."""
    left = {fault.value: fault for fault in RequestFault}
    return lambda asked: left.pop(asked.data, RequestFault.NONE)


def embedded(takes_parent: bool) -> World:
    @asynccontextmanager
    async def world() -> AsyncIterator[ContractHost]:
        host = EmbeddedHost(chain(), takes_parent=takes_parent, fault=faults())
        try:
            yield host
        finally:
            await host.close()

    return world


def rest(takes_parent: bool) -> World:
    @asynccontextmanager
    async def world() -> AsyncIterator[ContractHost]:
        async with ContractSocket(chain(), password="secret", fault=faults()) as socket:
            host = RestHost(socket.url, password="secret", takes_parent=takes_parent)
            try:
                yield host
            finally:
                await host.close()

    return world


def function(takes_parent: bool) -> World:
    """A coroutine function over a chain that is a list of who wrote what."""
    return listed(takes_parent, inline=False)


def inline(takes_parent: bool) -> World:
    """The same as a plain function that the loop itself calls."""
    return listed(takes_parent, inline=True)


def listed(takes_parent: bool, *, inline: bool) -> World:

    @asynccontextmanager
    async def world() -> AsyncIterator[ContractHost]:
        written: dict[str, list[ContractCall | None]] = {}
        fault_of = faults()

        async def execute(asked: ContractCall, parent: int) -> Executed:
            await asyncio.sleep(0)
            return execute_now(asked, parent)

        def execute_now(asked: ContractCall, parent: int) -> Executed:
            blocks = written.setdefault(asked.contract, [None])
            fault = fault_of(asked)
            if asked.data == "bad":
                raise Refuse("it is bad")
            if fault is RequestFault.CRASH_TOLD:
                return Execution(Outcome.REFUSED, reason="the consensus failed")
            if takes_parent and parent != len(blocks) - 1:
                return Execution(Outcome.REFUSED, stale=True, reason="stale")
            if fault is not RequestFault.CRASH:
                blocks.append(asked)
            if fault in (RequestFault.CRASH, RequestFault.LOST):
                raise ConnectionResetError("no answer")
            return len(blocks) - 1

        def find(asked: ContractCall, parent: int) -> ChainFinding:
            blocks = written.get(asked.contract, [None])
            last = parent + 2 if takes_parent else len(blocks)
            behind = range(parent + 1, min(last, len(blocks)))
            block = next((number for number in behind if blocks[number] == asked), None)
            return ChainFinding(len(blocks) - 1, block)

        def latest_block(contract: str) -> int:
            return len(written.get(contract, [None])) - 1

        host: ContractHost = (
            InlineHost(execute_now, latest_block=latest_block, find=find, takes_parent=takes_parent)
            if inline
            else CallableHost(
                execute, latest_block=latest_block, find=find, takes_parent=takes_parent
            )
        )
        try:
            yield host
        finally:
            await host.close()

    return world


WORLDS = {
    f"{kind.__name__}-{'parent' if takes_parent else 'no_parent'}": kind(takes_parent)
    for kind in (embedded, rest, function, inline)
    for takes_parent in (True, False)
}


@pytest.fixture(params=list(WORLDS))
def world(request: pytest.FixtureRequest) -> World:
    return WORLDS[request.param]


def run(world: World, story: Callable[[ContractHost], Coroutine[Any, Any, None]]) -> None:
    async def told() -> None:
        async with world() as host:
            await story(host)

    asyncio.run(told())


async def outcome_of(host: ContractHost, asked: ContractCall, parent: int) -> Execution:
    """As the engine sees it: a passed deadline is unknown."""
    try:
        return await asyncio.wait_for(host.execute(asked, parent), DEADLINE_S)
    except TimeoutError:
        return Execution(Outcome.UNKNOWN, reason="the deadline passed")


def test_a_fresh_contract_has_height_zero(world: World) -> None:
    async def story(host: ContractHost) -> None:
        assert await host.latest_block("Qm1") == 0

    run(world, story)


def test_executing_makes_the_block_behind_the_parent(world: World) -> None:
    async def story(host: ContractHost) -> None:
        for parent in range(3):
            answer = await host.execute(call(f"test_{parent}"), parent)
            assert answer == Execution(Outcome.ACCEPTED, block=parent + 1)
            assert await host.latest_block("Qm1") == parent + 1

    run(world, story)


def test_contracts_do_not_disturb_each_other(world: World) -> None:
    async def story(host: ContractHost) -> None:
        contracts = [f"Qm{number}" for number in range(5)]
        answers = await asyncio.gather(*(host.execute(call("a", each), 0) for each in contracts))
        assert [answer.block for answer in answers] == [1] * 5

    run(world, story)


def test_a_stale_parent_is_refused_as_stale_if_the_host_takes_the_parent(world: World) -> None:
    async def story(host: ContractHost) -> None:
        await host.execute(call("first"), 0)
        answer = await host.execute(call("second"), 0)
        if not host.traits.takes_parent:
            assert answer == Execution(Outcome.ACCEPTED, block=2)
            return
        assert answer.outcome is Outcome.REFUSED
        assert answer.stale
        assert not answer.final
        assert await host.find(call("second"), 0) == ChainFinding(1, None)

    run(world, story)


def test_a_lost_answer_is_unknown_and_the_block_is_found(world: World) -> None:
    async def story(host: ContractHost) -> None:
        await host.execute(call("before"), 0)
        answer = await outcome_of(host, call("lost"), 1)
        assert answer.outcome is Outcome.UNKNOWN
        assert await host.find(call("lost"), 1) == ChainFinding(2, 2)

    run(world, story)


def test_a_crash_is_unknown_and_nothing_is_found(world: World) -> None:
    async def story(host: ContractHost) -> None:
        assert (await outcome_of(host, call("crash"), 0)).outcome is Outcome.UNKNOWN
        assert await host.find(call("crash"), 0) == ChainFinding(0, None)

    run(world, story)


def test_a_failure_that_proves_nothing_was_written_is_a_refusal_worth_a_retry(
    world: World,
) -> None:
    async def story(host: ContractHost) -> None:
        answer = await host.execute(call("crash_told"), 0)
        assert answer.outcome is Outcome.REFUSED
        assert not answer.final
        assert not answer.stale
        assert (await host.execute(call("again"), 0)).block == 1

    run(world, story)


def test_a_final_refusal_is_final_and_the_next_execution_goes_on(world: World) -> None:
    async def story(host: ContractHost) -> None:
        answer = await host.execute(call("bad"), 0)
        assert answer.outcome is Outcome.REFUSED
        assert answer.final
        assert "it is bad" in answer.reason
        assert (await host.execute(call("good"), 0)).block == 1

    run(world, story)


def test_finding_nothing_still_tells_the_height(world: World) -> None:
    async def story(host: ContractHost) -> None:
        assert await host.find(call("absent"), 0) == ChainFinding(0, None)
        for parent in range(2):
            await host.execute(call("other"), parent)
        assert await host.find(call("absent"), 0) == ChainFinding(2, None)
        assert await host.find(call("other"), 2) == ChainFinding(2, None)

    run(world, story)


def test_a_block_further_behind_counts_only_if_the_host_takes_no_parent(world: World) -> None:
    async def story(host: ContractHost) -> None:
        await host.execute(call("other"), 0)
        await host.execute(call("ours"), 1)
        block = None if host.traits.takes_parent else 2
        assert await host.find(call("ours"), 0) == ChainFinding(2, block)

    run(world, story)


def test_a_second_try_on_the_same_parent_never_lands_beside_the_first(world: World) -> None:
    async def story(host: ContractHost) -> None:
        if not host.traits.takes_parent:
            return
        await outcome_of(host, call("lost"), 0)
        assert (await host.execute(call("lost"), 0)).stale
        assert await host.latest_block("Qm1") == 1

    run(world, story)
