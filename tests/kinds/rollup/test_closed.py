"""Laws of rollups whose nodes are all down at the start: the door opens, transactions are taken in,
every output says why they wait, and all of it goes on as soon as a node answers."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from tests.cli.stage import Terminal
from tests.kinds.rollup.stage import LANE, laneway_on, made, run, table
from tests.rollup_stage import Purse
from tests.server.stage import QUICK, Client

from laneway.core.errors import BadRequest, RollupBehind
from laneway.core.ids import LaneId
from laneway.devnets.jam.devnet import JamDevnet
from laneway.jam.hashing import HASH_BYTES
from laneway.kinds.config import ConfigError
from laneway.kinds.rollup import lanes as rollup
from laneway.kinds.rollup.closed import ClosedReads, shelved_genesis
from laneway.kinds.rollup.views import ClosedRollup
from laneway.lanes.bundle.rows import Tip
from laneway.rollups.domain import Domain
from laneway.rollups.ledger.account import DEV_ACCOUNTS
from laneway.rollups.ledger.rules import LedgerRules
from laneway.rollups.ledger.transfer import TRANSFER, transfer_hash
from laneway.wiring.config import load
from laneway.wiring.embedded import Laneway
from laneway.wiring.readiness import ReadinessProbe
from laneway.wiring.server import Up

WAIT_S = 60.0
SLOT_MS = 150
NO_NODE = "no node of its chain could be reached since "
ADVICE = "; start one, or name others as its `nodes`"
TOML = """
[store]
path = "{path}"
[[rollup]]
name = "main"
service = 1
nodes = ["{url}"]
slot_ms = {slot_ms}
genesis = "{genesis}"
"""


@pytest.fixture(autouse=True)
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rollup, "CHAIN_OPEN_S_MAX", 0.3)
    monkeypatch.setattr(rollup, "CHAIN_OPEN_RETRY_S", 0.05)
    monkeypatch.setattr(rollup, "CHAIN_LATE_RETRY_S_MAX", 0.2)


async def until(ask: Callable[[], Awaitable[Any]], is_so: Callable[[Any], bool]) -> Any:
    """What is answered, once it is so."""
    async with asyncio.timeout(WAIT_S):
        while not is_so(found := await ask()):
            await asyncio.sleep(0.02)
    return found


async def typed(terminal: Terminal, *words: str) -> str:
    """What a command says, however it ends."""
    _, out, err = await asyncio.to_thread(terminal.type, *words)
    return out + err


@pytest.mark.slow
def test_with_all_nodes_down_the_door_opens_and_all_goes_on_when_one_answers(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    async def story() -> None:
        async with JamDevnet(slot_ms=SLOT_MS) as devnet:
            await devnet.stop_node(0)
            genesis, url = devnet.model.genesis, devnet.url
            file = tmp_path / "laneway.toml"
            given = {"url": url, "slot_ms": SLOT_MS, "genesis": genesis.hex()}
            file.write_text(TOML.format(path=tmp_path / "l.db", **given))
            configuration = load(str(file), {}, QUICK | {"server.port": "0"})
            purse = Purse(genesis)
            async with Up(configuration) as up, Client(up.server.urls[0]) as client:
                sent = []
                for raw in purse.transfers(5):
                    heard = await client.post(
                        "/v1/rollup/main/transactions", {"raw": "0x" + raw.hex()}
                    )
                    assert heard.status == 202, heard
                    sent.append(heard.body["id"])
                again = await client.post(
                    "/v1/rollup/main/transactions", {"raw": "0x" + purse.made[0].hex()}
                )
                assert again.body["id"] == sent[0], "the same bytes are one transaction"
                forged = await client.post("/v1/rollup/main/transactions", {"raw": "0x00"})
                assert forged.status == 422, "what can be judged without a state is"
                await all_say_why(up, client, Terminal(client.url, capsys), sent[0])
                await devnet.start_node(0)
                for intent in sent:
                    asked = partial(client.get, f"/v1/transactions/{intent}")
                    tx = await until(asked, lambda heard: heard.body["final"])
                    assert tx.body["status"] == "confirmed", tx
                ready = await until(lambda: client.get("/readyz"), lambda one: one.status == 200)
                assert NO_NODE not in str(ready.body)
                status = (await client.get("/v1/rollup/main")).body
                assert (NO_NODE in str(status), status["rollup"]["finalised"] > 0) == (False, True)
                account = await client.get(f"/v1/rollup/main/accounts/0x{DEV_ACCOUNTS[0].id.hex()}")
                assert account.status == 200, account

    with caplog.at_level(logging.WARNING, "laneway.bundle"):
        run(story)
    lines = [one.getMessage() for one in caplog.records if one.name == "laneway.bundle"]
    assert lines.count("Rollup is not served") == 1
    assert lines.count("Rollup is served from now on") == 1


async def all_say_why(up: Up, client: Client, terminal: Terminal, intent: str) -> None:
    """Every output has the reason, and the node's own trouble."""
    status = (await client.get("/v1/rollup/main")).body
    assert status["waits"].startswith(NO_NODE)
    assert "cannot be reached" in status["waits"]
    assert status["waits"].endswith(ADVICE)
    assert status["rollup"]["reason"].startswith(NO_NODE)
    assert status["pool"]["pending"] == 5
    lane = (await client.get(f"/v1/lanes/{LANE}")).body
    assert (lane["state"], lane["waiting"]) == ("backing off", 5)
    for shown in (lane["reason"], (await up.laneway.show(intent)).reason):
        assert NO_NODE in shown, shown
        assert "cannot be reached: connection refused" in shown, shown
    health = (await client.get(f"/v1/lanes/{LANE}/health")).body
    assert not health["healthy"]
    assert NO_NODE in str(health["problems"]), health
    ready = await client.get("/readyz")
    assert ready.status == 503
    assert [NO_NODE in one["what"] for one in ready.body["checks"] if one["name"] == LANE][-1]
    account = await client.get(f"/v1/rollup/main/accounts/0x{DEV_ACCOUNTS[0].id.hex()}")
    assert (account.status, account.body["code"]) == (503, "rollup_behind"), account
    assert NO_NODE in str(account.body)
    for words in (
        ["rollup", "status"],
        ["lanes"],
        ["lane", "health", LANE],
        ["tx", "show", intent],
    ):
        said = " ".join((await typed(terminal, *words)).split())
        assert NO_NODE in said, said


