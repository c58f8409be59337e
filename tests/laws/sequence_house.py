"""An engine with one Cosmos account on the chain model, in virtual time: blocks come when a test
says so.

    house = House()
    async def story() -> None:
        jobs = await house.submit(3)
        await house.until_taken(jobs)
        house.block()
        assert await house.ends(jobs) == ["confirmed"] * 3
    house.run(story)
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, TypeVar

from tests.devnets.cosmos.stage import CHAIN_ID, DENOM, PREFIX, RICH, A, B, pay, raw_of, send
from tests.engine.virtual import VirtualTime
from tests.waits import within

from laneway.chains.cosmos.phrases import CosmosPhrases, expected_in
from laneway.core.cosmos import CommittedAccount as AccountSeen
from laneway.core.cosmos import CosmosLook, GasSeen, OfferAnswer, OfferKind, TxSeen, TxStanding
from laneway.core.errors import ChainUnreachable, SignerRefused
from laneway.core.ids import IntentId, LaneId, Owner, intent_id
from laneway.core.intent import Accepted, Arrival
from laneway.core.rows import Command, Result
from laneway.cosmos.keys import HeldCosmosKey
from laneway.cosmos.messages import MsgSend
from laneway.cosmos.protobuf import decode
from laneway.devnets.cosmos.model.app import CosmosRules
from laneway.devnets.cosmos.model.chain import CosmosModel, MempoolRefused
from laneway.devnets.cosmos.model.mempool import MempoolRules
from laneway.devnets.cosmos.model.verdicts import OK
from laneway.engine.listeners import Listener
from laneway.engine.reactor import Reactor
from laneway.engine.sequence import CosmosAccount, CosmosView, SequencePerformer
from laneway.engine.sequence.drafts import encode_request
from laneway.engine.shell import Engine
from laneway.lanes.sequence import SequenceSettings, sequence_kind
from laneway.lanes.sequence.lane import SequenceLane, decode_history
from laneway.lanes.sequence.rows import History, Node
from laneway.lanes.sequence.show import Sight, describe, sight
from laneway.ports import CosmosBlob, CosmosRequest
from laneway.signers.cosmos import LocalCosmosSigner
from laneway.stores.group import GroupStore
from laneway.stores.memory import MemoryBook

R = TypeVar("R")
NODES = ("one", "two", "three")
WAIT_S = 60.0
QUICK = SequenceSettings(
    poll_ms=50,
    retry_ms=20,
    make_retry_ms=20,
    rest_ms=500,
    account_ms=200,
    timeout_blocks=20,
    block_ms=1,
)


class ModelChain:
    """The port on the model, without a wire; what goes wrong on the way a test says."""

    def __init__(self, model: CosmosModel) -> None:
        self.model = model
        self.nodes: tuple[str, ...] = NODES[: len(model.nodes)]
        self.offers: list[tuple[str, bytes, str]] = []
        """Every offer that reached a node: to whom, which bytes, and what it said."""
        self.lost: list[str] = []
        """Nodes whose next answer does not come back."""
        self.away: set[str] = set()
        self.has_index = True
        self.price: float | None = 0.004
        self._words = CosmosPhrases()

    async def send(
        self, raws: Sequence[bytes], only: Sequence[str] = ()
    ) -> Sequence[Sequence[OfferAnswer]]:
        (name,) = only
        answers: list[OfferAnswer] = []
        for raw in raws:
            await asyncio.sleep(0.001)
            if answers and answers[-1].kind not in (OfferKind.TAKEN, OfferKind.IN_MEMPOOL):
                answers.append(OfferAnswer(name, OfferKind.UNREACHABLE, log="not offered"))
                continue
            answers.append(self._offer(name, raw))
        return [[answer] for answer in answers]

    def _offer(self, name: str, raw: bytes) -> OfferAnswer:
        if name in self.away or not self.model.nodes[self.nodes.index(name)].is_up:
            return OfferAnswer(name, OfferKind.UNREACHABLE, log="connection refused")
        answer = self._judged(name, raw)
        self.offers.append((name, raw, answer.kind.value))
        if name in self.lost:
            self.lost.remove(name)
            return OfferAnswer(name, OfferKind.SILENT, log="no answer")
        return answer

    def _judged(self, name: str, raw: bytes) -> OfferAnswer:
        try:
            _, verdict = self.model.broadcast(self.nodes.index(name), raw)
        except MempoolRefused as no:
            return OfferAnswer(name, self._words.of_error(str(no)), -32603, "", str(no))
        if verdict is OK:
            return OfferAnswer(name, OfferKind.TAKEN)
        kind = self._words.of_code(verdict.code, verdict.codespace, verdict.log)
        found = expected_in(verdict.log)
        expected = None if found is None else found[0]
        return OfferAnswer(name, kind, verdict.code, verdict.codespace, verdict.log, expected)

    async def look(self, node: str, address: str, hashes: Sequence[bytes]) -> CosmosLook:
        await asyncio.sleep(0.001)
        place = self.nodes.index(node)
        if node in self.away or not self.model.nodes[place].is_up:
            raise ChainUnreachable(node, "connection refused")
        account = self.model.account(self.model.app.raw_of(address))
        seen = None if account is None else AccountSeen(account.number, account.sequence)
        txs = tuple([self._seen(place, one) for one in hashes])
        owner = "" if seen is None else address
        return CosmosLook(node, self.model.height, seen, txs, CHAIN_ID, owner)

    def _seen(self, place: int, hash_: bytes) -> TxSeen:
        status = self.model.status(place, hash_)
        standing = TxStanding[status.standing.value]
        found = status.committed
        if found is None:
            return TxSeen(hash_, standing, code=status.verdict.code, log=status.verdict.log)
        return self._committed(hash_)

    def _committed(self, hash_: bytes) -> TxSeen:
        found = self.model.committed(hash_)
        assert found is not None
        told = found.delivered
        return TxSeen(
            hash_,
            TxStanding.COMMITTED,
            found.height,
            told.verdict.code,
            told.verdict.codespace,
            told.verdict.log,
            told.gas_wanted,
            told.gas_used,
            told.signers,
        )

    async def used_by(self, address: str, sequence: int) -> Sequence[TxSeen]:
        await asyncio.sleep(0.001)
        found = self.model.used_by(address, sequence) if self.has_index else None
        return () if found is None else [self._committed(found.tx.hash)] * len(self.nodes)

    async def gas_price(self, _priority: int = 2) -> float | None:
        return self.price

    async def gas_used(self, _raw: bytes) -> GasSeen:
        return GasSeen(80_000)

    async def close(self) -> None:
        pass


class Signer(LocalCosmosSigner):
    """It holds its key, and says no as often as it is told to."""

    refusals = 0

    def __init__(self) -> None:
        super().__init__("test", b"\x01" * 32)
        assert self.public_key == A.public_key

    def sign_now(self, payload: bytes) -> bytes:
        if self.refusals:
            self.refusals -= 1
            raise SignerRefused("test", "not this one")
        return super().sign_now(payload)


class Ear(Listener):
    """All that became true, in order."""

    def __init__(self) -> None:
        self.records: list[Any] = []
        self.results: dict[IntentId, Result] = {}

    def notified(self, _lane: LaneId, records: Sequence[Any], results: Sequence[Result]) -> None:
        self.records += records
        self.results |= {result.intent: result for result in results}

    def of(self, kind: type[R]) -> list[R]:
        return [record for record in self.records if isinstance(record, kind)]


class House:
    def __init__(
        self,
        *nodes: MempoolRules,
        rules: CosmosRules | None = None,
        balance: int | None = RICH,
        **settings: Any,
    ) -> None:
        self.time = VirtualTime()
        balances = {raw_of(B): RICH}
        if balance is not None:
            balances = {raw_of(A): balance, **balances}
        self.signer = Signer()
        self.model = CosmosModel(balances, rules=rules, nodes=nodes or (MempoolRules(),))
        self.model.produce()
        self.chain = ModelChain(self.model)
        chosen = {name: getattr(QUICK, name) for name in QUICK.__struct_fields__}
        self.settings = SequenceSettings(**{**chosen, "nodes": self.chain.nodes, **settings})
        self.ear = Ear()
        self.book = MemoryBook()
        self.born = 0
        self.lives = 0
        self.engine: Engine

    # Its life.

    def account(self) -> CosmosAccount:
        view = CosmosView(
            self.chain,
            self.time,
            chain_id=CHAIN_ID,
            prefix=PREFIX,
            denom=DENOM,
            price_micro_min=4_000,
        )
        return CosmosAccount(view, self.signer, timeout_blocks=self.settings.timeout_blocks)

    async def open(self) -> None:
        account = self.account()
        self.lane = account.lane
        self.lives += 1
        owner = Owner(f"life{self.lives}")
        for earlier in range(1, self.lives):
            self.book.leave(Owner(f"life{earlier}"))
        performer = SequencePerformer({account.lane: account}, self.time)
        reactor = Reactor(
            {"cosmos": sequence_kind({account.lane: self.settings})},
            owner,
            prompts={"cosmos": performer.answer_now},
        )
        store = GroupStore(self.book, self.time, thread="never")
        self.engine = Engine(store, reactor, {"cosmos": performer}, self.time, (self.ear,))
        await self.engine.start()

    async def crash(self) -> None:
        """The process is gone, and another takes its place; what it was doing nobody knows."""
        for task in asyncio.all_tasks():
            if task is not asyncio.current_task():
                task.cancel()
        await asyncio.sleep(0)
        await self.open()

    def run(self, story: Callable[[], Awaitable[None]]) -> None:
        async def main() -> None:
            await self.open()
            await story()
            await self.engine.stop()

        self.time.run(main())

    # Its caller.

    async def submit(
        self, count: int = 1, *, amount: int | None = None, **options: Any
    ) -> list[IntentId]:
        """Payments, each of another amount if nothing else is said."""
        jobs = []
        for _ in range(count):
            packed = send(A, amount=self.born + 1 if amount is None else amount)
            words = {"gas": 100_000, **options}
            request = CosmosRequest(messages=((packed.type_url, packed.value),), **words)
            jobs.append(await self.ask(request))
        return jobs

    async def publish(self, blob: CosmosBlob, **options: Any) -> IntentId:
        return await self.ask(CosmosRequest(blobs=(blob,), **options))

    async def ask(self, request: CosmosRequest) -> IntentId:
        self.born += 1
        arrival = Arrival(
            id=intent_id(self.born, bytes(10)),
            lane=self.lane,
            payload=encode_request(request),
            digest=b"",
            accepted_ms=self.time.now_ms(),
            fresh=True,
        )
        assert isinstance(await self.engine.submit(arrival), Accepted)
        return arrival.id

    async def tell(self, verb: str, word: str = "", intent: IntentId | None = None) -> None:
        command = Command(0, self.lane, verb, self.time.now_ms(), "why", "ann", word=word)
        if intent is not None:
            view = await self.engine.store.intent(intent)
            assert view is not None
            row = view.intent
            command = Command(
                0, row.lane, verb, 0, "why", "ann", row.id, row.seq, row.priority, row.size()
            )
        await self.engine.tell(command)

    # What is seen.

    def held(self) -> SequenceLane:
        lane: SequenceLane | None = self.engine.reactor.lane(self.lane)
        assert lane is not None
        return lane

    def node(self, place: int = 0) -> Node:
        return self.held().nodes[NODES[place]]

    def sight(self, job: IntentId) -> Sight:
        return sight(self.held(), job)

    def stands(self, job: IntentId) -> str:
        if job in self.ear.results:
            return "final"
        if self.engine.reactor.lane(self.lane) is None:
            return "unopened"
        return self.sight(job).status.value

    def described(self) -> str:
        view = self.book.lane(self.lane)
        assert view is not None
        state = describe(view.head.state)
        return f"{state.word}: {state.reason}"

    def history(self, job: IntentId) -> History:
        return decode_history(self.ear.results[job].history)

    def landed(self, job: IntentId) -> TxSeen:
        """Where it is in a block."""
        seen = self.history(job).seen
        assert seen is not None
        return seen

    def status(self, job: IntentId) -> str:
        return self.ear.results[job].status

    async def until(self, is_so: Callable[[], bool]) -> None:
        async with within(WAIT_S, "what the test waits for"):
            while not is_so():
                await asyncio.sleep(0.01)

    async def until_status(self, jobs: Sequence[IntentId], word: str) -> None:
        await self.until(lambda: all(self.stands(job) in (word, "final") for job in jobs))

    async def until_taken(self, jobs: Sequence[IntentId]) -> None:
        await self.until_status(jobs, "submitted")

    async def settle_down(self) -> None:
        """Time for a few looks and offers, without a block."""
        await asyncio.sleep(0.5)

    async def ends(self, jobs: Sequence[IntentId], blocks: int = 60) -> list[str]:
        """Their final words, with as many blocks as it takes."""
        for _ in range(blocks):
            if all(job in self.ear.results for job in jobs):
                break
            self.block()
            await self.settle_down()
        assert all(job in self.ear.results for job in jobs), self.described()
        return [self.status(job) for job in jobs]

    # The chain.

    def block(self, count: int = 1, *, proposer: int = 0) -> None:
        for _ in range(count):
            self.model.produce(proposer=proposer)

    def hash_of(self, job: IntentId) -> bytes:
        slot = self.held().slot_of(job)
        assert slot is not None
        assert slot.attempt is not None
        return slot.attempt.hash

    def amounts(self) -> list[int]:
        """What is on the chain, in its order: the n-th payment pays n."""
        found = []
        for block in self.model.blocks:
            for hash_ in block.hashes:
                committed = self.model.committed(hash_)
                assert committed is not None
                found += [paid(message.value) for message in committed.tx.body.messages]
        return found

    def offered(self, node: str | None = None) -> list[bytes]:
        return [raw for name, raw, _ in self.chain.offers if node in (None, name)]

    def foreign(self, sequence: int, key: HeldCosmosKey = A) -> bytes:
        """Someone else signs for the account."""
        made = pay(sequence, key=key, amount=999)
        self.model.broadcast(0, made.raw)
        return made.hash


def paid(value: bytes) -> int:
    return int(decode(MsgSend, value).amount[0].amount)
