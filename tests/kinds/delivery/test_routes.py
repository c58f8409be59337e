"""The webhooks' own endpoints and commands: the log, resending, testing, pausing."""

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.cli.stage import Terminal
from tests.feeds.receiver import Receiver, receiving, verified
from tests.kinds.audit.test_routes import keys_file
from tests.server.stage import Client
from tests.wiring.hooked import configured, hooked

from laneway.client.asynchronous import AsyncClient
from laneway.lanes.delivery import machine

WHY = {"reason": "the receiver was down"}
HOOK = "/v1/webhooks/hook"


async def log(client: Client, **query: str) -> list[dict[str, Any]]:
    heard = await client.ask("GET", f"{HOOK}/deliveries", params=query)
    assert heard.status == 200, heard
    items: list[dict[str, Any]] = heard.body["items"]
    return items


async def settled(client: Client, count: int) -> list[dict[str, Any]]:
    async with asyncio.timeout(20):
        while True:
            items = await log(client)
            if len(items) >= count and all(item["final"] for item in items):
                return items
            await asyncio.sleep(0.02)


def test_the_log_tells_every_message_and_every_attempt(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(machine, "LADDER_MS", (0, 10, 10))

    async def main() -> None:
        async with receiving() as receiver:
            receiver.answers = [500]
            only = configured(tmp_path, receiver.url, more='events = ["transaction.confirmed"]')
            async with hooked(only) as (_, client):
                tx = (await client.send())["id"]
                await client.finish(tx)
                (delivery,) = await settled(client, 1)
                assert (delivery["type"], delivery["status"]) == (
                    "transaction.confirmed",
                    "confirmed",
                )
                assert delivery["body"]["data"]["tx"] == tx
                assert [a["code"] for a in delivery["attempts"]] == [500, 200]
                assert delivery["attempts"][0]["preview"] == "status 500"
                assert delivery["message"] == receiver.ids()[0]
                (shown,) = (await client.get("/v1/webhooks")).body["items"]
                assert (shown["state"], shown["delivered"], shown["failures"]) == ("idle", 1, 0)

    asyncio.run(main())


def test_a_delivery_is_resent_as_a_new_one_with_the_same_message(tmp_path: Path) -> None:
    async def main() -> None:
        async with (
            receiving() as receiver,
            hooked(configured(tmp_path, receiver.url)) as (_, client),
        ):
            await client.finish((await client.send())["id"])
            first = (await settled(client, 2))[0]
            path = f"{HOOK}/deliveries/{first['id']}/resend"
            would = await client.post(path, WHY | {"dry_run": True})
            assert would.body["outcome"] == "would"
            done = await client.post(path, WHY)
            assert (done.status, done.body["outcome"]) == (200, "done")
            assert done.body["delivery"]["resends"] == first["id"]
            await receiver.until(3)
            assert receiver.ids()[2] == first["message"]
            assert all(verified(headers, body) for headers, body in receiver.heard)
            acts = (await client.get("/v1/audit")).body["items"]
            assert [(act["action"], act["outcome"], act["reason"]) for act in acts] == [
                ("webhook.resend", "asked", WHY["reason"]),
                ("webhook.resend", "done", WHY["reason"]),
            ]

    asyncio.run(main())


def test_a_test_message_arrives_and_a_pause_holds_it(tmp_path: Path) -> None:
    async def main() -> None:
        async with (
            receiving() as receiver,
            hooked(configured(tmp_path, receiver.url)) as (_, client),
        ):
            paused = await client.post(f"{HOOK}/pause", WHY)
            assert (paused.body["outcome"], paused.body["webhook"]["state"]) == ("done", "paused")
            tested = await client.post(f"{HOOK}/test", WHY)
            assert tested.body["delivery"]["status"] == "queued"
            assert (await client.post(f"{HOOK}/test", WHY | {"dry_run": True})).status == 200
            await asyncio.sleep(0.1)
            assert receiver.heard == []
            resumed = await client.post(f"{HOOK}/resume", WHY)
            assert resumed.body["outcome"] == "done"
            await receiver.until(1)
            assert receiver.types() == ["webhook.test"]

    asyncio.run(main())


def test_an_endpoint_that_is_gone_goes_on_where_it_was_after_a_resume(tmp_path: Path) -> None:
    async def main() -> None:
        async with (
            receiving() as receiver,
            hooked(configured(tmp_path, receiver.url)) as (_, client),
        ):
            receiver.answers = [410]
            await client.post(f"{HOOK}/test", WHY)
            await settled(client, 1)
            (shown,) = (await client.get("/v1/webhooks")).body["items"]
            assert shown["state"] == "halted"
            assert "410" in shown["reason"]
            tx = (await client.send())["id"]
            await client.finish(tx)
            await asyncio.sleep(0.2)
            assert len(await log(client)) == 1, "it is not fed while it is gone"
            await client.post(f"{HOOK}/resume", WHY)
            await receiver.until(3)
            assert {body["data"]["tx"] for body in receiver.bodies()[1:]} == {tx}

    asyncio.run(main())


def test_an_open_delivery_says_when_it_is_tried_next(tmp_path: Path) -> None:
    async def main() -> None:
        async with (
            receiving() as receiver,
            hooked(configured(tmp_path, receiver.url)) as (_, client),
        ):
            receiver.answers = [503]
            await client.post(f"{HOOK}/test", WHY)
            await receiver.until(1)
            async with asyncio.timeout(20):
                while not (delivery := (await log(client))[0])["attempts"]:
                    await asyncio.sleep(0.02)
            assert (delivery["status"], delivery["reason"]) == ("submitted", "HTTP 503")
            assert delivery["next_attempt_at"] is not None
            (shown,) = (await client.get("/v1/webhooks")).body["items"]
            assert (shown["state"], shown["open"]) == ("backing off", 1)

    asyncio.run(main())


def test_dead_deliveries_are_dead_letters(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "LADDER_MS", (0,))

    async def main() -> None:
        async with (
            receiving() as receiver,
            hooked(configured(tmp_path, receiver.url)) as (_, client),
        ):
            receiver.answers = [500, 404]
            for _ in range(2):
                await client.post(f"{HOOK}/test", WHY)
            await settled(client, 2)
            page = (await client.get("/v1/dead-letters?limit=1")).body
            (letter,) = page["items"]
            assert letter["lane"] == "delivery:hook"
            more = (await client.get(f"/v1/dead-letters?cursor={page['next_cursor']}")).body
            assert len(more["items"]) == 1
            assert "laneway_dead_letters 2.0" in (await client.get("/metrics")).body
            assert (await client.get("/v1/dead-letters?cursor=x")).status == 422
            async with AsyncClient(client.url) as library:
                assert letter["id"] in [one.id async for one in library.dead_letters()]
                assert (await library.webhooks())[0].dead == 2
                assert (await library.resend("hook", letter["id"])).outcome == "done"
                await library.operate_webhook("hook", "pause")
                assert [one.resends async for one in library.deliveries("hook")][2] == letter["id"]

    asyncio.run(main())


def test_the_log_is_read_by_pages(tmp_path: Path) -> None:
    async def main() -> None:
        async with (
            receiving() as receiver,
            hooked(configured(tmp_path, receiver.url)) as (_, client),
        ):
            for _ in range(3):
                await client.post(f"{HOOK}/test", WHY)
            seen, cursor = [], ""
            while True:
                query = {"limit": "1"} | ({"cursor": cursor} if cursor else {})
                page = (await client.ask("GET", f"{HOOK}/deliveries", params=query)).body
                seen += [item["seq"] for item in page["items"]]
                if page["next_cursor"] is None:
                    break
                cursor = page["next_cursor"]
            assert seen == [1, 2, 3]
            assert (await client.get(f"{HOOK}/deliveries?cursor=x")).status == 422

    asyncio.run(main())


def test_what_is_not_there_is_not_found(tmp_path: Path) -> None:
    async def main() -> None:
        async with (
            receiving() as receiver,
            hooked(configured(tmp_path, receiver.url)) as (_, client),
        ):
            assert (await client.get("/v1/webhooks/other/deliveries")).code == "webhook_not_found"
            assert (await client.post("/v1/webhooks/other/test", WHY)).status == 404
            for name in ("x", "tx_" + "0" * 32, (await client.send())["id"]):
                heard = await client.post(f"{HOOK}/deliveries/{name}/resend", WHY)
                assert heard.code == "intent_not_found"
            assert (await client.get("/v1/lanes/delivery:hook")).status == 404
            assert [lane["id"] for lane in (await client.get("/v1/lanes")).body["items"]] == [
                "contract:Qm1"
            ]

    asyncio.run(main())


def test_a_key_needs_the_scope_and_the_lane(tmp_path: Path) -> None:
    flags, tokens = keys_file(tmp_path, ana=["tx:read", "lane:operate"], bob=["tx:read"])
    given = {name.replace("__", "."): value for name, value in flags.items()}

    async def main() -> None:
        async with receiving() as receiver:
            configuration = configured(tmp_path, receiver.url, flags=given)
            async with hooked(configuration) as (_, client):
                ana = {"Authorization": f"Bearer {tokens['ana']}"}
                bob = {"Authorization": f"Bearer {tokens['bob']}"}
                assert len((await client.get("/v1/webhooks", **ana)).body["items"]) == 1
                assert (await client.get("/v1/webhooks", **bob)).code == "scope_missing"
                assert (await client.post(f"{HOOK}/test", WHY, **bob)).code == "scope_missing"

    asyncio.run(main())


@contextmanager
def beside(folder: Path, *answers: int) -> Iterator[tuple[str, Receiver]]:
    """A server with a webhook and its receiver, on a thread of their own."""
    told: list[tuple[str, Receiver]] = []
    ready, over = threading.Event(), threading.Event()

    async def main() -> None:
        async with receiving() as receiver:
            receiver.answers = list(answers)
            async with hooked(configured(folder, receiver.url)) as (_, client):
                told.append((client.url, receiver))
                ready.set()
                while not over.is_set():
                    await asyncio.sleep(0.01)

    thread = threading.Thread(target=asyncio.run, args=(main(),), daemon=True)
    thread.start()
    assert ready.wait(20)
    try:
        yield told[0]
    finally:
        over.set()
        thread.join(10)


def test_the_commands_list_log_resend_and_test(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(machine, "LADDER_MS", (0,))
    with beside(tmp_path, 500) as (url, _):
        terminal = Terminal(url, capsys)
        (tested,) = terminal.json("webhook", "test", "hook", "--reason", "is it there")
        name = tested["delivery"]["id"]
        while not terminal.json("webhook", "log", "hook")[0]["final"]:
            pass
        code, out, _ = terminal.type("webhook", "log", "hook", "--last", "0")
        assert (code, name in out, "500" in out) == (0, True, True)
        assert "hook" in terminal.type("webhook", "list")[1]
        assert [letter["id"] for letter in terminal.json("dead", "list")] == [name]
        assert name in terminal.type("dead", "list")[1]
        (again,) = terminal.json("dead", "retry", name)
        assert again["delivery"]["resends"] == name
        assert terminal.type("webhook", "resend", "hook", name, "--dry-run")[0] == 0
        assert terminal.json("webhook", "pause", "hook")[0]["webhook"]["state"] == "paused"
        assert terminal.json("webhook", "resume", "hook")[0]["outcome"] == "done"
        assert terminal.type("dead", "retry", "tx_" + "0" * 32)[0] != 0
        assert terminal.type("webhook", "log", "other")[0] != 0
