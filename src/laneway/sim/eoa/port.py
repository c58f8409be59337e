"""The ports `EvmChain` and `Signer` over the chain model, with loss and delay on the way.

The chain promises what the adapter does: reads come from a node at or above the block that enough
of them spoke of, a block is gone only when another stands in its place, and words are read in one
table. What several nodes say is judged by the adapter's and the performer's own code.
"""

import asyncio
from abc import abstractmethod
from collections.abc import AsyncIterator, Sequence
from functools import partial
from typing import Any

from laneway.chains.evm.phrases import EvmPhrases
from laneway.core.errors import ChainUnreachable, SignerRefused, SignerUnreachable
from laneway.core.facts import (
    AccountAtBlock,
    BlockRef,
    BlockSeen,
    BlocksSeen,
    FeesSeen,
    NodeReceipts,
    NonceClaim,
    ReceiptSeen,
    SendAnswer,
    SendKind,
    sent,
)
from laneway.core.majority import Estimate, account_of, estimate_of, look_quorum, reached
from laneway.devnets.evm.model.values import TransactionTaken
from laneway.engine.eoa import ChainView, EoaPerformer, EvmAccount
from laneway.engine.eoa.account import account_lane
from laneway.evm.keccak import keccak
from laneway.evm.secp256k1 import HeldEvmKey, Signature
from laneway.lanes.eoa.machine import eoa_kind
from laneway.ports import EvmCall
from laneway.sim.eoa.calls import CHAIN_ID, key_of
from laneway.sim.eoa.network import EvmNetwork
from laneway.sim.eoa.plan import GWEI, EoaPlan
from laneway.sim.eoa.witnesses import LIAR, Witnesses
from laneway.sim.link import Ground, Link, Reply

LIES_WEI = (30 * GWEI, 4 * 10**17)
"""Tips that no honest node names: one that the default ceiling lets pass, and one that would cost
24,000 ether."""

FICKLE = (SendKind.OVERSIZED, SendKind.INTRINSIC_GAS, SendKind.MALFORMED)
"""What a gateway with several nodes behind it says once and not the next time."""

MISJUDGED = (SendKind.INTRINSIC_GAS, SendKind.GAS_LIMIT)
"""What no honest node has reason to say: no caller of these worlds names a wrong amount of gas."""

CONDEMNED = (SendKind.MALFORMED, SendKind.BAD_SIGNATURE, SendKind.INTRINSIC_GAS)
"""What all nodes say of bytes that none of them ever takes."""

POISON = "%"
"""How the content begins of what every node refuses for good, however often it is made."""

UNSIGNED = b"@@d"
"""How the content begins of what signers refuse to sign."""

OUTAGE_MS_MAX = 8_000
"""Of a time without any node: longer than the lane waits before it makes a number dearer."""

TIMEOUT_MS = 300
CAPPED_OF_256 = 8
"""Bytes that cost more than nodes' own ceilings allow, by the first byte of their hash."""

LATE_MS_MAX = 2_500
"""Bytes that were given up as lost arrive as late as this."""


class EvmGround(Ground):
    """A world of accounts, in every layer."""

    plan: EoaPlan
    network: EvmNetwork

    def __init__(self, plan: EoaPlan, *place: Any) -> None:
        super().__init__(plan, *place)
        self.kinds = {"evm": eoa_kind(plan.settings)}
        self.network = EvmNetwork(self)
        self.witnesses = Witnesses(self)
        self.lanes = [account_lane(CHAIN_ID, address) for address in self.network.accounts]

    def performers(self, link: Link) -> dict[str, EoaPerformer]:
        view = ChainView(FaultyEvmChain(self, link), self.clock)
        signer = PromptEvmSigner if self.plan.prompt else EvmKeySigner
        accounts = [
            EvmAccount(CHAIN_ID, view, signer(key_of(number), self, link))
            for number in range(self.plan.accounts)
        ]
        return {"evm": EoaPerformer({one.lane: one for one in accounts}, self.clock)}

    @abstractmethod
    def sending(self, raw: bytes) -> None:
        """Check the laws of bytes that leave now."""

    @abstractmethod
    def named(self, digest: bytes) -> tuple[str, str]:
        """The content of these bytes, and whose they are, for the story."""


