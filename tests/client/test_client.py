"""Laws of the client, blocking and asynchronous, against a real server."""

import asyncio
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from tests.client.stage import KINDS, either, proxied
from tests.server.stage import SLOW_ROUNDS, running, serving

from laneway.client.errors import AnswerLost, Conflict, Invalid, NotAllowed, NotFound, Unreachable
from laneway.core.errors import BadRequest
from laneway.wiring.keys import as_toml, new_key

pytestmark = pytest.mark.parametrize("kind", KINDS)
SLOW = {name.replace(".", "__"): value for name, value in SLOW_ROUNDS.items()}
LANE = "contract:Qm123"


def test_three_lines_send_and_wait(kind: str) -> None:
    async def main() -> None:
        async with serving() as server, either(kind, server.url) as client:
            sent = await client.send(LANE, data="transfer 5", executor="did:1", key="order-7")
            done = await client.of(sent, "wait")
            assert (done.status, done.block, done.final) == ("confirmed", 1, True)
            assert done.payload.data == "transfer 5"
            assert done.payload.executor == "did:1"
            assert (await client.of(sent, "show")).status == "confirmed"

    asyncio.run(main())


def test_a_key_sent_twice_is_one_transaction_and_another_body_is_a_conflict(kind: str) -> None:
    async def main() -> None:
        async with serving() as server, either(kind, server.url) as client:
            # A key may hold what a header usually cannot.
            for key in ("order-7", ' "a\\b" ', "naïve—键"):
                first = await client.send(LANE, data="x", key=key)
                again = await client.send(LANE, data="x", key=key)
                assert (first.id, first.replayed) == (again.id, False)
                assert again.replayed
                assert (await client.tx(f"key:{key}")).id == first.id
                with pytest.raises(Conflict) as caught:
                    await client.send(LANE, data="y", key=key)
                assert caught.value.code == "idempotency_conflict"
                assert caught.value.tx == first.id
            assert len(await client.take(None, "transactions", lane=LANE)) == 3

    asyncio.run(main())


@pytest.mark.slow
def test_a_lost_answer_does_not_double(kind: str) -> None:
    async def main() -> None:
        async with serving() as server, proxied(server.url, drops=2) as proxy:
            async with either(kind, proxy.url) as client:
                sent = await client.send(LANE, data="pay")
                assert proxy.asked == 3
                assert sent.replayed
            heard = await server.get(f"/v1/transactions?lane={LANE}")
            assert [tx["id"] for tx in heard.body["items"]] == [sent.id]
            assert heard.body["items"][0]["idempotency_key"] == sent.key

    asyncio.run(main())


@pytest.mark.slow
def test_an_answer_that_stays_lost_names_the_key_that_makes_it_safe(kind: str) -> None:
    async def main() -> None:
        async with serving() as server, proxied(server.url, drops=1_000) as proxy:
            async with either(kind, proxy.url, retry_s=0.3) as client:
                with pytest.raises(AnswerLost) as caught:
                    await client.send(LANE, data="pay")
            assert caught.value.key is not None
            assert caught.value.changed is None
            async with either(kind, server.url) as client:
                sent = await client.send(LANE, data="pay", key=caught.value.key)
                assert sent.replayed
                assert len(await client.take(None, "transactions", lane=LANE)) == 1

    asyncio.run(main())


def test_a_server_that_is_not_there_is_unreachable_and_nothing_changed(kind: str) -> None:
    async def main() -> None:
        async with either(kind, "http://127.0.0.1:9", retry_s=0.1) as client:
            with pytest.raises(Unreachable) as caught:
                await client.send(LANE, data="pay")
            assert (caught.value.code, caught.value.retry) == ("server_unreachable", "later")
            assert caught.value.changed is False

    asyncio.run(main())


def test_a_problem_is_raised_with_all_it_says(kind: str) -> None:
    async def main() -> None:
        async with serving() as server, either(kind, server.url) as client:
            missing = "tx_" + "0" * 32
            with pytest.raises(NotFound) as found:
                await client.tx(missing)
            error = found.value
            assert (error.status, error.code, error.tx) == (404, "intent_not_found", missing)
            assert not error.retryable
            assert missing in error.detail
            with pytest.raises(NotFound):
                await client.tx("key:never")
            with pytest.raises(NotFound) as lost:
                await client.lane("contract:Never")
            assert (lost.value.code, lost.value.lane) == ("lane_not_found", "contract:Never")
            with pytest.raises(Invalid) as bad:
                await client.send("dance", data="x")
            assert (bad.value.code, bad.value.field) == ("invalid_body", "lane")
            with pytest.raises(Invalid):
                await client.send(LANE, data="x", valid_until=datetime(2030, 1, 1))
            with pytest.raises(BadRequest):
                await client.send(LANE, data="x", key="a\nb")
            sent = await client.send(LANE, data="x")
            await client.of(sent, "wait")
            with pytest.raises(Conflict) as late:
                await client.of(sent, "cancel", reason="too late")
            assert late.value.code == "intent_final"

    asyncio.run(main())


def test_a_wait_ends_with_its_time_and_takes_nothing_back(kind: str) -> None:
    async def main() -> None:
        async with serving(**SLOW) as server, either(kind, server.url) as client:
            sent = await client.send(LANE, data="x")
            with pytest.raises(TimeoutError, match=sent.id):
                await client.of(sent, "wait", timeout_s=0.05)
            assert not (await client.tx(sent.id)).final

    asyncio.run(main())


