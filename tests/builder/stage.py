"""A JAM devnet that moves when it is told to, a builder of its ledger, and somebody who does by
hand what a lane does: orders blocks, makes packages of them, submits those, tells what he saw."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any, TypeAlias

from msgspec.structs import replace

from laneway.builder.builder import ChainedBuilder
from laneway.builder.opener import open_builder
from laneway.chains.jam.chain import Jip2Chain
from laneway.chains.jam.node import JamPlace
from laneway.core.ids import IntentId
from laneway.core.outcome import Outcome
from laneway.devnets.jam.devnet import JamDevnet
from laneway.devnets.jam.limits import ROLLUP_SERVICE_DEV
from laneway.jam.service.commitment import HEAD_KEY, block_key, package_key
from laneway.jam.service.values import BLOCK_RECORD, HEAD, AppliedBlock, ServiceHead
from laneway.lanes.bundle.rows import Tell
from laneway.lanes.bundle.values import BuildBlock, BuildVersion
from laneway.ports import ExecutedBlock, MadePackage
from laneway.rollups.domain import Domain
from laneway.rollups.ledger.account import DEV_ACCOUNTS, LedgerAccount
from laneway.rollups.ledger.block import LedgerBlock
from laneway.rollups.ledger.kind import LedgerKind
from laneway.rollups.ledger.limits import BALANCE_DEV
from laneway.rollups.ledger.rules import LedgerRules
from laneway.rollups.ledger.state import LedgerState, genesis, genesis_state
from laneway.rollups.ledger.transfer import TRANSFER, signed

LEDGER = LedgerKind()
LedgerBuilder: TypeAlias = ChainedBuilder[LedgerState, LedgerBlock]
SERVICE = ROLLUP_SERVICE_DEV
MADE_MS = 1_735_732_800_000 + 6_000 * 77
STORY_S_MAX = 60
FIRST, SECOND, THIRD = DEV_ACCOUNTS[:3]
DOMAIN = Domain(bytes(32), SERVICE)
"""For what needs no chain."""
BALANCES = {account.id: BALANCE_DEV for account in DEV_ACCOUNTS}


def transfer(
    nonce: int,
    *,
    payer: LedgerAccount = FIRST,
    payee: LedgerAccount = SECOND,
    amount: int = 5,
    domain: Domain = DOMAIN,
) -> bytes:
    made = signed(payer.key, domain, recipient=payee.id, amount=amount, nonce=nonce)
    return TRANSFER.encode(made)


def ledger(domain: Domain = DOMAIN) -> tuple[LedgerRules, LedgerBlock, LedgerState]:
    """A rollup, and its genesis."""
    rollup = LedgerRules(domain)
    block, state = rollup.genesis(genesis(BALANCES)[b"g"])
    assert state == genesis_state(domain, BALANCES)
    return rollup, block, state


def build_order(payloads: Sequence[bytes], **fields: Any) -> BuildBlock:
    order = BuildBlock(
        slot=1,
        order=1,
        number=1,
        parent=b"",
        parent_root=b"",
        made_ms=MADE_MS,
        intents=tuple(IntentId(f"i{place}") for place in range(len(payloads))),
        payloads=tuple(payloads),
    )
    return replace(order, **fields)


def version_order(done: ExecutedBlock, **fields: Any) -> BuildVersion:
    order = BuildVersion(
        slot=1,
        order=2,
        version=1,
        number=1,
        block=done.block,
        digest=done.digest,
        payload=done.payload,
        pre_root=done.pre_root,
        prerequisites=(),
        anchor_offset=1,
        core=0,
    )
    return replace(order, **fields)


def tell(word: str, done: ExecutedBlock, number: int = 1, package: bytes = b"p" * 32) -> Tell:
    hashes = tuple(one.hash for one in done.judged if one.verdict in ("included", "reverted"))
    return Tell(
        id=1,
        word=word,
        slot=1,
        number=number,
        version=1,
        package_hash=package,
        block=done.block,
        post_root=done.post_root,
        hashes=hashes,
        at_ms=MADE_MS,
    )


class Site:
    """A chain, and a way to reach it for each builder."""

    def __init__(self, devnet: JamDevnet) -> None:
        self.devnet = devnet
        self.kind = devnet.rollup
        self.genesis = devnet.model.genesis
        self.domain = Domain(self.genesis, SERVICE)
        self._closing: list[Callable[[], Awaitable[None]]] = []

    async def chain(self) -> Jip2Chain:
        chain = Jip2Chain([JamPlace(self.devnet.url, name="node")])
        self._closing.append(chain.aclose)
        return chain

    async def builder(self, path: str | None = None, **options: Any) -> LedgerBuilder:
        chosen = {"genesis": self.genesis, **options}
        builder = await open_builder(self.kind, await self.chain(), SERVICE, path, **chosen)
        self._closing.append(builder.aclose)
        return builder

    def transfer(self, nonce: int, **fields: Any) -> bytes:
        return transfer(nonce, domain=self.domain, **fields)

    # What is on the chain.

    def value(self, key: bytes) -> bytes | None:
        model = self.devnet.model
        return model.service_value(0, model.best(0).header_hash, SERVICE, key)

    def head(self) -> ServiceHead:
        raw = self.value(HEAD_KEY)
        assert raw is not None
        return HEAD.decode(raw)

    def record(self, number: int) -> AppliedBlock | None:
        raw = self.value(block_key(number))
        return None if raw is None else BLOCK_RECORD.decode(raw)

    def brought(self, package: bytes) -> bytes | None:
        return self.value(package_key(package))

    async def close(self) -> None:
        while self._closing:
            await self._closing.pop()()


class Hands:
    """A lane's part, for one builder: each block on the one before it."""

    def __init__(self, site: Site, builder: LedgerBuilder, chain: Jip2Chain) -> None:
        self.site = site
        self.builder = builder
        self.chain = chain
        self.made: list[ExecutedBlock] = []
        """Blocks that are not final, the lowest first."""
        self.packages: dict[bytes, MadePackage] = {}
        """The newest of each block."""
        self.tip: ExecutedBlock | None = None
        self.final_count = 0

    def order(self, *payloads: bytes, **fields: Any) -> BuildBlock:
        below = self.made[-1] if self.made else self.tip
        chosen: dict[str, Any] = {"number": self.final_count + len(self.made) + 1}
        if below is not None:
            chosen |= {"parent": below.block, "parent_root": below.post_root}
            chosen |= {"below": tuple(one.payload for one in self.made)}
        return build_order(payloads, **(chosen | fields))

    async def build(self, *payloads: bytes, **fields: Any) -> ExecutedBlock:
        done = await self.builder.execute(self.order(*payloads, **fields))
        if done.block:
            self.made.append(done)
        return done

    def version(self, done: ExecutedBlock, **fields: Any) -> BuildVersion:
        below = self.made[: self.made.index(done)]
        return version_order(done, below=tuple(one.payload for one in below), **fields)

    async def package(self, done: ExecutedBlock, **fields: Any) -> MadePackage:
        context = await self.chain.context(offset=1)
        made = await self.builder.package(self.version(done, **fields), context)
        self.packages[done.block] = made
        return made

    async def submit(self, made: MadePackage, core: int = 0) -> None:
        submission = await self.chain.submit(made.package, (core,))
        assert submission.outcome() is Outcome.ACCEPTED, submission

    async def land(self, *payloads: bytes) -> ExecutedBlock:
        """A block on the chain, accumulated."""
        done = await self.build(*payloads)
        await self.submit(await self.package(done))
        self.site.devnet.step(2)
        assert self.site.head().block == done.block
        return done

    def settle(self) -> list[Tell]:
        """Let all that is accumulated become final; what a lane says of it."""
        self.site.devnet.step(6)
        count = self.site.head().number - self.final_count
        tells: list[Tell] = []
        for done in self.made[:count]:
            self.final_count += 1
            name = self.packages[done.block].package_hash
            words = ("accumulated", "finalised")
            tells += [tell(word, done, self.final_count, name) for word in words]
            self.tip = done
        self.made = self.made[count:]
        return tells


@asynccontextmanager
async def site(**options: Any) -> AsyncIterator[Site]:
    async with JamDevnet(slot_ms=0, **options) as devnet:
        devnet.step(3)
        found = Site(devnet)
        try:
            yield found
        finally:
            await found.close()


async def hands(found: Site, path: str | None = None, **options: Any) -> Hands:
    return Hands(found, await found.builder(path, **options), await found.chain())


def story(tale: Callable[[Site], Awaitable[None]], **options: Any) -> None:
    async def whole() -> None:
        async with asyncio.timeout(STORY_S_MAX), site(**options) as found:
            await tale(found)

    asyncio.run(whole())
