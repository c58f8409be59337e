"""Webhooks from end to end: what becomes true is told to every endpoint that wants it."""

import asyncio
import logging
import subprocess
import sys
from pathlib import Path

import pytest
from tests.feeds.receiver import SECRET, receiving, verified
from tests.fleet.stores import started
from tests.wiring.hooked import configured, hooked

from laneway.core.ids import LaneId
from laneway.kinds.config import ConfigError
from laneway.kinds.delivery.served import DeliveryServed
from laneway.kinds.delivery.webhooks import read_secrets, read_webhooks
from laneway.lanes import limits
from laneway.lanes.delivery import machine
from laneway.wiring.config import load

WHY = {"reason": "node upgrade"}
QUICK_LADDER = (0, 20, 20, 20, 20, 20, 20, 20)


def test_every_event_reaches_its_endpoint_signed(tmp_path: Path) -> None:
    async def main() -> None:
        async with receiving() as receiver:
            async with hooked(configured(tmp_path, receiver.url)) as (_, client):
                tx = (await client.send())["id"]
                await client.finish(tx)
                await client.post("/v1/lanes/contract:Qm1/pause", WHY)
                await receiver.until(3)
            assert sorted(receiver.types()) == [
                "lane.paused",
                "transaction.confirmed",
                "transaction.submitted",
            ]
            assert all(verified(headers, body) for headers, body in receiver.heard)
            bodies = {body["type"]: body["data"] for body in receiver.bodies()}
            assert bodies["transaction.confirmed"]["tx"] == tx
            assert bodies["transaction.submitted"]["seq"] < bodies["transaction.confirmed"]["seq"]
            assert bodies["lane.paused"]["reason"] == "node upgrade"
            assert len(set(receiver.ids())) == 3

    asyncio.run(main())


