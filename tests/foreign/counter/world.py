"""Worlds of counter lanes for the simulator: plan, faults, laws."""

from collections.abc import Sequence
from functools import partial
from random import Random

from tests.foreign.counter.chain import AMOUNT_MAX, Answer, Counters, Entry
from tests.foreign.counter.machine import (
    CounterLane,
    CounterSettings,
    counter_kind,
    decode_slot,
    describe,
    encode,
    read_head,
    restore,
)
from tests.foreign.counter.performer import CounterPerformer
from tests.foreign.counter.values import Add, Addition, Effect

from laneway.core.errors import ChainUnreachable
from laneway.core.ids import LaneId, lane_id, lane_key
from laneway.core.outcome import Outcome, Status
from laneway.core.rows import Command, LaneView, Result, Rows, Table
from laneway.engine.run import Windows
from laneway.sim.bugs import BUGS_SEEN
from laneway.sim.clients import Callers, Wish
from laneway.sim.kinds import WorldKind, states
from laneway.sim.laws import WorldLaws
from laneway.sim.link import Ground, Link, Reply
from laneway.sim.operator import Crew
from laneway.sim.plan import WorldPlan
from laneway.sim.process import Process
from laneway.sim.shell_world import ShellWorld
from laneway.sim.world import Disk, LawBroken, World

# What one seed decides.


class CounterPlan(WorldPlan, frozen=True, kw_only=True):
    counters: int
    settings: CounterSettings
    answer_ms: int


def counter_plan(seed: int, *, shared: bool = True) -> CounterPlan:
    """The plan of one seed. `shared` says whether two processes may use the store at once."""
    rng = Random(f"{seed}/plan")
    calm = rng.random() < 0.1
    return CounterPlan(
        seed=seed,
        counters=rng.choice((1, 1, 2, 3)),
        intents=rng.randint(2, 9),
        settings=CounterSettings(retry_ms=rng.choice((20, 100, 400))),
        answer_ms=rng.choice((30, 150, 1_000)),
        windows=Windows(
            backlog_page=rng.choice((1, 2, 12)),
            events_per_turn=rng.choice((1, 2, 256)),
            idle_lanes=rng.choice((0, 1, 100)),
        ),
        crash=0.0 if calm else rng.choice((0.0, 0.01, 0.04)),
        freeze=0.01 if shared and rng.random() < 0.3 else 0.0,
        lose=0.0 if calm else rng.choice((0.0, 0.03, 0.15)),
        foreign=0.1 if rng.random() < 0.2 else 0.0,
        operator=0.03 if rng.random() < 0.3 else 0.0,
        delay_ms=rng.choice((1, 20, 120)),
        processes=rng.choice((1, 1, 2, 3)) if shared else 1,
    )


# What goes wrong on the way.


class FaultyCounters:
    """The counters as one process reaches them: requests and answers take their time, are lost, or
    arrive after the process that sent them died."""

    def __init__(self, world: Ground, counters: Counters, link: Link) -> None:
        self._world = world
        self._counters = counters
        self._link = link

    async def add(self, name: str, place: int, entry: Entry) -> Answer:
        self._lose("counter unreachable")
        arrive = partial(self._arrive, name, place, entry)
        answer: Answer = await self._link.begin("add", arrive)
        return answer

    def _arrive(self, name: str, place: int, entry: Entry, reply: Reply) -> None:
        world = self._world
        answer = self._counters.append(name, place, entry)
        is_stale = answer.outcome is Outcome.REFUSED and not answer.final
        world.seen["place taken"] += is_stale
        world.note(f"counter:{name}: {entry.amount} at {place} is {answer.outcome.value}")
        if world.chance(world.plan.lose):
            world.seen["answer lost"] += 1
        else:
            reply(answer)

    async def entries(self, name: str) -> Sequence[Entry]:
        self._lose("question lost")
        found = self._counters.read(name)
        await self._link.pause()
        return found

    def _lose(self, what: str) -> None:
        if self._world.chance(self._world.plan.lose):
            self._world.seen[what] += 1
            raise ChainUnreachable("the simulated counters", "lost on the way")


# Layers S1 and S2.


class CounterWorld(World):
    plan: CounterPlan

    def __init__(self, plan: CounterPlan, disk: Disk) -> None:
        super().__init__(plan, disk)
        self.counters = Counters()
        self.kinds = {"counter": counter_kind(plan.settings)}
        self.lanes = [lane_id("counter", f"c{number}") for number in range(plan.counters)]
        self.client = CounterCallers(self)
        self.operator = CounterCrew(self)

    def performers(self, link: Link) -> dict[str, CounterPerformer]:
        port = FaultyCounters(self, self.counters, link)
        return {"counter": CounterPerformer(port, self.clock, self.plan.answer_ms)}


class CounterCallers(Callers):
    """Each adds an amount of its own, by which it is known; the counter refuses some."""

    def _wish(self, number: int) -> Wish:
        lane = self._dice.choice(self._world.lanes)
        amount = number + 1 + (AMOUNT_MAX if self._dice.random() < 0.1 else 0)
        return Wish(number, lane, str(amount), encode(Addition(amount)))


