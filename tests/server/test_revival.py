"""Laws of lanes that stand still, over HTTP and on the command line: a lane that a bug stopped is
seen everywhere and revived without what stopped it; a halted contract is settled by hand."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.cli.stage import Terminal, beside
from tests.feeds.receiver import receiving
from tests.fleet.stores import started
from tests.server.stage import Client, running
from tests.waits import within
from tests.wiring.hooked import configured, hooked

from laneway.core.ids import LaneId
from laneway.core.outcome import Outcome
from laneway.devnets.contract.node.host import EmbeddedHost
from laneway.engine.contract import decode_call
from laneway.lanes.contract import machine as contract
from laneway.lanes.delivery import machine as delivery
from laneway.ports import ContractCall, Execution
from laneway.wiring.server import Up

LANE, OTHER = "contract:Qm1", "contract:Qm2"
WHY = {"reason": "its data are nonsense"}
THOUGHT = WHY | {"dry_run": True}
PARENTLESS = {
    "host__takes_parent": "false",
    "contract__search_ms": "10",
    "contract__execution_ms_max": "100",
}
"""A host that picks the parent itself: a doubt halts its lane."""


@pytest.fixture
def buggy(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine that no poison survives."""
    decide = contract.decide

    def broken(lane: Any, event: Any) -> Any:
        for row in getattr(event, "intents", ()):
            if decode_call(row.payload).data == "poison":
                raise KeyError("a machine's bug")
        return decide(lane, event)

    monkeypatch.setattr(contract, "decide", broken)


async def until(true: Callable[[], object]) -> None:
    async with within(20, "what the test waits for"):
        while not true():
            await asyncio.sleep(0.005)


async def stopped(up: Up, client: Client) -> tuple[str, str]:
    """A poisoned transaction, and one that waits for it."""
    poison = (await client.send("poison"))["id"]
    waits = (await client.send("transfer 5"))["id"]
    await until(lambda: up.laneway.engine.faults)
    return poison, waits


@pytest.mark.usefixtures("buggy")
def test_a_stopped_lane_is_seen_wherever_somebody_looks() -> None:
    async def main() -> None:
        async with running() as (up, client):
            poison, waits = await stopped(up, client)
            await client.finish((await client.send(lane=OTHER))["id"])
            lane = (await client.get(f"/v1/lanes/{LANE}")).body
            assert lane["state"] == "halted"
            assert "stopped by a bug: KeyError" in lane["reason"]
            assert "laneway lane revive contract:Qm1" in lane["reason"]
            health = (await client.get(f"/v1/lanes/{LANE}/health")).body
            assert not health["healthy"]
            assert "KeyError" in health["problems"][0]
            for tx in (poison, waits):
                assert (
                    "stopped by a bug"
                    in (await client.get(f"/v1/transactions/{tx}")).body["reason"]
                )
            ready = await client.get("/readyz")
            (check,) = [one for one in ready.body["checks"] if one["name"] == "lanes"]
            assert ready.status == 200, "the other lanes go on"
            assert "1 stopped by a bug: contract:Qm1" in check["what"]
            assert "laneway_lanes_stopped 1.0" in (await client.get("/metrics")).body
            trail = (await client.get("/v1/audit")).body["items"]
            (noted,) = [entry for entry in trail if entry["action"] == "lane.stopped"]
            assert (noted["actor"], noted["lane"], noted["tx"]) == ("laneway", LANE, poison)
            assert "test_revival.py" in noted["detail"]

    asyncio.run(main())


@pytest.mark.usefixtures("buggy")
def test_resume_of_a_stopped_lane_says_what_to_do_instead() -> None:
    async def main() -> None:
        async with running() as (up, client):
            await stopped(up, client)
            for order in (WHY, THOUGHT):
                heard = await client.post(f"/v1/lanes/{LANE}/resume", order)
                assert (heard.status, heard.code) == (409, "command_refused")
                assert "laneway lane revive contract:Qm1" in heard.body["detail"]

    asyncio.run(main())


