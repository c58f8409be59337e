"""The ports `CosmosChain` and `CosmosSigner` over the chain model, with loss and delay on the way.

The chain promises what the adapter does: one transaction after the other to each node, nothing
after one that it does not take, a look in the order in which it was read, the estimates of several
nodes judged together, and error messages read by the adapter's own table.
"""

from abc import abstractmethod
from collections.abc import Hashable, Sequence
from functools import partial
from statistics import median_high
from typing import Any

from laneway.chains.cosmos.phrases import CosmosPhrases, expected_in
from laneway.core.cosmos import CosmosLook, GasSeen, OfferAnswer, OfferKind, TxSeen, TxStanding
from laneway.core.errors import ChainUnreachable, SignerUnreachable
from laneway.core.majority import final_quorum
from laneway.core.outcome import Outcome
from laneway.cosmos.keys import HeldCosmosKey
from laneway.cosmos.tx import read
from laneway.devnets.cosmos.limits import GAS_PRICE_MICRO
from laneway.devnets.cosmos.model.app import MICRO
from laneway.devnets.cosmos.model.chain import Committed
from laneway.devnets.cosmos.model.verdicts import AppVerdict
from laneway.engine.sequence import CosmosAccount, CosmosView, SequencePerformer
from laneway.engine.sequence.account import KIND, account_lane
from laneway.lanes.sequence.machine import sequence_kind
from laneway.sim.link import Ground, Link, Reply
from laneway.sim.sequence.calls import (
    CHAIN_ID,
    DENOM,
    FAILING,
    GAS,
    ORIGIN,
    PREFIX,
    address_of,
    key_of,
)
from laneway.sim.sequence.liar import Liar, SignedBytes
from laneway.sim.sequence.network import CosmosNetwork
from laneway.sim.sequence.plan import CosmosPlan

FICKLE = (
    OfferKind.REFUSED,
    OfferKind.FEE_TOO_LOW,
    OfferKind.WRONG_SEQUENCE,
    OfferKind.MEMPOOL_FULL,
    OfferKind.TIMED_OUT,
    OfferKind.UNAUTHORIZED,
)
"""What a node says once and not the next time."""
MUMBLED = (OfferKind.UNKNOWN, OfferKind.RATE_LIMITED, OfferKind.SILENT)

TIMEOUT_MS = 300
LATE_MS_MAX = 3_000
"""Bytes that were given up as lost arrive as late as this."""

RPC_ERROR = -32603
NOT_OFFERED = "not offered: one before it was not taken"


class CosmosGround(Ground):
    """A world of Cosmos accounts, in every layer."""

    plan: CosmosPlan
    network: CosmosNetwork

    def __init__(self, plan: CosmosPlan, *place: Any) -> None:
        super().__init__(plan, *place)
        self.settings = plan.settings
        self.kinds = {KIND: sequence_kind(plan.settings)}
        self.network = CosmosNetwork(self)
        self.lanes = [account_lane(CHAIN_ID, address_of(n)) for n in range(plan.accounts)]
        self.made: dict[bytes, SignedBytes] = {}
        """All that was ever durable, as the laws read it."""
        self.liar = Liar(self, self.made)

    def performers(self, link: Link) -> dict[str, SequencePerformer]:
        view = CosmosView(
            FaultyCosmosChain(self, link),
            self.clock,
            chain_id=CHAIN_ID,
            prefix=PREFIX,
            denom=DENOM,
            price_micro=self.plan.price_micro,
            price_micro_min=GAS_PRICE_MICRO,
        )
        signer = PromptCosmosKeySigner if self.plan.prompt else CosmosKeySigner
        blocks = self.plan.settings.timeout_blocks
        accounts = [
            CosmosAccount(view, signer(key_of(number), self, link), timeout_blocks=blocks)
            for number in range(self.plan.accounts)
        ]
        return {KIND: SequencePerformer({one.lane: one for one in accounts}, self.clock)}

    @abstractmethod
    def sending(self, port: object, node: str, raws: Sequence[bytes]) -> Hashable:
        """These bytes are offered to this node, until `sent` is called with what is returned."""

    def sent(self, _offer: Hashable) -> None:
        """An offer was answered."""

    def named(self, hash_: bytes) -> str:
        """Whose bytes they are, for the story."""
        made = self.made.get(hash_)
        if made is None:
            return hash_.hex()[:8]
        whose = f"{made.data or 'a filler'} of a{self.account(made.lane)}/{made.sequence}"
        return f"{whose} until {made.timeout_height}"


