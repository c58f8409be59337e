"""The JAM devnet on the event loop: timeslots by the clock, or only on command.

It drives one model. What the model cannot follow is refused to the client that asked for it.
"""

from collections.abc import Callable, Sequence
from typing import Final, TypeAlias

from msgspec.structs import replace

from laneway.devnets.jam.model.chain import JamModel
from laneway.devnets.jam.model.values import Descriptor, ModelSetup, StepReport
from laneway.devnets.node.host import DevnetHost

Kept: TypeAlias = Callable[[int, str, object], None]

STEP: Final = ""
"""In the place of a method: a timeslot passes by the clock."""


class JamHost(DevnetHost):
    def __init__(self, setup: ModelSetup, *, slot_ms: int) -> None:
        """`slot_ms` 0: a slot passes only on command."""
        super().__init__(slot_ms)
        self.model = JamModel(setup)
        self.slot_next = self.model.slot + 1
        """The one that follows the newest block, on whatever fork that is."""
        self.opened_count = 0
        """Subscriptions that were ever opened on this chain; the newest has this number."""
        self.kept: Kept | None = None
        """Notified of each change of the chain, before it: a node, a method and its parameters."""

    def keep(self, node: int, method: str, params: object) -> None:
        if self.kept is not None:
            self.kept(node, method, params)

    def tick(self) -> None:
        self.keep(0, STEP, None)
        self.step()

    def step(self, slot: int | None = None) -> StepReport:
        """One timeslot, the next one unless it is named."""
        done = self.model.step(self.model.slot + 1 if slot is None else slot)
        self.slot_next = done.slot + 1
        self.settle()
        return done

    def produce(
        self,
        slot: int | None = None,
        *,
        parent: Descriptor | None = None,
        variant: int = 0,
        withheld_cores: Sequence[int] = (),
        unassured_cores: Sequence[int] = (),
    ) -> StepReport:
        """A block, and the votes. Without a parent it is a timeslot, with all that may befall
        that; upon one that is named it is the best block then. There, a block that differs in
        nothing from one that there is already is that one: another `variant` makes another."""
        faults = self.model.faults
        withheld, unavailable = faults.withheld_cores, faults.unavailable_cores
        faults.withheld_cores = {*withheld, *withheld_cores}
        faults.unavailable_cores = {*unavailable, *unassured_cores}
        try:
            return self._produced(slot, parent, variant)
        finally:
            faults.withheld_cores, faults.unavailable_cores = withheld, unavailable

    def _produced(self, slot: int | None, parent: Descriptor | None, variant: int) -> StepReport:
        model = self.model
        if slot is None:
            slot = self.slot_next if parent is None else parent.slot + 1
        if parent is None and slot > model.slot:
            return self.step(slot)
        # On a fork a slot may come again that has passed on another one.
        above = None if parent is None else parent.header_hash
        done = model.produce(slot, parent=above, variant=variant)
        assert done.made is not None
        if any(model.best(node) != done.made for node in range(model.setup.nodes)):
            model.prefer(done.made.header_hash)
        self.slot_next = done.slot + 1
        return replace(done, finalised=self.vote())

    def vote(self) -> tuple[Descriptor, ...]:
        finalised = self.model.vote() if self.model.setup.is_voting else ()
        self.settle()
        return finalised

    def set_finality_lag(self, blocks: int) -> None:
        """How many blocks stand upon one that is voted for, from now on."""
        self.model.setup = replace(self.model.setup, finality_lag_blocks=blocks)

    def reset(self, finality_lag_blocks: int) -> None:
        """Begin at the genesis again, with the clock as it is; all clients are cut off."""
        self.model = JamModel(replace(self.model.setup, finality_lag_blocks=finality_lag_blocks))
        self.slot_next = self.model.slot + 1
        self.opened_count = 0
        for listener in tuple(self._listeners.values()):
            listener.cut()

    def subscriptions(self) -> dict[str, int]:
        """How many connections and subscriptions are open, and how many were ever opened."""
        return {
            "connections": len(self._listeners),
            "open": self.open_count(),
            "opened": self.opened_count,
        }
