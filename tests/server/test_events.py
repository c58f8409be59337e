"""Laws of the event stream: ordered, resumable, one reader for all, slow clients harm nobody."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, NamedTuple

import pytest
from aiohttp import ClientResponse
from tests.feeds.ear import Ear
from tests.server.stage import Client, running, serving

from laneway.feeds import ring as ring_module
from laneway.feeds import stream as stream_module
from laneway.server import events as events_module
from laneway.wire import sse
from laneway.wiring.server import allow_files


class Seen(NamedTuple):
    id: str
    type: str
    body: Any


class Follower:
    """Reads a stream as a browser does."""

    def __init__(self, answer: ClientResponse) -> None:
        self.answer = answer
        self.last_id = ""

    async def next(self) -> Seen | None:
        """The next event; None at the end of the stream."""
        kind = data = ""
        async for raw in self.answer.content:
            line = raw.decode().rstrip("\n")
            field, _, value = line.partition(": ")
            if field == "id":
                self.last_id = value
            elif field == "event":
                kind = value
            elif field == "data":
                data = value
            elif not line and data:
                return Seen(self.last_id, kind, json.loads(data))
        return None

    async def take(self, count: int) -> list[Seen]:
        async with asyncio.timeout(10):
            seen = [await self.next() for _ in range(count)]
        return [event for event in seen if event is not None]


@asynccontextmanager
async def following(client: Client, query: str = "", **headers: str) -> AsyncIterator[Follower]:
    async with client.session.get(f"{client.url}/v1/events{query}", headers=headers) as answer:
        assert answer.status == 200, await answer.text()
        assert answer.content_type == "text/event-stream"
        await answer.content.readline()  # The retry hint: the server has our place now.
        yield Follower(answer)


def told(seen: list[Seen]) -> list[tuple[str, str]]:
    return [(event.type, event.body["data"].get("tx", "")) for event in seen]


def test_what_happens_next_is_told_in_the_order_of_the_lane() -> None:
    async def main() -> None:
        async with serving() as client:
            await client.finish((await client.send("before"))["id"])
            async with following(client) as follower:
                ids = [(await client.send(str(number)))["id"] for number in range(5)]
                seen = await follower.take(10)
                assert told(seen) == [
                    (f"transaction.{word}", intent)
                    for intent in ids
                    for word in ("submitted", "confirmed")
                ]
                versions = [event.body["data"]["version"] for event in seen]
                assert versions == sorted(versions)
                assert seen[1].body["data"]["block"] == 2
                assert seen[1].body["timestamp"].endswith("Z")

    asyncio.run(main())


def test_a_reader_resumes_without_a_gap_and_hears_at_most_one_commit_again() -> None:
    async def main() -> None:
        async with serving() as client:
            for number in range(6):
                sent = await client.send(str(number))
            await client.finish(sent["id"])
            async with following(client, "?cursor=") as follower:
                everything = await follower.take(12)
            for place in (0, 3, 7, 10):
                last = {"Last-Event-ID": everything[place].id}
                async with following(client, **last) as follower:
                    rest: list[Seen] = []
                    while not rest or rest[-1].body != everything[-1].body:
                        rest += await follower.take(1)
                again = len(rest) - (11 - place)
                assert [event.body for event in rest] == [
                    event.body for event in everything[place + 1 - again :]
                ]
                # The cursor stands at the end of what a commit told: cut off before it, a reader
                # hears that commit again.
                versions = [event.body["data"]["version"] for event in everything]
                assert len(set(versions[place + 1 - again : place + 2])) <= 1 + (again == 0)

    asyncio.run(main())


def test_a_reader_that_was_away_while_an_execution_ran_learns_whose_it_was() -> None:
    async def main() -> None:
        async with serving(host__round_ms="150") as client:
            async with following(client) as follower:
                sent = await client.send()
                (begun,) = await follower.take(1)
            await client.finish(sent["id"])
            async with following(client, **{"Last-Event-ID": begun.id}) as follower:
                (ended,) = await follower.take(1)
            assert told([ended]) == [("transaction.confirmed", sent["id"])]

    asyncio.run(main())


def test_a_filter_shows_one_lane_and_still_moves_the_cursor(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(events_module, "HEARTBEAT_S", 0.05)

    async def main() -> None:
        async with serving() as client, following(client, "?lane=contract:Qm2") as follower:
            await client.finish((await client.send())["id"])
            mine = await client.send(lane="contract:Qm2")
            seen = await follower.take(2)
            assert told(seen) == [
                ("transaction.submitted", mine["id"]),
                ("transaction.confirmed", mine["id"]),
            ]
            last = follower.last_id
            await client.finish((await client.send())["id"])
            async with asyncio.timeout(5):
                while follower.last_id == last:
                    raw = (await follower.answer.content.readline()).decode()
                    if raw.startswith("id: "):
                        follower.last_id = raw[4:].strip()

    asyncio.run(main())


def test_lanes_tell_what_operators_and_machines_did() -> None:
    async def main() -> None:
        async with serving(host__round_ms="60000") as client:
            runs = (await client.send())["id"]
            waits = (await client.send())["id"]
            async with following(client) as follower:
                await client.post("/v1/lanes/contract:Qm1/pause", {"reason": "upgrade"})
                await client.post(f"/v1/transactions/{waits}/cancel", {"reason": "typo"})
                await client.post(f"/v1/transactions/{runs}/cancel", {"reason": "typo"})
                await client.post("/v1/lanes/contract:Qm1/resume", {"reason": "done"})
                seen = await follower.take(4)
                assert told(seen) == [
                    ("lane.paused", ""),
                    ("transaction.cancelled", waits),
                    ("lane.command_refused", runs),
                    ("lane.resumed", ""),
                ]
                assert seen[0].body["data"]["by"] == "loopback"

    asyncio.run(main())


@pytest.mark.parametrize("cursor", ["abc", "-1", "1" * 600, "9" * 19])
def test_a_cursor_from_elsewhere_is_refused(cursor: str) -> None:
    async def main() -> None:
        async with serving() as client:
            heard = await client.get("/v1/events", **{"Last-Event-ID": cursor})
            assert heard.status == 422, heard

    asyncio.run(main())


def test_a_cursor_beyond_the_end_waits_for_what_comes() -> None:
    async def main() -> None:
        async with (
            serving() as client,
            following(client, **{"Last-Event-ID": "99999"}) as follower,
        ):
            sent = await client.send()
            assert told(await follower.take(1)) == [("transaction.submitted", sent["id"])]

    asyncio.run(main())


def test_many_readers_share_one_reader_of_the_feed() -> None:
    async def main() -> None:
        async with running() as (up, client):
            reads = 0
            feed = up.laneway.store.feed

            def counted(after: str, limit: int) -> Any:
                nonlocal reads
                reads += 1
                return feed(after, limit)

            up.laneway.store.feed = counted  # type: ignore[method-assign]
            async with asyncio.TaskGroup() as group:

                async def follow() -> list[Seen]:
                    async with following(client) as follower:
                        arrived.release()
                        return await follower.take(10)

                arrived = asyncio.Semaphore(0)
                tasks = [group.create_task(follow()) for _ in range(50)]
                for _ in tasks:
                    await arrived.acquire()
                before = reads
                for number in range(5):
                    await client.finish((await client.send(str(number)))["id"])
            assert len({str(task.result()) for task in tasks}) == 1
            assert reads - before < 50

    asyncio.run(main())


@pytest.mark.slow
def test_a_thousand_readers_hear_everything_and_the_queue_goes_on() -> None:
    async def main() -> None:
        async with running(host__round_ms="1") as (up, client):
            allow_files(4_000)

            async def follow() -> int:
                async with following(client) as follower:
                    arrived.release()
                    return len(await follower.take(40))

            arrived = asyncio.Semaphore(0)
            async with asyncio.timeout(60), asyncio.TaskGroup() as group:
                tasks = [group.create_task(follow()) for _ in range(1_000)]
                for _ in tasks:
                    await arrived.acquire()
                assert up.stream.followers == 1_000
                for number in range(20):
                    await client.finish((await client.send(str(number)))["id"])
            assert {task.result() for task in tasks} == {40}

    asyncio.run(main())


def test_a_reader_that_cannot_follow_is_closed_and_resumes_by_its_cursor(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(ring_module, "RING_BATCHES_MAX", 4)

    async def main() -> None:
        async with running() as (up, client):
            stream = up.stream
            slow = Ear(await stream.follow(None, None, None))
            quick = Ear(await stream.follow(None, None, None))
            await asyncio.sleep(0)
            slow.slow = True
            for number in range(12):
                await client.finish((await client.send(str(number)))["id"])
                while (await quick.read(5) or b"").find(b"confirmed") < 0:
                    pass
            slow.quicken()
            assert b"submitted" in (await slow.read(5) or b"")  # What it was handed at first.
            assert await slow.read(5) is None
            again = Ear(await stream.follow("0", None, None))
            seen = b""
            while seen.count(b"transaction.confirmed") < 24:  # Its type stands twice in each.
                seen += await again.read(5) or b""
            for follower in (slow, quick, again):
                follower.leave()

    asyncio.run(main())


def test_a_reader_that_takes_nothing_is_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(events_module, "EVENT_WRITE_S", 0.2)
    monkeypatch.setattr(events_module, "HEARTBEAT_S", 0.001)
    monkeypatch.setattr(stream_module, "POLL_S", 0.001)

    async def main() -> None:
        async with running() as (up, client):
            host, _, port = client.url.removeprefix("http://").partition(":")
            _, writer = await asyncio.open_connection(host, int(port), limit=1)
            writer.write(b"GET /v1/events HTTP/1.1\r\nHost: localhost\r\n\r\n")
            monkeypatch.setattr(sse, "heartbeat", lambda cursor: b":" * 100_000)
            async with asyncio.timeout(10):
                while up.stream.followers == 0:
                    await asyncio.sleep(0.01)
                while up.stream.followers:
                    await asyncio.sleep(0.05)
            assert (await client.send())["status"] == "queued"
            writer.close()

    asyncio.run(main())


def test_streams_end_when_the_server_does() -> None:
    async def main() -> None:
        async with running() as (up, client), following(client) as follower:
            closing = asyncio.create_task(up.close())
            async with asyncio.timeout(5):
                assert await follower.next() is None
            await closing

    asyncio.run(main())


def test_one_stream_too_many_is_told_to_come_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(events_module, "EVENT_CLIENTS_MAX", 1)

    async def main() -> None:
        async with running() as (up, client):
            async with following(client):
                heard = await client.get("/v1/events")
                assert (heard.status, heard.code) == (503, "too_many_streams")
            async with asyncio.timeout(5):
                while up.server.counts.streams:
                    await asyncio.sleep(0.01)

    asyncio.run(main())