@pytest.mark.slow
def test_a_builders_file_knows_the_genesis_that_nobody_configured(tmp_path: Path) -> None:
    path = tmp_path / "l.db"

    async def story() -> None:
        async with JamDevnet(slot_ms=100) as devnet:
            purse = Purse(devnet.model.genesis)
            async with laneway_on(devnet, path) as lw:
                assert (await (await lw.transfer(LANE, purse.transfer())).result(60)).is_confirmed()
            assert shelved_genesis(f"{path}-rollup-1") == devnet.model.genesis
            await devnet.stop_node(0)
            async with laneway_on(devnet, path) as lw:
                handle = await lw.transfer(LANE, purse.transfer())
                await devnet.start_node(0)
                assert (await handle.result(60)).is_confirmed()

    run(story)


@pytest.mark.slow
def test_without_a_genesis_nothing_can_be_checked_and_the_caller_is_asked_to_come_again() -> None:
    async def story() -> None:
        async with JamDevnet(slot_ms=100) as devnet:
            await devnet.stop_node(0)
            raw = Purse(devnet.model.genesis).transfer()
            async with laneway_on(devnet) as lw:
                with pytest.raises(RollupBehind, match=r"without its chain's `genesis`.*no node"):
                    await lw.transfer(LANE, raw)
                await devnet.start_node(0)
                await until(lambda: ready(lw), bool)
                assert (await (await lw.transfer(LANE, raw)).result(60)).is_confirmed()

    run(story)


async def ready(lw: Laneway) -> bool:
    lanes = lw.rollups.lanes
    return lanes is not None and lanes.account(LaneId(LANE)).closed is None


@pytest.mark.slow
@pytest.mark.parametrize(
    ("more", "problem"),
    [
        ({"cores": [0, 2]}, "the chain has cores 0 to 1, and not 2"),
        ({"genesis": "00" * 32}, "service 1 is no ledger of a chain that began with 0000"),
    ],
)
def test_what_does_not_fit_a_chain_that_comes_late_halts_its_lane_alone(
    more: dict[str, object], problem: str
) -> None:
    async def story() -> None:
        async with JamDevnet(slot_ms=100) as devnet:
            await devnet.stop_node(0)
            async with laneway_on(devnet, ":memory:", **more) as lw:
                await devnet.start_node(0)
                lane = await until(lambda: lw.lane(LANE), lambda one: one.state == "halted")
                assert problem in lane.reason
                assert "start this process again" in lane.reason
                health = await lw.health(LANE)
                assert (health.healthy, problem in str(health.problems)) == (False, True)
                *_, check = await ReadinessProbe(lw).checks()
                assert (check.name, check.ok, problem in check.what) == (LANE, False, True)
                lw.check()

    run(story)


