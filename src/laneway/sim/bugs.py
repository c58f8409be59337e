"""Bugs in the machines of a world, planted on purpose: they stop lanes, and people revive them.

One intent in three is cursed: no decision that is offered it survives, on any process and after
any crash, until it is put aside. Other decisions break once in a while and never again, as a bug
does that only one answer can set off. Of contract lanes the performers break too: always at the
execution of some intents, before or after it was sent, and once in a while at anything.
"""

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from msgspec.structs import replace

from laneway.core.ids import IntentId, LaneId, is_contract
from laneway.core.records import Decision
from laneway.core.rows import Command
from laneway.engine.faults import REVIVE, put_aside
from laneway.engine.orders import Perform
from laneway.lanes.contract.values import Execute
from laneway.lanes.kind import LaneKind
from laneway.stores.book import Book

if TYPE_CHECKING:
    from laneway.sim.process import Process
    from laneway.sim.world import World

CURSED_EVERY: Final = 3
HEXED_EVERY: Final = 4
HEXED: Final = 1
"""Of each so many intents, the one whose execution no performer survives."""
ONCE: Final = 0.01
"""Chance that a decision on an answer, or a performer, breaks."""
REVIVE_MS_MAX: Final = 1_500
"""How long it takes people to see that a lane was stopped."""


class PlannedBug(Exception):
    """What a planted bug raises."""


class Bugs:
    def __init__(self, world: "World") -> None:
        self._world = world
        self._dice = world.plan.rng("bugs")
        world.bugs = self
        world.kinds = self._planted(world.kinds)

    def _planted(self, kinds: Mapping[str, LaneKind]) -> dict[str, LaneKind]:
        return {
            name: replace(kind, decide=partial(self._decide, kind.decide))
            for name, kind in kinds.items()
        }

    def _decide(
        self, decide: Callable[[Any, Any], Decision[Any, Any]], lane: Any, event: Any
    ) -> Decision[Any, Any]:
        world = self._world
        for row in getattr(event, "intents", ()):
            if world.is_wish_cursed(row.id, CURSED_EVERY):
                world.seen["bug:cursed"] += 1
                raise PlannedBug(f"{row.id} is cursed")
        is_answer = not hasattr(event, "intents") and not hasattr(event, "command")
        if is_answer and world.faults and self._dice.random() < ONCE:
            world.seen["bug:once"] += 1
            raise PlannedBug(f"{type(event).__name__}, once")
        return decide(lane, event)

    def met(self, process: "Process", order: Perform) -> PlannedBug | None:
        """The bug that a contract's performer meets in this effect, if any; what it did before that
        is done."""
        world, effect = self._world, order.effect
        if not is_contract(order.lane):
            return None
        if isinstance(effect, Execute) and (number := self._hexed(effect.payload)) is not None:
            world.seen["bug:hexed"] += 1
            bug, is_sent = PlannedBug(f"execution {number} is cursed"), number % 2 == 0
        elif world.faults and self._dice.random() < ONCE:
            world.seen["bug:performer once"] += 1
            bug, is_sent = PlannedBug(f"{type(effect).__name__}, once"), self._dice.random() < 0.5
        else:
            return None
        if is_sent:
            world.host.perform(process, order.lane, effect)
        return bug

    def _hexed(self, payload: bytes) -> int | None:
        """Which of the cursed executions this is, counted; every other one is sent before it
        breaks."""
        for wish in self._world.client.by_intent.values():
            if wish.payload == payload and wish.number % HEXED_EVERY == HEXED:
                return wish.number // HEXED_EVERY
        return None

    def stopped(self, lane: LaneId, intents: tuple[IntentId, ...], error: PlannedBug) -> None:
        world = self._world
        world.seen["lane stopped"] += 1
        world.note(f"{lane} was stopped by a bug: {error}")
        wait_ms = self._dice.randint(1, REVIVE_MS_MAX)
        offender = intents[0] if len(intents) == 1 else None
        world.after(wait_ms, REVIVE, lambda: self._revive(lane, offender))

    def _revive(self, lane: LaneId, offender: IntentId | None) -> None:
        world = self._world
        living = [p for p in world.processes if p.alive and p.frozen_until_ms <= world.now_ms]
        if not living:
            world.after(100, REVIVE, lambda: self._revive(lane, offender))
            return
        view = None if offender is None else world.book.intent(offender)
        command = Command(0, lane, REVIVE, world.now_ms, "looked at it", "sim")
        if view is not None and view.result is None:
            for told in put_aside(view.intent, world.now_ms, "looked at it", "sim"):
                world.group(partial(told_to, told))
            world.seen["put aside"] += 1
        world.note(f"operator: revive {lane}, without {offender}")
        world.group(lambda book: book.tell(command))
        for process in living:
            process.later("revive", partial(process.reactor.called, lane))


def told_to(command: Command, book: Book) -> Command:
    return book.tell(command)