def test_a_waiting_transaction_is_cancelled_and_an_expired_one_is_told(kind: str) -> None:
    async def main() -> None:
        async with serving(**SLOW) as server, either(kind, server.url) as client:
            await client.send(LANE, data="runs")
            waits = await client.send(LANE, data="waits", valid_until=datetime.now(UTC))
            tried = await client.of(waits, "cancel", reason="test", dry_run=True)
            assert tried.outcome == "would"
            done = await client.cancel(waits.id, reason="test")
            assert (done.outcome, done.tx.status) == ("done", "cancelled")

    asyncio.run(main())


def test_lanes_are_paused_resumed_and_drained(kind: str) -> None:
    async def main() -> None:
        async with serving() as server, either(kind, server.url) as client:
            await client.of(await client.send(LANE, data="x"), "wait")
            dry = await client.pause(LANE, dry_run=True)
            assert (dry.outcome, dry.lane.state) == ("would", "idle")
            paused = await client.pause(LANE, reason="audit")
            assert paused.lane.state == "paused"
            assert "audit" in (await client.lane(LANE)).reason
            assert (await client.resume(LANE)).lane.state == "idle"
            assert (await client.drain(LANE, "running")).action == "drain"

    asyncio.run(main())


def test_iterators_go_on_behind_every_page(kind: str) -> None:
    async def main() -> None:
        async with serving() as server, either(kind, server.url) as client:
            ids = [(await client.send(LANE, data=str(n))).id for n in range(7)]
            found = await client.take(None, "transactions", lane=LANE, page=3)
            assert [tx.id for tx in found] == ids
            assert len(await client.take(2, "transactions", lane=LANE, page=3)) == 2
            await client.wait(ids[-1])
            assert len(await client.take(None, "transactions", status="confirmed", page=2)) == 7
            names = [f"contract:L{number:03}" for number in range(5)]
            for name in names:
                await client.send(name, data="x")
            lanes = await client.take(None, "lanes")
            assert [lane.id for lane in lanes] == [*names, LANE]

    asyncio.run(main())


def test_lanes_beyond_one_page_are_all_listed(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    async def main() -> None:
        async with serving() as server, either(kind, server.url) as client:
            names = [f"contract:L{number:03}" for number in range(5)]
            for name in names:
                await client.send(name, data="x")
            monkeypatch.setattr("laneway.client.retries.PAGE", 2)
            assert [lane.id for lane in await client.take(None, "lanes")] == names

    asyncio.run(main())


def test_events_are_followed_from_a_cursor(kind: str) -> None:
    async def main() -> None:
        async with serving() as server, either(kind, server.url) as client:
            sent = await client.send(LANE, data="x")
            await client.of(sent, "wait")
            other = await client.send("contract:Other", data="x")
            await client.of(other, "wait")
            seen = await client.take(2, "events", lane=LANE, after="")
            assert [(e.type, e.data.tx) for e in seen] == [
                ("transaction.submitted", sent.id),
                ("transaction.confirmed", sent.id),
            ]
            behind = await client.take(1, "events", after=seen[-1].cursor)
            assert behind[0].data.tx == other.id

    asyncio.run(main())


@pytest.mark.slow
def test_a_stream_that_is_cut_anywhere_goes_on_without_a_gap_or_a_repeat(kind: str) -> None:
    async def main() -> None:
        async with serving() as server, either(kind, server.url) as plain:
            for number in range(10):
                await plain.of(await plain.send(LANE, data=str(number)), "wait")
            whole = [(e.type, e.data.tx) for e in await plain.take(20, "events", after="")]
            # In the head, in the middle of an event, and further on.
            cuts = [90, 700, 1_500, 2_049]
            async with proxied(server.url, cuts=cuts) as proxy:
                async with either(kind, proxy.url) as client:
                    seen = await client.take(20, "events", after="")
                assert [(e.type, e.data.tx) for e in seen] == whole
                assert proxy.asked == 5

    asyncio.run(main())


@pytest.mark.slow
def test_what_happens_while_a_fresh_stream_is_cut_is_not_missed(kind: str) -> None:
    async def main() -> None:
        async with running() as (_, server):
            head = len(b"HTTP/1.1 200 OK") + 250
            async with proxied(server.url, cuts=[head]) as proxy:
                async with either(kind, proxy.url) as client:
                    task = asyncio.create_task(client.take(2, "events"))
                    while proxy.asked == 0:
                        await asyncio.sleep(0.01)
                    await asyncio.sleep(0.1)
                    sent = await server.send(lane=LANE)
                    seen = await task
                    assert {event.data.tx for event in seen} == {sent["id"]}
                assert proxy.asked == 2

    asyncio.run(main())


def test_a_key_is_needed_where_the_server_has_keys_and_may_come_from_a_file(
    kind: str, tmp_path: Path
) -> None:
    token, key = new_key("ann")
    keys = tmp_path / "keys.toml"
    keys.write_text(as_toml(key))
    file = tmp_path / "token"
    file.touch(0o600)
    file.write_text(token + "\n")

    async def main() -> None:
        async with serving(server__keys_file=str(keys)) as server:
            async with either(kind, server.url) as client:
                with pytest.raises(NotAllowed) as caught:
                    await client.send(LANE, data="x")
                assert caught.value.code == "key_missing"
                with pytest.raises(NotAllowed):
                    await client.take(1, "events")
            given: list[dict[str, Any]] = [{"api_key": token}, {"api_key_file": file}]
            for how in given:
                async with either(kind, server.url, **how) as client:
                    assert (await client.send(LANE, data="x")).id

    asyncio.run(main())