@pytest.mark.usefixtures("buggy")
def test_a_revived_lane_goes_on_without_what_stopped_it() -> None:
    async def main() -> None:
        async with running() as (up, client):
            poison, waits = await stopped(up, client)
            path = f"/v1/lanes/{LANE}/revive"
            would = await client.post(path, THOUGHT)
            assert (would.status, would.body["outcome"]) == (200, "would")
            assert f"takes {poison} back" in would.body["effect"]
            assert "KeyError" in would.body["effect"]
            assert would.body["tx"]["id"] == poison
            assert up.laneway.engine.faults, "only in thought"
            done = await client.post(path, WHY)
            assert (done.status, done.body["outcome"]) == (200, "done")
            assert done.body["tx"]["status"] == "cancelled"
            assert (await client.finish(waits))["status"] == "confirmed"
            put = (await client.get(f"/v1/transactions/{poison}")).body
            assert "put aside by loopback: its data are nonsense" in put["reason"]
            assert "KeyError" in put["reason"]
            assert "laneway_lanes_stopped 0.0" in (await client.get("/metrics")).body
            trail = (await client.get("/v1/audit")).body["items"]
            revived = [entry for entry in trail if entry["action"] == "revive"]
            assert [entry["outcome"] for entry in revived] == ["asked", "done"]
            assert revived[0]["tx"] == poison

    asyncio.run(main())


@pytest.mark.usefixtures("buggy")
def test_a_revival_that_puts_nothing_aside_is_stopped_again_and_says_so() -> None:
    async def main() -> None:
        async with running() as (up, client):
            poison, waits = await stopped(up, client)
            heard = await client.post(f"/v1/lanes/{LANE}/revive", WHY | {"keep": True})
            assert (heard.status, heard.code) == (409, "command_refused")
            assert "stopped again" in heard.body["detail"]
            named = await client.post(f"/v1/lanes/{LANE}/revive", WHY | {"tx": poison})
            assert named.body["outcome"] == "done"
            await client.finish(waits)

    asyncio.run(main())


@pytest.mark.usefixtures("buggy")
def test_only_what_a_bug_stopped_is_revived_and_only_its_own_transactions_are_put_aside(
    tmp_path: Path,
) -> None:
    async def main() -> None:
        async with running(store__path=str(tmp_path / "laneway.db"), store__durability="full") as (
            up,
            client,
        ):
            other = (await client.send(lane=OTHER))["id"]
            await client.finish(other)
            heard = await client.post(f"/v1/lanes/{OTHER}/revive", WHY)
            assert (heard.status, heard.body["detail"]) == (
                409,
                f"{OTHER} cannot revive: no bug stopped it",
            )
            await stopped(up, client)
            for tx in (other, "tx_nonsense", "key:b", "contract:Qm1#1"):
                heard = await client.post(f"/v1/lanes/{LANE}/revive", WHY | {"tx": tx})
                assert heard.status == 404, tx
            assert (await client.post(f"/v1/lanes/{LANE}/revive", {})).status == 422

    asyncio.run(main())


@pytest.mark.usefixtures("buggy")
def test_the_evidence_outlives_the_process_that_met_the_bug(tmp_path: Path) -> None:
    path = str(tmp_path / "laneway.db")

    async def first() -> str:
        async with running(store__path=path, store__durability="full") as (up, client):
            poison, _ = await stopped(up, client)
            await until(lambda: not up.desk.trail._noting)
            return poison

    async def second(poison: str) -> None:
        async with running(store__path=path, store__durability="full") as (up, client):
            await until(lambda: up.laneway.engine.faults)
            trail = (await client.get("/v1/audit")).body["items"]
            noted = [entry for entry in trail if entry["action"] == "lane.stopped"]
            assert noted[0]["tx"] == poison
            done = await client.post(f"/v1/lanes/{LANE}/revive", WHY)
            assert done.body["tx"]["status"] == "cancelled"

    poison = asyncio.run(first())
    asyncio.run(second(poison))


