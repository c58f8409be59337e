"""Laws of queueing over HTTP: durable before 202, once for each key, pages without gaps."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from tests.server.stage import CALL, Heard, running, serving

from laneway.core.errors import StoreBusy
from laneway.wire.times import to_ms
from laneway.wiring.config import load
from laneway.wiring.server import Up

KEY = "Idempotency-Key"


def test_a_202_names_the_place_of_a_durable_transaction(tmp_path: Path) -> None:
    path = str(tmp_path / "q.db")

    async def main() -> None:
        async with serving(
            store__path=path, store__durability="full", host__round_ms="60000"
        ) as client:
            heard = await client.post("/v1/transactions", CALL)
        assert heard.status == 202
        assert heard.headers["Location"] == f"/v1/transactions/{heard.body['id']}"
        assert heard.body["status"] == "queued"
        assert heard.body["payload"]["data"] == "transfer 5"
        # Another life of the same file knows it.
        async with serving(store__path=path, store__durability="full") as client:
            again = await client.get(heard.headers["Location"])
            assert (again.status, again.body["id"]) == (200, heard.body["id"])

    asyncio.run(main())


def test_no_202_is_sent_before_the_commit() -> None:
    async def main() -> None:
        async with running(host__round_ms="60000") as (up, client):
            store = up.laneway.store
            accept = store.accept
            synced = asyncio.Event()

            async def later(arrivals: Any) -> Any:
                await synced.wait()
                return await accept(arrivals)

            store.accept = lambda arrivals: asyncio.ensure_future(  # type: ignore[method-assign]
                later(arrivals)
            )
            sent = asyncio.create_task(client.post("/v1/transactions", CALL))
            await asyncio.sleep(0.1)
            assert not sent.done()
            assert (await client.get("/livez")).status == 200
            synced.set()
            assert (await sent).status == 202

    asyncio.run(main())


def test_a_store_that_cannot_say_whether_it_wrote_is_no_202() -> None:
    async def main() -> None:
        async with running() as (up, client):
            store = up.laneway.store

            def doubtful(arrivals: Any) -> Any:
                future = asyncio.get_running_loop().create_future()
                future.set_exception(StoreBusy("locked"))
                return future

            accept, store.accept = store.accept, doubtful  # type: ignore[method-assign]
            heard = await client.post("/v1/transactions", CALL)
            assert (heard.status, heard.code) == (503, "store_busy")
            assert heard.body["retryable"] is True
            store.accept = accept  # type: ignore[method-assign]
            assert (await client.post("/v1/transactions", CALL)).status == 202

    asyncio.run(main())


def test_the_same_key_and_body_give_the_same_answer_and_another_body_is_refused() -> None:
    async def main() -> None:
        async with serving() as client:
            first = await client.post("/v1/transactions", CALL, **{KEY: '"order-7"'})
            same = await client.post("/v1/transactions", CALL, **{"x-idempotency-key": "order-7"})
            assert (first.status, same.status) == (202, 202)
            assert same.body["id"] == first.body["id"]
            assert "Idempotent-Replayed" not in first.headers
            assert same.headers["Idempotent-Replayed"] == "true"
            for other in (
                {**CALL, "payload": {"data": "transfer 6"}},
                {**CALL, "priority": 1},
                {**CALL, "valid_until": "2099-01-01T00:00:00Z"},
            ):
                clash = await client.post("/v1/transactions", other, **{KEY: "order-7"})
                assert (clash.status, clash.code) == (422, "idempotency_conflict")
                assert clash.body["tx"] == first.body["id"]
            found = await client.get("/v1/transactions?key=order-7")
            assert [tx["id"] for tx in found.body["items"]] == [first.body["id"]]
            assert (await client.get("/v1/transactions?key=other")).body["items"] == []

    asyncio.run(main())


def test_fifty_copies_of_one_request_make_one_transaction() -> None:
    async def main() -> None:
        async with serving(host__round_ms="60000") as client:
            sent = [client.post("/v1/transactions", CALL, **{KEY: "once"}) for _ in range(50)]
            heard = await asyncio.gather(*sent)
            assert {answer.status for answer in heard} == {202}
            assert len({answer.body["id"] for answer in heard}) == 1
            assert (await client.get("/v1/lanes/contract:Qm1")).body["queue"]["enqueued"] == 1

    asyncio.run(main())


def test_a_wait_ends_with_the_final_answer_or_with_its_time() -> None:
    async def main() -> None:
        async with serving() as client:
            heard = await client.post("/v1/transactions?wait=confirmed&timeout=10", CALL)
            assert (heard.status, heard.body["status"], heard.body["block"]) == (
                200,
                "confirmed",
                1,
            )
            assert heard.body["settled_at"] is not None
        async with serving(host__round_ms="60000") as client:
            heard = await client.post("/v1/transactions?wait=confirmed&timeout=1", CALL)
            assert (heard.status, heard.body["final"]) == (202, False)

    asyncio.run(main())


def test_a_wait_is_let_go_when_the_server_ends_and_the_transaction_stays() -> None:
    async def main() -> None:
        async with running(host__round_ms="60000") as (up, client):
            sent = asyncio.create_task(
                client.post("/v1/transactions?wait=confirmed&timeout=60", CALL)
            )
            while not up.laneway.engine.reactor.owner or not (await up.laneway.metrics()):
                await asyncio.sleep(0.01)
            await asyncio.sleep(0.05)
            await up.close()
            heard = await sent
            assert (heard.status, heard.body["final"]) == (202, False)

    asyncio.run(main())


BAD: list[tuple[Any, int, str, str | None]] = [
    ({**CALL, "lane": "contract"}, 422, "invalid_body", "lane"),
    ({**CALL, "lane": "dance:1"}, 422, "invalid_body", "lane"),
    ({**CALL, "lane": "contract:a/b"}, 422, "invalid_body", "lane"),
    ({**CALL, "lane": "contract:" + "Q" * 300}, 422, "invalid_body", "lane"),
    ({**CALL, "payload": {}}, 422, "invalid_body", "payload"),
    ({**CALL, "payload": {"data": 5}}, 422, "invalid_body", "payload.data"),
    ({**CALL, "payload": {"data": "x", "quorum_type": -1}}, 422, "invalid_body", None),
    ({**CALL, "priority": 4}, 422, "invalid_body", "priority"),
    ({**CALL, "valid_until": "tomorrow"}, 422, "invalid_body", "valid_until"),
    ({**CALL, "valid_until": "2030-01-01T00:00:00"}, 422, "invalid_body", "valid_until"),
    ({**CALL, "colour": "red"}, 422, "invalid_body", None),
    ({}, 422, "invalid_body", None),
    ([], 422, "invalid_body", None),
]


@pytest.mark.parametrize(("body", "status", "code", "field"), BAD, ids=lambda v: str(v)[:40])
def test_a_bad_body_is_refused_by_name_and_nothing_is_queued(
    body: Any, status: int, code: str, field: str | None
) -> None:
    async def main() -> None:
        async with serving() as client:
            heard = await client.post("/v1/transactions", body)
            assert (heard.status, heard.code, heard.body["retryable"]) == (status, code, False)
            assert heard.headers["Content-Type"] == "application/problem+json"
            if field is not None:
                assert heard.body["field"] == field
            assert (await client.get("/v1/lanes")).body["items"] == []

    asyncio.run(main())


@pytest.mark.parametrize("key", ['"open', '"a"b"', '"a\\b"', "k" * 256])
def test_a_key_that_cannot_be_read_is_refused(key: str) -> None:
    async def main() -> None:
        async with serving() as client:
            heard = await client.post("/v1/transactions", CALL, **{KEY: key})
            assert (heard.status, heard.code) == (400, "bad_idempotency_key")
            both = await client.post(
                "/v1/transactions", CALL, **{KEY: "a", "X-Idempotency-Key": "b"}
            )
            assert (both.status, both.code) == (422, "idempotency_keys_disagree")

    asyncio.run(main())


def test_what_is_not_json_is_told_apart_from_json_that_is_wrong() -> None:
    async def main() -> None:
        async with serving() as client:

            async def post(body: bytes, kind: str = "application/json", **more: str) -> Heard:
                headers = {"Content-Type": kind, **more}
                return await client.ask("POST", "/v1/transactions", data=body, headers=headers)

            for broken in (
                b"",
                b"{",
                b'{"lane": }',
                b"\xff\xfe",
                b'{"lane": "\xff"}',
            ):
                assert (await post(broken)).code == "malformed_json", broken
            for deep in (b"[" * 99_999, b'{"x": ' + b"[" * 99_999):
                assert (await post(deep)).status in (400, 422)
            assert (await post(b"{}", "text/plain")).code == "not_json"
            assert (await post(b"{}", **{"Content-Encoding": "gzip"})).status == 415

    asyncio.run(main())


def test_a_lane_is_listed_in_its_order_page_by_page_without_gap_or_repeat() -> None:
    async def main() -> None:
        async with serving(host__round_ms="60000") as client:
            sent = [(await client.send(f"a{number}"))["id"] for number in range(7)]
            other = [(await client.send(f"b{n}", "contract:Qm2"))["id"] for n in range(4)]
            for query, expected in (
                ("lane=contract:Qm1&", sent),
                ("lane=contract:Qm2&", other),
                ("", sent + other),
                ("status=queued&", sent[1:] + other[1:]),
                ("status=submitted&", [sent[0], other[0]]),
                ("lane=contract:Qm1&status=queued&", sent[1:]),
                ("status=confirmed&", []),
                ("status=signed&", []),
            ):
                found: list[str] = []
                cursor = ""
                for _ in range(20):
                    page = await client.get(f"/v1/transactions?{query}limit=3{cursor}")
                    assert page.status == 200
                    assert len(page.body["items"]) <= 3
                    found += [tx["id"] for tx in page.body["items"]]
                    if page.body["next_cursor"] is None:
                        break
                    cursor = f"&cursor={page.body['next_cursor']}"
                assert found == expected, query

    asyncio.run(main())


@pytest.mark.parametrize(
    "query",
    [
        "limit=0",
        "limit=501",
        "limit=x",
        "status=late",
        "lane=Q",
        "cursor=abc",
        "cursor=%00",
        "limt=5",
        "status=null",
        "limit=1&limit=2",
        "key=a&cursor=b",
    ],
)
def test_a_wrong_query_is_refused_by_name(query: str) -> None:
    async def main() -> None:
        async with serving() as client:
            heard = await client.get(f"/v1/transactions?{query}")
            assert heard.status == 422, heard
            assert heard.headers["Content-Type"] == "application/problem+json"

    asyncio.run(main())


def test_a_waiting_transaction_is_cancelled_and_a_running_one_is_not() -> None:
    async def main() -> None:
        async with serving(host__round_ms="60000") as client:
            runs, waits = await client.send("a"), await client.send("b")
            cancel = f"/v1/transactions/{waits['id']}/cancel"
            for thought in (
                await client.post(cancel, {"reason": "typo", "dry_run": True}),
                await client.post(f"{cancel}?dry_run=true", {"reason": "typo"}),
            ):
                assert (thought.status, thought.body["outcome"]) == (200, "would")
                assert thought.body["tx"]["status"] == "queued"
            done = await client.post(cancel, {"reason": "typo"})
            assert (done.status, done.body["outcome"]) == (200, "done")
            assert (done.body["tx"]["status"], done.body["tx"]["reason"]) == ("cancelled", "typo")
            again = await client.post(cancel, {"reason": "typo"})
            assert (again.status, again.code) == (409, "intent_final")
            late = await client.post(f"/v1/transactions/{runs['id']}/cancel", {"reason": "typo"})
            assert (late.status, late.code) == (409, "command_refused")
            assert "cannot be called back" in late.body["detail"]

    asyncio.run(main())


@pytest.mark.parametrize("body", [{}, {"reason": ""}, {"reason": "x" * 501}, {"reason": 5}])
def test_an_action_without_a_reason_is_refused(body: Any) -> None:
    async def main() -> None:
        async with serving(host__round_ms="60000") as client:
            sent = await client.send()
            heard = await client.post(f"/v1/transactions/{sent['id']}/cancel", body)
            assert (heard.status, heard.code) == (422, "invalid_body")

    asyncio.run(main())


@pytest.mark.parametrize("intent", ["tx_1", "tx_" + "0" * 32, "%00", "a" * 3000, "tx_" + "g" * 32])
def test_a_transaction_that_never_was_is_not_found(intent: str) -> None:
    async def main() -> None:
        async with serving() as client:
            heard = await client.get(f"/v1/transactions/{intent}")
            assert (heard.status, heard.code) == (404, "intent_not_found")
            told = await client.post(f"/v1/transactions/{intent}/cancel", {"reason": "r"})
            assert told.status == 404

    asyncio.run(main())


def test_what_is_not_begun_in_time_expires() -> None:
    async def main() -> None:
        async with serving() as client:
            sent = await client.send(valid_until="2001-01-01T00:00:00+02:00")
            assert sent["valid_until"] == "2000-12-31T22:00:00Z"
            assert (await client.finish(sent["id"]))["status"] == "expired"

    asyncio.run(main())


def test_a_draining_server_accepts_nothing_and_says_when_to_come_back() -> None:
    async def main() -> None:
        async with running() as (up, client):
            sent = await client.send()
            up.desk.draining = True
            for path, body in (
                ("/v1/transactions", CALL),
                (f"/v1/transactions/{sent['id']}/cancel", {"reason": "r"}),
                ("/v1/lanes/contract:Qm1/pause", {"reason": "r"}),
            ):
                heard = await client.post(path, body)
                assert (heard.status, heard.code) == (503, "draining")
                assert heard.body["retryable"] is True
                assert int(heard.headers["Retry-After"]) > 0
            assert (await client.get(f"/v1/transactions/{sent['id']}")).status == 200

    asyncio.run(main())


def test_a_lane_with_a_limit_that_rejects_says_when_to_come_back_and_never_429() -> None:
    async def main() -> None:
        async with serving(
            contract__limit_policy="reject", contract__count_max="1", host__round_ms="60000"
        ) as client:
            await client.send()
            heard = await client.post("/v1/transactions", CALL)
            assert (heard.status, heard.code) == (503, "lane_full")
            assert heard.headers["Retry-After"] == "30"
            assert heard.body["lane"] == "contract:Qm1"

    asyncio.run(main())


def test_a_pruned_transaction_keeps_its_final_word() -> None:
    async def main() -> None:
        async with running() as (up, client):
            sent = await client.post("/v1/transactions", CALL, **{KEY: "old"})
            intent = sent.body["id"]
            await client.finish(intent)
            assert await up.laneway.store.prune(1 << 50, 0, 100) == 1
            left = await client.get(f"/v1/transactions/{intent}")
            assert (left.body["status"], left.body["payload"]) == ("confirmed", None)
            found = await client.get("/v1/transactions?key=old")
            assert found.body["items"][0]["status"] == "confirmed"
            late = await client.post(f"/v1/transactions/{intent}/cancel", {"reason": "r"})
            assert late.code == "intent_final"
            again = await client.post("/v1/transactions", CALL, **{KEY: "old"})
            assert (again.status, again.body["id"]) == (202, intent)

    asyncio.run(main())


def test_times_are_read_and_told_in_utc() -> None:
    from datetime import UTC, datetime

    assert to_ms(datetime(1970, 1, 1, 0, 0, 1, 999, tzinfo=UTC)) == 1000


def test_a_server_whose_port_is_taken_says_so_and_leaves_nothing_open(tmp_path: Path) -> None:
    async def main() -> None:
        from laneway.kinds.config import ConfigError

        async with running() as (up, _):
            port = up.server.urls[0].rpartition(":")[2]
            flags = {"server.port": port, "store.path": str(tmp_path / "q.db")}
            with pytest.raises(ConfigError, match=r"server\.port"):
                async with Up(load(None, {}, flags)):
                    pass
            flags["server.port"] = "0"
            async with Up(load(None, {}, flags)):
                pass  # The file was let go.

    asyncio.run(main())
