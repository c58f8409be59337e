"""A world of Cosmos accounts: their machine, the chain model, and who uses them."""

from collections.abc import Hashable, Sequence
from typing import Any

import msgspec

from laneway.core.ids import LaneId
from laneway.core.rows import Command, LaneView
from laneway.devnets.cosmos.model.chain import CosmosModel
from laneway.engine.sequence.account import KIND
from laneway.engine.sequence.drafts import encode_request
from laneway.lanes.sequence.machine import sequence_kind
from laneway.lanes.sequence.show import read_head
from laneway.lanes.sequence.values import OfferToNode
from laneway.sim.clients import Callers, Wish
from laneway.sim.operator import AccountCrew
from laneway.sim.process import Process
from laneway.sim.sequence.calls import GAS, MARKS, address_of, request_of
from laneway.sim.sequence.plan import NODES, CosmosPlan
from laneway.sim.sequence.port import CosmosGround
from laneway.sim.world import Disk, LawBroken, World

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


class CosmosWorld(CosmosGround, World):
    client: "CosmosCallers"
    operator: "CosmosCrew"

    def __init__(self, plan: CosmosPlan, disk: Disk) -> None:
        super().__init__(plan, disk)
        self.chain: CosmosModel = self.network.chain
        self._lane_of: dict[bytes, LaneId] = {}
        self._under_way: dict[Hashable, None] = {}
        """Offers that are not answered yet: of a process, of a lane, to a node, in one life."""
        self.client = CosmosCallers(self)
        self.operator = CosmosCrew(self)

    def leaving(self, process: Process, lane: LaneId, effect: Any) -> None:
        if isinstance(effect, OfferToNode):
            self.network.hashes.update(zip(effect.raws, effect.hashes, strict=True))
            self._lane_of.update(dict.fromkeys(effect.raws, lane))
        super().leaving(process, lane, effect)

    def sending(self, port: object, node: str, raws: Sequence[bytes]) -> Hashable:
        lane = self._lane_of[raws[0]]
        offer = (port, lane, node, self.fence(lane))
        self.ask_law(self._check_alone, offer)
        self._under_way[offer] = None
        return offer

    def _check_alone(self, offer: tuple[object, LaneId, str, int]) -> None:
        """A node gets one offer of a lane at a time."""
        if offer in self._under_way:
            raise LawBroken(f"in order: {offer[1]} makes two offers to {offer[2]} at once")

    def sent(self, offer: Hashable) -> None:
        del self._under_way[offer]

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


class CosmosCallers(Callers):
    """They want transfers and blobs: some that no signer makes, no node takes, or that fail."""

    _world: CosmosWorld

    def _wish(self, number: int) -> Wish:
        world = self._world
        lane = self._dice.choice(world.lanes)
        way = self._way(WAYS)
        data = f"{MARKS.get(way, '')}d{number}"
        until = self._dice.randint(5, 40) if way == "brief" else 0
        priority = self._dice.randint(0, 3) if world.plan.priorities else 0
        own = address_of(world.account(lane))
        request = request_of(own, data, way, until=until, gas=GAS if number % 3 else None)
        return Wish(number, lane, data, encode_request(request), priority)


class CosmosCrew(AccountCrew):
    """Who has the keys: also by another way than through the lanes."""

    _world: CosmosWorld
    verbs = ("pause", "resume", "resume", "cancel", "cancel", "drain", "set-sequence", "dance")

    def _act(self) -> None:
        world = self._world
        if world.plan.rewired and world.chance(0.08):
            world.rewire(self._dice.choice(NODE_SETS))
        if (world.plan.poor or world.plan.absent) and world.chance(0.1):
            world.network.pay()
        super()._act()

    def _give(self, verb: str, lane: LaneId) -> None:
        if verb == "set-sequence":
            word = self._number(lane)
            self._tell(Command(0, lane, verb, self._world.now_ms, word=word))
        else:
            super()._give(verb, lane)

    def _number(self, lane: LaneId) -> str:
        """What the chain says, or a number near it."""
        world = self._world
        found = world.chain.account(world.network.accounts[world.account(lane)])
        if found is None or self._dice.random() < 0.6:
            return ""
        return str(max(0, found.sequence + self._dice.randint(-1, 2)))

    def _help(self, lane: LaneId, view: LaneView) -> None:
        super()._help(lane, view)
        if read_head(view.head.state).floor:
            # What an operator left out only an operator takes up again.
            self._tell(Command(0, lane, "set-sequence", self._world.now_ms))
