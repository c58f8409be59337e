"""A world of contract lanes: their machine, the contract devnet's model, and who uses them."""

from typing import Any

import msgspec

from laneway.core.ids import IntentId, LaneId, lane_key
from laneway.core.rows import Command, LaneView
from laneway.devnets.contract.model import ContractChain
from laneway.lanes.contract.values import Execute
from laneway.ports import ContractCall
from laneway.sim.clients import Callers, Wish
from laneway.sim.contract.host import ContractGround
from laneway.sim.contract.plan import ContractPlan
from laneway.sim.operator import Crew
from laneway.sim.world import Disk, World

encode = msgspec.msgpack.Encoder().encode


class ContractWorld(ContractGround, World):
    performers_break = True
    client: "ContractCallers"
    operator: "ContractCrew"

    def __init__(self, plan: ContractPlan, disk: Disk) -> None:
        super().__init__(plan, disk)
        self.chain = ContractChain(round_ms=plan.round_ms, slow_factor=6, refuses=refuses)
        self.client = ContractCallers(self)
        self.operator = ContractCrew(self)

    def executed(self, effect: Any) -> bytes | None:
        return effect.payload if isinstance(effect, Execute) else None


def refuses(call: ContractCall) -> str | None:
    """The contract's own rule in every world: data that begin with a bang are refused."""
    return "the contract refuses it" if call.data.startswith("!") else None


class ContractCallers(Callers):
    """They want executions, of which their contract refuses some."""

    def __init__(self, world: ContractWorld) -> None:
        self._settings = settings = world.plan.settings
        super().__init__(world)
        self.fast_size = settings.fast_size
        self.count_max = settings.count_max if settings.limit_policy == "reject" else None

    def _wish(self, number: int) -> Wish:
        lane = self._dice.choice(self._world.lanes)
        refused = "!" if self._dice.random() < 0.1 else ""
        priority = self._dice.randint(0, 3) if self._settings.priorities else 0
        data = f"{refused}d{number}"
        call = ContractCall(lane_key(lane), "did:sim", data)
        return Wish(number, lane, data, encode(call), priority)


class ContractCrew(Crew):
    """Also the other writers, who put blocks of their own on a contract's chain."""

    _world: ContractWorld

    verbs = ("pause", "resume", "drain", "cancel")

    def start(self) -> None:
        super().start()
        self._repeat(200, "foreign", self._write)

    def _write(self) -> None:
        world = self._world
        if world.chance(world.plan.foreign):
            lane = self._dice.choice(world.lanes)
            world.rounds.write_foreign(lane_key(lane), f"foreign{world.steps}")

    def _help(self, lane: LaneId, view: LaneView) -> None:
        """Resume what was paused, and settle what is halted, truthfully."""
        super()._help(lane, view)
        if self._state(lane, view) == "halted":
            self._world.seen["halted"] += 1
            self._settle(lane)

    def _settle(self, lane: LaneId) -> None:
        """Look at the chain, and say what is there; only when nothing is under way any more."""
        world = self._world
        if world.rounds.travelling or world.chain.running(lane_key(lane)):
            return
        for intent, wish in world.client.by_intent.items():
            view = world.book.intent(intent)
            if wish.lane != lane or view is None or not view.open or view.result is not None:
                continue
            done = any(b.data == wish.data for b in world.chain.history(lane_key(lane)))
            word = "executed" if done else "not_executed"
            self._tell(self._settling(lane, intent, word))
            self._tell(self._settling(lane, intent, "skip"))

    def _settling(self, lane: LaneId, intent: IntentId, word: str) -> Command:
        return Command(
            0, lane, "settle", self._world.now_ms, "looked at the chain", "sim", intent, word=word
        )