def test_an_endpoint_that_fails_is_tried_again_with_the_same_message(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(machine, "LADDER_MS", QUICK_LADDER)

    async def main() -> None:
        async with receiving() as receiver:
            receiver.answers = [500, 503]
            only = configured(tmp_path, receiver.url, more='events = ["transaction.confirmed"]')
            async with hooked(only) as (up, client):
                await client.finish((await client.send())["id"])
                await receiver.until(3)
                assert len(set(receiver.ids())) == 1
                scraped = (await client.get("/metrics")).body
                assert 'laneway_webhook_deliveries_total{result="failed"} 2.0' in scraped
                view = await up.laneway.store.lane(LaneId("delivery:hook"))
                assert view is not None

    asyncio.run(main())


def test_what_was_told_while_the_process_was_dead_is_delivered_by_the_next(
    tmp_path: Path,
) -> None:
    """The first life ends before anything is delivered; the second knows nothing but the store."""
    file = {"store.path": str(tmp_path / "a.db"), "store.durability": "full"}

    async def main() -> None:
        async with receiving() as receiver:
            configuration = configured(tmp_path, receiver.url, flags=file)
            async with hooked(configuration) as (up, client):
                await up.laneway.kind("delivery").stopping()
                for number in range(5):
                    await client.finish((await client.send(str(number)))["id"])
            assert receiver.heard == []
            async with hooked(configuration) as (_, client):
                await receiver.until(10, distinct=True)
            async with hooked(configuration) as (_, client):
                await client.finish((await client.send("last"))["id"])
                await receiver.until(12, distinct=True)
            bodies = {body["data"]["seq"] for body in receiver.bodies()}
            assert len(bodies) == len(set(receiver.ids())) == 12

    asyncio.run(main())


def test_a_feed_read_twice_is_delivered_once(tmp_path: Path) -> None:
    async def main() -> None:
        async with receiving() as receiver:
            async with hooked(configured(tmp_path, receiver.url)) as (up, client):
                await client.finish((await client.send())["id"])
                await receiver.until(2)
                hooks = up.laneway.kind("delivery")
                assert isinstance(hooks, DeliveryServed)
                courier = hooks._courier
                courier._routes["hook"].cursor = ""
                await client.finish((await client.send())["id"])
                await receiver.until(4)
                await asyncio.sleep(0.2)
            assert len(receiver.ids()) == len(set(receiver.ids())) == 4

    asyncio.run(main())


def test_an_endpoint_without_permission_hears_nothing_at_a_private_address(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(machine, "LADDER_MS", QUICK_LADDER)

    async def main() -> None:
        async with receiving() as receiver:
            configuration = configured(tmp_path, receiver.url)
            text = (tmp_path / "laneway.toml").read_text().replace("= true", "= false")
            (tmp_path / "laneway.toml").write_text(text)
            flags = {"store.path": ":memory:", "store.durability": "memory", "server.port": "0"}
            configuration = load(str(tmp_path / "laneway.toml"), {}, flags)
            async with hooked(configuration) as (up, client):
                await client.send()
                async with asyncio.timeout(20):
                    while not await up.laneway.store.page("dead", None, 1):
                        await asyncio.sleep(0.05)
                (dead,) = await up.laneway.store.page("dead", None, 1)
                assert dead.result is not None
                assert "allow_private" in dead.result.reason
                assert receiver.heard == []

    asyncio.run(main())


def test_no_line_and_no_answer_holds_a_secret(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(machine, "LADDER_MS", (0, 1))
    caplog.set_level(logging.DEBUG)
    said: list[str] = []

    async def main() -> None:
        async with receiving() as receiver:
            receiver.answers = [500, 500, 410]
            url = receiver.url.replace("http://", "http://ana:canaryword@") + "?token=canarytoken"
            async with hooked(configured(tmp_path, url)) as (up, client):
                await client.finish((await client.send())["id"])
                await receiver.until(3)
                hooks = "/v1/webhooks"
                paths = (hooks, f"{hooks}/hook/deliveries", "/metrics", "/v1/dead-letters")
                said.extend([str((await client.get(path)).body) for path in paths])
                hooks_here = up.laneway.kind("delivery")
                assert isinstance(hooks_here, DeliveryServed)
                said.append(repr(hooks_here.webhooks))

    asyncio.run(main())
    assert "webhook failed" in caplog.text
    for text in (caplog.text, *said):
        for secret in (SECRET, SECRET.removeprefix("whsec_"), "canaryword", "canarytoken"):
            assert secret not in text


def test_a_secret_file_is_checked_before_anything_starts(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    with pytest.raises(ConfigError, match="cannot be read"):
        read_secrets(str(secret))
    for text, problem in (("", "1 to 4"), ("word", "whsec_"), (f"{SECRET}\n" * 5, "1 to 4")):
        secret.write_text(text)
        secret.chmod(0o600)
        with pytest.raises(ConfigError, match=problem):
            read_secrets(str(secret))
    secret.write_text(f"{SECRET}\n{SECRET}\n")
    assert len(read_secrets(str(secret))) == 2
    secret.chmod(0o644)
    with pytest.raises(ConfigError, match="chmod 600"):
        read_secrets(str(secret))


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ('url = "ftp://example.org"', "https://example.org/hook"),
        ('url = "example"', "https://example.org/hook"),
        ('id = "Über"', "pattern|regex"),
        ("color = 1", "unknown field"),
    ],
)
def test_a_mistake_in_a_webhook_is_named(tmp_path: Path, line: str, problem: str) -> None:
    fields = {"id": '"hook"', "url": '"https://example.org"', "secret_file": '"s"'}
    name, _, value = line.partition(" = ")
    fields[name] = value
    text = "".join(f"{key} = {word}\n" for key, word in fields.items())
    (tmp_path / "laneway.toml").write_text(f"[[webhooks]]\n{text}")
    with pytest.raises(ConfigError, match=problem):
        load(str(tmp_path / "laneway.toml"), {}, {})


def test_two_webhooks_of_one_name_are_a_mistake(tmp_path: Path) -> None:
    text = '[[webhooks]]\nid = "a"\nurl = "https://example.org"\nsecret_file = "s"\n'
    (tmp_path / "laneway.toml").write_text(text * 2)
    with pytest.raises(ConfigError, match="two webhooks"):
        load(str(tmp_path / "laneway.toml"), {}, {})


def test_without_webhooks_nothing_is_read_and_nothing_waits() -> None:
    assert read_webhooks(()) == ()
    assert limits.LADDER_MS[0] == 0


@pytest.mark.slow
@pytest.mark.parametrize("store", ["postgres", "redis", "redis-cluster"])
def test_a_fleet_delivers_every_event_from_wherever_it_happened(store: str, tmp_path: Path) -> None:
    async def main(url: str) -> None:
        flags = {"store.path": url, "store.durability": "full"}
        async with receiving() as receiver:
            one = configured(tmp_path, receiver.url, receiver.url, flags=flags)
            async with hooked(one) as (_, first), hooked(one) as (_, second):
                lanes = [f"contract:Hooked{number}" for number in range(6)]
                sent = [
                    (await client.send(lane=lane))["id"]
                    for lane in lanes
                    for client in (first, second)
                ]
                for intent in sent:
                    await first.finish(intent)
                await receiver.until(4 * len(sent), distinct=True, timeout_s=30.0)
            told = [(body["type"], body["data"]["tx"]) for body in receiver.bodies()]
            for intent in sent:
                for word in ("submitted", "confirmed"):
                    assert told.count((f"transaction.{word}", intent)) >= 2, "to each of the two"
            assert all(verified(headers, body) for headers, body in receiver.heard)

    with started(store) as server:
        asyncio.run(main(server.url))


def test_a_library_without_webhooks_loads_no_http_for_them() -> None:
    words = "import sys, laneway.wiring.embedded; print('aiohttp' in sys.modules)"
    ran = subprocess.run(
        [sys.executable, "-c", words], capture_output=True, text=True, check=True, timeout=60
    )
    assert ran.stdout == "False\n"
