"""The JAM devnet on the event loop: timeslots by the clock, or only when it is told to.

It drives one model, and says when there may be something new to tell. What the model cannot follow
is refused to whoever asked for it.
"""

import asyncio
from collections.abc import Callable, Sequence
from typing import Final, Protocol, TypeAlias

from msgspec.structs import replace

from laneway.devnets.jam.model import JamModel
from laneway.devnets.jam.values import Descriptor, ModelSetup, StepReport

Kept: TypeAlias = Callable[[int, str, object], None]

STEP: Final = ""
"""In the place of a method: a timeslot passes by the clock."""


class Listener(Protocol):
    """A connection, as the host sees it."""

    def tell(self) -> None:
        """There may be something new."""

    def cut(self) -> None:
        """The chain that it was about is gone."""

    def open_count(self) -> int:
        """How many subscriptions it has."""


class JamHost:
    """Drives one model. `settle` must follow whatever changes that from outside."""

    def __init__(self, setup: ModelSetup, *, slot_ms: int) -> None:
        """`slot_ms` 0: a slot passes only when told to."""
        assert slot_ms >= 0
        self.slot_ms = slot_ms
        self.model = JamModel(setup)
        self.slot_next = self.model.slot + 1
        """The one that follows the newest block, on whatever fork that is."""
        self.opened_count = 0
        """Subscriptions that were ever opened on this chain; the newest has this number."""
        self.kept: Kept | None = None
        """Told of what changes the chain, before it does: a node, a method and its parameters."""
        self._listeners: dict[int, Listener] = {}
        self._timer: asyncio.TimerHandle | None = None

    # The clock.

    def start(self) -> None:
        if self.slot_ms > 0:
            loop = asyncio.get_running_loop()
            self._timer = loop.call_later(self.slot_ms / 1000, self._fire)

    def close(self) -> None:
        """Stop the clock; the chain stays as it is."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _fire(self) -> None:
        self.start()
        if self.kept is not None:
            self.kept(0, STEP, None)
        self.step()

    # What happens.

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
        """Begin at the genesis again, with the clock as it is; whoever is connected is cut off."""
        self.model = JamModel(replace(self.model.setup, finality_lag_blocks=finality_lag_blocks))
        self.slot_next = self.model.slot + 1
        self.opened_count = 0
        for listener in tuple(self._listeners.values()):
            listener.cut()

    # Who listens.

    def listen(self, listener: Listener) -> None:
        self._listeners[id(listener)] = listener

    def unlisten(self, listener: Listener) -> None:
        del self._listeners[id(listener)]

    def settle(self) -> None:
        """Tell what is new."""
        for listener in tuple(self._listeners.values()):
            listener.tell()

    def subscriptions(self) -> dict[str, int]:
        """How many are open, on all connections: none may be left behind."""
        return {
            "connections": len(self._listeners),
            "open": sum(listener.open_count() for listener in self._listeners.values()),
            "opened": self.opened_count,
        }
