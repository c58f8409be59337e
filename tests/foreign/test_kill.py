"""Kill −9 of a real server under load: each addition is made exactly once, in its lane's order, and
none is lost. The counters' own files are the judge."""

import asyncio
from pathlib import Path
from random import Random

import msgspec
import pytest
from tests.foreign.counter.chain import Entry
from tests.foreign.distribution import Installed
from tests.free_ports import free_port
from tests.runners import check_integrity
from tests.waits import within

from laneway.client.asynchronous import AsyncClient

pytestmark = pytest.mark.slow

LANES = 4
ADDITIONS = 240
KILLS = 6
TOML = """\
[store]
path = "a.db"
[server]
port = {port}
[counter]
folder = "counters"
retry_ms = 30
[log]
level = "warning"
"""


def entries(folder: Path, lane: str) -> list[Entry]:
    file = folder / "counters" / lane.partition(":")[2]
    lines = file.read_bytes().splitlines() if file.exists() else []
    return [msgspec.json.decode(line, type=Entry) for line in lines]


def landed(folder: Path) -> int:
    return sum(len(entries(folder, f"counter:c{number}")) for number in range(LANES))


async def killed_again_and_again(installed: Installed) -> None:
    dice = Random(3)
    targets = sorted(dice.randrange(1, ADDITIONS * 4 // 5) for _ in range(KILLS))
    for target in targets:
        async with within(60, f"{target} additions"):
            while landed(installed.folder) < target:
                await asyncio.sleep(0.002)
        await asyncio.sleep(dice.uniform(0, 0.02))
        installed.kill()
        await asyncio.to_thread(installed.start)


async def sent_in_order(client: AsyncClient, lane: str) -> list[str]:
    """The ids of one lane's additions, each sent when the one before it is durable."""
    return [
        (await client.submit(lane, {"add": number}, key=f"{lane}/{number}")).id
        for number in range(ADDITIONS // LANES)
    ]


def test_each_addition_is_made_once_and_in_order_through_kills(tmp_path: Path) -> None:
    async def main(installed: Installed) -> None:
        killing = asyncio.create_task(killed_again_and_again(installed))
        names = [f"counter:c{number}" for number in range(LANES)]
        async with AsyncClient(installed.url, retry_s=90.0) as client:
            sent = await asyncio.gather(*(sent_in_order(client, name) for name in names))
            await killing
            for name, ids in zip(names, sent, strict=True):
                ends = [await client.wait(intent, 60) for intent in ids]
                assert {end.status for end in ends} == {"confirmed"}
                assert [end.block for end in ends] == list(range(len(ids)))
                assert [entry.mark for entry in entries(tmp_path, name)] == ids
                total = sum(range(len(ids)))
                assert (await client.lane(name)).details == {"total": total, "retry_ms": 30}

    with Installed(tmp_path, TOML.format(port=free_port())) as installed:
        installed.start()
        asyncio.run(main(installed))
    assert check_integrity(tmp_path / "a.db") == "ok"
