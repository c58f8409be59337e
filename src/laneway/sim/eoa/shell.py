"""Layer S3 of account lanes: the shell and the real performer, killed after any callback."""

from collections.abc import Callable

import msgspec

from laneway.core.ids import LaneId, Owner
from laneway.core.outcome import Status
from laneway.core.rows import Result
from laneway.core.units import amount
from laneway.engine.eoa import ChainView, EoaPerformer, EvmAccount
from laneway.engine.eoa.account import account_lane
from laneway.engine.reactor import Reactor
from laneway.engine.shell import Engine
from laneway.evm.envelope import decode
from laneway.evm.keccak import keccak
from laneway.lanes.eoa.machine import eoa_kind
from laneway.ports import EvmRequest
from laneway.sim.eoa.calls import CHAIN_ID, SHOP, WALL, encode_request, key_of
from laneway.sim.eoa.plan import GAS, EoaPlan
from laneway.sim.eoa.port import LoopChain, LoopSigner, PromptLoopSigner
from laneway.sim.eoa.sky import Sky, data_of
from laneway.sim.eoa.witnesses import Witnesses
from laneway.sim.loop import LoopClock, SimLoop
from laneway.sim.shell_world import ShellWorld
from laneway.sim.world import LawBroken
from laneway.stores.group import GroupStore


class EoaShell(ShellWorld):
    """The chain outlives every process."""

    callbacks_life_max = 700

    def __init__(self, plan: EoaPlan) -> None:
        super().__init__(plan)
        # Nobody is there to raise a cap, and nobody else uses the accounts.
        settings = msgspec.structs.replace(
            plan.settings, fee_wei_max=None, cost_wei_max=None, spend_wei_max=None
        )
        self.plan = msgspec.structs.replace(
            plan, settings=settings, poor=False, foreign=0.0, fee_lie=0.0
        )
        self.steps = 0
        self.sky = Sky(self)
        self.witnesses = Witnesses(self, self.sky)
        self._loop: SimLoop | None = None
        self.lanes = [account_lane(CHAIN_ID, address) for address in self.sky.accounts]
        self.wishes = [
            (self.lanes[n % plan.accounts], self._data(n)) for n in range(min(plan.intents, 9))
        ]

    def _data(self, number: int) -> str:
        """Some revert when they are estimated, some when they are mined."""
        return self._dice.choice(("", "", "", "", "!", "~")) + f"d{number}"

    # What the sky needs.

    @property
    def now_ms(self) -> int:
        return int((self._now_s if self._loop is None else self._loop.time()) * 1000)

    def after(self, delay_ms: int, _label: str, act: Callable[[], None]) -> None:
        assert self._loop is not None
        self._loop.call_later(delay_ms / 1000, act)

    def heard(self) -> None:
        """The performer follows the heads by itself."""

    def pick_node(self) -> int:
        return self._dice.randrange(len(self.plan.settings.nodes))

    def travel(self, delay_s: float, node: int, raw: bytes) -> None:
        """Bytes that arrive when nobody waits for them any more."""
        assert self._loop is not None
        self.leaving(raw)
        self._loop.call_later(delay_s, self.sky.chain.send, node, raw)

    def leaving(self, raw: bytes) -> None:
        """Bytes are durable before any node hears of them; an intent's have an index."""
        self.steps += 1
        if data_of(decode(raw)) and self.book.find("hash", keccak(raw).hex()) is None:
            raise LawBroken("never twice: bytes were sent unrecorded")

    # One life.

    def engine(self, loop: SimLoop, clock: LoopClock, store: GroupStore, owner: Owner) -> Engine:
        self._loop = loop
        if not self.faults:
            self.sky.calm()
        self.sky.start()
        view = ChainView(LoopChain(self, loop), clock)
        signer = PromptLoopSigner if self.plan.prompt else LoopSigner
        accounts = [
            EvmAccount(CHAIN_ID, view, signer(key_of(number), self))
            for number in range(self.plan.accounts)
        ]
        performer = EoaPerformer({account.lane: account for account in accounts}, clock)
        kinds = {"evm": eoa_kind(self.plan.settings)}
        reactor = Reactor(kinds, owner, self.plan.windows, {"evm": performer.answer_now})
        return Engine(store, reactor, {"evm": performer}, clock)

    def payload(self, _lane: LaneId, data: str) -> bytes:
        to = WALL if data.startswith("~") else SHOP
        gas = None if data.startswith("!") or not self.plan.prompt else GAS
        return encode_request(EvmRequest(to, amount(1), data.encode(), gas))

    # The laws.

    def judge(self, data: str, result: Result) -> None:
        words = {"!": Status.REFUSED, "~": Status.REVERTED}
        if result.status != words.get(data[0], Status.CONFIRMED).value:
            raise LawBroken(f"{data} ended as {result.status}: {result.reason}")
        if result.hash is not None and result.hash not in self.sky.mined():
            raise LawBroken(f"{data} is {result.status}, and not on the chain")

    def _landed(self, lane: LaneId) -> list[str]:
        address = self.sky.accounts[self.lanes.index(lane)]
        made = [self.sky.chain.sent(digest) for digest in self.sky.mined()]
        return [
            data for one in made if one.sender == address and (data := data_of(one.transaction))
        ]

    def check_chain(self) -> None:
        for lane in self.lanes:
            data = self._landed(lane)
            if len(set(data)) != len(data):
                raise LawBroken(f"never twice: {lane} has {data}")
            seqs = [self.seq(datum) for datum in data]
            if seqs != sorted(seqs) and self.plan.settings.recycled == "returned":
                raise LawBroken(f"in order: {lane} has {data}, in the sequence {seqs}")

    def check_results(self) -> None:
        for lane, data in self.wishes:
            if (data in self._landed(lane)) == data.startswith("!"):
                raise LawBroken(f"never lost: {data}, and on the chain is {self._landed(lane)}")
