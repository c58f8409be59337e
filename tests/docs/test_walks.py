"""The walks of ARCHITECTURE.md: each is walked, and leads through the files that it lists."""

import asyncio
import re
import sys
import threading
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple

import pytest
from tests.cosmos_stage import TOML as COSMOS_TOML
from tests.rollup_stage import Purse
from tests.server.stage import Client
from tests.server.test_events import Follower, following
from tests.wiring.test_views import EVM_TOML, ROLLUP_TOML, secret

from laneway.cosmos.blobs import namespace_of
from laneway.devnets.contract.model import ContractChain
from laneway.devnets.contract.node.socket import ContractSocket
from laneway.devnets.cosmos.devnet import CosmosDevnet
from laneway.devnets.evm.devnet import EvmDevnet
from laneway.devnets.jam.devnet import JamDevnet
from laneway.ports import CosmosBlob
from laneway.wiring.config import load
from laneway.wiring.embedded import Laneway
from laneway.wiring.server import Up

ROOT = Path(__file__).parent.parent.parent
SOURCES = f"{ROOT / 'src/laneway'}/"
TEXT = (ROOT / "ARCHITECTURE.md").read_text()
WALKS = TEXT.partition("## Walks")[2].partition("\n## ")[0].split("### ")[1:]
FILES_MAX = {
    "A POST until its event reaches a reader": 30,
    "`lw.send` of an account": 30,
    "A blob with recovery": 30,
    "A rollup's transaction until it is final": 44,
}
"""How long each walk may become. A new hop has to have a reason, and to be counted here."""
WALK_S = 40


def hops(walk: str) -> list[str]:
    return re.findall(r"`([\w/]+\.py)`", walk)


def test_a_walk_has_each_file_once_and_no_more_than_it_needs() -> None:
    assert {walk.splitlines()[0]: len(hops(walk)) for walk in WALKS} == FILES_MAX
    for walk in WALKS:
        assert sorted(hops(walk)) == sorted(set(hops(walk)))


class Site(NamedTuple):
    lw: Laneway
    client: Client


class Footprints:
    """The files of laneway in which something is called between `begin` and `end`, in any thread
    that is started after this was made."""

    def __init__(self) -> None:
        self.files: set[str] = set()
        self._counts = False
        threading.setprofile(self._note)
        sys.setprofile(self._note)

    def _note(self, frame: FrameType, event: str, _argument: object) -> None:
        if self._counts and event == "call":
            self.files.add(frame.f_code.co_filename.removeprefix(SOURCES))

    def begin(self) -> None:
        self._counts = True

    def end(self) -> None:
        self._counts = False
        sys.setprofile(None)
        threading.setprofile(None)


@asynccontextmanager
async def served(walked: Footprints, folder: Path, text: str) -> AsyncIterator[Site]:
    """What is done at its start and its end is no part of a walk."""
    file = folder / "laneway.toml"
    file.write_text(f'[store]\npath = "{folder / "laneway.db"}"\n[server]\nport = 0\n{text}')
    async with Up(load(str(file), {}, {})) as up, Client(up.server.urls[0]) as client:
        walked.begin()
        yield Site(up.laneway, client)
        walked.end()


async def until_confirmed(reader: Follower, intent: str) -> None:
    while (event := await reader.next()) is not None:
        if event.type == "transaction.confirmed" and event.body["data"]["tx"] == intent:
            return
    raise AssertionError("the stream ended before the event came")


async def post(walked: Footprints, folder: Path) -> None:
    async with ContractSocket(ContractChain(round_ms=5), password="secret") as node:
        path = secret(folder / "password", "secret")
        rest = f'[host]\nkind = "rest"\nurl = "{node.url}"\npassword_file = "{path}"\n'
        async with (
            served(walked, folder, rest) as (_, client),
            following(client, "?cursor=") as reader,
        ):
            sent = await client.send("transfer 5")
            await until_confirmed(reader, sent["id"])


async def send(walked: Footprints, folder: Path) -> None:
    async with EvmDevnet(block_ms=20) as devnet:
        key = secret(folder / "hot.key", devnet.accounts[0].secret.hex())
        async with served(walked, folder, EVM_TOML.format(url=devnet.url, key=key)) as (lw, _):
            to = "0x" + devnet.accounts[1].address.hex()
            paid = await lw.send("evm:dev:hot", to=to, value=1, key="one")
            assert (await paid.result(WALK_S)).status == "confirmed"


async def blob(walked: Footprints, folder: Path) -> None:
    """A node starts again and has lost what waited in its mempool, which it says when it is offered
    the next blob, before anyone asks it."""
    async with CosmosDevnet(block_ms=None) as devnet:
        key = secret(folder / "main.key", devnet.accounts[0].secret.hex())
        nodes = f'"{devnet.url}"'
        text = COSMOS_TOML.format(nodes=nodes, key=key, sequence="", chain="")
        text = text.replace("poll_ms = 20", "poll_ms = 1000")
        async with served(walked, folder, text) as (lw, _):
            client = lw.cosmos_client("cosmos:dev:main")
            content = [CosmosBlob(namespace_of(b"mine"), b"x" * 50)]
            handles = [await client.submit_pay_for_blob_to_queue(content) for _ in range(2)]
            for handle in handles:
                await handle.submitted()
            devnet.chain.restart(0)
            handles.append(await client.submit_pay_for_blob_to_queue(content))
            blocks = asyncio.create_task(steadily(devnet))
            for handle in handles:
                assert (await handle.confirmed()).is_confirmed()
            blocks.cancel()


async def steadily(devnet: CosmosDevnet) -> None:
    while True:
        devnet.produce()
        await asyncio.sleep(0.05)


async def transfer(walked: Footprints, folder: Path) -> None:
    async with JamDevnet(slot_ms=100) as devnet:
        text = ROLLUP_TOML.replace("600000", "100").format(url=devnet.url)
        async with served(walked, folder, text) as (lw, client), following(client) as reader:
            sent = await lw.transfer("rollup:main", Purse(devnet.model.genesis).transfer())
            assert (await sent.result(WALK_S)).status == "confirmed"
            await until_confirmed(reader, sent.id)


Story = Callable[[Footprints, Path], Awaitable[Any]]
STORIES: list[Story] = [post, send, blob, transfer]


@pytest.mark.slow
@pytest.mark.parametrize(("walk", "story"), list(zip(WALKS, STORIES, strict=True)))
def test_a_walk_leads_through_every_file_that_it_lists(
    walk: str, story: Story, tmp_path: Path
) -> None:
    walked = Footprints()
    try:
        asyncio.run(asyncio.wait_for(story(walked, tmp_path), WALK_S * 2))
    finally:
        walked.end()
    assert [hop for hop in hops(walk) if hop not in walked.files] == []


def test_every_room_of_the_house_is_in_the_table() -> None:
    named = set(re.findall(r"^\| `(\w+)/` \|", TEXT, flags=re.M))
    rooms = {path.parent.name for path in (ROOT / "src/laneway").glob("*/__init__.py")}
    assert named == rooms