@pytest.mark.slow
def test_a_chain_that_began_anew_and_comes_late_halts_its_lane(tmp_path: Path) -> None:
    path = tmp_path / "l.db"

    async def first() -> None:
        async with JamDevnet(slot_ms=100) as devnet, laneway_on(devnet, path) as lw:
            raw = Purse(devnet.model.genesis).transfer()
            assert (await (await lw.transfer(LANE, raw)).result(60)).is_confirmed()

    async def second() -> None:
        async with JamDevnet(slot_ms=100) as devnet:
            await devnet.stop_node(0)
            async with laneway_on(devnet, path) as lw:
                await devnet.start_node(0)
                lane = await until(lambda: lw.lane(LANE), lambda one: one.state == "halted")
                assert "saw block 1 of rollup:1 final, and its chain has none" in lane.reason

    run(first)
    run(second)


@pytest.mark.slow
def test_a_rollup_that_is_closed_ends_with_its_process(tmp_path: Path) -> None:
    async def story() -> None:
        path, before = str(tmp_path / "l.db"), asyncio.all_tasks()
        for _ in range(2):
            async with made(path, table("ws://127.0.0.1:9")) as lw:
                assert lw.rollups.lanes is not None
                assert lw.rollups.lanes.lanes() == [LANE]
                assert (await lw.lane(LANE)).reason.startswith(NO_NODE)
        assert asyncio.all_tasks() == before

    run(story)


@pytest.mark.slow
def test_a_bug_while_a_rollup_is_opened_late_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    async def broken(*_: object) -> None:
        raise ValueError("not thought of")

    async def story() -> None:
        async with JamDevnet(slot_ms=100) as devnet:
            await devnet.stop_node(0)
            async with laneway_on(devnet) as lw:
                monkeypatch.setattr(rollup, "rollup_head", broken)
                await devnet.start_node(0)
                lane = await until(lambda: lw.lane(LANE), lambda one: one.state == "halted")
                assert "stopped by a bug: ValueError('not thought of')" in lane.reason

    run(story)


@pytest.mark.slow
def test_while_a_node_answers_at_the_start_what_does_not_fit_ends_it() -> None:
    async def story() -> None:
        async with JamDevnet(slot_ms=0) as devnet:
            with pytest.raises(ConfigError, match="no service 9"):
                async with laneway_on(devnet, service=9):
                    pass

    run(story)


# Its reads.

CLOSED = ClosedRollup(since_ms=0, problem="node x cannot be reached: refused")


def test_the_reason_names_the_nodes_once() -> None:
    since = f"{NO_NODE}1970-01-01T00:00:00+00:00"
    assert CLOSED.words() == f"{since}: node x cannot be reached: refused{ADVICE}"
    assert CLOSED.words(are_nodes_named=True) == since + ADVICE
    unfit = ClosedRollup(since_ms=0, problem="it is another", is_unfit=True)
    for named in (True, False):
        said = "it cannot be served: it is another; fix that, and start this process again"
        assert unfit.words(are_nodes_named=named) == said


def test_what_needs_a_state_is_not_answered() -> None:
    async def story() -> None:
        genesis = bytes(HASH_BYTES)
        raw = Purse(genesis).transfer()
        reads = ClosedReads(LaneId(LANE), CLOSED.words, LedgerRules(Domain(genesis, 1)))
        hashed = transfer_hash(TRANSFER.decode(raw, "transfer"))
        assert await reads.check(raw) == await reads.hash_of(raw) == hashed
        with pytest.raises(BadRequest):
            await reads.check(raw[:-1] + b"\0")
        spent = await reads.spent(raw)
        assert spent is not None
        assert spent[1] == 0
        assert await reads.problem(Tip(0), held=False) == CLOSED.words()
        await reads.catch_up()
        assert await reads.receipt(hashed) is None
        assert await reads.block(1) is None
        for ask in (reads.latest(b""), reads.account(b"", None)):
            with pytest.raises(RollupBehind):
                await ask
        blind = ClosedReads(LaneId(LANE), CLOSED.words, None)
        assert await blind.spent(raw) is None
        with pytest.raises(RollupBehind):
            await blind.check(raw)

    asyncio.run(story())


def test_a_file_that_is_not_there_knows_no_genesis(tmp_path: Path) -> None:
    assert shelved_genesis(None) is None
    assert shelved_genesis(str(tmp_path / "none")) is None
    assert not (tmp_path / "none").exists()
