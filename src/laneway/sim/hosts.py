"""The contract host of a world: the devnet's model, with everything that goes wrong on the way."""

from typing import TYPE_CHECKING, assert_never

import msgspec

from laneway.core.ids import LaneId
from laneway.core.outcome import Outcome
from laneway.devnets.contract.model import Fault, RoundEnded
from laneway.engine.contract import declined
from laneway.lanes.contract.values import (
    Effect,
    Event,
    Execute,
    ExecutionReturned,
    FindExecution,
    HeightRead,
    ReadHeight,
    SearchReturned,
)
from laneway.ports import ContractCall

if TYPE_CHECKING:
    from laneway.sim.contract_world import ContractWorld
    from laneway.sim.process import Process

decode_call = msgspec.msgpack.Decoder(ContractCall).decode

FAULTS = tuple(fault for fault in Fault if fault is not Fault.NONE)


class Host:
    """Answers what it is asked, sometimes; the chain remembers what really happened."""

    def __init__(self, world: "ContractWorld") -> None:
        self._world = world
        self._callers: dict[int, tuple[Process, LaneId, Execute]] = {}
        self._watched_ms: int | None = None
        self.travelling = 0
        """Executions on their way to the host: until they arrive, nobody may say they did not."""

    def perform(self, process: "Process", lane: LaneId, effect: Effect) -> None:
        world = self._world
        match effect:
            case Execute():
                self._execute(process, lane, effect)
            case ReadHeight(slot=slot, payload=payload):
                height: int | None = world.chain.latest(decode_call(payload).contract)
                if world.chance(world.plan.lose):
                    height = None
                process.answered(lane, HeightRead(world.now_ms, slot, height, "unreachable"))
            case FindExecution(slot=slot, attempt=attempt, payload=payload, parent=parent):
                call = decode_call(payload)
                exact = world.plan.settings.takes_parent
                latest: int | None = world.chain.latest(call.contract)
                block = world.chain.find(call, parent, exact)
                if world.chance(world.plan.lose):
                    latest = block = None
                elif block is not None:
                    world.seen["found on the chain"] += 1
                found = SearchReturned(world.now_ms, slot, attempt, latest, block)
                process.answered(lane, found)
            case _:
                assert_never(effect)

    def declined(self, effect: Effect, now_ms: int, reason: str) -> Event:
        return declined(effect, now_ms, reason)

    def _execute(self, process: "Process", lane: LaneId, effect: Execute) -> None:
        world = self._world
        for observer in world.observers:
            observer.leaving(process, lane, effect)
        if world.chance(world.plan.lose):
            world.seen["host unreachable"] += 1
            process.answered(lane, self._returned(effect, Outcome.REFUSED, reason="unreachable"))
            return
        self.travelling += 1
        # On the way it no longer belongs to the process: a kill does not call it back.
        world.after(world.delay(), "execute", lambda: self._arrive(process, lane, effect))

    def _arrive(self, process: "Process", lane: LaneId, effect: Execute) -> None:
        world = self._world
        self.travelling -= 1
        call = decode_call(effect.payload)
        fault = world.pick(FAULTS) if world.chance(world.plan.fault) else Fault.NONE
        parent = effect.parent if world.plan.settings.takes_parent else None
        if effect.attempt > 1:
            world.seen["second try"] += 1
        world.seen[f"fault:{fault.value}"] += 1
        world.note(f"{lane}: {call.data} begins on {parent} ({fault.value}), try {effect.attempt}")
        for round_ in world.chain.begin(call, parent, world.now_ms, fault):
            self._callers[round_] = (process, lane, effect)
        self._watch()
        # The performer gives up by itself at the deadline; that is an answer too.
        wait_ms = max(0, effect.deadline_ms - world.now_ms)
        world.after(wait_ms, "expired", lambda: self._expire(process, lane, effect), process)

    def _expire(self, process: "Process", lane: LaneId, effect: Execute) -> None:
        if effect not in (waiting[2] for waiting in self._callers.values()):
            return  # It was answered in time.
        reason = "no answer before its deadline"
        process.answered(lane, self._returned(effect, Outcome.UNKNOWN, reason=reason))

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
        if end.conflict:
            world.seen["conflict"] += 1
        if end.block is not None:
            block = world.chain.block(end.contract, end.block)
            world.note(f"contract:{end.contract}: {block.data} is block {end.block}")
        caller = self._callers.pop(end.round, None)
        if caller is None or not end.told or world.chance(world.plan.lose):
            return
        process, lane, effect = caller
        if end.block is not None:
            event = self._returned(effect, Outcome.ACCEPTED, block=end.block)
        elif end.conflict:
            event = self._returned(effect, Outcome.REFUSED, stale=True, reason="stale parent")
        elif end.refused is not None:
            event = self._returned(effect, Outcome.REFUSED, final=True, reason=end.refused)
        else:
            event = self._returned(effect, Outcome.REFUSED, reason="the consensus failed")
        process.answered(lane, event)

    def _returned(
        self,
        effect: Execute,
        outcome: Outcome,
        *,
        block: int | None = None,
        final: bool = False,
        stale: bool = False,
        reason: str = "",
    ) -> ExecutionReturned:
        return ExecutionReturned(
            self._world.now_ms, effect.slot, effect.attempt, outcome, block, final, stale, reason
        )
