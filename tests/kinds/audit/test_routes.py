"""The audit trail: who did what, why, and what came of it."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from tests.cli.stage import Terminal, beside
from tests.fleet.stores import started
from tests.server.stage import SLOW_ROUNDS, Client, running, serving

from laneway.client.asynchronous import AsyncClient
from laneway.core.errors import LaneNotFound, StoreUnknown
from laneway.wiring.keys import as_toml, new_key

WHY = {"reason": "node upgrade"}
PAUSE = "/v1/lanes/contract:Qm1/pause"
SLOW = {"host__round_ms": SLOW_ROUNDS["host.round_ms"]}


async def trail(client: Client, **query: str) -> list[dict[str, Any]]:
    heard = await client.ask("GET", "/v1/audit", params=query)
    assert heard.status == 200, heard
    items: list[dict[str, Any]] = heard.body["items"]
    return items


def told(entry: dict[str, Any]) -> tuple[str, str, str]:
    return entry["actor"], entry["action"], entry["outcome"]


def test_every_act_leaves_an_entry_before_it_and_one_with_what_came_of_it() -> None:
    async def main() -> None:
        async with serving(**SLOW) as client:
            running_, waiting = (await client.send("1"))["id"], (await client.send("2"))["id"]
            for verb in ("pause", "resume", "drain"):
                await client.post(f"/v1/lanes/contract:Qm1/{verb}", WHY)
            await client.post(f"/v1/transactions/{waiting}/cancel", WHY)
            await client.post(f"/v1/transactions/{waiting}/retry", WHY)
            await client.post(f"/v1/transactions/{running_}/cancel", WHY)
            entries = await trail(client)
            verbs = ("pause", "resume", "drain", "cancel", "retry", "cancel")
            assert [told(entry) for entry in entries[::2]] == [
                ("loopback", verb, "asked") for verb in verbs
            ]
            assert [entry["outcome"] for entry in entries[1::2]] == ["done"] * 5 + ["refused"]
            assert [entry["answers"] for entry in entries[1::2]] == [
                entry["id"] for entry in entries[::2]
            ]
            assert all(entry["reason"] == "node upgrade" for entry in entries)
            assert all(entry["lane"] == "contract:Qm1" for entry in entries)
            assert "cannot be called back" in entries[-1]["detail"]
            assert [entry["tx"] for entry in entries[6::2]] == [waiting, waiting, running_]

    asyncio.run(main())


def test_a_dry_run_and_a_malformed_act_leave_no_entry() -> None:
    async def main() -> None:
        async with serving() as client:
            await client.send()
            await client.post(PAUSE, WHY | {"dry_run": True})
            await client.post(PAUSE, {})
            await client.post("/v1/lanes/contract:Nobody/pause", WHY)
            assert await trail(client) == []

    asyncio.run(main())


def test_nothing_is_done_when_its_entry_cannot_be_written(monkeypatch: pytest.MonkeyPatch) -> None:
    async def main() -> None:
        async with running() as (up, client):
            await client.send()

            async def lost(*_: object) -> str:
                raise StoreUnknown("the disk is gone")

            monkeypatch.setattr(up.desk.trail, "note", lost)
            assert (await client.post(PAUSE, WHY)).status == 503
            assert (await client.get("/v1/lanes/contract:Qm1")).body["state"] != "paused"

    asyncio.run(main())


def test_the_trail_outlives_the_process(tmp_path: Path) -> None:
    file = {"store__path": str(tmp_path / "a.db"), "store__durability": "full"}

    async def main() -> None:
        async with serving(**file) as client:
            await client.send()
            await client.post(PAUSE, WHY)
            before = await trail(client)
        async with serving(**file) as client:
            assert await trail(client) == before
            await client.post("/v1/lanes/contract:Qm1/resume", WHY)
            assert [entry["seq"] for entry in await trail(client)] == [1, 2, 3, 4]

    asyncio.run(main())


def test_it_is_read_by_pages_and_of_one_lane() -> None:
    async def main() -> None:
        async with serving() as client:
            for lane in ("contract:A", "contract:B"):
                await client.send(lane=lane)
                await client.post(f"/v1/lanes/{lane}/pause", WHY)
            assert {entry["lane"] for entry in await trail(client, lane="contract:B")} == {
                "contract:B"
            }
            seen, cursor = [], ""
            while True:
                query = {"limit": "1"} | ({"cursor": cursor} if cursor else {})
                page = (await client.ask("GET", "/v1/audit", params=query)).body
                seen += [entry["seq"] for entry in page["items"]]
                if page["next_cursor"] is None:
                    break
                cursor = page["next_cursor"]
            assert seen == [1, 2, 3, 4]
            assert (await client.get("/v1/audit?cursor=x")).status == 422
            async with AsyncClient(client.url) as library:
                assert [entry.seq async for entry in library.audit("contract:A")] == [1, 2]

    asyncio.run(main())


def test_the_trail_is_no_queue_and_its_entries_are_no_transactions() -> None:
    async def main() -> None:
        async with running() as (up, client):
            await client.finish((await client.send())["id"])
            await client.post(PAUSE, WHY)
            entry = (await trail(client))[0]["id"]
            await up.laneway.wait(entry)
            for path in (f"/v1/transactions/{entry}", "/v1/lanes/audit:log"):
                assert (await client.get(path)).status == 404
            lanes = (await client.get("/v1/lanes")).body["items"]
            assert [lane["id"] for lane in lanes] == ["contract:Qm1"]
            for query in ("", "?status=confirmed", "?lane=audit:log"):
                items = (await client.get(f"/v1/transactions{query}")).body["items"]
                assert {tx["lane"] for tx in items} <= {"contract:Qm1"}
            numbers = (await client.get("/metrics")).body
            assert "laneway_contract_enqueued_total 1.0" in numbers
            assert "laneway_contract_workers 1.0" in numbers
            assert [shown.id for shown in await up.laneway.lanes()] == ["contract:Qm1"]
            with pytest.raises(LaneNotFound):
                await up.desk.lane("audit:log")

    asyncio.run(main())


def keys_file(folder: Path, **scopes: list[str]) -> tuple[dict[str, str], dict[str, str]]:
    """The flag of a file with these keys, and the token of each."""
    tokens, text = {}, ""
    for name, allowed in scopes.items():
        token, key = new_key(name)
        tokens[name] = token
        line = ", ".join(f'"{scope}"' for scope in allowed)
        text += as_toml(key).replace(
            next(part for part in as_toml(key).splitlines() if part.startswith("scopes")),
            f"scopes = [{line}]",
        )
    (folder / "keys.toml").write_text(text)
    return {"server__keys_file": str(folder / "keys.toml")}, tokens


def test_it_names_the_key_that_acted_and_only_some_may_read_it(tmp_path: Path) -> None:
    flags, tokens = keys_file(
        tmp_path, ana=["tx:read", "tx:write", "lane:operate", "lane:admin"], bob=["tx:read"]
    )

    async def main() -> None:
        async with serving(**flags) as client:
            ana = {"Authorization": f"Bearer {tokens['ana']}"}
            bob = {"Authorization": f"Bearer {tokens['bob']}"}
            body = {"lane": "contract:Qm1", "payload": {"data": "x"}}
            await client.post("/v1/transactions", body, **ana)
            await client.post(PAUSE, WHY, **ana)
            acts = (await client.get("/v1/audit?lane=contract:Qm1", **ana)).body["items"]
            assert {entry["actor"] for entry in acts} == {"ana"}
            assert (await client.get("/v1/audit", **bob)).code == "scope_missing"

    asyncio.run(main())


def test_a_key_that_came_changed_or_went_is_told_once(tmp_path: Path) -> None:
    file = {"store__path": str(tmp_path / "a.db"), "store__durability": "full"}

    async def key_entries(flags: dict[str, str]) -> list[tuple[str, str]]:
        async with running(**file, **flags) as (up, _):
            entries = [entry async for entry in told_by(up)]
            return [(entry.action, entry.api_key) for entry in entries]

    async def told_by(up: Any) -> Any:
        from laneway.server.desk import AuditListing

        listing = AuditListing(
            lane=None, after=None, limit=100, may_see=lambda _: True, may_see_all=True
        )
        for entry in (await up.desk.trail.page(listing))[0]:
            yield entry

    async def main() -> None:
        both, _ = keys_file(tmp_path, ana=["tx:read"], bob=["tx:read"])
        came = [("apikey.in_force", "ana"), ("apikey.in_force", "bob")]
        assert await key_entries(both) == came
        assert await key_entries(both) == came
        one, _ = keys_file(tmp_path, ana=["tx:read"])
        went = [*came, ("apikey.changed", "ana"), ("apikey.removed", "bob")]
        assert await key_entries(one) == went
        assert await key_entries(one) == went

    asyncio.run(main())


def test_the_command_prints_the_last_acts(capsys: pytest.CaptureFixture[str]) -> None:
    with beside() as url:
        terminal = Terminal(url, capsys)
        terminal.type("send", "contract:Qm1", "--data", "x")
        terminal.type("lane", "pause", "contract:Qm1", "--reason", "node upgrade")
        said = terminal.json("audit")
        assert [(e["action"], e["outcome"]) for e in said] == [
            ("pause", "asked"),
            ("pause", "done"),
        ]
        assert terminal.json("audit", "--last", "1", "--lane", "contract:Qm1") == said[1:]
        code, out, _ = terminal.type("audit", "--last", "0")
        assert code == 0
        assert "node upgrade" in out.splitlines()[-1]


@pytest.mark.slow
@pytest.mark.parametrize("store", ["postgres", "redis", "redis-cluster"])
def test_a_fleet_has_one_trail(store: str) -> None:
    async def main(url: str) -> None:
        lane = f"contract:Trail{store}"
        flags = {"store__path": url, "store__durability": "full", **SLOW}
        async with serving(**flags) as one, running(**flags) as (up, two):
            await one.send(lane=lane)
            for client, verb in ((one, "pause"), (two, "resume"), (one, "drain")):
                heard = await client.post(f"/v1/lanes/{lane}/{verb}", WHY)
                assert heard.status in (200, 202)
            entries = await trail(two, lane=lane)
            assert entries == await trail(one, lane=lane)
            said = [entry["action"] for entry in entries if entry["outcome"] == "asked"]
            assert said == ["pause", "resume", "drain"]
            for entry in entries:
                assert (await up.laneway.wait(entry["id"])).status == "confirmed"
            lanes = [shown["id"] for shown in (await two.get("/v1/lanes?limit=500")).body["items"]]
            assert lane in lanes
            assert "audit:log" not in lanes

    with started(store) as server:
        asyncio.run(main(server.url))
