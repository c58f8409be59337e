"""Bugs in the machines of a world, planted on purpose: they stop lanes, and people revive them.

One intent in three is cursed: no decision that is offered it survives, on any process and after
any crash, until it is put aside. Other decisions break once in a while and never again, as a bug
does that only one answer can set off.
"""

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from msgspec.structs import replace

from laneway.core.ids import IntentId, LaneId
from laneway.core.records import Decision
from laneway.core.rows import Command
from laneway.engine.faults import REVIVE
from laneway.lanes.kind import LaneKind

if TYPE_CHECKING:
    from laneway.sim.world import World

CURSED_EVERY: Final = 3
ONCE: Final = 0.01
"""Chance that a decision on an answer breaks."""
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
            row = view.intent
            told = replace(
                command, verb="cancel", intent=row.id, seq=row.seq, priority=row.priority,
                size=row.size(),
            )  # fmt: skip
            world.group(lambda book: book.tell(told))
            world.seen["put aside"] += 1
        world.note(f"operator: revive {lane}, without {offender}")
        world.group(lambda book: book.tell(command))
        for process in living:
            process.later("revive", partial(process.reactor.called, lane))
