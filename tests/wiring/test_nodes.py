"""How what is known of nodes changes what is shown of a lane and its transactions."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path

import pytest

from laneway.chains.contract_rest import RestHost
from laneway.core.ids import IntentId
from laneway.devnets.contract.model import ContractChain
from laneway.devnets.contract.node.socket import ContractSocket
from laneway.kinds.outlook import Outlook, health_at, joined, lane_at, outlook_of, tx_at
from laneway.lanes.contract import ContractSettings
from laneway.ports.nodes import NodeStanding
from laneway.wire.evm import EvmTx
from laneway.wire.jsonrpc import RpcAnswerLost
from laneway.wire.values import Check, Lane, LaneHealth, Queue, Tx
from laneway.wiring.embedded import Laneway
from laneway.wiring.readiness import ReadinessProbe

AT = datetime(2026, 1, 1, tzinfo=UTC)
DEAD = NodeStanding("http://a:1", "node_unreachable", "cannot be reached: connection refused", 7)
WORDS = "node http://a:1 cannot be reached: connection refused"
NONE, SOME, ALL = Outlook(2), Outlook(2, (DEAD,)), Outlook(1, (DEAD,))
DEGRADED = f"1 of 2 nodes fail, the others are used: {WORDS}"


def tx(reason: str, *, final: bool = False) -> Tx:
    return Tx(
        id=IntentId("tx_1"), lane="evm:1:0xaa", status="queued", final=final, reason=reason, seq=1,
        accepted_at=AT, evm=EvmTx(payload=None, wait_reason=reason),
    )  # fmt: skip


def lane(state: str, reason: str = "", waiting: int = 1) -> Lane:
    queue = Queue(fast=0, slow=0, enqueued=0, executed=0, fast_hits=0, slow_hits=0, dropped=0)
    return Lane(
        id="evm:1:0xaa", state=state, reason=reason, by="", since=None, waiting=waiting, running=0,
        oldest_waiting_ms=None, running_ms=None, failures=0, queue=queue,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("before", "look", "after"),
    [
        ("", NONE, "about_to_go_on"),
        ("", SOME, "about_to_go_on"),
        ("not_mined_yet", SOME, "not_mined_yet"),
        ("", ALL, f"node_unreachable: {WORDS}"),
        ("not_mined_yet", ALL, f"node_unreachable: {WORDS}; not_mined_yet"),
        ("paused", ALL, "paused"),
    ],
)
def test_a_waiting_transaction_always_has_a_reason(before: str, look: Outlook, after: str) -> None:
    shown = tx_at(tx(before), look)
    assert shown.reason == after
    assert shown.evm is not None
    is_named = look is ALL and before != "paused"
    assert shown.evm.wait_reason == ("node_unreachable" if is_named else before)
    done = tx("", final=True)
    assert tx_at(done, look) == done


@pytest.mark.parametrize(
    ("before", "look", "state", "reason"),
    [
        (lane("ready"), NONE, "ready", ""),
        (lane("ready"), SOME, "ready", DEGRADED),
        (lane("ready"), ALL, "backing off", WORDS),
        (lane("running"), ALL, "backing off", WORDS),
        (lane("idle", waiting=0), ALL, "idle", WORDS),
        (lane("paused", "audit"), ALL, "paused", f"audit; {WORDS}"),
    ],
)
def test_a_lane_without_a_node_backs_off_if_it_has_work(
    before: Lane, look: Outlook, state: str, reason: str
) -> None:
    shown = lane_at(before, look)
    assert (shown.state, shown.reason) == (state, reason)
    assert (shown.since is not None) is (state == "backing off")


@pytest.mark.parametrize(
    ("reason", "rest"),
    [
        ("http://a:1 cannot be reached: connection refused", ""),
        ("http://a:1 cannot be reached: connection refused; nothing was sent", "nothing was sent"),
        ("http://a:1/api answered nonsense", "http://a:1/api answered nonsense"),
        ("http://b:1 cannot be reached: connection refused", None),
    ],
)
def test_the_trouble_of_a_node_is_said_once(reason: str, rest: str | None) -> None:
    rest = reason if rest is None else rest
    assert lane_at(lane("backing off", reason), ALL).reason == joined(rest, WORDS)
    shown = tx_at(tx(joined("backing off", reason)), ALL).reason
    assert shown == joined(f"node_unreachable: {WORDS}", "backing off", rest)


def test_a_failing_node_is_a_problem_and_the_last_one_makes_the_chain_unready() -> None:
    well = LaneHealth(lane="l", healthy=True, problems=[])
    assert health_at(well, NONE) == well
    assert health_at(well, SOME) == LaneHealth(lane="l", healthy=False, problems=[DEGRADED])
    same = "http://a:1 cannot be reached: connection refused"
    named = LaneHealth(lane="l", healthy=False, problems=["old", f"backing off: {same}"])
    assert health_at(named, ALL).problems == ["old", f"backing off: {WORDS}"], "it is said once"
    other = LaneHealth(lane="l", healthy=False, problems=["halted: nobody knows"])
    assert health_at(other, ALL).problems == ["halted: nobody knows", WORDS]
    assert NONE.check("evm dev", "well") == Check("evm dev", True, "well")
    assert SOME.check("evm dev", "well") == Check("evm dev", True, DEGRADED)
    assert ALL.check("evm dev", "well") == Check("evm dev", False, WORDS)
    assert outlook_of(object()) == Outlook()


QUICK = ContractSettings(search_ms=50, retry_ms_min=1_000, retry_ms_max=1_000)
"""So slow that nothing is being sent in the moment after a refusal."""


@asynccontextmanager
async def opened(path: Path, socket: ContractSocket, **traits: bool) -> AsyncIterator[Laneway]:
    host = RestHost(socket.url, password="pw", **traits)
    try:
        async with Laneway.open(str(path / "l.db"), host, QUICK) as laneway:
            yield laneway
    finally:
        await host.close()


async def waits_for_its_chain(laneway: Laneway, contract: str) -> None:
    """It is refused with both blocks."""
    handle = await laneway.submit(contract, "d", executor="did")
    async with asyncio.timeout(30):
        while (shown := await laneway.show(handle.id)).next_attempt_at is None:
            await asyncio.sleep(0.02)
    assert "has seen block 3" in shown.reason
    assert not shown.final


@pytest.mark.slow
@pytest.mark.parametrize("takes_parent", [False, True])
@pytest.mark.parametrize("contract", ["Qm1", "Qm2"])
def test_the_library_executes_nothing_on_another_chain(
    contract: str, takes_parent: bool, tmp_path: Path
) -> None:
    """Neither of a contract that has blocks, nor of one that is new there."""

    async def story() -> None:
        chains = [ContractChain(round_ms=2) for _ in range(2)]
        async with (
            ContractSocket(chains[0], password="pw") as ours,
            ContractSocket(chains[1], password="pw") as other,
        ):
            async with opened(tmp_path, ours, takes_parent=takes_parent) as laneway:
                for data in "abc":
                    handle = await laneway.submit("Qm1", data, executor="did")
                    assert (await handle.result()).is_confirmed()
            async with opened(tmp_path, other, takes_parent=takes_parent) as laneway:
                await waits_for_its_chain(laneway, contract)
            assert chains[1].latest(contract) == 0
            async with opened(tmp_path, ours, takes_parent=takes_parent) as laneway:
                await laneway.submit(contract, "e", executor="did")
                async with asyncio.timeout(30):
                    while chains[0].latest(contract) < (5 if contract == "Qm1" else 2):
                        await asyncio.sleep(0.02)

    asyncio.run(story())


@pytest.mark.slow
def test_the_block_that_was_seen_is_of_the_first_lane_that_has_one(tmp_path: Path) -> None:
    async def story() -> None:
        async with ContractSocket(ContractChain(round_ms=2), password="pw") as socket:
            async with opened(tmp_path, socket) as laneway:
                await laneway.pause("Qm0", reason="not yet")
                first = await laneway.submit("Qm0", "a", executor="did")
                handle = await laneway.submit("Qm1", "a", executor="did")
                assert (await handle.result()).is_confirmed()
                assert not (await laneway.show(first.id)).final
            async with opened(tmp_path, socket) as laneway:
                assert isinstance(laneway.host, RestHost)
                assert laneway.host.witness == ("Qm1", 1)

    asyncio.run(story())


def test_one_lost_answer_is_asked_for_again_before_a_server_calls_itself_not_ready(
    tmp_path: Path,
) -> None:
    lost = RpcAnswerLost("node", "it was cut off")

    async def story() -> None:
        socket = ContractSocket(ContractChain(round_ms=2), password="pw")
        async with socket, opened(tmp_path, socket) as laneway:
            host, readiness = laneway.host, ReadinessProbe(laneway)
            assert isinstance(host, RestHost)
            assert all(check.ok for check in await readiness.checks())
            await asyncio.sleep(0.01)
            host._standing.failed(lost)
            assert outlook_of(host).is_blocked()
            assert all(check.ok for check in await readiness.checks())
            await asyncio.sleep(0.01)
            await socket.__aexit__(None, None, None)
            host._standing.failed(lost)
            assert not all(check.ok for check in await readiness.checks()), "it is asked in vain"

    asyncio.run(story())