class CosmosKeySigner:
    """Holds its key, but cannot always be reached."""

    def __init__(self, key: HeldCosmosKey, world: CosmosGround, link: Link) -> None:
        self.public_key = key.public_key
        self._key = key
        self._world = world
        self._link = link

    async def sign(self, payload: bytes) -> bytes:
        await self._link.pause()
        if self._world.chance(self._world.plan.sign):
            raise SignerUnreachable("the simulated signer", "it is away")
        return self._key.sign(payload)

    async def close(self) -> None: ...


class PromptCosmosKeySigner(CosmosKeySigner):
    """Holds its key here, and answers at once."""

    def sign_now(self, payload: bytes) -> bytes:
        return self._key.sign(payload)


class FaultyCosmosChain:
    """The nodes as one process reaches them."""

    def __init__(self, world: CosmosGround, link: Link) -> None:
        self.nodes = world.settings.nodes
        self._world = world
        self._link = link
        self._dice = world.plan.rng("port")
        self._network = world.network
        self._phrases = CosmosPhrases()
        self._accounts = {address_of(number): number for number in range(world.plan.accounts)}

    # Offering.

    async def send(
        self, raws: Sequence[bytes], only: Sequence[str] = ()
    ) -> Sequence[Sequence[OfferAnswer]]:
        (name,) = only
        answers: list[OfferAnswer] = []
        if not raws:
            return []
        offer = self._world.sending(self, name, raws)
        try:
            for raw in raws:
                if answers and answers[-1].kind.outcome() is not Outcome.ACCEPTED:
                    answers.append(OfferAnswer(name, OfferKind.UNREACHABLE, log=NOT_OFFERED))
                else:
                    answers.append(await self._offer(name, raw))
        finally:
            self._world.sent(offer)
        return [[answer] for answer in answers]

    async def _offer(self, name: str, raw: bytes) -> OfferAnswer:
        world, node = self._world, self._network.names.index(name)
        if self._is_lost(node):
            world.seen["node unreachable"] += 1
            return OfferAnswer(name, OfferKind.UNREACHABLE)
        if world.chance(world.plan.refuse):
            world.seen["refused by whim"] += 1
            return OfferAnswer(name, self._dice.choice(FICKLE), 1, "x", "a whim")
        if world.chance(world.plan.lose):
            world.seen["bytes late"] += 1
            self._travel(node, raw)
            silent = OfferAnswer(name, OfferKind.SILENT)
            late: OfferAnswer = await self._link.answer(silent, TIMEOUT_MS)
            return late
        self._network.travelling[self._network.hash_of(raw)] += 1
        answer: OfferAnswer = await self._link.begin("offer", partial(self._arrive, node, raw))
        return answer

    def _travel(self, node: int, raw: bytes) -> None:
        """Bytes whose answer nobody waits for."""
        self._network.travelling[self._network.hash_of(raw)] += 1
        delay_ms = self._dice.randint(0, LATE_MS_MAX)
        self._world.after(delay_ms, "late bytes", partial(self._hand, node, raw))

    def _arrive(self, node: int, raw: bytes, reply: Reply) -> None:
        world = self._world
        answer = self._hand(node, raw)
        is_silent = world.chance(world.plan.lose)
        if is_silent or world.chance(world.plan.mumble):
            world.seen["answer lost"] += 1
            kind = OfferKind.SILENT if is_silent else self._dice.choice(MUMBLED)
            answer = OfferAnswer(answer.node, kind)
        if answer.kind in (OfferKind.TAKEN, *MUMBLED) and world.chance(world.plan.double):
            # A caller who was refused knows that it arrived, and nobody sends it again for them.
            world.seen["bytes doubled"] += 1
            self._travel(node, raw)
        reply(answer, TIMEOUT_MS if answer.kind is OfferKind.SILENT else None)

    def _hand(self, node: int, raw: bytes) -> OfferAnswer:
        """The node itself, and what its answer proves."""
        world, network, name = self._world, self._network, self._network.names[node]
        hash_ = network.hash_of(raw)
        network.travelling[hash_] -= 1
        if not network.is_up(node):
            return OfferAnswer(name, OfferKind.SILENT)
        if world.liar.drops(name):
            return OfferAnswer(name, OfferKind.TAKEN)
        answer = world.liar.answer(self._judged(name, network.offer(node, raw)))
        if answer.kind is OfferKind.TAKEN:
            world.note(f"{name} takes {world.named(hash_)}")
        else:
            world.seen[f"node says {answer.kind.value}"] += 1
            world.note(f"{name} says {answer.kind.value} to {world.named(hash_)}: {answer.log}")
        return answer

    def _judged(self, name: str, verdict: AppVerdict | str) -> OfferAnswer:
        if isinstance(verdict, str):
            return OfferAnswer(name, self._phrases.of_error(verdict), RPC_ERROR, "", verdict)
        if verdict.code == 0:
            return OfferAnswer(name, OfferKind.TAKEN)
        kind = self._phrases.of_code(verdict.code, verdict.codespace, verdict.log)
        found = expected_in(verdict.log) if kind is OfferKind.WRONG_SEQUENCE else None
        wanted = None if found is None else found[0]
        return OfferAnswer(name, kind, verdict.code, verdict.codespace, verdict.log, wanted)

    # Reading.

    async def look(self, node: str, address: str, hashes: Sequence[bytes]) -> CosmosLook:
        """The newest block first; the account and the transactions a moment later."""
        world, network, place = self._world, self._network, self._network.names.index(node)
        if self._is_lost(place):
            raise ChainUnreachable(node, "lost on the way")
        height = network.height(place)
        await self._link.pause()
        # An account may be one block behind its node, or newer; what is in blocks is newer yet.
        newest = max(height, network.height(place))
        at = self._dice.choice((max(0, height - 1), height, newest))
        account = network.account_at(self._accounts[address], at)
        txs = tuple([self._standing(place, hash_, newest) for hash_ in hashes])
        owner = "" if account is None else address
        look = CosmosLook(node, height, account, txs, CHAIN_ID, owner, 1, ORIGIN)
        return world.liar.look(look)

    def _standing(self, node: int, hash_: bytes, height: int) -> TxSeen:
        network, plan = self._network, self._world.plan
        found = network.chain.status(node, hash_)
        committed = found.committed
        if plan.untold and node and (committed is None or committed.height > height):
            return TxSeen(hash_, TxStanding.UNTOLD)
        if committed is None:
            verdict = found.verdict
            standing = TxStanding(found.standing.value)
            return TxSeen(hash_, standing, 0, verdict.code, verdict.codespace, verdict.log)
        if committed.height > height:
            return TxSeen(hash_, self._dice.choice((TxStanding.PENDING, TxStanding.UNKNOWN)))
        if network.blind[node]:
            return TxSeen(hash_, TxStanding.UNKNOWN)
        return shown(committed)

    async def used_by(self, address: str, sequence: int) -> Sequence[TxSeen]:
        """What every node that answers says of who used a number; too few are as good as none."""
        world, network = self._world, self._network
        withheld = network.withheld
        was_withheld = (address, sequence) in withheld
        withheld[address, sequence] = None  # Until it was shown, whatever happens meanwhile.
        await self._link.pause()
        found = network.users.get((network.accounts[self._accounts[address]], sequence))
        told, true = [], 0
        for name in self.nodes:
            node = network.names.index(name)
            is_lost = self._is_lost(node) or network.blind[node]
            is_shown = found is not None and found.height <= network.height(node)
            seen = shown(found) if found is not None and is_shown and not is_lost else None
            answer = world.liar.proof(name, seen) if world.plan.proofs else None
            told.append(answer)
            # What a liar said of this number before may spoil even its true answer.
            is_true = found is not None and answer == shown(found)
            true += is_true and name != world.plan.liar
        if true >= final_quorum(len(self.nodes)) and not was_withheld:
            del withheld[address, sequence]
        return [seen for seen in told if seen is not None]

    async def gas_price(self, _priority: int = 2) -> float | None:
        prices = [self._network.prices[node] / MICRO for node in await self._each()]
        return median_high(prices) if len(prices) >= final_quorum(len(self.nodes)) else None

    async def gas_used(self, raw: bytes) -> GasSeen:
        await self._each()
        if read(raw).body.memo.startswith(FAILING) and self._dice.random() < 0.7:
            return GasSeen(None, OfferKind.REFUSED, "it would fail")
        return GasSeen(GAS)

    async def close(self) -> None: ...

    async def _each(self) -> list[int]:
        """The nodes that answer; ChainUnreachable where none does."""
        if self._dice.random() < self._world.plan.slow:
            await self._link.pause()
        places = [self._network.names.index(name) for name in self.nodes]
        near = [node for node in places if not self._is_lost(node)]
        if not near:
            raise ChainUnreachable("the nodes", "lost on the way")
        return near

    def _is_lost(self, node: int) -> bool:
        return not self._network.is_near(node) or self._world.chance(self._world.plan.lose)


def shown(found: Committed) -> TxSeen:
    done = found.delivered
    return TxSeen(
        found.tx.hash,
        TxStanding.COMMITTED,
        found.height,
        done.verdict.code,
        done.verdict.codespace,
        done.verdict.log,
        done.gas_wanted,
        done.gas_used,
        done.signers,
    )
