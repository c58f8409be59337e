"""Laws of lanes over HTTP: shown with their reason, told with a reason, thought before done."""

import asyncio
from typing import Any

import pytest
from tests.server.stage import running, serving

PARENTLESS = {
    "host__takes_parent": "false",
    "contract__search_ms": "10",
    "contract__execution_ms_max": "100",
}
"""A host that picks the parent itself: a doubt halts its lane."""


def test_lanes_are_listed_by_name_page_by_page() -> None:
    async def main() -> None:
        async with serving(host__round_ms="60000") as client:
            names = [f"contract:Qm{number}" for number in range(5)]
            for name in names:
                await client.send(lane=name)
            found: list[str] = []
            cursor = ""
            while True:
                page = (await client.get(f"/v1/lanes?limit=2{cursor}")).body
                found += [lane["id"] for lane in page["items"]]
                if page["next_cursor"] is None:
                    break
                cursor = f"&cursor={page['next_cursor']}"
            assert found == names

    asyncio.run(main())


def test_a_lane_shows_where_it_is_and_why() -> None:
    async def main() -> None:
        async with serving(host__round_ms="60000") as client:
            for number in range(8):
                await client.send(str(number))
            lane = (await client.get("/v1/lanes/contract:Qm1")).body
            assert (lane["state"], lane["running"], lane["waiting"]) == ("running", 1, 7)
            assert (lane["queue"]["fast"], lane["queue"]["slow"]) == (5, 2)
            assert lane["oldest_waiting_ms"] >= 0

    asyncio.run(main())


@pytest.mark.parametrize("lane", ["contract:Q", "contract", "evm:1:2", "%20", "a%2Fb", "contract:"])
def test_a_lane_that_never_had_work_is_not_found(lane: str) -> None:
    async def main() -> None:
        async with serving() as client:
            heard = await client.get(f"/v1/lanes/{lane}")
            assert (heard.status, heard.code) == (404, "lane_not_found")
            told = await client.post(f"/v1/lanes/{lane}/pause", {"reason": "r"})
            assert told.status == 404

    asyncio.run(main())


def test_a_paused_lane_starts_nothing_until_it_is_resumed() -> None:
    async def main() -> None:
        async with serving() as client:
            await client.finish((await client.send())["id"])
            thought = await client.post(
                "/v1/lanes/contract:Qm1/pause", {"reason": "upgrade", "dry_run": True}
            )
            assert (thought.status, thought.body["outcome"]) == (200, "would")
            assert thought.body["lane"]["state"] == "idle"
            done = await client.post("/v1/lanes/contract:Qm1/pause", {"reason": "upgrade"})
            assert (done.status, done.body["outcome"]) == (200, "done")
            assert done.body["lane"]["state"] == "paused"
            assert done.body["lane"]["reason"] == "upgrade"
            assert done.body["lane"]["by"] == "loopback"
            assert done.body["lane"]["since"].endswith("Z")
            sent = await client.send("later")
            shown = (await client.get(f"/v1/transactions/{sent['id']}")).body
            assert (shown["status"], shown["reason"]) == ("queued", "paused upgrade")
            resumed = await client.post("/v1/lanes/contract:Qm1/resume", {"reason": "done"})
            assert resumed.body["outcome"] == "done"
            assert (await client.finish(sent["id"]))["status"] == "confirmed"

    asyncio.run(main())


@pytest.mark.parametrize(("mode", "word"), [("queue", "finishes"), ("running", "stay queued")])
def test_a_lane_drains_what_it_is_told_to(mode: str, word: str) -> None:
    async def main() -> None:
        async with serving(host__round_ms="50") as client:
            sent = [await client.send(str(number)) for number in range(3)]
            path = "/v1/lanes/contract:Qm1/drain"
            thought = await client.post(path + "?dry_run=true", {"reason": "move", "mode": mode})
            assert thought.body["outcome"] == "would"
            assert word in thought.body["effect"]
            done = await client.post(path, {"reason": "move", "mode": mode})
            assert (done.status, done.body["lane"]["state"]) == (200, "draining")
            await client.finish(sent[2 if mode == "queue" else 0]["id"])
            lane = (await client.get("/v1/lanes/contract:Qm1")).body
            assert lane["state"] == "paused"
            assert lane["waiting"] == (0 if mode == "queue" else 2)

    asyncio.run(main())


def test_a_lane_that_cannot_follow_says_why() -> None:
    async def main() -> None:
        async with running(**PARENTLESS) as (up, client):
            from laneway.core.outcome import Outcome
            from laneway.ports import ContractCall, Execution

            async def lost(call: ContractCall, parent: int) -> Execution:
                return Execution(Outcome.UNKNOWN, reason="the line broke")

            up.laneway.host.execute = lost  # type: ignore[method-assign]
            sent = await client.send()
            lane: dict[str, Any] = {}
            for _ in range(6_000):
                lane = (await client.get("/v1/lanes/contract:Qm1")).body
                if lane["state"] == "halted":
                    break
                await asyncio.sleep(0.01)
            assert lane["state"] == "halted"
            thought = await client.post(
                "/v1/lanes/contract:Qm1/resume", {"reason": "go", "dry_run": True}
            )
            assert "halted" in thought.body["effect"]
            heard = await client.post("/v1/lanes/contract:Qm1/resume", {"reason": "go"})
            assert (heard.status, heard.code) == (409, "command_refused")
            assert "unknown" in heard.body["detail"]
            assert heard.body["lane"] == "contract:Qm1"
            cancel = f"/v1/transactions/{sent['id']}/cancel"
            assert (await client.post(cancel, {"reason": "r"})).status == 409

    asyncio.run(main())


@pytest.mark.slow
def test_a_word_that_its_lane_does_not_follow_in_time_is_told_all_the_same() -> None:
    async def main() -> None:
        async with running(host__round_ms="60000") as (up, client):
            await client.send()
            up.laneway.engine.reactor.called = lambda lane: None  # type: ignore[method-assign]
            heard = await client.post("/v1/lanes/contract:Qm1/pause", {"reason": "r"})
            assert (heard.status, heard.body["outcome"]) == (202, "told")

    asyncio.run(main())
