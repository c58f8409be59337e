"""The port `EvmChain` on the chain model, without waiting and on the virtual loop, with loss and
delay on the way.

It promises what the adapter does: reads come from a node at or above the block that enough of them
spoke of, a block is gone only when another stands in its place, and words are read in one table.
What several nodes say is judged by the adapter's and the performer's own code.
"""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from random import Random
from typing import TYPE_CHECKING, Protocol

from laneway.chains.evm.words import Words
from laneway.core.errors import ChainUnreachable
from laneway.core.facts import (
    AccountSeen,
    BlockRef,
    BlockSeen,
    BlocksSeen,
    Estimated,
    FeesSeen,
    NodeReceipts,
    NonceClaim,
    NotEstimated,
    ReceiptSeen,
    Reverted,
    SendKind,
    Sent,
    sent,
)
from laneway.core.majority import account_of, look_quorum, reached
from laneway.devnets.evm.block import Block
from laneway.devnets.evm.model import Accepted
from laneway.evm.keccak import keccak
from laneway.evm.secp256k1 import HeldKey, Signature
from laneway.ports import EvmCall
from laneway.sim.eoa.plan import GAS, GWEI, EoaPlan
from laneway.sim.eoa.sky import Sky
from laneway.sim.eoa.witnesses import LIAR, Witnesses

if TYPE_CHECKING:
    from laneway.sim.eoa.shell import EoaShell

LATE_S_MAX = 2.5

LIES_WEI = (30 * GWEI, 4 * 10**17)
"""Tips that no honest node names: one that the default ceiling lets pass, and one that would cost
24,000 ether."""


class KeySigner:
    """Holds its key."""

    def __init__(self, key: HeldKey) -> None:
        self.address = key.address
        self._key = key

    async def sign(self, payload: bytes) -> Signature:
        return self._key.sign(keccak(payload))

    async def close(self) -> None:
        pass


class LoopSigner(KeySigner):
    """Answers after a while."""

    def __init__(self, key: HeldKey, world: "EoaShell") -> None:
        super().__init__(key)
        self._world = world

    async def sign(self, payload: bytes) -> Signature:
        await asyncio.sleep(self._world.delay_s())
        return await super().sign(payload)


class PromptLoopSigner(LoopSigner):
    """The same, at once."""

    def sign_now(self, payload: bytes) -> Signature:
        return self._key.sign(keccak(payload))


class Air(Protocol):
    """What lies between a process and the nodes."""

    seen: Counter[str]
    sky: Sky
    witnesses: Witnesses

    @property
    def plan(self) -> EoaPlan: ...
    def chance(self, probability: float) -> bool: ...


