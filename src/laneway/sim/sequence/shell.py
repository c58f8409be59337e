"""Layer S3 of sequence lanes: the shell and the real performer, killed after any callback."""

from collections.abc import Callable

from msgspec.structs import replace

from laneway.core.ids import LaneId, Owner
from laneway.core.outcome import Status
from laneway.core.rows import Result
from laneway.cosmos.messages import Coin, MsgSend
from laneway.cosmos.protobuf import encode
from laneway.cosmos.tx import read
from laneway.engine.reactor import Reactor
from laneway.engine.sequence import CosmosAccount, CosmosView, SequencePerformer
from laneway.engine.sequence.account import KIND, account_lane
from laneway.engine.sequence.drafts import encode_request
from laneway.engine.shell import Engine
from laneway.lanes.sequence.machine import sequence_kind
from laneway.ports import CosmosRequest
from laneway.sim.loop import LoopClock, SimLoop
from laneway.sim.sequence.calls import (
    CHAIN_ID,
    DENOM,
    GAS,
    PREFIX,
    SHOP,
    TOO_MUCH,
    address_of,
    key_of,
)
from laneway.sim.sequence.plan import CosmosPlan
from laneway.sim.sequence.port import LoopChain, LoopSigner, PromptLoopSigner
from laneway.sim.sequence.sky import Sky
from laneway.sim.shell_world import ShellWorld
from laneway.sim.world import LawBroken
from laneway.stores.group import GroupStore

INTENTS_MAX = 9
TIMEOUT_BLOCKS = 40
"""Nobody is killed for so long that bytes end: the other worlds show what happens then."""


class CosmosShell(ShellWorld):
    """The chain outlives every process."""

    callbacks_life_max = 700

    def __init__(self, plan: CosmosPlan) -> None:
        super().__init__(plan)
        # Nobody else uses the accounts, and everyone can pay.
        settings = replace(
            plan.settings, nodes=plan.names, timeout_blocks=TIMEOUT_BLOCKS, attempts_max=8
        )
        self.plan = replace(plan, settings=settings, poor=False, absent=False, foreign=0.0)
        self.steps = 0
        self.sky = Sky(self)
        self._loop: SimLoop | None = None
        self.lanes = [account_lane(CHAIN_ID, address_of(n)) for n in range(plan.accounts)]
        self.wishes = [
            (self.lanes[n % plan.accounts], self._data(n))
            for n in range(min(plan.intents, INTENTS_MAX))
        ]

    def _data(self, number: int) -> str:
        """Some can be no transaction, some fail in their block."""
        return self._dice.choice(("", "", "", "", "!", "~")) + f"d{number}"

    # What the sky needs.

    @property
    def now_ms(self) -> int:
        return int((self._now_s if self._loop is None else self._loop.time()) * 1000)

    def after(self, delay_ms: int, _label: str, act: Callable[[], None]) -> None:
        assert self._loop is not None
        self._loop.call_later(delay_ms / 1000, act)

    def travel(self, delay_s: float, node: int, raw: bytes) -> None:
        """Bytes that arrive when nobody waits for them any more."""
        assert self._loop is not None
        self.leaving(raw)
        self._loop.call_later(delay_s, self.sky.offer, node, raw)

    def leaving(self, raw: bytes) -> None:
        """Bytes are durable before any node hears of them; an intent's have an index."""
        self.steps += 1
        tx = read(raw)
        if tx.body.memo and self.book.find("hash", tx.hash.hex()) is None:
            raise LawBroken("never twice: bytes were sent unrecorded")

    # One life.

    def engine(self, loop: SimLoop, clock: LoopClock, store: GroupStore, owner: Owner) -> Engine:
        self._loop = loop
        if not self.faults:
            self.sky.calm()
        self.sky.start()
        view = CosmosView(LoopChain(self), clock, chain_id=CHAIN_ID, prefix=PREFIX, denom=DENOM)
        signer = PromptLoopSigner if self.plan.prompt else LoopSigner
        accounts = [
            CosmosAccount(
                view,
                signer(key_of(number), self),
                timeout_blocks=self.plan.settings.timeout_blocks,
            )
            for number in range(self.plan.accounts)
        ]
        performer = SequencePerformer({account.lane: account for account in accounts}, clock)
        kinds = {KIND: sequence_kind(self.plan.settings)}
        reactor = Reactor(kinds, owner, self.plan.windows, {KIND: performer.answer_now})
        return Engine(store, reactor, {KIND: performer}, clock)

    def payload(self, lane: LaneId, data: str) -> bytes:
        own = address_of(self.lanes.index(lane))
        amount = TOO_MUCH if data.startswith("~") else 1
        message = MsgSend(own, SHOP, (Coin(DENOM, str(amount)),))
        messages = () if data.startswith("!") else ((MsgSend.url, encode(message)),)
        gas = GAS if self.plan.prompt or data.startswith("~") else None
        return encode_request(CosmosRequest(messages=messages, memo=data, gas=gas))

    # The laws.

    def judge(self, data: str, result: Result) -> None:
        words = {"!": Status.REFUSED, "~": Status.REVERTED}
        if result.status != words.get(data[0], Status.CONFIRMED).value:
            raise LawBroken(f"{data} ended as {result.status}: {result.reason}")
        if result.hash is not None and self.sky.chain.committed(result.hash) is None:
            raise LawBroken(f"{data} is {result.status}, and not on the chain")

    def _landed(self, lane: LaneId) -> list[str]:
        own = address_of(self.lanes.index(lane))
        return [
            found.tx.body.memo
            for found in self.sky.landed
            if found.delivered.signers[0] == own and found.tx.body.memo
        ]

    def check_chain(self) -> None:
        for lane in self.lanes:
            data = self._landed(lane)
            if len(set(data)) != len(data):
                raise LawBroken(f"never twice: {lane} has {data}")
            seqs = [self.seq(datum) for datum in data]
            if seqs != sorted(seqs):
                raise LawBroken(f"in order: {lane} has {data}, in the sequence {seqs}")

    def check_results(self) -> None:
        for lane, data in self.wishes:
            if (data in self._landed(lane)) == data.startswith("!"):
                raise LawBroken(f"never lost: {data}, and on the chain is {self._landed(lane)}")
