"""Laws of rollups over HTTP: every route, on the embedded chain."""

import asyncio
import logging
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, cast

import msgspec
import pytest
from tests.builder.test_sync import Bent
from tests.rollup_served import LANE, SLOT_MS, WHY, Stage, hash_of, staged
from tests.server.stage import Client, Heard

from laneway.builder.builder import ChainedBuilder
from laneway.builder.packages import NULL_AUTHORIZER
from laneway.builder.sync import Source
from laneway.chains.jam.chain import Jip2Chain
from laneway.core.errors import ChainUnreadable
from laneway.core.ids import LaneId
from laneway.engine.system import SystemClock
from laneway.feeds.metrics import Meter
from laneway.kinds.contract.served import ContractServed
from laneway.kinds.following import LaneFollowing
from laneway.kinds.rollup.lanes import RollupLanes
from laneway.kinds.rollup.section import BundleSection, RollupSection
from laneway.kinds.rollup.served import RollupServed
from laneway.kinds.site import SITE
from laneway.ports import JamChain
from laneway.rollups.ledger.account import DEV_ACCOUNTS
from laneway.server.app import Server
from laneway.wiring.desk import EngineDesk
from laneway.wiring.embedded import Laneway

pytestmark = pytest.mark.slow

PAYER, PAYEE = DEV_ACCOUNTS[0].id.hex(), DEV_ACCOUNTS[1].id.hex()


def test_a_transaction_is_shown_from_the_pool_to_finality(tmp_path: Path) -> None:
    async def main() -> None:
        async with staged(tmp_path) as stage:
            client = stage.client
            raw = stage.raw(0, amount=7)
            heard = await stage.post(raw, **{"Idempotency-Key": "order-7"})
            tx = heard.body
            assert (heard.status, tx["lane"], tx["status"]) == (202, LANE, "queued")
            assert heard.headers["Location"] == f"/v1/transactions/{tx['id']}"
            assert tx["rollup"]["raw"] == raw
            done = await stage.finish(tx["id"])
            seen = done["rollup"]
            assert (done["status"], done["block"], done["hash"]) == ("confirmed", 1, hash_of(raw))
            assert (seen["bundle"], seen["number"], seen["index"]) == ("B-1", 1, 0)
            assert (seen["state"], seen["package_version"]) == ("finalised", 1)
            for name in (done["hash"], done["hash"][2:]):
                assert (await client.get(f"/v1/transactions/{name}")).body == done
            for query in ("key=order-7", "lane=rollup:dev", f"hash={done['hash']}", ""):
                listed = await client.get(f"/v1/transactions?{query}".rstrip("?"))
                assert listed.body["items"] == [done], query
            assert (await client.get(f"/v1/transactions/{LANE}%231")).status == 404
            receipt = (await client.get(f"/v1/rollup/dev/receipts/{done['hash']}")).body
            assert (receipt["ok"], receipt["state"], receipt["index"]) == (True, "finalised", 0)
            assert (receipt["tx"], receipt["number"]) == (tx["id"], 1)
            assert receipt["package"] == seen["package"]
            account = (await client.get(f"/v1/rollup/1/accounts/{PAYEE}")).body
            assert int(account["balance"]) == int(account["balance_final"]) == 10**12 + 7
            own = (await client.get(f"/v1/rollup/dev/accounts/0x{PAYER}")).body
            assert (own["nonce"], own["nonce_next"], own["nonce_final"]) == (1, 1, 1)
            bundle = (await client.get("/v1/rollup/dev/bundles/1")).body
            assert bundle["bundle"]["package"] == seen["package"]
            assert bundle["transactions"] == [
                {"tx": tx["id"], "hash": done["hash"], "verdict": "included", "reason": ""}
            ]
            again = await stage.post(raw)
            assert (again.status, again.body["id"]) == (202, tx["id"])
            assert again.headers["Idempotent-Replayed"] == "true"

    asyncio.run(main())


