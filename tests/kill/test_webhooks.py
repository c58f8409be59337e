"""Kill −9 of a real server while it delivers: every event arrives at least once, none is lost."""

import asyncio
import sys
from pathlib import Path
from random import Random

import pytest
from tests.feeds.receiver import Receiver, receiving, verified
from tests.free_ports import free_port
from tests.wiring.hooked import configured

from laneway.client.asynchronous import AsyncClient
from laneway.engine.delivery import decode_message
from laneway.engine.system import SystemClock
from laneway.feeds.courier import EventSubscription, arrivals_of
from laneway.kinds.events import events_of
from laneway.wiring.store import open_store

TRANSACTIONS = 60
KILLS = 4
RETRY_S = 5.0
"""The first step of the ladder."""


async def started(folder: Path) -> asyncio.subprocess.Process:
    command = ["-m", "laneway", "up", "--config", str(folder / "laneway.toml")]
    return await asyncio.create_subprocess_exec(
        sys.executable, *command, stdout=asyncio.subprocess.DEVNULL
    )


async def killed_again_and_again(folder: Path, receiver: Receiver) -> asyncio.subprocess.Process:
    dice = Random(4)
    process = await started(folder)
    for kill in range(KILLS):
        # In the middle of deliveries, and sometimes in the middle of a start.
        seen = len(receiver.heard)
        async with asyncio.timeout(30):
            while len(receiver.heard) < seen + dice.randint(1, 12):
                await asyncio.sleep(0.005)
        process.kill()
        await process.wait()
        process = await started(folder)
        if kill == 1:
            await asyncio.sleep(dice.random())
            process.kill()
            await process.wait()
            process = await started(folder)
    return process


async def expected(folder: Path) -> set[str]:
    """The messages that the feed itself demands: it was written with what it tells of."""
    store = open_store(str(folder / "a.db"), SystemClock())
    hook = EventSubscription("hook")
    wanted: set[str] = set()
    cursor = ""
    while entries := await store.feed(cursor, 500):
        wanted |= {
            decode_message(arrival.payload).id
            for entry in entries
            for arrival in arrivals_of(entry, events_of(entry), hook)
        }
        cursor = entries[-1].cursor
    await store.close()
    return wanted


async def quiet(receiver: Receiver) -> None:
    """A retry comes after five seconds; when nothing new came for longer, all was said. How many
    events there are nobody knows before: each kill may make its lanes tell that they recover."""
    heard, quiet_s = len(receiver.heard), 0.0
    while quiet_s < RETRY_S + 2:
        await asyncio.sleep(0.25)
        quiet_s = quiet_s + 0.25 if len(receiver.heard) == heard else 0.0
        heard = len(receiver.heard)


@pytest.mark.slow
def test_every_event_arrives_through_kills(tmp_path: Path) -> None:
    async def main() -> None:
        port = free_port()
        async with receiving() as receiver:
            dice = Random(7)
            receiver.answers = [dice.choice((200, 200, 200, 500)) for _ in range(20)]
            configured(tmp_path, receiver.url)
            text = (tmp_path / "laneway.toml").read_text()
            head = f'[store]\npath = "{tmp_path / "a.db"}"\n[server]\nport = {port}\n'
            (tmp_path / "laneway.toml").write_text(f"{head}[host]\nround_ms = 20\n{text}")
            killing = asyncio.create_task(killed_again_and_again(tmp_path, receiver))
            async with AsyncClient(f"http://127.0.0.1:{port}", retry_s=60.0) as client:
                sent = [
                    await client.send(f"contract:Qm{n % 3}", f"pay {n}", key=f"order-{n}")
                    for n in range(TRANSACTIONS)
                ]
                for one in sent:
                    assert (await client.wait(one.id)).status == "confirmed"
            process = await killing
            await receiver.until(2 * TRANSACTIONS, distinct=True, timeout_s=60.0)
            await quiet(receiver)
            process.terminate()
            await process.wait()
            assert set(receiver.ids()) == await expected(tmp_path)
            assert all(verified(headers, body) for headers, body in receiver.heard)
            confirmed = {
                body["data"]["tx"]
                for body in receiver.bodies()
                if body["type"] == "transaction.confirmed"
            }
            assert confirmed == {one.id for one in sent}

    asyncio.run(main())