class ModelChain:
    """Reads that are answered at once, or lost. It keeps what the adapter keeps of its nodes."""

    def __init__(self, world: Air, dice: Random) -> None:
        self.nodes: tuple[str, ...] = world.plan.settings.nodes
        self._air = world
        self._dice = dice
        self._model = world.sky.chain
        self._witnesses = world.witnesses
        self._heads = dict.fromkeys(range(len(self.nodes)), -1)

    async def account(self, address: bytes) -> AccountSeen:
        count = len(self.nodes)
        if look_quorum(count) == 1:
            node = await self._reach()
            return self._witnesses.account(node, address)
        seen = [self._witnesses.account(node, address) for node in await self._each()]
        for one in seen:
            self._heads[self.nodes.index(one.node)] = one.block.number
        account = account_of(seen, count)
        if account is None:
            raise ChainUnreachable("nodes", f"{len(seen)} of {count} answer")
        if any(one.count != account.count for one in seen):
            self._air.seen["count outvoted"] += 1
        return account

    async def fees(self) -> FeesSeen:
        node = await self._reach()
        seen, air = self._model.fees(node), self._air
        tip_wei = seen.tip_wei
        if air.chance(air.plan.fee_lie):
            air.seen["fee lie"] += 1
            tip_wei = self._dice.choice(LIES_WEI)
        return FeesSeen(
            base_fee_wei=seen.base_fee_next_wei,
            priority_fee_wei=tip_wei,
            gas_price_wei=seen.base_fee_next_wei + seen.tip_wei,
            blob_base_fee_wei=None,
            supports_1559=True,
            block=ref(self._model.head(node)),
            node=self.nodes[node],
        )

    async def estimate(self, call: EvmCall) -> Estimated | Reverted | NotEstimated:
        await self._reach()
        if call.input.startswith(b"!"):
            return Reverted("it reverts")
        return Estimated(GAS)

    async def send(
        self, raws: Sequence[bytes], only: Sequence[str] = ()
    ) -> Sequence[Sequence[Sent]]:
        raise NotImplementedError("worlds without a loop send by themselves")

    async def blocks(self, known: Sequence[BlockRef], limit: int, node: str = "") -> BlocksSeen:
        place = await self._reach(node)
        head = self._witnesses.head(place)
        after: BlockRef | None = None
        for one in known:
            block = self._witnesses.block(place, one.number)
            if block is not None and block.block != one:
                break
            after = one
        first = head.number if after is None else after.number + 1
        shown: list[BlockSeen] = []
        for number in range(first, min(head.number, first + limit - 1) + 1):
            found = self._witnesses.block(place, number)
            parent = shown[-1].block if shown else after
            if found is None or (parent is not None and found.parent != parent.hash):
                break
            shown.append(found)
        return BlocksSeen(after, tuple(shown), head, self.nodes[place])

    async def receipts(
        self, hashes: Sequence[bytes], _blocks: Sequence[BlockSeen] = (), node: str = ""
    ) -> Sequence[ReceiptSeen | None]:
        place = await self._reach(node)
        shown = [self._witnesses.receipt(place, digest) for digest in hashes]
        if len(self.nodes) == 1 or None not in shown:
            return shown
        for other in await self._each():
            for at, digest in enumerate(hashes):
                shown[at] = shown[at] or self._witnesses.receipt(other, digest)
        return shown

    async def receipts_by_node(self, hashes: Sequence[bytes]) -> Sequence[NodeReceipts]:
        said = [self._witnesses.node_receipts(node, tuple(hashes)) for node in await self._each()]
        lies = [one for one in said if one.node == self.nodes[LIAR]]
        if self._air.plan.lying and lies:
            true = [one.receipts for one in said if one is not lies[0]]
            if len(true) > 1 and true[0] == true[1] != lies[0].receipts:
                self._air.seen["receipt outvoted"] += 1
        return said

    async def at_nonce(self, address: bytes, nonce: int) -> Sequence[NonceClaim]:
        return [self._witnesses.claim(node, address, nonce) for node in await self._each()]

    def heads(self) -> AsyncIterator[BlockRef]:
        raise NotImplementedError("worlds without a loop hear of heads by themselves")

    async def close(self) -> None: ...

    async def _pass(self) -> None:
        """The time that a question takes."""

    async def _each(self) -> list[int]:
        """The nodes that answer."""
        await self._pass()
        air = self._air
        return [node for node in self._heads if not air.chance(air.plan.lose)]

    async def _reach(self, name: str = "") -> int:
        """A node that is not behind what enough of them said before."""
        await self._pass()
        air = self._air
        if air.chance(air.plan.lose):
            raise ChainUnreachable("the simulated nodes", "lost on the way")
        node = self.nodes.index(name) if name else self._dice.randrange(len(self.nodes))
        head = self._witnesses.head(node).number
        floor = reached(list(self._heads.values()), look_quorum(len(self.nodes)))
        if head < floor:
            air.seen["node behind"] += 1
            raise ChainUnreachable(self.nodes[node], "it is behind the others")
        self._heads[node] = head
        return node


class LoopChain(ModelChain):
    """The same on the virtual loop, and sending."""

    def __init__(self, world: "EoaShell", loop: asyncio.AbstractEventLoop) -> None:
        super().__init__(world, world.plan.rng("port"))
        self._world = world
        self._loop = loop
        self._words = Words(world.plan.client)

    async def _pass(self) -> None:
        await asyncio.sleep(self._world.delay_s())

    async def heads(self) -> AsyncIterator[BlockRef]:
        last: BlockRef | None = None
        while True:
            await asyncio.sleep(self._world.plan.block_ms / 1000)
            head = ref(self._model.head(0))
            if head != last:
                last = head
                yield head

    # Sending.

    async def send(
        self, raws: Sequence[bytes], only: Sequence[str] = ()
    ) -> Sequence[Sequence[Sent]]:
        asked = [place for place, name in enumerate(self.nodes) if not only or name in only]
        answers = await asyncio.gather(*(self._send(node, raws) for node in asked))
        return [[told[place] for told in answers] for place in range(len(raws))]

    async def _send(self, node: int, raws: Sequence[bytes]) -> list[Sent]:
        """A batch to one node, in its order: it arrives or not, late, and is answered or not."""
        world, name = self._world, self.nodes[node]
        if world.chance(world.plan.lose):
            world.seen["node unreachable"] += 1
            return [sent(name, SendKind.UNREACHABLE)] * len(raws)
        if world.chance(world.plan.lose):
            world.seen["bytes late"] += 1
            for raw in raws:
                world.travel(world.delay_s() * LATE_S_MAX, node, raw)
            return [sent(name, SendKind.SILENT)] * len(raws)
        await asyncio.sleep(world.delay_s())
        told = [self._offer(node, raw) for raw in raws]
        await asyncio.sleep(world.delay_s())
        if world.chance(world.plan.lose):
            world.seen["answer lost"] += 1
            return [sent(name, SendKind.SILENT)] * len(raws)
        return told

    def _offer(self, node: int, raw: bytes) -> Sent:
        world = self._world
        world.leaving(raw)
        answer = self._model.send(node, raw)
        if isinstance(answer, Accepted):
            return sent(self.nodes[node], SendKind.TAKEN)
        kind = self._words.kind(answer.code, answer.message)
        world.seen[f"node says {kind.value}"] += 1
        return sent(self.nodes[node], kind, answer.message)


def ref(block: Block) -> BlockRef:
    return BlockRef(block.number, block.hash)
