"""A JAM devnet and clients of its socket, for stories; and a builder that knows JIP-2 alone."""

import asyncio
from base64 import b64decode, b64encode
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from contextlib import asynccontextmanager
from typing import Any

from aiohttp import ClientSession, ClientWebSocketResponse
from msgspec import json

from laneway.devnets.jam.devnet import JamDevnet
from laneway.devnets.jam.limits import ROLLUP_SERVICE_DEV
from laneway.devnets.jam.model.values import NULL_AUTHORIZER
from laneway.jam.package import WORK_PACKAGE, RefineContext, WorkPackage, package_hash
from laneway.rollups.domain import Domain
from laneway.rollups.ledger.account import DEV_ACCOUNTS
from laneway.rollups.ledger.block import LedgerBlock, genesis_header
from laneway.rollups.ledger.limits import BALANCE_DEV
from laneway.rollups.ledger.state import execute, genesis_state, witness_of
from laneway.rollups.ledger.transfer import Transfer, signed
from laneway.rollups.ledger.witness import work_item
from laneway.rollups.rules import BlockWork

STORY_S_MAX = 30
NUMBER = 5
"""Of every call: a client waits for its answer before it asks again."""

Story = Callable[[JamDevnet, "Client"], Coroutine[Any, Any, None]]


def text(data: bytes) -> str:
    return b64encode(data).decode()


def data(said: str) -> bytes:
    return b64decode(said, validate=True)


UNKNOWN = text(b"\x11" * 32)


class Said(Exception):
    """The node's no."""

    def __init__(self, error: dict[str, Any]) -> None:
        self.code: int = error["code"]
        self.message: str = error["message"]
        self.about: object = error.get("data")
        super().__init__(f"{self.code} {self.message}")


class Client:
    """One connection: calls, and the notices that came meanwhile."""

    def __init__(self, socket: ClientWebSocketResponse) -> None:
        self.socket = socket
        self.told: list[tuple[str, dict[str, Any]]] = []

    async def say(self, method: str, *params: object) -> Any:
        answer = await self.send({"method": method, "params": params})
        if "error" in answer:
            raise Said(answer["error"])
        return answer["result"]

    async def refusal(self, method: str, *params: object) -> Said:
        try:
            found = await self.say(method, *params)
        except Said as no:
            return no
        raise AssertionError(f"{method} said {found}")

    async def send(self, call: dict[str, object]) -> dict[str, Any]:
        sent = {"jsonrpc": "2.0", "id": NUMBER, **call}
        return await self.send_raw(json.encode(sent).decode())

    async def send_raw(self, message: str | bytes) -> dict[str, Any]:
        """The answer to whatever that is."""
        if isinstance(message, str):
            await self.socket.send_str(message)
        else:
            await self.socket.send_bytes(message)
        while True:
            answer = await self.receive()
            if answer is not None:
                return answer

    async def receive(self) -> dict[str, Any] | None:
        """The next message, if it is an answer; a notice is put aside."""
        message: dict[str, Any] = json.decode(await self.socket.receive_str())
        assert message["jsonrpc"] == "2.0"
        if "method" not in message:
            return message
        assert "id" not in message
        self.told.append((message["method"], message["params"]))
        return None

    async def next(self) -> tuple[str, dict[str, Any]]:
        """The oldest notice that was not looked at."""
        while not self.told:
            assert await self.receive() is None
        return self.told.pop(0)

    def updates(self, subscription: int) -> list[Any]:
        return [told["result"] for _, told in self.told if told["subscription"] == subscription]


@asynccontextmanager
async def client(session: ClientSession, url: str) -> AsyncIterator[Client]:
    async with session.ws_connect(url, max_msg_size=0) as socket:
        yield Client(socket)


def tell(story: Story, **options: Any) -> None:
    """Run a story on a devnet that makes a block when it is told to."""

    async def whole() -> None:
        chosen = {"slot_ms": 0, **options}
        async with (
            asyncio.timeout(STORY_S_MAX),
            JamDevnet(**chosen) as devnet,
            ClientSession() as session,
            client(session, devnet.url) as first,
        ):
            await story(devnet, first)

    asyncio.run(whole())


class Builder:
    """It makes blocks of the known accounts' transfers, and packages of them."""

    def __init__(self, chain: bytes) -> None:
        self.domain = Domain(chain, ROLLUP_SERVICE_DEV)
        balances = {account.id: BALANCE_DEV for account in DEV_ACCOUNTS}
        self.states = [genesis_state(self.domain, balances)]
        self.headers = [genesis_header(self.states[0].root)]

    def transfer(self, amount: int = 5, nonce: int | None = None) -> Transfer:
        """From the first account to the second."""
        payer, payee = DEV_ACCOUNTS[:2]
        following = self.states[-1].account(payer.id).nonce
        return signed(
            payer.key,
            self.domain,
            recipient=payee.id,
            amount=amount,
            nonce=following if nonce is None else nonce,
        )

    def build(self, *transfers: Transfer) -> tuple[LedgerBlock, BlockWork]:
        """The next block, and its work."""
        state, slot = self.states[-1], len(self.headers)
        block, after = execute(state, transfers or (self.transfer(),), self.headers[-1], slot)
        self.states.append(after)
        self.headers.append(block.header)
        return block, work_item(self.domain, block, witness_of(state, block))


async def context(say: Client, prerequisites: Sequence[bytes] = ()) -> RefineContext:
    """The freshest context there is, asked for as any builder does."""
    best = await say.say("bestBlock")
    final = await say.say("finalizedBlock")
    return RefineContext(
        anchor=data(best["header_hash"]),
        state_root=data(await say.say("stateRoot", best["header_hash"])),
        beefy_root=data(await say.say("beefyRoot", best["header_hash"])),
        lookup_anchor=data(final["header_hash"]),
        lookup_anchor_slot=final["slot"],
        prerequisites=tuple(prerequisites),
    )


class Sent:
    """A package that was handed in."""

    def __init__(self, package: WorkPackage, work: BlockWork) -> None:
        self.package = package
        self.bytes = WORK_PACKAGE.encode(package)
        self.hash = text(package_hash(package))
        self.anchor = text(package.context.anchor)
        self.extrinsics = [text(one) for one in work.extrinsics]


async def packed(say: Client, work: BlockWork, prerequisites: Sequence[bytes] = ()) -> Sent:
    package = WorkPackage(
        auth_code_host=ROLLUP_SERVICE_DEV,
        auth_code_hash=NULL_AUTHORIZER,
        context=await context(say, prerequisites),
        items=work.items,
    )
    return Sent(package, work)


async def submit(say: Client, work: BlockWork, core: int = 0) -> Sent:
    sent = await packed(say, work)
    await say.say("submitWorkPackage", core, text(sent.bytes), sent.extrinsics)
    return sent


def kinds(updates: Sequence[Any]) -> list[str]:
    return [next(iter(one["value"])) for one in updates]
