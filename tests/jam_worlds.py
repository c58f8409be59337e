"""A JAM chain with the hands that move it: a real state transition (npm's @typeberry/lib), or our
own devnet. Both are moved by the same calls under the same names.

The adapter speaks to them through a relay, so that a story can make the network between them bad;
the relay also answers the draft method `stateValue` for the network that lacks it, from its state.
"""

import asyncio
from abc import ABC, abstractmethod
from base64 import b64decode
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Coroutine, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager
from enum import Enum
from typing import Any, Protocol

from msgspec import Struct
from tests.devnets.jam.wire_stage import Builder
from tests.jip2_relay import Jip2Relay
from tests.typeberry_node import (
    ACCUMULATE_GAS,
    BOOTSTRAP,
    BOOTSTRAP_CODE,
    NULL_AUTHORIZER,
    REFINE_GAS,
    Said,
    Typeberry,
    typeberry,
)

from laneway.chains.jam.chain import Jip2Chain
from laneway.chains.jam.node import JamPlace
from laneway.chains.nodes import PollPace
from laneway.core.jam import (
    BlocksGone,
    Context,
    JamBlockRef,
    Package,
    PackageFact,
    PackageSeen,
    Watched,
)
from laneway.devnets.jam.devnet import JamDevnet
from laneway.devnets.jam.limits import ROLLUP_SERVICE_DEV
from laneway.jam.package import WORK_PACKAGE, RefineContext, WorkItem, WorkPackage, package_hash
from laneway.ports.jam import JamChain
from laneway.wire.jip2 import blob
from laneway.wire.rpc_server.methods import RpcRefused

PACE = PollPace(poll_ms=50, silence_ms=20_000, resubscribe_ms=100)
WAIT_S = 20.0


class Needs(Enum):
    """What a story may need that a world lacks, and why it does."""

    RECORDS = "Bootstrap writes no records, so which block a package brought cannot be seen"
    BUNDLES = "typeberry computes no erasure root and no exports root"
    NODES = "the network on typeberry is one node"
    FAULTS = "the network on typeberry has no faults but withheld guarantees and assurances"
    PREIMAGES = "the network on typeberry takes no preimages"


class Work(Struct, frozen=True):
    """What a package asks for, whatever it leans on."""

    items: tuple[WorkItem, ...]
    extrinsics: tuple[bytes, ...] = ()


class Made(Struct, frozen=True):
    """A package that can be handed in and watched."""

    package: Package
    watched: Watched
    work: Work

    @property
    def hash(self) -> bytes:
        return self.watched.package_hash


class World(ABC):
    """A chain that makes a block when it is told to."""

    lacks: tuple[Needs, ...] = ()
    service: int
    keeps_records: bool
    authorizer_host: int

    def __init__(self, relay: Jip2Relay) -> None:
        self.relay = relay
        self.adapter = Jip2Chain([JamPlace(relay.url, name="node")], pace=PACE)
        self.chain: JamChain = self.adapter
        self._count = 0

    @abstractmethod
    def say(self, method: str, *params: object) -> Any:
        """One call, past every adapter."""

    @abstractmethod
    def work(self, *, fails: bool = False) -> Work:
        """The next thing to do; or one whose refinement fails."""

    @abstractmethod
    def refusal(self, method: str, *params: object) -> str:
        """The node's no, in its own words."""

    def produce(self, count: int = 1, **wishes: object) -> Any:
        """Make blocks, and say what the last one did."""
        assert count > 0
        for _ in range(count):
            made = self.say("dev_produce", wishes)
        return made

    def best(self) -> JamBlockRef:
        return block_of(self.say("bestBlock"))

    def open_subscriptions(self) -> int:
        found: int = self.say("dev_subscriptions")["open"]
        return found

    async def pack(
        self,
        work: Work | None = None,
        *,
        offset: int = 0,
        prerequisites: Sequence[bytes] = (),
        **changes: Any,
    ) -> Made:
        """A package for some work, upon the context that the adapter finds; no two are equal."""
        work = work or self.work()
        self._count += 1
        context = await self.chain.context(offset=offset)
        package = WorkPackage(
            auth_code_host=self.authorizer_host,
            auth_code_hash=NULL_AUTHORIZER,
            context=leaning(context, prerequisites, changes),
            authorization=self._count.to_bytes(4, "little"),
            items=work.items,
        )
        watched = Watched(
            package_hash=package_hash(package),
            anchor=context.anchor,
            service=self.service,
            keeps_records=self.keeps_records,
        )
        encoded = WORK_PACKAGE.encode(package)
        return Made(Package(encoded=encoded, extrinsics=work.extrinsics), watched, work)


def leaning(context: Context, prerequisites: Sequence[bytes], changes: Any) -> RefineContext:
    return RefineContext(
        anchor=context.anchor.header_hash,
        state_root=changes.get("state_root", context.state_root),
        beefy_root=changes.get("beefy_root", context.beefy_root),
        lookup_anchor=context.lookup_anchor.header_hash,
        lookup_anchor_slot=context.lookup_anchor.slot,
        prerequisites=tuple(prerequisites),
    )


def block_of(said: Any) -> JamBlockRef:
    return JamBlockRef(b64decode(said["header_hash"]), said["slot"])


