"""The port `CosmosChain` on the chain model and the virtual loop, with loss and delay on the way.

It promises what the adapter does: one transaction behind the other to each node, nothing behind one
that it does not take, words read in the adapter's own table, and a look that is no newer than the
account it shows.
"""

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING

from laneway.chains.cosmos.words import Words, expected_in
from laneway.core.cosmos import CosmosLook, GasSeen, Offered, OfferKind, Standing, TxSeen
from laneway.core.errors import ChainUnreachable
from laneway.core.outcome import Outcome
from laneway.cosmos.keys import HeldKey
from laneway.devnets.cosmos.limits import GAS_PRICE_MICRO
from laneway.devnets.cosmos.model import Committed
from laneway.devnets.cosmos.words import OK, Verdict
from laneway.sim.sequence.calls import CHAIN_ID, GAS, ORIGIN, address_of
from laneway.sim.sequence.liar import Liar

if TYPE_CHECKING:
    from laneway.sim.sequence.shell import CosmosShell

LATE_S_MAX = 2.5
PRICE_MICRO = 6 * GAS_PRICE_MICRO
"""More than any node ever wants: what is refused for its fee is the other worlds' matter."""


class LoopSigner:
    """Holds its key, and answers after a while."""

    def __init__(self, key: HeldKey, world: "CosmosShell") -> None:
        self.public_key = key.public_key
        self._key = key
        self._world = world

    async def sign(self, payload: bytes) -> bytes:
        await asyncio.sleep(self._world.delay_s())
        return self._key.sign(payload)

    async def close(self) -> None:
        pass


class PromptLoopSigner(LoopSigner):
    """The same, at once."""

    def sign_now(self, payload: bytes) -> bytes:
        return self._key.sign(payload)


class LoopChain:
    def __init__(self, world: "CosmosShell") -> None:
        self.nodes: tuple[str, ...] = world.plan.settings.nodes
        self._world = world
        self._sky = world.sky
        self._words = Words()
        self._liar = Liar(world, {})
        self._accounts = {address_of(number): number for number in range(world.plan.accounts)}

    # Sending.

    async def send(
        self, raws: Sequence[bytes], only: Sequence[str] = ()
    ) -> Sequence[Sequence[Offered]]:
        (name,) = only
        answers: list[Offered] = []
        for raw in raws:
            if answers and answers[-1].kind.outcome() is not Outcome.ACCEPTED:
                answers.append(Offered(name, OfferKind.UNREACHABLE, log="not offered"))
            else:
                answers.append(await self._offer(name, raw))
        return [[answer] for answer in answers]

    async def _offer(self, name: str, raw: bytes) -> Offered:
        world, node = self._world, self._sky.names.index(name)
        if world.chance(world.plan.lose) or not self._sky.is_up(node):
            world.seen["node unreachable"] += 1
            return Offered(name, OfferKind.UNREACHABLE, log="refused")
        if world.chance(world.plan.lose):
            world.seen["bytes late"] += 1
            world.travel(world.delay_s() * LATE_S_MAX, node, raw)
            return Offered(name, OfferKind.SILENT, log="no answer")
        await asyncio.sleep(world.delay_s())
        world.leaving(raw)
        if self._liar.drops(name):
            return Offered(name, OfferKind.TAKEN)
        answer = self._liar.answer(self._judged(name, self._sky.offer(node, raw)))
        await asyncio.sleep(world.delay_s())
        if world.chance(world.plan.lose):
            world.seen["answer lost"] += 1
            return Offered(name, OfferKind.SILENT, log="no answer")
        return answer

    def _judged(self, name: str, said: Verdict | str) -> Offered:
        if isinstance(said, str):
            kind = self._words.of_error(said)
            self._world.seen[f"node says {kind.value}"] += 1
            return Offered(name, kind, -32603, "", said)
        if said is OK:
            return Offered(name, OfferKind.TAKEN)
        kind = self._words.of_code(said.code, said.codespace, said.log)
        self._world.seen[f"node says {kind.value}"] += 1
        found = expected_in(said.log)
        expected = None if found is None else found[0]
        return Offered(name, kind, said.code, said.codespace, said.log, expected)

    # Reading.

    async def look(self, node: str, address: str, hashes: Sequence[bytes]) -> CosmosLook:
        await self._reach(node)
        place = self._sky.names.index(node)
        height = self._sky.height(place)
        account = self._sky.account_at(self._accounts[address], height)
        txs = tuple([self._seen(place, height, one) for one in hashes])
        owner = "" if account is None else address
        return self._liar.look(CosmosLook(node, height, account, txs, CHAIN_ID, owner, 1, ORIGIN))

    def _seen(self, node: int, height: int, hash_: bytes) -> TxSeen:
        status = self._sky.chain.status(node, hash_)
        found = status.committed
        if found is not None and found.height <= height:
            return shown(found)
        if found is not None:
            return TxSeen(hash_, Standing.PENDING)
        verdict = status.verdict
        return TxSeen(hash_, Standing[status.standing.value], code=verdict.code, log=verdict.log)

    async def used_by(self, address: str, sequence: int) -> Sequence[TxSeen]:
        await self._reach(self.nodes[0])
        found = self._sky.chain.used_by(address, sequence)
        true = None if found is None else shown(found)
        told = [self._liar.proof(node, true) for node in self.nodes]
        return [seen for seen in told if seen is not None]

    async def gas_price(self, _priority: int = 2) -> float | None:
        await self._reach(self.nodes[0])
        return PRICE_MICRO / 1_000_000

    async def gas_used(self, _raw: bytes) -> GasSeen:
        await self._reach(self.nodes[0])
        return GasSeen(GAS)

    async def close(self) -> None:
        pass

    async def _reach(self, node: str) -> None:
        world = self._world
        await asyncio.sleep(world.delay_s())
        if world.chance(world.plan.lose) or not self._sky.is_up(self._sky.names.index(node)):
            raise ChainUnreachable(node, "lost on the way")


def shown(found: Committed) -> TxSeen:
    told = found.delivered
    return TxSeen(
        found.tx.hash,
        Standing.COMMITTED,
        found.height,
        told.verdict.code,
        told.verdict.codespace,
        told.verdict.log,
        told.gas_wanted,
        told.gas_used,
        told.signers,
    )