class CounterCrew(Crew):
    """Operators, and others who add to the counters past the lanes."""

    _world: CounterWorld
    verbs = ("pause", "resume", "drain", "cancel", "hurry", "tune")

    def start(self) -> None:
        super().start()
        self._repeat(200, "foreign", self._add)

    def _add(self) -> None:
        world = self._world
        if world.chance(world.plan.foreign):
            world.seen["foreign addition"] += 1
            name = lane_key(self._dice.choice(world.lanes))
            world.counters.append(name, len(world.counters.read(name)), Entry("other", 1))

    def _give(self, verb: str, lane: LaneId) -> None:
        if verb == "hurry":
            self._about(verb)
        elif verb == "tune":
            self._tell(Command(0, lane, verb, self._world.now_ms, word="50"))
        else:
            super()._give(verb, lane)

    def _help(self, lane: LaneId, view: LaneView) -> None:
        if describe(view.head.state).word in ("paused", "draining"):
            self._tell(Command(0, lane, "resume", self._world.now_ms))


# Laws.


class CounterLaws(WorldLaws):
    _world: CounterWorld

    def restore(self, rows: Rows, settings: CounterSettings) -> CounterLane:
        return restore(rows, settings)

    def shape(self, lane: CounterLane) -> dict[str, object]:
        return {"head": lane.head, "slot": lane.slot}

    def leaving(self, _process: Process, lane: LaneId, effect: Effect) -> None:
        """Nothing leaves before the record that explains it is durable."""
        if not isinstance(effect, Add):
            return
        self._world.seen["second try"] += effect.attempt > 1
        slots = [decode_slot(row.body) for row in self.rows(lane).open if row.table == Table.SLOT]
        offered = [(one.intent, one.place) for one in slots if one.attempt >= effect.attempt]
        view = self._world.book.intent(effect.intent)
        is_final = view is not None and view.result is not None
        if (effect.intent, effect.place) not in offered and not is_final:
            raise LawBroken(f"never twice: {lane} adds at {effect.place}, unrecorded")

    def stepped(self) -> None:
        """Every addition of ours was wished for once, and stands in its lane's order."""
        for lane in self._world.lanes:
            marks = [one.mark for one in self._world.counters.read(lane_key(lane))]
            ours = [mark for mark in marks if mark != "other"]
            if len(set(ours)) != len(ours):
                raise LawBroken(f"never twice: {lane} has {ours}")
            rows = [self._world.book.intent(mark) for mark in ours]  # type: ignore[arg-type]
            seqs = [row.intent.seq for row in rows if row is not None]
            if len(seqs) != len(ours) or seqs != sorted(seqs):
                raise LawBroken(f"in order: {lane} has {ours}, in the sequence {seqs}")

    def check_result(self, wish: Wish, result: Result) -> None:
        found = self._world.counters.read(lane_key(wish.lane))
        places = [place for place, one in enumerate(found) if one.mark == result.intent]
        confirmed = result.status == Status.CONFIRMED.value
        if places != ([result.number] if confirmed else []):
            raise LawBroken(f"{wish.data} is {result.status} at {result.number}, found at {places}")
        if confirmed and int(wish.data) > AMOUNT_MAX:
            raise LawBroken(f"{wish.data} is too much, yet confirmed")

    def check_rest(self, lane: LaneId) -> None:
        view = self._world.book.lane(lane)
        assert view is not None
        found = self._world.counters.read(lane_key(lane))
        total = sum(one.amount for one in found if one.mark != "other")
        if read_head(view.head.state).total != total:
            raise LawBroken(f"{lane}: its head says another total than {total}")


# Layer S3.


class CounterShell(ShellWorld):
    plan: CounterPlan

    def __init__(self, plan: CounterPlan) -> None:
        super().__init__(plan)
        self.counters = Counters()
        self.kinds = {"counter": counter_kind(plan.settings)}
        self.lanes = [lane_id("counter", f"c{number}") for number in range(plan.counters)]
        self.wishes = [
            (self.lanes[number % plan.counters], str(number)) for number in range(plan.intents)
        ]

    def performers(self, link: Link) -> dict[str, CounterPerformer]:
        port = FaultyCounters(self, self.counters, link)
        return {"counter": CounterPerformer(port, self.clock, self.plan.answer_ms)}

    def payload(self, lane: LaneId, data: str) -> bytes:
        return encode(Addition(int(data)))

    def landed(self, lane: LaneId) -> list[str]:
        return [str(one.amount) for one in self.counters.read(lane_key(lane))]


SEEN = """
    answer lost; commit answer lost; counter unreachable; crash:after a commit;
    crash:before answer; crash:inside a commit; declared dead; foreign addition; frozen;
    operator:cancel; operator:drain; operator:hurry; operator:pause; operator:tune;
    owned by another; place taken; question lost; replayed; result:cancelled; result:confirmed;
    result:expired; result:refused; second try; store busy
    """

WORLD = WorldKind(
    name="counter",
    plan=counter_plan,
    world=CounterWorld,
    laws=CounterLaws,
    shell=CounterShell,
    sometimes={
        "s1": states(SEEN),
        "s2": states("answer lost; commit answer lost; crash:inside a commit; second try"),
        "s3": states("commit answer lost; killed; lived to the end; store busy"),
        "s1 bugs": BUGS_SEEN,
    },
)
