"""The port `EvmChain` on the chain model and the virtual loop, with loss and delay on the way.

It promises what the adapter does: reads come from a node at or above the highest block that any
spoke of, a block is gone only when another stands in its place, and words are read in one table.
"""

import asyncio
from collections.abc import AsyncIterator, Sequence
from typing import TYPE_CHECKING

from laneway.chains.evm.words import Words
from laneway.core.errors import ChainUnreachable
from laneway.core.facts import (
    AccountSeen,
    BlockRef,
    BlockSeen,
    BlocksSeen,
    Estimated,
    FeesSeen,
    NonceOwner,
    NotEstimated,
    ReceiptSeen,
    Reverted,
    SendKind,
    Sent,
    sent,
)
from laneway.devnets.evm.block import Block
from laneway.devnets.evm.model import Accepted
from laneway.evm.keccak import keccak
from laneway.evm.secp256k1 import HeldKey, Signature
from laneway.ports import EvmCall
from laneway.sim.eoa.plan import GAS, NODES

if TYPE_CHECKING:
    from laneway.sim.eoa.shell import EoaShell

LATE_S_MAX = 2.5


class LoopSigner:
    """Holds its key, and answers after a while."""

    def __init__(self, key: HeldKey, world: "EoaShell") -> None:
        self.address = key.address
        self._key = key
        self._world = world

    async def sign(self, payload: bytes) -> Signature:
        await asyncio.sleep(self._world.delay_s())
        return self._key.sign(keccak(payload))

    async def close(self) -> None:
        pass


class PromptLoopSigner(LoopSigner):
    """The same, at once."""

    def sign_now(self, payload: bytes) -> Signature:
        return self._key.sign(keccak(payload))


class LoopChain:
    def __init__(self, world: "EoaShell", loop: asyncio.AbstractEventLoop) -> None:
        self.nodes: tuple[str, ...] = NODES
        self._world = world
        self._loop = loop
        self._model = world.sky.chain
        self._words = Words(world.plan.client)
        self._highest = 0

    # Reading.

    async def account(self, address: bytes) -> AccountSeen:
        node = await self._reach()
        count = self._model.count(node, address, "latest")
        head = ref(self._model.head(node))
        return AccountSeen(count, count, self._model.balance(node, address), head, NODES[node])

    async def fees(self) -> FeesSeen:
        node = await self._reach()
        seen = self._model.fees(node)
        return FeesSeen(
            base_fee_wei=seen.base_fee_next_wei,
            priority_fee_wei=seen.tip_wei,
            gas_price_wei=seen.base_fee_next_wei + seen.tip_wei,
            blob_base_fee_wei=None,
            supports_1559=True,
            block=ref(self._model.head(node)),
            node=NODES[node],
        )

    async def estimate(self, call: EvmCall) -> Estimated | Reverted | NotEstimated:
        await self._reach()
        if call.input.startswith(b"!"):
            return Reverted("it reverts")
        return Estimated(GAS)

    async def blocks(self, known: Sequence[BlockRef], limit: int) -> BlocksSeen:
        node = await self._reach()
        head = self._model.head(node)
        standing = [one for one in known if self._stands(node, one)]
        after = standing[-1] if standing else None
        first = head.number if after is None else after.number + 1
        numbers = range(first, min(head.number, first + limit - 1) + 1)
        found = [self._model.block(node, number) for number in numbers]
        shown = tuple(
            BlockSeen(ref(block), block.parent, block.transactions)
            for block in found
            if block is not None
        )
        return BlocksSeen(after, shown, ref(head), NODES[node])

    def _stands(self, node: int, known: BlockRef) -> bool:
        block = self._model.block(node, known.number)
        return block is None or block.hash == known.hash

    async def receipts(
        self, hashes: Sequence[bytes], _blocks: Sequence[BlockSeen] = ()
    ) -> Sequence[ReceiptSeen | None]:
        node = await self._reach()
        return [self._receipt(node, digest) for digest in hashes]

    def _receipt(self, node: int, digest: bytes) -> ReceiptSeen | None:
        mined = self._model.receipt(node, digest)
        if mined is None:
            return None
        return ReceiptSeen(
            hash=mined.hash,
            succeeded=mined.succeeded,
            block=BlockRef(mined.number, mined.block),
            gas_used=mined.gas_used,
            effective_gas_price_wei=mined.price_wei,
            node=NODES[node],
        )

    async def at_nonce(self, address: bytes, nonce: int, block: BlockRef) -> NonceOwner | None:
        node = await self._reach()
        head = self._model.head(node).number
        found = self._model.transaction_at(node, address, nonce)
        if head < block.number or found is None or found.block is None:
            return None
        return NonceOwner(found.sent.hash, ref(found.block), NODES[node], head)

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
        asked = [place for place, name in enumerate(NODES) if not only or name in only]
        answers = await asyncio.gather(*(self._send(node, raws) for node in asked))
        return [[told[place] for told in answers] for place in range(len(raws))]

    async def _send(self, node: int, raws: Sequence[bytes]) -> list[Sent]:
        """A batch to one node, in its order: it arrives or not, late, and is answered or not."""
        world, name = self._world, NODES[node]
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
            return sent(NODES[node], SendKind.TAKEN)
        kind = self._words.kind(answer.code, answer.message)
        world.seen[f"node says {kind.value}"] += 1
        return sent(NODES[node], kind, answer.message)

    async def _reach(self) -> int:
        """A node that is not behind what any of them said before."""
        world = self._world
        await asyncio.sleep(world.delay_s())
        if world.chance(world.plan.lose):
            raise ChainUnreachable("the simulated nodes", "lost on the way")
        node = world.pick_node()
        head = self._model.head(node).number
        if head < self._highest:
            world.seen["node behind"] += 1
            raise ChainUnreachable(NODES[node], "it is behind the others")
        self._highest = head
        return node


def ref(block: Block) -> BlockRef:
    return BlockRef(block.number, block.hash)
