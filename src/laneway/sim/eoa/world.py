"""A world of account lanes: their machine, the EVM chain model, and who uses them."""

import msgspec

from laneway.core.ids import LaneId, Owner, lane_id
from laneway.core.rows import Command, Lease
from laneway.core.units import amount
from laneway.devnets.evm.model import EvmChain
from laneway.lanes.eoa.machine import eoa_kind
from laneway.lanes.eoa.show import describe
from laneway.lanes.eoa.values import HeadSeen
from laneway.ports import EvmRequest
from laneway.sim.clients import Callers, Wish
from laneway.sim.eoa.calls import CHAIN_ID, SHOP, WALL, encode_request
from laneway.sim.eoa.nodes import POISON, Nodes
from laneway.sim.eoa.plan import SIZE_BYTES_MAX, EoaPlan
from laneway.sim.eoa.sky import RICH_WEI, Sky
from laneway.sim.eoa.witnesses import Witnesses
from laneway.sim.operator import Crew
from laneway.sim.world import Observer, Shelf, World

PARKED_MS_MAX = 30_000
"""What waits so long in calm weather waits for a person, if it is parked by a cap."""


class EoaWorld(World):
    exact_timers = True
    plan: EoaPlan
    host: Nodes
    client: "Payers"
    operator: "Keeper"

    def __init__(
        self, plan: EoaPlan, shelf: Shelf, observers: "list[Observer] | None" = None
    ) -> None:
        super().__init__(plan, shelf, observers)
        self.kinds = {"evm": eoa_kind(plan.settings)}
        self.sky = Sky(self)
        self.chain: EvmChain = self.sky.chain
        self.witnesses = Witnesses(self, self.sky)
        self.lanes = [
            lane_id("evm", f"{CHAIN_ID}:0x{address.hex()}") for address in self.sky.accounts
        ]
        self._accounts = {lane: number for number, lane in enumerate(self.lanes)}
        self.host = Nodes(self)
        self.client = Payers(self)
        self.operator = Keeper(self)
        if plan.prompt:
            self.prompts = {"evm": self.host.sign_at_once}

    def account(self, lane: LaneId) -> int:
        return self._accounts[lane]

    def heard(self) -> None:
        """A new block is looked into before the next poll."""
        for process in self.processes:
            for lane in self.lanes:
                if process.alive and process.reactor.holds(lane):
                    process.answered(lane, HeadSeen(self.now_ms))

    def raise_caps(self) -> None:
        """Whoever set the caps sees that numbers are parked, allows more, and starts anew."""
        self.seen["caps raised"] += 1
        self.note("the operator raises the caps")
        uncapped = msgspec.structs.replace(
            self.plan.settings, fee_wei_max=None, cost_wei_max=None, spend_wei_max=None
        )
        self.kinds = {"evm": eoa_kind(uncapped)}
        for process in self.processes:
            self.crash(process, "with new caps")

    def is_at_rest(self, lane: LaneId) -> bool:
        """Whether the lane has no row left: no number in flight, none free, none returned."""
        view = self.book.lane(lane)
        if view is None:
            return True
        if view.head.wake_ms is not None:
            return False
        return not self.book.load(Lease(lane, view.head.owner or Owner(""), view.head.fence)).open


class Payers(Callers):
    """They want transfers: some that no signer makes, some that revert, some that are too large."""

    limited = 0.15
    limited_ms_max = 1_500

    _world: EoaWorld

    def _wish(self, number: int) -> Wish:
        lane = self._dice.choice(self._world.lanes)
        chosen = self._dice.random()
        data = f"d{number}"
        if chosen < 0.07:
            data = f"!{data}" if chosen < 0.035 else f"!{data}!"
        elif 0.18 <= chosen < 0.22:
            data = f"{POISON.decode()}{data}"
        to = WALL if 0.07 <= chosen < 0.14 else SHOP
        # Where anyone may take a free number, several are free at once.
        large = 0.4 if self._world.plan.settings.recycled == "any" else 0.18
        padding = " " * SIZE_BYTES_MAX if 0.14 <= chosen < large else ""
        call = EvmRequest(to, amount(number), (data + padding).encode())
        return Wish(number, lane, data, encode_request(call))

    def is_done(self) -> bool:
        return super().is_done() and all(map(self._world.is_at_rest, self._world.lanes))

    def waiting(self) -> list[str]:
        open_ = super().waiting()
        if open_ or not self.has_sent_all():
            return open_
        return [lane for lane in self._world.lanes if not self._world.is_at_rest(lane)]


class Keeper(Crew):
    """Who has the keys: also by another way than through the lanes."""

    _world: EoaWorld
    _calm_ms: int | None = None
    """Since when nothing goes wrong any more; None once it was asked why not all is done."""

    def start(self) -> None:
        self._world.sky.start()
        self._world.after(300, "operator", self._act)
        self._world.after(250, "foreign", self._use)
        if self._world.plan.poor and self._world.plan.seed % 2:
            self._world.after(self._dice.randint(500, 3_000), "deposit", self._world.sky.deposit)

    def _act(self) -> None:
        world = self._world
        if not world.faults:
            return
        world.after(300, "operator", self._act)
        if not world.chance(world.plan.operator * 10):
            return
        lane = self._dice.choice(world.lanes)
        verbs = ("pause", "resume", "cancel", "cancel", "bump", "reset-nonce", "pay")
        verb = self._dice.choice(verbs)
        if verb in ("cancel", "bump"):
            self._about(verb, world.client.wishes)
        elif verb == "pay":
            world.sky.pay(RICH_WEI)
        else:
            view = world.book.lane(lane)
            is_halted = view is not None and describe(view.head.state).word == "halted"
            if verb == "reset-nonce" and is_halted:
                return  # The reason says that a node may lie.
            self._tell(Command(0, lane, verb, world.now_ms))

    def _use(self) -> None:
        world = self._world
        if not world.faults:
            return
        world.after(250, "foreign", self._use)
        if world.chance(world.plan.foreign):
            world.sky.use_foreign(self._dice.randrange(len(world.lanes)))

    def calm(self) -> None:
        self._calm_ms = self._world.now_ms
        self._world.sky.calm()
        self._world.after(500, "calm", self._calm)

    def _calm(self) -> None:
        world = self._world
        world.after(1_000, "calm", self._calm)
        if self._calm_ms is not None and world.now_ms - self._calm_ms > PARKED_MS_MAX:
            self._calm_ms = None
            world.raise_caps()
        for lane in world.lanes:
            view = world.book.lane(lane)
            if view is not None and describe(view.head.state).word == "paused":
                self._tell(Command(0, lane, "resume", world.now_ms))