class EvmKeySigner:
    """Holds its key, but cannot always be reached."""

    def __init__(self, key: HeldEvmKey, world: EvmGround, link: Link) -> None:
        self.address = key.address
        self._key = key
        self._world = world
        self._link = link

    async def sign(self, payload: bytes) -> Signature:
        await self._link.pause()
        if UNSIGNED in payload:
            raise SignerRefused("the simulated signer", "it is not allowed")
        if self._world.chance(self._world.plan.sign):
            raise SignerUnreachable("the simulated signer", "it is away")
        return self._key.sign(keccak(payload))

    async def close(self) -> None: ...


class PromptEvmSigner(EvmKeySigner):
    """Holds its key here, and answers at once."""

    def sign_now(self, payload: bytes) -> Signature:
        return self._key.sign(keccak(payload))


class FaultyEvmChain:
    """The nodes as one process reaches them. It keeps what the adapter keeps of its nodes."""

    def __init__(self, world: EvmGround, link: Link) -> None:
        self.nodes: tuple[str, ...] = world.plan.settings.nodes
        self._world = world
        self._link = link
        self._dice = world.plan.rng("port")
        self._network = world.network
        self._model = world.network.chain
        self._witnesses = world.witnesses
        self._words = EvmPhrases(world.plan.client)
        self._heads = dict.fromkeys(range(len(self.nodes)), -1)

    # Reading.

    async def account(self, address: bytes) -> AccountAtBlock:
        world, count = self._world, len(self.nodes)
        if world.chance(world.plan.outage):
            world.seen["outage"] += 1
            self._network.dark_until_ms = world.now_ms + self._dice.randint(500, OUTAGE_MS_MAX)
        if look_quorum(count) == 1:
            return self._witnesses.account(await self._reach(), address)
        seen = [self._witnesses.account(node, address) for node in await self._each()]
        for one in seen:
            self._heads[self.nodes.index(one.node)] = one.block.number
        account = account_of(seen, count)
        if account is None:
            raise ChainUnreachable("nodes", f"{len(seen)} of {count} answer")
        if any(one.count != account.count for one in seen):
            world.seen["count outvoted"] += 1
        return account

    async def fees(self) -> FeesSeen:
        node = await self._reach()
        seen, world = self._model.fees(node), self._world
        tip_wei = seen.tip_wei
        if world.chance(world.plan.fee_lie):
            world.seen["fee lie"] += 1
            tip_wei = self._dice.choice(LIES_WEI)
        head = self._model.head(node)
        return FeesSeen(
            base_fee_wei=seen.base_fee_next_wei,
            priority_fee_wei=tip_wei,
            gas_price_wei=seen.base_fee_next_wei + seen.tip_wei,
            blob_base_fee_wei=None,
            supports_1559=True,
            block=BlockRef(head.number, head.hash),
            node=self.nodes[node],
        )

    async def estimate(self, call: EvmCall) -> Estimate:
        floor, count = self._floor(), len(self.nodes)
        said = [
            self._witnesses.estimate(node, call)
            for node in await self._each()
            if self._witnesses.head(node).number >= floor
        ]
        if not said:
            raise ChainUnreachable("nodes", "none of them answers")
        return estimate_of(said, count)

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
        if self._world.plan.lying and lies:
            true = [one.receipts for one in said if one is not lies[0]]
            if len(true) > 1 and true[0] == true[1] != lies[0].receipts:
                self._world.seen["receipt outvoted"] += 1
        return said

    async def at_nonce(self, address: bytes, nonce: int) -> Sequence[NonceClaim]:
        return [self._witnesses.claim(node, address, nonce) for node in await self._each()]

    async def heads(self) -> AsyncIterator[BlockRef]:
        while True:
            yield await self._link.listen(self._network.followers.append)

    async def close(self) -> None: ...

    async def _pass(self) -> None:
        """The time that a question takes, if it takes any."""
        if self._dice.random() < self._world.plan.slow:
            await self._link.pause()

    def _is_lost(self) -> bool:
        world = self._world
        return world.now_ms < self._network.dark_until_ms or world.chance(world.plan.lose)

    def _floor(self) -> int:
        """The block that enough nodes have reached."""
        return reached(list(self._heads.values()), look_quorum(len(self.nodes)))

    async def _each(self) -> list[int]:
        """The nodes that answer."""
        await self._pass()
        return [node for node in self._heads if not self._is_lost()]

    async def _reach(self, name: str = "") -> int:
        """A node that is not behind what enough of them said before."""
        await self._pass()
        if self._is_lost():
            raise ChainUnreachable("the simulated nodes", "lost on the way")
        node = self.nodes.index(name) if name else self._dice.randrange(len(self.nodes))
        head = self._witnesses.head(node).number
        if head < self._floor():
            self._world.seen["node behind"] += 1
            raise ChainUnreachable(self.nodes[node], "it is behind the others")
        self._heads[node] = head
        return node

    # Sending.

    async def send(
        self, raws: Sequence[bytes], only: Sequence[str] = ()
    ) -> Sequence[Sequence[SendAnswer]]:
        asked = [place for place, name in enumerate(self.nodes) if not only or name in only]
        under_way = [self._send(node, raws) for node in asked]
        answers = [await one for one in under_way]
        return [[told[place] for told in answers] for place in range(len(raws))]

    def _send(self, node: int, raws: Sequence[bytes]) -> "asyncio.Future[list[SendAnswer]]":
        """A batch to one node, in its order: it arrives or not, late, and is answered or not."""
        world, name = self._world, self.nodes[node]
        if self._is_lost():
            world.seen["node unreachable"] += 1
            return self._link.answer([sent(name, SendKind.UNREACHABLE)] * len(raws))
        for raw in raws:
            world.sending(raw)
        if world.chance(world.plan.refuse):
            world.seen["refused for good by one node"] += 1
            self._network.received |= dict.fromkeys(map(keccak, raws))
            return self._link.answer([sent(name, self._dice.choice(FICKLE)) for _ in raws])
        if world.chance(world.plan.double):
            world.seen["bytes doubled"] += 1
            self._travel(node, raws)
        if world.chance(world.plan.lose):
            world.seen["bytes late"] += 1
            self._travel(node, raws)
            return self._link.answer([sent(name, SendKind.SILENT)] * len(raws), TIMEOUT_MS)
        self._network.travelling.update(map(keccak, raws))
        return self._link.begin("offer", partial(self._arrive, node, raws))

    def _travel(self, node: int, raws: Sequence[bytes]) -> None:
        """Bytes whose answer nobody waits for."""
        self._network.travelling.update(map(keccak, raws))
        delay_ms = self._dice.randint(0, LATE_MS_MAX)
        self._world.after(delay_ms, "late bytes", partial(self._offer_all, node, raws))

    def _arrive(self, node: int, raws: Sequence[bytes], reply: Reply) -> None:
        world = self._world
        told = self._offer_all(node, raws)
        if world.chance(world.plan.lose):
            world.seen["answer lost"] += 1
            reply([sent(self.nodes[node], SendKind.SILENT)] * len(raws), TIMEOUT_MS)
        else:
            reply(told)

    def _offer_all(self, node: int, raws: Sequence[bytes]) -> list[SendAnswer]:
        return [self._offer(node, raw, keccak(raw)) for raw in raws]

    def _offer(self, node: int, raw: bytes, digest: bytes) -> SendAnswer:
        """What a node says of these bytes."""
        world, network, name = self._world, self._network, self.nodes[node]
        network.travelling[digest] -= 1
        network.received[digest] = None
        data, told = world.named(digest)
        condemned = self._condemned(digest, data)
        if condemned is not None:
            return sent(name, condemned)
        # Some bytes, where one node lies, are refused by honest nodes by a rule of their own; the
        # one that lies takes them and says so too.
        plan = world.plan
        is_ruled = plan.lying and plan.caps_fees and world.is_faulty
        is_capped = is_ruled and digest[0] < CAPPED_OF_256
        capped = sent(name, SendKind.NODE_FEE_CAP, "tx fee exceeds the configured cap")
        if is_capped and node != LIAR:
            return capped
        answer = self._model.send(node, raw)
        if isinstance(answer, TransactionTaken):
            world.note(f"{name} takes {told}")
            world.seen["lie:refusal"] += is_capped
            return capped if is_capped else sent(name, SendKind.TAKEN)
        kind = self._words.kind(answer.code, answer.message)
        if kind in MISJUDGED:
            network.misjudged = f"{name} says {kind.value} to {told}"
        world.seen[f"node says {kind.value}"] += 1
        world.note(f"{name} says {kind.value} to {told}")
        return capped if is_capped else sent(name, kind, answer.message)

    def _condemned(self, digest: bytes, data: str) -> SendKind | None:
        """Why no node ever takes these bytes: it is decided when they reach the first one."""
        world, known = self._world, self._network.condemned
        if digest not in known:
            is_bad = data.startswith(POISON) or world.chance(world.plan.condemn)
            world.seen["condemned"] += is_bad
            known[digest] = self._dice.choice(CONDEMNED) if is_bad else None
        return known[digest]