def test_the_picture_the_counters_and_why_it_waits_are_one_look(tmp_path: Path) -> None:
    async def main() -> None:
        async with staged(tmp_path) as stage:
            fresh = await stage.status()
            assert (fresh["rollup"]["state"], fresh["rollup"]["held"]) == ("idle", False)
            assert fresh["picture"]["queued"] == []
            assert fresh["chain"] == "0x" + stage.chain.hex()
            assert "the lane sleeps" in fresh["elsewhere"]
            txs = [await stage.send(nonce) for nonce in range(3)]
            for tx in txs:
                await stage.finish(tx["id"])
            status = await stage.status("1")
            assert (status["elsewhere"], status["rollup"]["held"]) == ("", True)
            count = status["counters"]["finalised"]
            assert status["picture"]["finalised"] == [f"{n}v1" for n in range(1, count + 1)]
            assert status["pool"] == {"pending": 0, "in_blocks": 0, "returned": 0, "total": 0}
            assert status["counters"]["settled"] == 3
            assert status["counters"]["duplicate_guarantees_rejected"] == 0
            assert (status["clock"]["slot_ms"], status["waits"]) == (150, "")
            assert status["best"]["slot"] >= status["final"]["slot"]
            (listed,) = (await stage.client.get("/v1/rollup")).body["items"]
            assert (listed["name"], listed["kind"], listed["lane"]) == ("dev", "ledger", LANE)
            lane = (await stage.client.get("/v1/lanes/rollup:dev")).body
            assert lane["rollup"]["finalised"] == count
            health = (await stage.client.get("/v1/lanes/rollup:dev/health")).body
            assert (health["healthy"], health["problems"]) == (True, [])
            (row,) = (await stage.client.get("/v1/lanes")).body["items"]
            assert row["id"] == LANE

    asyncio.run(main())


def test_an_open_block_is_shown_with_its_versions_and_why_it_waits(tmp_path: Path) -> None:
    async def main() -> None:
        # Finality takes some slots, so that an open block can be looked at.
        async with staged(tmp_path, slot_ms=600) as stage:
            tx = await stage.send(0)
            out = await stage.until(tx["id"], "submitted", "included")
            assert out["rollup"]["bundle"] == "B-1"
            assert out["rollup"]["wait_reason"] == out["reason"] != ""
            shown = (await stage.client.get("/v1/rollup/dev/bundles/B-1")).body
            (version,) = shown["versions"]
            assert (version["version"], version["submissions"]) == (1, 1)
            assert version["package"] == shown["bundle"]["package"] == out["rollup"]["package"]
            assert version["prerequisites"] == []
            assert version["nodes"] == ["dev"]
            (member,) = shown["transactions"]
            assert (member["tx"], member["verdict"]) == (tx["id"], "included")
            page = (await stage.client.get("/v1/rollup/dev/bundles")).body
            assert [one["id"] for one in page["items"]] == ["B-1"]
            refused = await stage.act(tx["id"], "cancel")
            assert (refused.status, refused.code) == (409, "command_refused")
            dry = await stage.act(tx["id"], "cancel", dry_run=True)
            assert dry.body["effect"] == "refused: it is in a block, which never changes"
            assert (await stage.finish(tx["id"]))["status"] == "confirmed"

    asyncio.run(main())


def test_blocks_are_listed_page_by_page_and_by_their_state(tmp_path: Path) -> None:
    async def main() -> None:
        async with staged(tmp_path, own="block_txs_max = 1") as stage:
            txs = [await stage.send(nonce) for nonce in range(4)]
            for tx in txs:
                await stage.finish(tx["id"])
            found: list[int] = []
            cursor = ""
            while True:
                page = await stage.client.get(f"/v1/rollup/dev/bundles?limit=3{cursor}")
                assert len(page.body["items"]) <= 3
                found += [one["number"] for one in page.body["items"]]
                if page.body["next_cursor"] is None:
                    break
                cursor = f"&cursor={page.body['next_cursor']}"
            assert found == [4, 3, 2, 1]
            for state, count in (("finalised", 4), ("queued", 0)):
                page = await stage.client.get(f"/v1/rollup/dev/bundles?state={state}")
                assert len(page.body["items"]) == count
            for path in ("?state=nowhere", "?limit=0", "?cursor=x", "?more=1"):
                assert (await stage.client.get(f"/v1/rollup/dev/bundles{path}")).status == 422

    asyncio.run(main())