class TypeberryWorld(World):
    lacks = (Needs.RECORDS, Needs.BUNDLES, Needs.NODES, Needs.FAULTS, Needs.PREIMAGES)
    service = BOOTSTRAP
    keeps_records = False
    authorizer_host = BOOTSTRAP

    def __init__(self, relay: Jip2Relay, node: Typeberry) -> None:
        super().__init__(relay)
        self.node = node
        relay.added["stateValue"] = self._state_value

    def say(self, method: str, *params: object) -> Any:
        return self.node.say(method, *params)

    def refusal(self, method: str, *params: object) -> str:
        try:
            said = self.say(method, *params)
        except Said as no:
            return no.message
        raise AssertionError(f"{method} was answered with {said!r}")

    def work(self, *, fails: bool = False) -> Work:
        item = WorkItem(
            service=BOOTSTRAP,
            code_hash=BOOTSTRAP_CODE,
            refine_gas_limit=REFINE_GAS,
            accumulate_gas_limit=ACCUMULATE_GAS,
            payload=b"no instruction" if fails else b"",
        )
        return Work((item,))

    def _state_value(self, at: str, key: str) -> str | None:
        entries: list[tuple[str, str]] = self.say("dev_state", at)
        return dict(entries).get(key)


class DevnetWorld(World):
    service = ROLLUP_SERVICE_DEV
    keeps_records = True
    authorizer_host = ROLLUP_SERVICE_DEV

    def __init__(self, relay: Jip2Relay, devnet: JamDevnet) -> None:
        super().__init__(relay)
        self.devnet = devnet
        self._builder = Builder(devnet.model.genesis)

    def say(self, method: str, *params: object) -> Any:
        return self.devnet.say(method, *params)

    def refusal(self, method: str, *params: object) -> str:
        try:
            said = self.say(method, *params)
        except RpcRefused as no:
            return no.message
        raise AssertionError(f"{method} was answered with {said!r}")

    def work(self, *, fails: bool = False) -> Work:
        if fails:
            _, made = Builder(self.devnet.model.genesis).build()
            extrinsics = tuple(made.extrinsics)
            broken = WorkItem(
                service=made.items[0].service,
                code_hash=made.items[0].code_hash,
                refine_gas_limit=made.items[0].refine_gas_limit,
                accumulate_gas_limit=made.items[0].accumulate_gas_limit,
                payload=b"no block",
                extrinsic=made.items[0].extrinsic,
            )
            return Work((broken,), extrinsics)
        _, made = self._builder.build()
        return Work((made.items[0],), tuple(made.extrinsics))


PROCESS: list[Typeberry] = []
"""One process for all stories: it begins at the genesis again for each."""


@contextmanager
def typeberry_process() -> Iterator[None]:
    with typeberry(FINALITY_DEPTH=2) as node:
        PROCESS.append(node)
        try:
            yield
        finally:
            PROCESS.clear()


@asynccontextmanager
async def typeberry_world() -> AsyncIterator[World]:
    (node,) = PROCESS
    node.reset(2)
    async with Jip2Relay(node.ws_url) as relay:
        world = TypeberryWorld(relay, node)
        try:
            yield world
        finally:
            await world.chain.aclose()


@asynccontextmanager
async def devnet_world() -> AsyncIterator[World]:
    async with JamDevnet(slot_ms=0, nodes=2) as devnet, Jip2Relay(devnet.url) as relay:
        world = DevnetWorld(relay, devnet)
        try:
            yield world
        finally:
            await world.chain.aclose()


WORLDS: dict[str, Callable[[], AbstractAsyncContextManager[World]]] = {
    "typeberry": typeberry_world,
    "devnet": devnet_world,
}
LACKS = {"typeberry": TypeberryWorld.lacks, "devnet": DevnetWorld.lacks}

Story = Callable[[World], Coroutine[Any, Any, None]]


class Told(Protocol):
    """Tells a story in one world."""

    def __call__(self, story: Story) -> None: ...


async def tell(name: str, story: Story) -> None:
    """The story begins three blocks after the genesis."""
    async with asyncio.timeout(60), WORLDS[name]() as world:
        world.produce(3)
        await story(world)


class Eye:
    """Looks at packages again and again, and remembers the blocks that it saw."""

    def __init__(self, world: World, *made: Made) -> None:
        self._chain = world.chain
        self._watched = [one.watched for one in made]
        self.known: list[JamBlockRef] = [world.best()]
        self.gone: list[JamBlockRef] = []

    async def news(self) -> list[PackageSeen]:
        """What the blocks since the last time show, all of it."""
        seen: list[PackageSeen] = []
        while True:
            look = await self._chain.look(self.known, self._watched, 64)
            self.gone += look.gone
            self.known = [one for one in self.known if one not in look.gone]
            self.known += [block.block for block in look.blocks]
            seen += [one for block in look.blocks for one in block.seen]
            if look.is_whole:
                return seen

    async def facts(self, made: Made | None = None) -> list[PackageFact]:
        """The same without the blocks, of one package."""
        return [
            one.fact for one in await self.news() if made is None or one.package_hash == made.hash
        ]


async def head_facts(world: World, made: Made) -> list[PackageFact]:
    look = await world.chain.look([], [made.watched], 1)
    return [one.fact for one in look.blocks[-1].seen]


def kinds(facts: Sequence[PackageFact]) -> list[str]:
    return [type(fact).__name__ for fact in facts]


async def next_told(
    watch: AsyncGenerator[PackageSeen | BlocksGone, None],
) -> PackageSeen | BlocksGone:
    return await asyncio.wait_for(anext(watch), WAIT_S)


async def fact_told(watch: AsyncGenerator[PackageSeen | BlocksGone, None]) -> PackageFact:
    seen = await next_told(watch)
    assert isinstance(seen, PackageSeen), seen
    return seen.fact


async def until(question: Callable[[], bool]) -> None:
    async with asyncio.timeout(WAIT_S):
        while not question():
            await asyncio.sleep(0.005)


def text(data: bytes) -> str:
    return blob(data)
