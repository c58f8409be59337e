"""The people of a world: they pause, drain, cancel, and settle what only a person can know."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from laneway.core.ids import LaneId, lane_kind
from laneway.core.rows import Command, LaneView

if TYPE_CHECKING:
    from laneway.sim.world import World


class Crew:
    """The operators of a world: they leave commands in the mailboxes of lanes."""

    verbs: tuple[str, ...] = ()
    """What they command while there are faults."""
    resumed: tuple[str, ...] = ("paused", "draining")
    """The states from which they resume a lane once the faults are over."""

    def __init__(self, world: "World") -> None:
        self._world = world
        self._dice = world.plan.rng("operator")

    def start(self) -> None:
        self._repeat(300, "operator", self._act)

    def _repeat(self, every_ms: int, label: str, act: Callable[[], None]) -> None:
        """Again and again, while there are faults."""
        world = self._world

        def again() -> None:
            if world.is_faulty:
                world.after(every_ms, label, again)
                act()

        world.after(every_ms, label, again)

    def _act(self) -> None:
        world = self._world
        if world.chance(world.plan.operator * 10):
            self._give(self._dice.choice(self.verbs), self._dice.choice(world.lanes))

    def _give(self, verb: str, lane: LaneId) -> None:
        """One command, to this lane or about an intent."""
        world = self._world
        if verb in ("cancel", "bump"):
            self._about(verb)
        elif verb == "drain":
            view = world.book.lane(lane)
            seq = 0 if view is None else view.tail.seq_next - 1
            word = self._dice.choice(("queue", "running"))
            self._tell(Command(0, lane, verb, world.now_ms, word=word, seq=seq))
        else:
            self._tell(Command(0, lane, verb, world.now_ms))

    def calm(self) -> None:
        """The faults are over: look after lanes that wait for people."""
        self._world.after(500, "calm", self._calm)

    def _calm(self) -> None:
        world = self._world
        world.after(1_000, "calm", self._calm)
        for lane in world.lanes:
            view = world.book.lane(lane)
            if view is not None:
                self._help(lane, view)

    def _help(self, lane: LaneId, view: LaneView) -> None:
        """Resume what people paused, and do what only they can do."""
        if self._state(lane, view) in self.resumed:
            self._tell(Command(0, lane, "resume", self._world.now_ms))

    def _state(self, lane: LaneId, view: LaneView) -> str:
        return self._world.kinds[lane_kind(lane)].describe(view.head.state).word

    def _about(self, verb: str) -> None:
        """A command about one of the intents that were accepted."""
        wishes = [wish for wish in self._world.client.wishes if wish.acked is not None]
        if not wishes:
            return
        wish = self._dice.choice(wishes)
        assert wish.acked is not None
        view = self._world.book.intent(wish.acked)
        assert view is not None
        row = view.intent
        place: dict[str, Any] = {"seq": row.seq, "priority": row.priority, "size": row.size()}
        self._tell(Command(0, wish.lane, verb, self._world.now_ms, intent=row.id, **place))

    def _tell(self, command: Command) -> None:
        world = self._world
        living = world.living()
        if not living:
            return
        world.seen[f"operator:{command.verb}"] += 1
        world.note(f"operator: {command.verb} {command.word} {command.lane}")
        world.group(lambda book: book.tell(command))
        living[-1].reactor.called(command.lane)
        living[-1].pump_soon()
        world.wake_others(living[-1], lambda p: p.reactor.called(command.lane))


class AccountCrew(Crew):
    """Operators of accounts whose keys others have as well, and use past the lanes."""

    def start(self) -> None:
        super().start()
        self._repeat(250, "foreign", self._use)

    def _use(self) -> None:
        world: Any = self._world
        if world.chance(world.plan.foreign):
            world.network.use_foreign(self._dice.randrange(len(world.lanes)))
