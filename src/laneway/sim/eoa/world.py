"""A world of account lanes: their machine, the EVM chain model, and who uses them."""

from collections.abc import Callable
from typing import Any

import msgspec
from msgspec import Struct

from laneway.core.ids import LaneId
from laneway.core.units import amount
from laneway.evm.envelope import decode
from laneway.evm.keccak import keccak
from laneway.lanes.eoa.machine import eoa_kind
from laneway.lanes.eoa.values import SendAttempt
from laneway.ports import EvmRequest
from laneway.sim.clients import Callers, Wish
from laneway.sim.eoa.calls import SHOP, WALL, encode_request
from laneway.sim.eoa.network import RICH_WEI, data_of
from laneway.sim.eoa.plan import GAS, SIZE_BYTES_MAX, EoaPlan
from laneway.sim.eoa.port import POISON, EvmGround
from laneway.sim.operator import AccountCrew
from laneway.sim.process import Process
from laneway.sim.world import Disk, World

PARKED_MS_MAX = 30_000
"""A number that waits longer than this without faults waits for a person, if a cap parked it."""


class SentBytes(Struct, frozen=True):
    """What was sent once, for the laws: whose bytes a hash is."""

    lane: LaneId
    nonce: int
    slot: int
    data: str
    """Empty for a no-op."""


class EoaWorld(EvmGround, World):
    client: "EoaCallers"
    operator: "EoaCrew"

    def __init__(self, plan: EoaPlan, disk: Disk) -> None:
        super().__init__(plan, disk)
        self.made: dict[bytes, SentBytes] = {}
        """All that a performer was ever ordered to send."""
        self.check_sending: Callable[[bytes], None] = lambda _: None
        """A law that is asked when bytes leave, by their hash."""
        self.client = EoaCallers(self)
        self.operator = EoaCrew(self)

    def leaving(self, process: Process, lane: LaneId, effect: Any) -> None:
        if isinstance(effect, SendAttempt):
            digest = keccak(effect.raw)
            known = self.made.get(digest)
            # The same bytes are made again where an intent gets back the number that it had.
            if known is None or known.slot != effect.slot:
                tx = decode(effect.raw)
                self.made[digest] = SentBytes(lane, tx.nonce, effect.slot, data_of(tx))
        super().leaving(process, lane, effect)

    def sending(self, raw: bytes) -> None:
        self.ask_law(self.check_sending, keccak(raw))

    def named(self, digest: bytes) -> tuple[str, str]:
        made = self.made[digest]
        whose = f"{made.data or 'a no-op'} of a{self.account(made.lane)}/{made.nonce}"
        return made.data, whose

    def raise_caps(self) -> None:
        """An operator sees that numbers are parked, raises the caps, and starts anew."""
        self.seen["caps raised"] += 1
        self.note("the operator raises the caps")
        uncapped = msgspec.structs.replace(
            self.plan.settings, fee_wei_max=None, cost_wei_max=None, spend_wei_max=None
        )
        self.kinds = {"evm": eoa_kind(uncapped)}
        for process in self.processes:
            self.crash(process, "with new caps")


class EoaCallers(Callers):
    """They want transfers: some that no signer makes, some that revert, some that are too large."""

    limited = 0.15
    limited_ms_max = 1_500

    _world: EoaWorld

    def _wish(self, number: int) -> Wish:
        lane = self._dice.choice(self._world.lanes)
        chosen = self._dice.random()
        data = f"d{number}"
        if chosen < 0.07:
            data = f"!{data}" if chosen < 0.035 else f"@@{data}"
        elif 0.18 <= chosen < 0.22:
            data = f"{POISON}{data}"
        to = WALL if 0.07 <= chosen < 0.14 else SHOP
        # Where anyone may take a free number, several are free at once.
        large = 0.4 if self._world.plan.settings.recycled == "any" else 0.18
        padding = " " * SIZE_BYTES_MAX if 0.14 <= chosen < large else ""
        # A caller who names the gas gets no estimate that says it reverts.
        is_named = self._world.plan.prompt and data[0] not in "!@" and number % 3
        gas = GAS if is_named else None
        call = EvmRequest(to, amount(number), (data + padding).encode(), gas)
        return Wish(number, lane, data, encode_request(call))


class EoaCrew(AccountCrew):
    """Who has the keys: also by another way than through the lanes."""

    _world: EoaWorld
    verbs = ("pause", "resume", "cancel", "cancel", "bump", "reset-nonce", "pay")
    _calm_ms: int | None = None
    """Since when nothing goes wrong any more; None once it was asked why not all is done."""

    def start(self) -> None:
        world = self._world
        super().start()
        if world.plan.poor and world.plan.seed % 2:
            world.after(self._dice.randint(500, 3_000), "deposit", world.network.deposit)

    def _give(self, verb: str, lane: LaneId) -> None:
        view = self._world.book.lane(lane)
        is_halted = view is not None and self._state(lane, view) == "halted"
        if verb == "pay":
            self._world.network.pay(RICH_WEI)
        elif verb != "reset-nonce" or not is_halted:  # The reason says that a node may lie.
            super()._give(verb, lane)

    def calm(self) -> None:
        self._calm_ms = self._world.now_ms
        super().calm()

    def _calm(self) -> None:
        world = self._world
        if self._calm_ms is not None and world.now_ms - self._calm_ms > PARKED_MS_MAX:
            self._calm_ms = None
            world.raise_caps()
        super()._calm()