def test_a_webhook_that_a_bug_stopped_says_so_and_is_revived(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    decide, bugs = delivery.decide, [KeyError("a machine's bug")]

    def broken(lane: Any, event: Any) -> Any:
        if bugs and hasattr(event, "intents"):
            raise bugs[0]
        return decide(lane, event)

    monkeypatch.setattr(delivery, "decide", broken)

    async def main() -> None:
        async with (
            receiving() as receiver,
            hooked(configured(tmp_path, receiver.url)) as (up, client),
        ):
            await client.post("/v1/webhooks/hook/test", WHY)
            await until(lambda: up.laneway.engine.faults)
            (shown,) = (await client.get("/v1/webhooks")).body["items"]
            assert shown["state"] == "halted"
            assert "stopped by a bug" in shown["reason"]
            heard = await client.post("/v1/webhooks/hook/resume", WHY)
            assert (heard.status, heard.code) == (409, "command_refused")
            would = await client.post("/v1/webhooks/hook/revive", THOUGHT)
            assert would.body["outcome"] == "would"
            bugs.clear()
            done = await client.post("/v1/webhooks/hook/revive", WHY)
            assert (done.status, done.body["outcome"]) == (200, "done")
            assert done.body["webhook"]["state"] != "halted"

    asyncio.run(main())


async def seen(client: Client, lane: str) -> dict[str, str]:
    """What a process says of a lane, wherever somebody looks."""
    shown = (await client.get(f"/v1/lanes/{lane}")).body
    health = (await client.get(f"/v1/lanes/{lane}/health")).body
    checks = (await client.get("/readyz")).body["checks"]
    metrics = (await client.get("/metrics")).body.splitlines()
    return {
        "state": shown["state"],
        "reason": shown["reason"],
        "health": " ".join(health["problems"]),
        "readyz": " ".join(check["what"] for check in checks if check["name"] == "lanes"),
        "metric": next(line for line in metrics if line.startswith("laneway_lanes_stopped ")),
    }


@pytest.mark.slow
@pytest.mark.usefixtures("buggy")
@pytest.mark.parametrize("store", ["postgres", "redis", "redis-cluster"])
def test_every_process_of_a_fleet_knows_of_a_stopped_lane_and_may_revive_it(store: str) -> None:
    lane = f"contract:Stopped{store}"

    async def main(url: str) -> None:
        flags = {"store__path": url, "store__durability": "full"}
        async with running(**flags) as (one, first), running(**flags) as (two, second):
            homes = [up.laneway.engine.is_home for up in (one, two)]
            await until(lambda: sum(is_home(LaneId(lane)) for is_home in homes) == 1)
            poison = (await first.send("poison", lane))["id"]
            waits = (await second.send("transfer 5", lane))["id"]
            await until(lambda: one.laneway.engine.faults and two.laneway.engine.faults)
            said = await seen(first, lane)
            assert said == await seen(second, lane)
            assert said["state"] == "halted"
            assert "stopped by a bug: KeyError" in said["reason"]
            assert "KeyError" in said["health"]
            assert f"1 stopped by a bug: {lane}" in said["readyz"]
            assert said["metric"] == "laneway_lanes_stopped 1.0"
            for client in (first, second):
                for tx in (poison, waits):
                    heard = await client.get(f"/v1/transactions/{tx}")
                    assert "stopped by a bug" in heard.body["reason"]
                for path in (f"lanes/{lane}/resume", f"transactions/{waits}/cancel"):
                    refused = await client.post(f"/v1/{path}", WHY)
                    assert (refused.status, refused.code) == (409, "command_refused"), path
                would = await client.post(f"/v1/lanes/{lane}/revive", THOUGHT)
                assert f"takes {poison} back" in would.body["effect"]
            away = second if lane in one.laneway.engine.faults_here else first
            told = await away.post(f"/v1/lanes/{lane}/revive", WHY)
            assert (told.status, told.body["outcome"]) == (202, "told"), told
            assert (await second.finish(poison))["status"] == "cancelled"
            assert (await first.finish(waits))["status"] == "confirmed"
            await until(lambda: not one.laneway.engine.faults and not two.laneway.engine.faults)
            assert "halted" not in (await seen(first, lane)).values()

    with started(store) as server:
        asyncio.run(main(server.url))


# Settling by hand.


async def halted(up: Up, client: Client) -> str:
    async def lost(call: ContractCall, parent: int) -> Execution:
        return Execution(Outcome.UNKNOWN, reason="the line broke")

    up.laneway.host.execute = lost  # type: ignore[method-assign]
    sent: str = (await client.send())["id"]
    async with asyncio.timeout(20):
        while (await client.get(f"/v1/lanes/{LANE}")).body["state"] != "halted":
            await asyncio.sleep(0.01)
    return sent


@pytest.mark.parametrize(
    ("word", "status", "state"),
    [("executed", "confirmed", "idle"), ("not_executed", "submitted", "running")],
)
def test_a_halted_contract_is_settled_by_what_a_person_found(
    word: str, status: str, state: str
) -> None:
    async def main() -> None:
        async with running(**PARENTLESS) as (up, client):
            sent = await halted(up, client)
            path = f"/v1/transactions/{sent}/settle"
            would = await client.post(path, WHY | {"word": word, "dry_run": True})
            assert (would.status, would.body["outcome"]) == (200, "would")
            refused = await client.post(path, WHY | {"word": "skip"})
            assert (refused.status, refused.code) == (409, "command_refused")
            done = await client.post(path, WHY | {"word": word})
            assert (done.status, done.body["outcome"]) == (200, "done"), done
            if word == "executed":
                assert (await client.finish(sent))["status"] == "confirmed"
            assert done.body["tx"]["status"] in (status, "queued")
            assert (await client.get(f"/v1/lanes/{LANE}")).body["state"] != "paused"
            trail = (await client.get("/v1/audit")).body["items"]
            noted = [entry for entry in trail if entry["action"] == "settle"]
            assert [one["outcome"] for one in noted] == ["asked", "refused", "asked", "done"]
            assert noted[2]["detail"] == word

    asyncio.run(main())


def test_only_a_halted_contract_is_settled() -> None:
    async def main() -> None:
        async with running(host__round_ms="60000") as (_, client):
            sent = (await client.send())["id"]
            path = f"/v1/transactions/{sent}/settle"
            would = await client.post(path, WHY | {"word": "executed", "dry_run": True})
            assert would.body["effect"].startswith("refused: ")
            heard = await client.post(path, WHY | {"word": "executed"})
            assert (heard.status, heard.code) == (409, "command_refused")
            assert (await client.post(path, WHY | {"word": "perhaps"})).status == 422

    asyncio.run(main())


# On the command line.


@pytest.mark.usefixtures("buggy")
def test_a_stopped_lane_is_revived_from_a_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    with beside() as url:
        terminal = Terminal(url, capsys)
        (poison,) = terminal.json("send", LANE, "--data", "poison", "--key", "b")
        code = 0
        for _ in range(100):
            code, out, _ = terminal.type("lane", "health", LANE)
            if code:
                break
        assert (code, "stopped by a bug" in out) == (1, True)
        code, out, err = terminal.type("lane", "resume", LANE, "--reason", "go")
        assert code == 1
        assert "laneway lane revive" in err
        words = ("lane", "revive", LANE, "--reason", "nonsense")
        code, out, _ = terminal.type(*words, "--dry-run")
        assert (code, f"takes {poison['id']} back" in out) == (0, True)
        code, _, err = terminal.type(*words, "--tx", "key:a")
        assert (code, "key:a" in err, "bug" in err) == (3, True, False)
        code, out, _ = terminal.type(*words, "--tx", "key:b", "--dry-run")
        assert (code, f"takes {poison['id']} back" in out) == (0, True)
        (action,) = terminal.json(*words, "--tx", "key:b")
        assert (action["outcome"], action["tx"]["status"]) == ("done", "cancelled")
        code, _, err = terminal.type(*words)
        assert (code, "no bug stopped it" in err) == (1, True)
        code, _, err = terminal.type("tx", "settle", poison["id"], "skip", "--reason", "x")
        assert code == 1
        assert "final" in err


# Bugs of a performer.


class Hexed:
    """A host that no poison survives, and what it was asked to execute."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.is_late = False
        """Whether it breaks only after the poison has its block."""


@pytest.fixture
def hexed(monkeypatch: pytest.MonkeyPatch) -> Hexed:
    execute, host = EmbeddedHost.execute, Hexed()

    async def broken(self: EmbeddedHost, call: ContractCall, parent: int) -> Execution:
        host.asked.append(call.data)
        if call.data == "poison" and not host.is_late:
            raise KeyError("a host's bug")
        done = await execute(self, call, parent)
        if call.data == "poison":
            raise KeyError("a host's bug")
        return done

    monkeypatch.setattr(EmbeddedHost, "execute", broken)
    return host


def test_a_lane_that_its_performer_stopped_waits_for_a_person_and_executes_nothing_again(
    hexed: Hexed,
) -> None:
    async def main() -> None:
        async with running() as (up, client):
            poison, waits = await stopped(up, client)
            path = f"/v1/lanes/{LANE}/revive"
            would = await client.post(path, THOUGHT)
            assert "halts until `laneway tx settle` says what ran" in would.body["effect"]
            done = await client.post(path, WHY)
            assert (done.status, done.body["outcome"]) == (200, "done"), done
            assert "laneway tx settle ID executed" in done.body["effect"]
            assert done.body["lane"]["state"] == "halted"
            assert f"{poison} may have run" in done.body["lane"]["reason"]
            assert "KeyError" in done.body["lane"]["reason"]
            assert not up.laneway.engine.faults
            taken = await client.post(f"/v1/transactions/{poison}/cancel", WHY)
            assert (taken.status, "look at the chain" in taken.body["detail"]) == (409, True)
            settling = WHY | {"word": "not_executed"}
            settled = await client.post(f"/v1/transactions/{poison}/settle", settling)
            assert (settled.status, settled.body["outcome"]) == (200, "done"), settled
            end = await client.finish(poison)
            assert end["status"] == "refused"
            assert "put aside by loopback: its data are nonsense" in end["reason"]
            assert (await client.finish(waits))["status"] == "confirmed"
            assert hexed.asked == ["poison", "transfer 5"]

    asyncio.run(main())


def test_what_landed_before_its_performer_broke_is_confirmed_by_the_chain(hexed: Hexed) -> None:
    hexed.is_late = True

    async def main() -> None:
        async with running() as (up, client):
            poison, waits = await stopped(up, client)
            done = await client.post(f"/v1/lanes/{LANE}/revive", WHY)
            assert (done.status, done.body["outcome"]) == (200, "done"), done
            assert (await client.finish(poison))["status"] == "confirmed"
            assert (await client.finish(waits))["status"] == "confirmed"
            assert hexed.asked == ["poison", "transfer 5"]

    asyncio.run(main())


@pytest.mark.usefixtures("hexed")
@pytest.mark.parametrize("order", [WHY, THOUGHT])
def test_nothing_of_a_stopped_lane_is_settled_or_cancelled_before_it_is_revived(
    order: dict[str, Any],
) -> None:
    async def main() -> None:
        async with running() as (up, client):
            for sent in await stopped(up, client):
                path = f"/v1/transactions/{sent}"
                for heard in (
                    await client.post(f"{path}/cancel", order),
                    await client.post(f"{path}/settle", order | {"word": "executed"}),
                ):
                    assert (heard.status, heard.code) == (409, "command_refused")
                    assert "laneway lane revive contract:Qm1" in heard.body["detail"]

    asyncio.run(main())
