"""A world of rollups: their machine, the chain model, and who uses them."""

from collections.abc import Iterator

from laneway.core.ids import LaneId, lane_kind
from laneway.core.reason import BEFORE_REMEDY
from laneway.core.rows import LaneView
from laneway.lanes.bundle.blocks import RESUME
from laneway.lanes.bundle.lane import BundleLane
from laneway.lanes.bundle.show import read_head, stuck
from laneway.sim.bundle.copies import StoreCopies
from laneway.sim.bundle.maker import PoolRequest, encode_request
from laneway.sim.bundle.plan import RollupPlan
from laneway.sim.bundle.port import JamGround
from laneway.sim.bundle.stranger import SecondDeployment, Stranger
from laneway.sim.clients import Callers, Wish
from laneway.sim.disks import MemoryDisk
from laneway.sim.operator import Crew
from laneway.sim.process import Process
from laneway.sim.world import Disk, LawBroken, World

WAYS = (
    ("revert", 0.08), ("refuse", 0.06), ("later", 0.08), ("poison", 0.03), ("unpackable", 0.02),
)  # fmt: skip
"""What callers want, beside what is simply included, and how often."""


class RollupWorld(JamGround, World):
    client: "RollupCallers"
    operator: "RollupCrew"

    def __init__(self, plan: RollupPlan, disk: Disk) -> None:
        super().__init__(plan, disk)
        self.client = RollupCallers(self)
        self.operator = RollupCrew(self)
        self.stranger = Stranger(self)
        self.copies = StoreCopies(self)
        self.second = SecondDeployment(self) if plan.faults.second else None

    def pass_slot(self, slot: int) -> None:
        if self.second is not None:
            self.second.pass_slot(slot)

    def befall(self) -> None:
        if self.network.is_hit(self.plan.faults.stranger):
            self.stranger.act()
        if self.plan.faults.restore and isinstance(self.disk, MemoryDisk):
            self.copies.act()

    def held(self, process: Process) -> Iterator[BundleLane]:
        """The lanes that a process has in memory."""
        for lane in self.lanes if process.alive else ():
            memory: BundleLane | None = process.reactor.lane(lane)
            if memory is not None:
                yield memory

    def is_offering(self) -> bool:
        held = [memory for process in self.processes for memory in self.held(process)]
        return any(map(has_offer, held))

    def crash(self, process: Process, why: str) -> None:
        """What it had under way is worth counting."""
        for memory in self.held(process):
            self.seen["crash while offering"] += has_offer(memory)
            self.seen["crash while building"] += any(one.making for one in memory.slots.values())
            self.seen["crash while telling"] += bool(memory.head.telling)
        super().crash(process, why)

    def is_at_rest(self, lane: LaneId) -> bool:
        """Whether nothing of it is open: no block, no transaction, no callback."""
        view = self.book.lane(lane)
        return view is None or view.head.wake_ms is None


HELP_MS = 30_000
"""How long it may take operators to bring what a builder lacks."""


def has_offer(lane: BundleLane) -> bool:
    """Whether a version of one of its blocks is being submitted."""
    return any(one.offering for some in lane.versions.values() for one in some)


class RollupCallers(Callers):
    """They want transactions: some that fail in their block, some that no block takes."""

    _world: RollupWorld

    def __init__(self, world: RollupWorld) -> None:
        super().__init__(world)
        if world.plan.faults.restore:
            # What a copy does not know of may have had its effect when its time is over.
            self.limited, self.limited_ms_max = 0.4, 4_000

    def _wish(self, number: int) -> Wish:
        world = self._world
        lane = self._dice.choice(world.lanes)
        way = self._way(WAYS)
        data = f"d{number}"
        priority = self._dice.randint(0, 3) if world.plan.priorities else 0
        return Wish(number, lane, data, encode_request(PoolRequest(data, way)), priority)


class RollupCrew(Crew):
    """Who runs the rollup."""

    _world: RollupWorld
    verbs = ("pause", "resume", "resume", "cancel", "cancel", "drain", "dance")
    resumed = ("paused", "draining", "halted")

    def __init__(self, world: RollupWorld) -> None:
        super().__init__(world)
        self._takes_ms = world.shop.dice.choice((0, 0, HELP_MS))
        self._begun_ms = 0
        """When they began to do what the builder needs; 0: they do nothing."""

    def _help(self, lane: LaneId, view: LaneView) -> None:
        state = self._world.kinds[lane_kind(lane)].describe(view.head.state)
        if state.word == "halted":
            self._world.seen["halted"] += 1
            if BEFORE_REMEDY.decode() not in state.reason or not state.reason.endswith(RESUME):
                raise LawBroken(f"{lane} halted, and nobody knows what to do: {state.reason}")
        self._mend(state.reason, view.head.state)
        super()._help(lane, view)

    def _mend(self, halted: str, head: bytes) -> None:
        """Do what the builder needs, if the lane says what that is: by its state, or by the reason
        why no block is built, which its health shows."""
        world = self._world
        remedy = world.shop.remedy
        if not remedy or (remedy not in halted and remedy not in stuck(read_head(head))):
            return
        self._begun_ms = self._begun_ms or world.now_ms
        if world.now_ms - self._begun_ms >= self._takes_ms:
            self._begun_ms = 0
            world.seen["builder mended"] += 1
            world.note(f"operator: {remedy}")
            world.shop.mend()