def test_what_is_not_there_is_said_so(tmp_path: Path) -> None:
    async def main() -> None:
        async with staged(tmp_path) as stage:
            get = stage.client.get
            for path in ("/nobody", "/nobody/bundles", "/9/bundles/1", "/x/accounts/" + PAYER):
                heard = await get(f"/v1/rollup{path}")
                assert (heard.status, heard.code) == (404, "lane_not_found"), path
            assert "no rollup rollup:nobody" in (await get("/v1/rollup/nobody")).body["detail"]
            for path in ("bundles/1", "bundles/B-1", "bundles/x", "bundles/B-", "bundles/٣",
                         f"receipts/{PAYER}", "receipts/0x12"):  # fmt: skip
                heard = await get(f"/v1/rollup/dev/{path}")
                assert (heard.status, heard.code) == (404, "bundle_not_found"), path
            heard = await get("/v1/rollup/dev/accounts/nobody")
            assert (heard.status, heard.body["field"]) == (422, "account")
            for raw in ("0x00", "0x", "xyz", "0x123"):
                assert (await stage.post(raw)).status == 422, raw
            spoiled = stage.raw(0)[:-2] + "00"
            refused = await stage.post(spoiled)
            assert (refused.status, refused.code) == (422, "bad_request")
            assert "signature" in refused.body["detail"]
            heard = await stage.client.post("/v1/rollup/dev/transactions", {"data": "x"})
            assert heard.status == 422

    asyncio.run(main())


def test_a_transaction_that_was_refused_for_its_key_is_not_counted_in_the_next_nonce(
    tmp_path: Path,
) -> None:
    async def main() -> None:
        async with staged(tmp_path) as stage:
            await stage.operate("pause")
            for nonce, status in ((0, 202), (1, 422)):
                heard = await stage.post(stage.raw(nonce), **{"Idempotency-Key": "k"})
                assert heard.status == status, heard
            own = (await stage.client.get(f"/v1/rollup/dev/accounts/{PAYER}")).body
            assert own["nonce_next"] == 1, "the second was never taken"

    asyncio.run(main())


def test_a_lane_is_paused_resumed_drained_and_its_pool_cancelled(tmp_path: Path) -> None:
    async def main() -> None:
        async with staged(tmp_path) as stage:
            paused = await stage.operate("pause")
            assert (paused["outcome"], paused["lane"]["state"]) == ("done", "paused")
            first, second = [await stage.send(nonce) for nonce in (0, 1)]
            shown = (await stage.client.get(f"/v1/transactions/{second['id']}")).body
            assert (shown["status"], shown["rollup"]["bundle"]) == ("queued", None)
            status = await stage.status()
            assert (status["rollup"]["state"], status["pool"]["pending"]) == ("paused", 2)
            own = (await stage.client.get(f"/v1/rollup/dev/accounts/{PAYER}")).body
            assert (own["nonce"], own["nonce_next"]) == (0, 2), "two of them wait"
            health = (await stage.client.get("/v1/lanes/rollup:1/health")).body
            assert not health["healthy"]
            dry = await stage.act(second["id"], "cancel", dry_run=True)
            assert dry.body["effect"] == "it would never be in a block"
            taken = await stage.act(second["id"], "cancel")
            assert (taken.body["outcome"], taken.body["tx"]["status"]) == ("done", "cancelled")
            assert taken.body["effect"] == "it will never be in a block"
            own = (await stage.client.get(f"/v1/rollup/dev/accounts/{PAYER}")).body
            assert own["nonce_next"] == 0, "the one that was to use it was taken back"
            resumed = await stage.operate("resume")
            assert resumed["lane"]["state"] in ("running", "ready", "idle")
            assert (await stage.finish(first["id"]))["status"] == "confirmed"
            again = await stage.act(second["id"], "retry")
            new = again.body["tx"]
            assert (again.status, new["retry_of"]) == (200, second["id"])
            twice = await stage.act(second["id"], "retry")
            assert twice.body["tx"]["id"] == new["id"] != second["id"]
            assert (await stage.finish(new["id"]))["status"] == "confirmed"
            assert (await stage.act(first["id"], "retry")).code == "retry_refused"
            await stage.operate("drain")
            for _ in range(6_000):
                if (await stage.status())["rollup"]["state"] == "paused":
                    break
                await asyncio.sleep(0.01)
            assert (await stage.status())["rollup"]["state"] == "paused"
            unfit = await stage.client.post("/v1/lanes/rollup:dev/reset-nonce", WHY)
            assert (unfit.status, unfit.code) == (409, "command_refused")

    asyncio.run(main())


