"""Bugs in the machines of a world, planted on purpose: they stop lanes, and people revive them.

One intent in three is cursed: no decision that is offered it survives, on any process and after
any crash, until it is put aside. Other decisions break once in a while and never again, as a bug
does that only one answer can set off. In some kinds of worlds the performers break too: always at
the execution of some intents, before or after it was sent, and once in a while at anything.
"""

from collections.abc import Callable, Mapping
from functools import partial
from operator import methodcaller
from typing import TYPE_CHECKING, Any, Final

from msgspec.structs import replace

from laneway.core.ids import IntentId, LaneId
from laneway.core.records import Decision
from laneway.core.rows import Command
from laneway.engine.faults import REVIVE, put_aside
from laneway.engine.orders import Perform
from laneway.lanes.kind import LaneKind

if TYPE_CHECKING:
    from laneway.sim.world import World

CURSED_EVERY: Final = 3
HEXED_EVERY: Final = 4
HEXED: Final = 1
"""The one of every `HEXED_EVERY` intents whose execution no performer survives."""
ONCE: Final = 0.01
"""Chance that a decision on an answer, or a performer, breaks."""
REVIVE_MS_MAX: Final = 1_500
"""How long it takes people to see that a lane was stopped."""

BUGS_SEEN: Final = ("bug:cursed", "bug:once", "lane stopped", "put aside", "lane revived")
PERFORMERS_SEEN: Final = ("bug:hexed", "bug:performer once", "execution put aside")
"""What many worlds with bugs must have met, and those whose performers break."""


class PlannedBug(Exception):
    """What a planted bug raises."""

    def __init__(self, message: str, *, is_sent: bool = False) -> None:
        super().__init__(message)
        self.is_sent = is_sent
        """Whether the performer did what it was asked for before it broke."""


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
        if is_answer and world.is_faulty and self._dice.random() < ONCE:
            world.seen["bug:once"] += 1
            raise PlannedBug(f"{type(event).__name__}, once")
        return decide(lane, event)

    def met(self, order: Perform) -> PlannedBug | None:
        """The bug that a performer meets in this effect, if any."""
        world, effect = self._world, order.effect
        if not world.performers_break:
            return None
        payload = world.executed(effect)
        if payload is not None and (number := self._hexed(payload)) is not None:
            world.seen["bug:hexed"] += 1
            return PlannedBug(f"execution {number} is cursed", is_sent=number % 2 == 0)
        if world.is_faulty and self._dice.random() < ONCE:
            world.seen["bug:performer once"] += 1
            is_sent = self._dice.random() < 0.5
            return PlannedBug(f"{type(effect).__name__}, once", is_sent=is_sent)
        return None

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
        living = world.living()
        if not living:
            world.after(100, REVIVE, lambda: self._revive(lane, offender))
            return
        view = None if offender is None else world.book.intent(offender)
        command = Command(0, lane, REVIVE, world.now_ms, "looked at it", "sim")
        if view is not None and view.result is None:
            verbs = living[0].reactor.kind(lane).aside_verbs
            for aside in put_aside(view.intent, verbs, world.now_ms, "looked at it", "sim"):
                world.group(methodcaller("tell", aside))
            world.seen["put aside"] += 1
        world.note(f"operator: revive {lane}, without {offender}")
        world.group(methodcaller("tell", command))
        for process in living:
            process.later("revive", partial(process.reactor.called, lane))
