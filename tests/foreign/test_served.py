"""A server serves a kind of another distribution: REST, OpenAPI, commands, events, webhooks,
metrics, readiness, doctor."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.feeds.receiver import SECRET, receiving
from tests.foreign.distribution import Installed
from tests.server.stage import Client
from tests.waits import within

from laneway.client.asynchronous import AsyncClient

pytestmark = pytest.mark.slow

TOML = """\
[store]
path = "a.db"
[server]
port = 0
[counter]
folder = "counters"
retry_ms = 20_000
"""
HOOK = """\
[[webhooks]]
id = "hook"
url = "{url}"
secret_file = "{secret}"
allow_private = true
lanes = ["counter:*"]
"""
WHY = {"reason": "to see"}


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Installed]:
    with Installed(tmp_path, TOML) as installed:
        installed.start()
        yield installed


def talk(server: Installed, story: Callable[[Client], Awaitable[None]]) -> None:
    async def main() -> None:
        async with Client(server.url) as client:
            await story(client)

    asyncio.run(main())


async def added(client: Client, add: int, lane: str = "counter:a", **headers: str) -> Any:
    body = {"lane": lane, "payload": {"add": add}}
    return await client.post("/v1/transactions?wait=confirmed", body, **headers)


async def stuck(client: Client, folder: Path) -> str:
    """The id of an addition whose counter does not answer."""
    (folder / "counters" / "b").mkdir(parents=True)
    sent = await client.post("/v1/transactions", {"lane": "counter:b", "payload": {"add": 7}})
    async with within(20, "a wait for the next try"):
        while (await client.get("/v1/lanes/counter:b")).body["state"] != "backing off":
            await asyncio.sleep(0.02)
    return str(sent.body["id"])


def test_rest_takes_shows_and_commands_it(server: Installed) -> None:
    async def story(client: Client) -> None:
        one = await added(client, 5, **{"Idempotency-Key": "one"})
        assert (one.status, one.body["status"], one.body["block"]) == (200, "confirmed", 0)
        assert one.body["details"] == {"add": 5, "note": "", "attempts": 1}
        again = await added(client, 5, **{"Idempotency-Key": "one"})
        assert (again.body["id"], again.headers["Idempotent-Replayed"]) == (one.body["id"], "true")
        assert (await added(client, 6, **{"Idempotency-Key": "one"})).code == "idempotency_conflict"
        refused = await added(client, 5_000)
        assert refused.body["status"] == "refused"
        assert refused.body["reason"] == "a counter takes at most 1000 at once"
        wrong = await client.post("/v1/transactions", {"lane": "counter:a", "payload": {"x": 1}})
        assert (wrong.status, wrong.code) == (422, "invalid_body")
        assert (await client.get("/v1/transactions/counter:a%230")).body["id"] == one.body["id"]
        listed = await client.get("/v1/transactions?lane=counter:a&status=refused")
        assert [tx["id"] for tx in listed.body["items"]] == [refused.body["id"]]
        lane = (await client.get("/v1/lanes/counter:a")).body
        assert (lane["state"], lane["details"]) == ("idle", {"total": 5, "retry_ms": 20_000})
        # Of kinds that have fields of their own nothing changed.
        contract = {"lane": "contract:Qm", "payload": {"data": "x"}}
        assert "details" not in (await client.post("/v1/transactions", contract)).body
        assert (await client.get("/v1/counters/a")).body == {"name": "a", "count": 1, "total": 5}

    talk(server, story)


def test_lanes_and_transactions_follow_commands_of_all_kinds_and_of_their_own(
    server: Installed,
) -> None:
    async def story(client: Client) -> None:
        paused = await client.post("/v1/lanes/counter:a/pause", WHY)
        assert (paused.status, paused.body["outcome"]) == (200, "done")
        waits = (await client.send(lane="counter:a", payload={"add": 1}))["id"]
        cancelled = await client.post(f"/v1/transactions/{waits}/cancel", WHY)
        assert (cancelled.body["outcome"], cancelled.body["tx"]["status"]) == ("done", "cancelled")
        retried = await client.post(f"/v1/transactions/{waits}/retry", WHY)
        assert retried.body["tx"]["retry_of"] == waits
        drained = await client.post("/v1/lanes/counter:a/drain", WHY)
        assert drained.body["outcome"] == "done"
        assert (await client.finish(retried.body["tx"]["id"]))["status"] == "confirmed"
        assert (await client.get("/v1/lanes/counter:a")).body["state"] == "paused"
        resumed = await client.post("/v1/lanes/counter:a/resume", WHY)
        assert resumed.body["outcome"] == "done"

        dry = await client.post("/v1/lanes/counter:a/tune?dry_run=true", {**WHY, "retry_ms": 60})
        assert dry.body["details"] == {"before": 20_000, "after": 60}
        tuned = await client.post("/v1/lanes/counter:a/tune", {**WHY, "retry_ms": 60})
        assert (tuned.body["outcome"], tuned.body["lane"]["details"]["retry_ms"]) == ("done", 60)
        await client.send(lane="contract:Qm")
        foreign = await client.post("/v1/lanes/contract:Qm/tune", {**WHY, "retry_ms": 60})
        assert (foreign.status, foreign.code) == (409, "command_refused")
        assert "only a counter's lane knows it" in foreign.body["detail"]

        intent = await stuck(client, server.folder)
        held = await client.post(f"/v1/transactions/{intent}/cancel", WHY)
        assert (held.status, "may have been added" in held.body["detail"]) == (409, True)
        health = (await client.get("/v1/lanes/counter:b/health")).body
        assert (health["healthy"], len(health["problems"])) == (False, 1)
        (server.folder / "counters" / "b").rmdir()
        hurried = await client.post(f"/v1/transactions/{intent}/hurry", WHY)
        assert (hurried.status, hurried.body["effect"]) == (200, "the counter is read now")
        assert (await client.finish(intent))["status"] == "confirmed"

    talk(server, story)


def test_the_document_metrics_and_readiness_have_it(server: Installed) -> None:
    async def story(client: Client) -> None:
        document = (await client.get("/openapi.json")).body
        posted = document["paths"]["/v1/transactions"]["post"]["requestBody"]
        bodies = posted["content"]["application/json"]["schema"]["anyOf"]
        assert {"$ref": "#/components/schemas/NewAddition"} in bodies
        assert document["components"]["schemas"]["AdditionPayload"]["required"] == ["add"]
        assert "post" in document["paths"]["/v1/lanes/{lane}/tune"]
        (named,) = document["paths"]["/v1/counters/{counter}"]["get"]["parameters"]
        assert (named["name"], named["in"]) == ("counter", "path")
        await added(client, 5)
        await added(client, 5_000)
        metrics = (await client.get("/metrics")).body
        assert 'laneway_counter_additions_total{result="confirmed"} 1.0' in metrics
        assert 'laneway_counter_total{lane="counter:a"} 5.0' in metrics
        ready = (await client.get("/readyz")).body
        assert {"name": "counters", "ok": True, "what": "can be written"} in ready["checks"]

    talk(server, story)
    assert "\ncounters    counters\n" in server.said()
    lines = [json.loads(line) for line in server.said().splitlines() if line.startswith("{")]
    ended = [line["status"] for line in lines if line["event"] == "Addition ended"]
    assert ended == ["confirmed", "refused"]


def test_its_events_reach_readers_and_webhooks(tmp_path: Path) -> None:
    async def story(installed: Installed) -> None:
        async with receiving() as receiver:
            secret = tmp_path / "hook.secret"
            secret.touch(mode=0o600)
            secret.write_text(SECRET + "\n")
            hook = HOOK.format(url=receiver.url, secret=secret)
            (tmp_path / "laneway.toml").write_text(TOML + hook)
            await asyncio.to_thread(installed.start)
            async with AsyncClient(installed.url) as client:
                sent = await client.submit("counter:a", {"add": 5})
                await sent.result(20)
                found = []
                async with within(20, "two events"):
                    async for event in client.events("counter:a", after=""):
                        found.append(event)
                        if len(found) == 2:
                            break
            assert [one.type for one in found] == ["transaction.submitted", "transaction.confirmed"]
            assert [one.data.details for one in found] == [{"add": 5}, {"add": 5}]
            await receiver.until(2)
            bodies = {body["type"]: body["data"] for body in receiver.bodies()}
            assert bodies["transaction.confirmed"]["details"] == {"add": 5}
            assert bodies["transaction.confirmed"]["block"] == 0

    with Installed(tmp_path, TOML) as installed:
        asyncio.run(story(installed))


def test_commands_send_show_and_command_it(server: Installed) -> None:
    said = server.ask("send", "counter:a", "--add", "5", "--note", "hi", "--key", "one", "--wait")
    assert "confirmed  counter:a #1  block 0" in said
    (server.folder / "many").write_text('{"add": 1}\n{"payload": {"add": 2}}\n')
    said = server.ask("send", "counter:a", "--file", "many", "--wait", "--json")
    assert [json.loads(line)["details"]["add"] for line in said.splitlines()] == [1, 2]
    facts = server.ask("tx", "show", "key:one")
    assert ("add           5" in facts, "note          hi" in facts) == (True, True)
    assert "counter:a  idle         0        0                 3" in server.ask("lanes")
    assert "total         8" in server.ask("lane", "show", "counter:a")
    assert "waits 60 ms between two tries" in server.ask("lane", "tune", "counter:a", "60")
    code, said = server.laneway("tx", "hurry", "key:one", "--url", server.url)
    assert (code, "final already: confirmed" in said) == (1, True), said


def test_configuration_and_doctor_ask_it(tmp_path: Path) -> None:
    installed = Installed(tmp_path, TOML)
    code, said = installed.laneway("config", "show")
    assert (code, '[counter]\nfolder = "counters"\nretry_ms = 20000\n' in said) == (0, True), said
    code, said = installed.laneway("doctor")
    assert "ok   counters: counters can be written" in said
    (tmp_path / "laneway.toml").write_text("[counter]\nretry_ms = 60_001\n")
    code, said = installed.laneway("config", "check")
    assert (code, "a wait is at most 60000 milliseconds" in said) == (2, True), said
    (tmp_path / "site" / "laneway_counter" / "kind.py").write_text("import nothing_of_this_name\n")
    code, said = installed.laneway("config", "check")
    assert (code, "the kind counter cannot be used: No module named" in said) == (2, True), said


def test_lanes_that_are_no_longer_configured_are_still_shown(tmp_path: Path) -> None:
    with Installed(tmp_path, TOML) as installed:
        installed.start()
        installed.ask("send", "counter:a", "--add", "5", "--key", "one", "--wait")
        installed.stop()
        (tmp_path / "laneway.toml").write_text(TOML.replace("folder", "#"))
        installed.start()
        assert "status        confirmed" in installed.ask("tx", "show", "key:one")
        assert "counter:a  idle" in installed.ask("lanes")
        code, said = installed.laneway("send", "counter:a", "--add", "5", "--url", installed.url)
        assert (code, "counter:a" in said) == (3, True), said


def test_without_the_distribution_nothing_knows_it(tmp_path: Path) -> None:
    installed = Installed(tmp_path, TOML)
    installed.environment.pop("PYTHONPATH")
    code, said = installed.laneway("config", "check")
    assert (code, "unknown field `counter`" in said) == (2, True), said
    code, said = installed.laneway("sim", "--kind", "counter", "--seeds", "1")
    assert (code, "no kind 'counter'; one of contract, eoa" in said) == (2, True), said
