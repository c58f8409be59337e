"""A world of Cosmos accounts: their machine, the chain model, and who uses them."""

from typing import Any

import msgspec

from laneway.core.ids import LaneId, Owner, lane_id
from laneway.core.rows import Command, Lease
from laneway.devnets.cosmos.model import CosmosChain
from laneway.lanes.sequence.machine import sequence_kind
from laneway.lanes.sequence.show import describe, read_head
from laneway.sim.clients import Callers, Wish
from laneway.sim.operator import Crew
from laneway.sim.sequence.calls import CHAIN_ID, Request, address_of, encode_request
from laneway.sim.sequence.nodes import Nodes
from laneway.sim.sequence.plan import NODES, CosmosPlan
from laneway.sim.sequence.sky import Sky
from laneway.sim.world import Observer, Shelf, World

KIND = "cosmos"

WAYS = (
    ("hopeless", 0.03),
    ("failing", 0.04),
    ("overspend", 0.08),
    ("brief", 0.05),
    ("too_large", 0.03),
    ("bad_blob", 0.02),
    ("unauthorized", 0.02),
    ("short_gas", 0.02),
    ("bad_coins", 0.02),
    ("blob", 0.10),
)
"""What callers want, beside transfers, and how often."""

NODE_SETS = (NODES[:2], NODES[:1], NODES[1:2])


class CosmosWorld(World):
    exact_timers = True
    plan: CosmosPlan
    host: Nodes
    client: "Payers"
    operator: "Keeper"

    def __init__(
        self, plan: CosmosPlan, shelf: Shelf, observers: "list[Observer] | None" = None
    ) -> None:
        super().__init__(plan, shelf, observers)
        self.settings = plan.settings
        self.kinds = {KIND: sequence_kind(plan.settings)}
        self.is_written = False
        """Whether the store may hold something that the laws have not read."""
        self.sky = Sky(self)
        self.chain: CosmosChain = self.sky.chain
        self.lanes = [
            lane_id(KIND, f"{CHAIN_ID}:{address_of(number)}") for number in range(plan.accounts)
        ]
        self._accounts = {lane: number for number, lane in enumerate(self.lanes)}
        self.host = Nodes(self)
        self.client = Payers(self)
        self.operator = Keeper(self)
        if plan.prompt:
            self.prompts = {KIND: self.host.sign_at_once}

    def account(self, lane: LaneId) -> int:
        return self._accounts[lane]

    def group(self, act: Any) -> Any:
        self.is_written = True
        return super().group(act)

    def fence(self, lane: LaneId) -> int:
        view = self.book.lane(lane)
        assert view is not None
        return view.head.fence

    def rewire(self, nodes: tuple[str, ...]) -> None:
        """The operator names other nodes, and starts anew."""
        self.seen["nodes rewired"] += 1
        self.note(f"the operator names the nodes {', '.join(nodes)}")
        self.settings = msgspec.structs.replace(self.settings, nodes=nodes)
        self.kinds = {KIND: sequence_kind(self.settings)}
        for process in self.processes:
            self.crash(process, "with other nodes")

    def is_at_rest(self, lane: LaneId) -> bool:
        """Whether the lane has no row left: no number in flight, and none in doubt."""
        view = self.book.lane(lane)
        if view is None:
            return True
        if view.head.wake_ms is not None:
            return False
        return not self.book.load(Lease(lane, view.head.owner or Owner(""), view.head.fence)).open


class Payers(Callers):
    """They want transfers and blobs: some that no signer makes, no node takes, or that fail."""

    _world: CosmosWorld

    def _wish(self, number: int) -> Wish:
        world = self._world
        lane = self._dice.choice(world.lanes)
        chosen, way = self._dice.random(), "send"
        for name, chance in WAYS:
            if 0 <= chosen < chance:
                way = name
            chosen -= chance
        data = f"d{number}"
        until = self._dice.randint(5, 40) if way == "brief" else 0
        priority = self._dice.randint(0, 3) if world.plan.priorities else 0
        return Wish(number, lane, data, encode_request(Request(data, way, until)), priority)

    def is_done(self) -> bool:
        return super().is_done() and all(map(self._world.is_at_rest, self._world.lanes))

    def waiting(self) -> list[str]:
        open_ = super().waiting()
        if open_ or not self.has_sent_all():
            return open_
        return [lane for lane in self._world.lanes if not self._world.is_at_rest(lane)]


class Keeper(Crew):
    """Who has the keys: also by another way than through the lanes."""

    _world: CosmosWorld

    def start(self) -> None:
        self._world.sky.start()
        self._world.after(300, "operator", self._act)
        self._world.after(250, "foreign", self._use)

    def _act(self) -> None:
        world = self._world
        if not world.faults:
            return
        world.after(300, "operator", self._act)
        if world.plan.rewired and world.chance(0.08):
            world.rewire(self._dice.choice(NODE_SETS))
        if (world.plan.poor or world.plan.absent) and world.chance(0.1):
            world.sky.pay()
        if not world.chance(world.plan.operator * 10):
            return
        lane = self._dice.choice(world.lanes)
        verbs = ("pause", "resume", "resume", "cancel", "cancel", "drain", "set-sequence", "dance")
        verb = self._dice.choice(verbs)
        if verb == "cancel":
            self._about(verb, world.client.wishes)
        elif verb == "drain":
            view = world.book.lane(lane)
            seq = 0 if view is None else view.tail.seq_next - 1
            word = self._dice.choice(("queue", "running"))
            self._tell(Command(0, lane, verb, world.now_ms, word=word, seq=seq))
        elif verb == "set-sequence":
            self._tell(Command(0, lane, verb, world.now_ms, word=self._number(lane)))
        else:
            self._tell(Command(0, lane, verb, world.now_ms))

    def _number(self, lane: LaneId) -> str:
        """What the chain says, or a number near it."""
        found = self._world.chain.account(self._world.sky.accounts[self._world.account(lane)])
        if found is None or self._dice.random() < 0.6:
            return ""
        return str(max(0, found.sequence + self._dice.randint(-1, 2)))

    def _use(self) -> None:
        world = self._world
        if not world.faults:
            return
        world.after(250, "foreign", self._use)
        if world.chance(world.plan.foreign):
            world.sky.use_foreign(self._dice.randrange(len(world.lanes)))

    def calm(self) -> None:
        self._world.sky.calm()
        self._world.after(500, "calm", self._calm)

    def _calm(self) -> None:
        world = self._world
        world.after(1_000, "calm", self._calm)
        for lane in world.lanes:
            view = world.book.lane(lane)
            if view is None:
                continue
            if describe(view.head.state).word in ("paused", "draining"):
                self._tell(Command(0, lane, "resume", world.now_ms))
            if read_head(view.head.state).floor:
                # What an operator left out only an operator takes up again.
                self._tell(Command(0, lane, "set-sequence", world.now_ms))
