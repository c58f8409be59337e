"""The port `ContractHost` over the devnet's model, with everything that goes wrong on the way."""

from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar

from laneway.core.errors import ChainUnreachable
from laneway.core.ids import lane_id
from laneway.core.outcome import Outcome
from laneway.devnets.contract.model import ContractChain, RequestFault, RoundEnded
from laneway.engine.contract import ContractPerformer
from laneway.lanes.contract import contract_kind
from laneway.ports import ChainFinding, ContractCall, Execution, HostTraits
from laneway.sim.contract.plan import ContractPlan
from laneway.sim.link import Ground, Link, Reply

T = TypeVar("T")

FAULTS = tuple(fault for fault in RequestFault if fault is not RequestFault.NONE)


class ContractGround(Ground):
    """A world of contracts, in every layer."""

    plan: ContractPlan
    chain: ContractChain

    def __init__(self, plan: ContractPlan, *place: Any) -> None:
        super().__init__(plan, *place)
        self.rounds = HostRounds(self)
        self.kinds = {"contract": contract_kind(plan.settings)}
        self.lanes = [lane_id("contract", f"T{n}") for n in range(plan.contracts)]

    def performers(self, link: Link) -> dict[str, ContractPerformer]:
        return {"contract": ContractPerformer(FaultyHost(self, link), self.clock)}


class HostRounds:
    """The host's rounds of consensus, which end by themselves after their process died."""

    def __init__(self, world: ContractGround) -> None:
        self._world = world
        self._replies: dict[int, Reply] = {}
        self._watched_ms: int | None = None
        self.version = 0
        """Rises whenever a round has ended."""
        self.travelling = 0
        """Executions on their way to the host: until they arrive, nobody may say they did not."""

    def begin(self, call: ContractCall, parent: int | None, reply: Reply) -> None:
        world = self._world
        self.travelling -= 1
        fault = world.pick(FAULTS) if world.chance(world.plan.fault) else RequestFault.NONE
        world.seen[f"fault:{fault.value}"] += 1
        world.note(f"contract:{call.contract}: {call.data} begins on {parent} ({fault.value})")
        for round_ in world.chain.begin(call, parent, world.now_ms, fault):
            self._replies[round_] = reply
        self._watch()

    def write_foreign(self, contract: str, data: str) -> None:
        """Someone else executes on this contract, past the queue."""
        world = self._world
        world.seen["foreign writer"] += 1
        world.note(f"contract:{contract}: someone else begins {data}")
        world.chain.begin(ContractCall(contract, "did:other", data), None, world.now_ms)
        self._watch()

    def _watch(self) -> None:
        next_ms = self._world.chain.next_ms()
        if next_ms is not None and (self._watched_ms is None or next_ms < self._watched_ms):
            self._watched_ms = next_ms
            wait_ms = max(0, next_ms - self._world.now_ms)
            self._world.after(wait_ms, "round", self._rounds_end)

    def _rounds_end(self) -> None:
        world = self._world
        self._watched_ms = None
        for end in world.chain.step(world.now_ms):
            self._end(end)
        if world.chance(world.plan.fault / 20):
            world.seen["host restarted"] += 1
            world.note("the host restarts; running rounds die")
            world.chain.restart(world.now_ms)
        self._watch()

    def _end(self, end: RoundEnded) -> None:
        world = self._world
        self.version += 1
        world.seen["conflict"] += end.conflict
        if end.block is not None:
            block = world.chain.block(end.contract, end.block)
            world.note(f"contract:{end.contract}: {block.data} is block {end.block}")
        reply = self._replies.pop(end.round, None)
        if reply is not None and end.is_answered and not world.chance(world.plan.lose):
            reply(answer_of(end))


def answer_of(end: RoundEnded) -> Execution:
    if end.block is not None:
        return Execution(Outcome.ACCEPTED, end.block)
    if end.conflict:
        return Execution(Outcome.REFUSED, stale=True, reason="stale parent")
    if end.refused is not None:
        return Execution(Outcome.REFUSED, final=True, reason=end.refused)
    return Execution(Outcome.REFUSED, reason="the consensus failed")


class FaultyHost:
    """The host as one process reaches it."""

    def __init__(self, world: ContractGround, link: Link) -> None:
        self.traits = HostTraits(takes_parent=world.plan.settings.takes_parent)
        self._world = world
        self._link = link

    async def execute(self, call: ContractCall, parent: int) -> Execution:
        world = self._world
        self._lose("host unreachable")
        world.rounds.travelling += 1
        on = parent if self.traits.takes_parent else None
        done: Execution = await self._link.begin("execute", partial(world.rounds.begin, call, on))
        return done

    async def latest_block(self, contract: str) -> int:
        return await self._read(lambda: self._world.chain.latest(contract))

    async def find(self, call: ContractCall, parent: int) -> ChainFinding:
        chain = self._world.chain
        found = await self._read(
            lambda: ChainFinding(
                chain.latest(call.contract), chain.find(call, parent, self.traits.takes_parent)
            )
        )
        self._world.seen["found on the chain"] += found.block is not None
        return found

    async def close(self) -> None: ...

    async def _read(self, read: Callable[[], T]) -> T:
        self._lose("question lost")
        seen = read()
        await self._link.pause()
        return seen

    def _lose(self, what: str) -> None:
        world = self._world
        if world.chance(world.plan.lose):
            world.seen[what] += 1
            raise ChainUnreachable("the simulated host", "lost on the way")
