"""A world of rollups: their machine, the chain model, and who uses them."""

from typing import Any

from laneway.core.ids import LaneId
from laneway.core.rows import Command
from laneway.engine.bundle.rollup import KIND, rollup_lane
from laneway.lanes.bundle.lane import BundleLane
from laneway.lanes.bundle.machine import bundle_kind
from laneway.lanes.bundle.show import describe
from laneway.sim.bundle.maker import SERVICE, Request, encode_request
from laneway.sim.bundle.nodes import Nodes
from laneway.sim.bundle.plan import RollupPlan
from laneway.sim.bundle.sky import Sky
from laneway.sim.clients import Callers, Wish
from laneway.sim.operator import Crew
from laneway.sim.process import Process
from laneway.sim.world import Observer, Shelf, World

WAYS = (("revert", 0.08), ("refuse", 0.06), ("later", 0.08))
"""What callers want, beside what is simply included, and how often."""

VERBS = ("pause", "resume", "resume", "cancel", "cancel", "drain", "dance")


class RollupWorld(World):
    exact_timers = True
    plan: RollupPlan
    host: Nodes
    client: "Senders"
    operator: "Keeper"

    def __init__(
        self, plan: RollupPlan, shelf: Shelf, observers: "list[Observer] | None" = None
    ) -> None:
        super().__init__(plan, shelf, observers)
        self.kinds = {KIND: bundle_kind(plan.settings)}
        self.is_written = False
        """Whether the store may hold something that the laws have not read."""
        self.sky = Sky(self)
        self.lanes = [rollup_lane(SERVICE)]
        self.host = Nodes(self)
        self.client = Senders(self)
        self.operator = Keeper(self)

    def group(self, act: Any) -> Any:
        self.is_written = True
        return super().group(act)

    def crash(self, process: Process, why: str) -> None:
        """What it had under way is worth counting."""
        for lane in self.lanes if process.alive else ():
            memory: BundleLane | None = process.reactor.lane(lane)
            if memory is None:
                continue
            versions = [one for some in memory.versions.values() for one in some]
            self.seen["crash while offering"] += any(one.offering for one in versions)
            self.seen["crash while building"] += any(one.making for one in memory.slots.values())
            self.seen["crash while telling"] += bool(memory.head.telling)
        super().crash(process, why)

    def is_at_rest(self, lane: LaneId) -> bool:
        """Whether nothing of it is open: no block, no transaction, no callback."""
        view = self.book.lane(lane)
        return view is None or view.head.wake_ms is None


class Senders(Callers):
    """They want transactions: some that fail in their block, some that no block takes."""

    _world: RollupWorld

    def _wish(self, number: int) -> Wish:
        world = self._world
        lane = self._dice.choice(world.lanes)
        chosen, way = self._dice.random(), "send"
        for name, chance in WAYS:
            if 0 <= chosen < chance:
                way = name
            chosen -= chance
        data = f"d{number}"
        priority = self._dice.randint(0, 3) if world.plan.priorities else 0
        return Wish(number, lane, data, encode_request(Request(data, way)), priority)

    def is_done(self) -> bool:
        return super().is_done() and all(map(self._world.is_at_rest, self._world.lanes))

    def waiting(self) -> list[str]:
        open_ = super().waiting()
        if open_ or not self.has_sent_all():
            return open_
        return [lane for lane in self._world.lanes if not self._world.is_at_rest(lane)]


class Keeper(Crew):
    """Who runs the rollup."""

    _world: RollupWorld

    def start(self) -> None:
        self._world.sky.start()
        self._world.after(300, "operator", self._act)

    def _act(self) -> None:
        world = self._world
        if not world.faults:
            return
        world.after(300, "operator", self._act)
        if not world.chance(world.plan.operator * 10):
            return
        lane = self._dice.choice(world.lanes)
        verb = self._dice.choice(
            ("pause", "resume", "resume", "cancel", "cancel", "drain", "dance")
        )
        if verb == "cancel":
            self._about(verb, world.client.wishes)
        elif verb == "drain":
            view = world.book.lane(lane)
            seq = 0 if view is None else view.tail.seq_next - 1
            word = self._dice.choice(("queue", "running"))
            self._tell(Command(0, lane, verb, world.now_ms, word=word, seq=seq))
        else:
            self._tell(Command(0, lane, verb, world.now_ms))

    def calm(self) -> None:
        self._world.sky.calm()
        self._world.after(500, "calm", self._calm)

    def _calm(self) -> None:
        world = self._world
        world.after(1_000, "calm", self._calm)
        for lane in world.lanes:
            view = world.book.lane(lane)
            word = "" if view is None else describe(view.head.state).word
            if word == "halted":
                world.seen["halted"] += 1
            if word in ("paused", "draining", "halted"):
                self._tell(Command(0, lane, "resume", world.now_ms))