def test_a_key_and_the_bytes_are_one_transaction(tmp_path: Path) -> None:
    async def main() -> None:
        async with staged(tmp_path) as stage:
            await stage.operate("pause")
            key = {"Idempotency-Key": "once"}
            raw = stage.raw(0)
            made = {(await stage.post(raw, **key)).body["id"] for _ in range(2)}
            made |= {(await stage.send(0))["id"]}
            assert len(made) == 1
            other = await stage.post(stage.raw(1), **key)
            assert (other.status, other.code) == (422, "idempotency_conflict")
            late = {"raw": stage.raw(2), "valid_until": "2001-01-01T00:00:00Z"}
            await stage.client.post("/v1/rollup/dev/transactions", late)
            await stage.operate("resume")
            (tx,) = made
            assert (await stage.finish(tx))["status"] == "confirmed"
            listed = await stage.client.get(f"/v1/transactions?lane={LANE}&status=expired")
            for _ in range(3_000):
                if listed.body["items"]:
                    break
                await asyncio.sleep(0.02)
                listed = await stage.client.get(f"/v1/transactions?lane={LANE}&status=expired")
            (expired,) = listed.body["items"]
            assert expired["rollup"]["raw"] == late["raw"]

    asyncio.run(main())


def test_a_wait_answers_with_the_end(tmp_path: Path) -> None:
    async def main() -> None:
        async with staged(tmp_path) as stage:
            path = "/v1/rollup/dev/transactions?wait=confirmed&timeout=20"
            heard = await stage.client.post(path, {"raw": stage.raw(0)})
            assert (heard.status, heard.body["status"]) == (200, "confirmed")

    asyncio.run(main())


