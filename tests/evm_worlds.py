"""An EVM chain with the hands that move it: a real anvil, or the model behind its socket.

Both are moved by the same calls under the same names, so what a story tells of one is asked of
the other word for word.
"""

from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Sequence
from contextlib import (
    AbstractAsyncContextManager,
    AbstractContextManager,
    asynccontextmanager,
    contextmanager,
)
from enum import Enum
from typing import Any, Protocol

from tests.anvil import CHAIN_ID, Anvil, Said, address, anvil

from laneway.chains.evm.chain import RpcChain
from laneway.chains.evm.endpoint import EvmPlace
from laneway.core.facts import SendAnswer, SendKind
from laneway.devnets.evm.devnet import EvmDevnet
from laneway.evm.validity import owner_hash
from laneway.ports import EvmChain
from laneway.wire.rpc_server.methods import RpcRefused


class Needs(Enum):
    """What a story may need that a world lacks, and why it does."""

    PROCESS = "the model lives in the test's own process, which cannot be stopped or killed"
    POOL_RACE = "a race in anvil's pool, two of 120 tries: nobody can order it"


class Node(Protocol):
    """One node, past every adapter."""

    @property
    def url(self) -> str: ...
    @property
    def ws_url(self) -> str: ...
    def say(self, method: str, *params: object) -> Any: ...
    def mine(self, count: int = 1) -> None: ...


class World(ABC):
    """A chain that mines when it is told to."""

    lacks: tuple[Needs, ...] = ()

    def __init__(self, node: Node) -> None:
        self.node = node
        place = EvmPlace(node.url, ws_url=node.ws_url)
        self.chain = RpcChain([place], chain_id=CHAIN_ID, poll_ms=50)

    @property
    def url(self) -> str:
        return self.node.url

    def say(self, method: str, *params: object) -> Any:
        return self.node.say(method, *params)

    def mine(self, count: int = 1) -> None:
        self.node.mine(count)

    def drop(self, digest: bytes) -> None:
        self.say("anvil_dropTransaction", "0x" + digest.hex())

    def reorg(self, depth: int, raws: Sequence[bytes] = ()) -> None:
        """Replace the newest blocks by as many, empty but for `raws` in the first."""
        self.say("anvil_reorg", depth, [["0x" + raw.hex(), 0] for raw in raws])

    def set_back(self, depth: int) -> None:
        self.say("anvil_rollback", depth)

    def set_balance(self, owner: bytes, wei: int) -> None:
        self.say("anvil_setBalance", "0x" + owner.hex(), hex(wei))

    def set_nonce(self, owner: bytes, nonce: int) -> None:
        self.say("anvil_setNonce", "0x" + owner.hex(), hex(nonce))

    def set_base_fee(self, wei: int) -> None:
        self.say("anvil_setNextBlockBaseFeePerGas", hex(wei))

    def set_gas_limit(self, gas: int) -> None:
        self.say("evm_setBlockGasLimit", hex(gas))

    def set_code(self, owner: bytes, code: bytes) -> None:
        self.say("anvil_setCode", "0x" + owner.hex(), "0x" + code.hex())

    def pool(self) -> tuple[int, int]:
        """How many may be mined, and how many wait."""
        status = self.say("txpool_status")
        return int(status["pending"], 16), int(status["queued"], 16)

    def refusal(self, method: str, *params: object) -> tuple[int, str]:
        """The node's no, in its own words."""
        try:
            said = self.say(method, *params)
        except (Said, RpcRefused) as no:
            return no.code, no.message
        raise AssertionError(f"{method} was answered with {said!r}")

    @abstractmethod
    def behind(self) -> AbstractContextManager[Node]:
        """Another node, which stays where the chain stands now."""


class AnvilWorld(World):
    lacks = (Needs.POOL_RACE,)

    @contextmanager
    def behind(self) -> Iterator[Node]:
        height = int(self.say("eth_blockNumber"), 16)
        fork = ("--fork-url", self.url, "--fork-block-number", str(height))
        with anvil("--no-mining", *fork, "--fork-chain-id", str(CHAIN_ID)) as node:
            yield node


class ModelWorld(World):
    lacks = (Needs.PROCESS,)

    def __init__(self, devnet: EvmDevnet) -> None:
        super().__init__(devnet)
        self.devnet = devnet

    @contextmanager
    def behind(self) -> Iterator[Node]:
        # A fork of anvil hears of nothing that is sent elsewhere.
        self.devnet.chain.gossips = False
        self.devnet.chain.freeze(1)
        yield Second(self.devnet)


class Second:
    """The devnet's other node."""

    def __init__(self, devnet: EvmDevnet) -> None:
        self.url = devnet.urls[1]
        self.ws_url = ""
        self._devnet = devnet

    def say(self, method: str, *params: object) -> Any:
        return self._devnet.say(method, *params, node=1)

    def mine(self, count: int = 1) -> None:
        raise AssertionError("blocks are made by the first node")


@asynccontextmanager
async def anvil_world() -> AsyncIterator[World]:
    # Without the option it answers struct logs that are empty.
    with anvil("--no-mining", "--steps-tracing") as node:
        world = AnvilWorld(node)
        try:
            yield world
        finally:
            await world.chain.close()


@asynccontextmanager
async def model_world() -> AsyncIterator[World]:
    async with EvmDevnet(block_ms=None, nodes=2) as devnet:
        world = ModelWorld(devnet)
        try:
            yield world
        finally:
            await world.chain.close()


WORLDS: dict[str, Callable[[], AbstractAsyncContextManager[World]]] = {
    "anvil": anvil_world,
    "model": model_world,
}


Story = Callable[[World], Coroutine[Any, Any, None]]


class Told(Protocol):
    """Tells a story in one world."""

    def __call__(self, story: Story) -> None: ...


async def send(chain: EvmChain, *raws: bytes) -> list[SendAnswer]:
    """The first node's answers."""
    return [answers[0] for answers in await chain.send(raws)]


async def kinds(chain: EvmChain, *raws: bytes) -> list[SendKind]:
    return [answer.kind for answer in await send(chain, *raws)]


async def mined(chain: EvmChain, *hashes: bytes) -> list[bool]:
    return [receipt is not None for receipt in await chain.receipts(hashes)]


async def owner(chain: EvmChain, nonce: int) -> bytes | None:
    """The hash that the sender's own signature proves at this nonce."""
    sender = address()
    for claim in await chain.at_nonce(sender, nonce):
        found = owner_hash(claim.raw, address=sender, nonce=nonce, chain_id=CHAIN_ID)
        if found is not None:
            return found
    return None


def model(world: World) -> EvmDevnet:
    """The devnet behind the world."""
    assert isinstance(world, ModelWorld)
    return world.devnet


def process(world: World) -> Anvil:
    """The node as a process of its own."""
    assert isinstance(world.node, Anvil)
    return world.node