def test_events_and_numbers_of_blocks_reach_whoever_follows(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async def main() -> None:
        async with staged(tmp_path) as stage:
            with caplog.at_level(logging.INFO, "laneway.bundle"):
                tx = await stage.send(0)
                await stage.finish(tx["id"])
            words = []
            async with stage.client.session.get(
                f"{stage.client.url}/v1/events?lane={LANE}", headers={"Last-Event-ID": "0"}
            ) as answer:
                async for line in answer.content:
                    if line.startswith(b"data: "):
                        event = msgspec.json.decode(line.removeprefix(b"data: "))
                        words.append(event["type"])
                        if event["type"] == "transaction.confirmed":
                            break
            assert [word for word in words if word.startswith("bundle.")] == [
                "bundle.queued", "bundle.submitted", "bundle.guaranteed", "bundle.accumulated",
                "bundle.finalised",
            ]  # fmt: skip
            scraped = (await stage.client.get("/metrics")).body
            for number in (
                "laneway_rollup_blocks_finalised_total 1.0",
                "laneway_rollup_versions_built_total 1.0",
                'laneway_rollup_blocks{state="submitted"} 0.0',
                'laneway_rollup_transactions_total{result="confirmed"} 1.0',
                "laneway_rollup_pool_pending 0.0",
                "laneway_rollup_finality_slots_count 1.0",
                "laneway_rollup_duplicate_guarantees_rejected_total 0.0",
            ):
                assert number in scraped, number
            said = [record.getMessage() for record in caplog.records]
            assert any(line.startswith("Removing accumulated transactions") for line in said)

    asyncio.run(main())


def test_keys_see_the_rollups_of_their_lanes_alone(tmp_path: Path) -> None:
    keys = tmp_path / "keys.toml"

    async def main() -> None:
        from laneway.server.access import digest

        rows = "".join(
            f'[[keys]]\nid = "{name}"\nsha256 = "{digest(f"lw_{name}_x")}"\n'
            f'scopes = ["tx:read"]\nlanes = ["{lanes}"]\n'
            for name, lanes in (("all", "rollup:*"), ("none", "contract:*"))
        )
        keys.write_text(rows)
        keys.chmod(0o600)
        async with staged(tmp_path, server__keys_file=str(keys)) as stage:

            async def ask(name: str, path: str) -> Heard:
                header = {"Authorization": f"Bearer lw_{name}_x"}
                return await stage.client.get(f"/v1/rollup{path}", **header)

            assert len((await ask("all", "")).body["items"]) == 1
            assert (await ask("none", "")).body["items"] == []
            assert (await ask("none", "/dev")).code == "lane_not_allowed"
            assert (await ask("all", "/dev")).status == 200
            post = await stage.client.post(
                "/v1/rollup/dev/transactions",
                {"raw": stage.raw(0)},
                Authorization="Bearer lw_all_x",
            )
            assert (post.status, post.code) == (403, "scope_missing")

    asyncio.run(main())


class Bystander:
    """Another process of the same fleet, as its server sees things: it holds no lane. Without lanes
    of its own it has the holder's builder."""

    def __init__(self, stage: Stage, lanes: RollupLanes | None = None) -> None:
        own = stage.up.laneway
        clock, contracts = SystemClock(), own.contracts
        self.laneway = Laneway(
            own.store,
            [
                ContractServed(contracts.host, contracts.settings, clock),
                RollupServed(lanes or own.rollups.lanes, clock),
            ],
            clock,
        )
        self.desk = EngineDesk(self.laneway, LaneFollowing(), stage.up.stream, Meter(), {})


def test_who_does_not_hold_the_lane_tells_what_the_store_has_and_what_is_elsewhere(
    tmp_path: Path,
) -> None:
    async def main() -> None:
        async with staged(tmp_path, slot_ms=300) as stage:
            first = await stage.send(0)
            await stage.finish(first["id"])
            desk = Bystander(stage).desk
            async with (
                Server(desk, SITE) as server,
                Client(await server.listen("127.0.0.1", 0)) as other,
            ):
                held = (await stage.client.get("/v1/rollup/dev/bundles")).body
                assert (await other.get("/v1/rollup/dev/bundles")).body == held
                one = (await stage.client.get("/v1/rollup/dev/bundles/1")).body
                assert (await other.get("/v1/rollup/dev/bundles/1")).body == one
                assert (await other.get("/v1/rollup/dev/bundles/2")).status == 404
                final = (await other.get(f"/v1/transactions/{first['id']}")).body
                assert final == (await stage.client.get(f"/v1/transactions/{first['id']}")).body
                await stage.operate("pause")
                waits = await stage.send(1)
                seen = (await other.get(f"/v1/transactions/{waits['id']}")).body
                assert (seen["status"], seen["reason"]) == ("queued", "paused")
                await stage.operate("resume")
                await stage.until(waits["id"], "submitted", "included")
                await check_elsewhere(other, waits)
                await stage.finish(waits["id"])

    asyncio.run(main())


async def check_elsewhere(other: Client, tx: Any) -> None:
    """While a block is open, of which this process knows that it is."""
    status = (await other.get("/v1/rollup/dev")).body
    assert (status["picture"], status["pool"]["pending"]) == (None, None)
    assert status["rollup"]["open"] == 1
    assert "the process that holds the lane" in status["elsewhere"]
    page = (await other.get("/v1/rollup/dev/bundles?limit=1")).body
    assert ([one["number"] for one in page["items"]], page["next_cursor"]) == ([1], None)
    assert page["elsewhere"] == status["elsewhere"]
    heard = await other.get("/v1/rollup/dev/bundles/B-2")
    assert (heard.status, heard.code) == (409, "held_elsewhere")
    shown = (await other.get(f"/v1/transactions/{tx['id']}")).body
    assert (shown["status"], shown["reason"]) == ("submitted", "held_elsewhere")
    lane = (await other.get("/v1/lanes/rollup:dev")).body
    assert (lane["running"], lane["rollup"]["held"]) == (1, False)


OPEN = f'authorizer = {{ code_hash = "{NULL_AUTHORIZER.hex()}" }}'


@asynccontextmanager
async def beside(stage: Stage, slot_ms: int = SLOT_MS) -> AsyncIterator[tuple[Client, RollupLanes]]:
    """The same with a builder of its own, on the holder's chain, whose line all may move."""
    rollup = stage.up.laneway.rollups.lanes
    assert rollup is not None
    assert rollup.devnet is not None
    table = RollupSection(
        name="dev",
        service=1,
        nodes=(rollup.devnet.url,),
        genesis=stage.chain.hex(),
        slot_ms=slot_ms,
    )
    lanes = RollupLanes([table], BundleSection(), SystemClock())
    await lanes.open()
    try:
        desk = Bystander(stage, lanes).desk
        async with (
            Server(desk, SITE) as server,
            Client(await server.listen("127.0.0.1", 0)) as other,
        ):
            yield other, lanes
    finally:
        await lanes.close()


def test_who_does_not_hold_the_lane_answers_with_what_is_final_and_says_so(tmp_path: Path) -> None:
    async def main() -> None:
        # So rare are its own looks that every answer has to see to it by itself.
        async with (
            staged(tmp_path, slot_ms=300, own=OPEN) as stage,
            beside(stage, 600_000) as (other, _),
        ):
            mine = f"/v1/rollup/dev/accounts/{PAYER}"
            fresh = (await other.get(mine)).body
            assert (fresh["nonce_next"], fresh["block"], fresh["at"]) == (0, 0, "finalized")
            assert (fresh["held"], fresh["elsewhere"]) == (False, "")
            first = await stage.finish((await stage.send(0))["id"])
            own = (await other.get(mine)).body
            assert (own["nonce"], own["nonce_next"], own["nonce_final"]) == (1, 1, 1)
            assert (own["block"], own["at"], own["held"]) == (1, "finalized", False)
            held = (await stage.client.get(mine)).body
            assert (held["block"], held["at"], held["held"]) == (1, "pending", True)
            receipt = (await other.get(f"/v1/rollup/dev/receipts/{first['hash']}")).body
            assert (
                receipt == (await stage.client.get(f"/v1/rollup/dev/receipts/{first['hash']}")).body
            )
            assert (await other.get("/v1/rollup/dev/bundles/1")).status == 200
            second = await stage.send(1)
            seen = await stage.until(second["id"], "submitted", "included")
            own = (await other.get(mine)).body
            assert (own["nonce"], own["at"]) == (1, "finalized")
            assert "1 transactions of this lane are not final" in own["elsewhere"]
            open_ = f"/v1/rollup/dev/receipts/{seen['hash']}"
            assert ((await other.get(open_)).code) == "held_elsewhere"
            assert (await stage.client.get(open_)).body["state"] in ("built", "accumulated")
            held = (await stage.client.get(mine)).body
            assert (held["nonce"], held["nonce_final"], held["elsewhere"]) == (2, 1, "")
            await stage.finish(second["id"])
            assert (await other.get(mine)).body["nonce_next"] == 2

    asyncio.run(main())


def test_what_was_handed_in_here_counts_unless_it_came_to_nothing(tmp_path: Path) -> None:
    """Whatever the state says that was asked: a block may be final that is not in it yet."""

    async def main() -> None:
        async with staged(tmp_path) as stage:
            await stage.operate("pause")
            first, second = [await stage.send(nonce) for nonce in (0, 1)]
            desk = Bystander(stage).laneway.rollups.blocks
            account = DEV_ACCOUNTS[0].id

            async def next_behind(tx: Any, nonce: int) -> int:
                desk._spent[LANE, account] = (nonce, tx["id"])
                return await desk._nonce_next(LANE, account, 0)

            assert await next_behind(first, 0) == 1
            await stage.act(second["id"], "cancel")
            assert await next_behind(second, 1) == 0
            await stage.operate("resume")
            await stage.finish(first["id"])
            assert await next_behind(first, 0) == 1
            assert await next_behind({"id": "tx_" + "0" * 32}, 0) == 0

    asyncio.run(main())


def test_a_builder_that_is_behind_its_chain_says_that_instead_of_an_old_balance(
    tmp_path: Path,
) -> None:
    async def main() -> None:
        async with staged(tmp_path, own=OPEN) as stage, beside(stage, 600_000) as (other, lanes):
            shown = lanes.account(LaneId(LANE))
            builder = cast(ChainedBuilder[Any, Any], lanes.rollups[LaneId(LANE)].builder)
            bent = Bent(cast(Jip2Chain, shown.chain))
            bent.segments = ChainUnreadable("node", "segment unavailable")
            builder._source = Source(cast(JamChain, bent), 1)
            done = await stage.finish((await stage.send(0))["id"])
            for path in (
                f"accounts/{PAYER}", f"receipts/{done['hash']}", "bundles", "bundles/1"
            ):  # fmt: skip
                heard = await other.get(f"/v1/rollup/dev/{path}")
                assert (heard.status, heard.code) == (503, "rollup_behind"), path
                assert "no node has the segments of its package" in heard.body["detail"]
                assert heard.body["retryable"]
            assert (await other.get("/v1/rollup/dev")).status == 200
            builder._follower._again_s = None
            bent.segments = None
            own = (await other.get(f"/v1/rollup/dev/accounts/{PAYER}")).body
            assert (own["nonce_next"], own["block"]) == (1, 1)

    asyncio.run(main())


SETTINGS = """
[parameters]
"path.rollup" = ["dev", "1", "nobody"]
"path.bundle" = ["1", "B-1", "B-2", "2", "x"]
"path.hash" = ["{hash}", "00"]
"path.account" = ["{account}", "x"]

[checks.positive_data_acceptance]
expected-statuses = [200, 202, 404, 409, 422]

[checks.negative_data_rejection]
expected-statuses = [400, 401, 403, 404, 405, 406, 409, 413, 415, 422, 428, 429]
"""


def test_no_generated_request_meets_a_5xx_or_an_undocumented_answer(tmp_path: Path) -> None:
    async def main() -> None:
        async with staged(tmp_path) as stage:
            done = await stage.finish((await stage.send(0))["id"])
            await stage.send(1)
            settings = tmp_path / "schemathesis.toml"
            settings.write_text(SETTINGS.format(hash=done["hash"], account=PAYER))
            command = [
                *(sys.executable, "-m", "schemathesis.cli", "--config-file", str(settings)),
                *("run", f"{stage.client.url}/openapi.json"),
                *("--phases", "examples,coverage,fuzzing", "--max-examples", "25"),
                *("--include-path-regex", "^/v1/rollup"),
                *("--generation-deterministic", "--continue-on-failure", "--no-color"),
            ]
            ran = await asyncio.to_thread(
                subprocess.run,
                command,
                cwd=tmp_path,
                capture_output=True,
                text=True,
                timeout=120,
                check=False,
            )
            assert ran.returncode == 0, ran.stdout[-8_000:] + ran.stderr[-2_000:]

    asyncio.run(main())


def test_latest_may_be_what_is_accumulated(tmp_path: Path) -> None:
    async def main() -> None:
        async with staged(tmp_path, own="latest_is_safe = true", slot_ms=300) as stage:
            mine = f"/v1/rollup/dev/accounts/{PAYER}"
            sent = await stage.send(0)
            await stage.until(sent["id"], "submitted", "included", "confirmed")
            own = (await stage.client.get(mine)).body
            assert own["at"] == "safe"
            assert own["nonce_next"] == 1
            await stage.finish(sent["id"])
            own = (await stage.client.get(mine)).body
            assert (own["at"], own["nonce"], own["block"]) == ("safe", 1, 1)

    asyncio.run(main())
