"""One process of a world: the engine's reactor and its performers, and the messages between them,
the store and the chain."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, assert_never

from laneway.core.errors import LeaseLost
from laneway.core.ids import LaneId, Owner
from laneway.core.rows import Lease, Rows
from laneway.engine.effects import Effects
from laneway.engine.limits import HEARTBEAT_MS, LEASE_STOP_MS, LEASE_TTL_MS, READY_PAGE
from laneway.engine.orders import (
    CommitDone,
    Open,
    Order,
    Perform,
    Prompt,
    ReadBacklog,
    ReadMailbox,
    Release,
    Revived,
    Stopped,
)
from laneway.engine.performers import Performer
from laneway.engine.reactor import Reactor
from laneway.ports import Commit, Lost
from laneway.sim.bugs import PlannedBug
from laneway.sim.link import Link
from laneway.sim.loops import ProcessLoop
from laneway.stores.book import Book

if TYPE_CHECKING:
    from laneway.sim.world import World


class Process:
    """It owns lanes while its heart beats; it acts only while its own clock allows."""

    def __init__(self, world: "World", name: str) -> None:
        self.world = world
        self.owner = Owner(name)
        self.alive = True
        self.loop = ProcessLoop(world, self)
        self.clock = world.clocks[len(world.processes) % len(world.clocks)]
        self.link = Link(world, self, self.clock)
        self.performers = world.performers(self.link)
        prompts = prompts_of(self.performers)
        self.reactor = Reactor(world.kinds, self.owner, world.plan.windows, prompts)
        self.effects = WatchedEffects(self)
        self.frozen_until_ms = 0
        self.lease_until_ms = 0
        self.armed_ms: int | None = None
        """The deadline that the timer is for, by this process's clock."""
        self.rings_ms = 0
        self.pumping = False

    def start(self) -> None:
        world = self.world
        world.note(f"{self.owner} starts")
        for performer in self.performers.values():
            follow = getattr(performer, "follow", None)
            if follow is not None:
                self.loop.create_task(follow(self._post))
        self.beat()

    def end(self) -> None:
        """It is gone, with all that it had under way."""
        self.alive = False
        self.loop.bury()

    def _post(self, lane: LaneId, event: Any) -> None:
        self.reactor.answered(lane, event)
        self.pump_soon()

    def freeze(self) -> None:
        """Stopped as by SIGSTOP, past its lease; it wakes up believing nothing happened."""
        self.frozen_until_ms = self.world.now_ms + LEASE_TTL_MS + 2_000
        self.world.seen["frozen"] += 1
        self.world.note(f"{self.owner} is frozen past its lease")
        self.world.after(LEASE_TTL_MS + 500, "boot", self.world.boot)

    def beat(self) -> None:
        world = self.world
        answer = world.group(lambda book: book.beat(self.owner, LEASE_TTL_MS, world.now_ms))
        if isinstance(answer, Lost):
            world.seen["declared dead"] += 1
            world.note(f"{self.owner} learns that it was declared dead, and stops")
            self.end()
            return
        self.lease_until_ms = world.now_ms + LEASE_STOP_MS
        self.reactor.joined(answer.peers)
        self.look()
        world.after(HEARTBEAT_MS, "beat", self.beat, self)

    def look(self) -> None:
        """Take up what has work and belongs to us."""
        world = self.world
        after: LaneId | None = None
        while True:
            lanes = world.book.ready(self.clock.now_ms(), after, READY_PAGE)
            for lane in lanes:
                if lane in self.reactor.stopped:
                    self.reactor.called(lane)
                self.reactor.woken(lane)
            if len(lanes) < READY_PAGE:
                break
            after = lanes[-1]
        self.pump_soon()

    def may_act(self) -> bool:
        return self.world.now_ms <= self.lease_until_ms

    # The pump.

    def pump_soon(self) -> None:
        if not self.pumping:
            self.pumping = True
            self.world.after(0, "pump", self.pump, self)

    def pump(self) -> None:
        self.pumping = False
        world = self.world
        commits: list[Commit] = []
        effects: list[Perform] = []
        for order in self.reactor.orders(self.clock.now_ms()):
            if isinstance(order, Commit):
                commits.append(order)
            elif isinstance(order, Perform):
                effects.append(order)
            else:
                self.begin(order)
        if commits:
            world.after(world.delay(), "commit", lambda: self.commit(commits), self)
        if len(effects) > 1 and world.pick((True, False)):
            world.after(world.delay(), "perform", lambda: self.perform(effects), self)
        else:
            for effect in effects:
                world.after(world.delay(), "perform", partial(self.perform, (effect,)), self)
        if self.reactor.has_work():
            self.pump_soon()
        self.arm()

    def arm(self) -> None:
        next_ms, now_ms = self.reactor.next_ms(), self.clock.now_ms()
        if (
            self.armed_ms is not None
            and self.armed_ms < now_ms
            and self.rings_ms > self.world.now_ms
        ):
            self.armed_ms = None  # It was set by a clock that was wrong, and comes too late.
        if next_ms is not None and (self.armed_ms is None or next_ms < self.armed_ms):
            self.armed_ms = next_ms
            wait_ms = max(0, next_ms - now_ms)
            self.rings_ms = self.world.now_ms + wait_ms
            self.world.after(wait_ms, "timer", lambda: self.timer(next_ms), self)

    def timer(self, at_ms: int) -> None:
        if at_ms != self.armed_ms:
            return  # An earlier one was set since, and has taken its place.
        self.armed_ms = None
        self.pump()

    def begin(self, order: Order) -> None:
        world = self.world
        match order:
            case CommitDone(lane=lane, records=records, results=results):
                world.client.answered(results)
                for observer in world.observers:
                    observer.recorded(lane, records)
                for result in results:
                    world.note(f"{lane}: {result.intent[-6:]} is {result.status} {result.reason}")
            case Open(lane=lane):
                world.after(world.delay(), "claim", lambda: self.claim(lane), self)
            case ReadBacklog(lease=lease, after=after, limit=limit):
                page = world.book.backlog(lease, after, limit)
                self.later("page", lambda: self.reactor.backlog_read(lease, page))
            case ReadMailbox(lease=lease):
                commands = world.book.mailbox(lease)
                self.later("mail", lambda: self.reactor.mailbox_read(lease, commands))
            case Release(lease=lease):
                if world.chance(world.plan.lose):
                    world.seen["store busy at a release"] += 1
                    self.reactor.release_failed(lease, self.clock.now_ms())
                else:
                    world.seen["lane released"] += 1
                    world.group(lambda book: book.release(lease))
            case Stopped(lane=lane, error=error, intents=intents):
                if world.bugs is None or not isinstance(error, PlannedBug):
                    raise AssertionError(f"{lane} was stopped by a bug: {error!r}") from error
                world.bugs.stopped(lane, intents, error)
            case Revived(lane=lane):
                world.seen["lane revived"] += 1
                world.note(f"{self.owner} goes on with {lane}")
            case Commit() | Perform():
                raise AssertionError("the pump gathers these")
            case _:
                assert_never(order)

    def later(self, label: str, act: Callable[[], None]) -> None:
        """Something reaches this process after a while, and its reactor gets a turn."""

        def arrive() -> None:
            act()
            self.pump_soon()

        self.world.after(self.world.delay(), label, arrive, self)

    # The store.

    def claim(self, lane: LaneId) -> None:
        world = self.world
        lease = world.group(lambda book: book.claim(lane, self.owner, world.now_ms))
        if lease is None:
            world.seen["owned by another"] += 1
            self.reactor.not_opened(lane, self.clock.now_ms())
            self.pump_soon()
            return
        self.later("load", lambda: self.load(lease))

    def load(self, lease: Lease) -> None:
        try:
            rows: Rows = self.world.book.load(lease)
        except LeaseLost:
            self.world.seen["lease lost while loading"] += 1
            self.reactor.open_failed(lease.lane, self.clock.now_ms())
            return
        self.reactor.opened(lease, rows)

    def commit(self, commits: list[Commit]) -> None:
        world = self.world
        if len(commits) > 1:
            world.seen["group of lanes"] += 1
        if world.chance(world.plan.crash):
            # Half-way: the group was handed over, and the process died before the sync returned.
            world.book.begin()
            self.apply(world.book, commits)
            world.book.write()
            world.crash(self, "inside a commit")
            return
        if world.chance(world.plan.lose / 3):
            world.seen["store busy"] += 1
            self.answer("busy", commits, [None] * len(commits))
            return
        answers = world.group(lambda book: self.apply(book, commits))
        if world.chance(world.plan.crash):
            world.crash(self, "after a commit")
            return
        word = "unknown" if world.chance(world.plan.lose) else "committed"
        self.answer(word, commits, answers)

    def apply(self, book: Book, commits: list[Commit]) -> list[int | None]:
        answers: list[int | None] = []
        for commit in commits:
            try:
                answers.append(book.commit(commit.lease, commit.version, commit.write))
            except LeaseLost:
                self.world.seen["zombie refused"] += 1
                self.world.note(f"{self.owner} is refused a write to {commit.lease.lane}")
                answers.append(None)
        return answers

    def answer(self, word: str, commits: list[Commit], answers: list[int | None]) -> None:
        world = self.world

        def arrive() -> None:
            for commit, version in zip(commits, answers, strict=True):
                lease = commit.lease
                if word == "busy":
                    self.reactor.commit_busy(lease, self.clock.now_ms())
                elif word == "unknown":
                    world.seen["commit answer lost"] += 1
                    self.reactor.commit_unknown(lease)
                elif version is None:
                    self.reactor.commit_refused(lease)
                else:
                    self.reactor.committed(lease, version)
                    for observer in world.observers:
                        observer.committed(self, lease.lane)

        self.later("committed", arrive)

    # The chain.

    def perform(self, orders: Sequence[Perform]) -> None:
        for order in orders:
            self.effects.add(order)
        self.effects.begin()


class WatchedEffects(Effects):
    """The engine's own way to perform effects, under the laws and with the bugs that are planted
    in performers."""

    def __init__(self, process: Process) -> None:
        super().__init__(process.reactor, process.performers, process.may_act)
        self._process = process
        self.moved = process.pump_soon

    def _why_not(self, order: Perform) -> str | None:
        reason = super()._why_not(order)
        if reason is not None:
            self._process.world.seen[reason] += 1
        return reason

    async def _answers(self, order: Perform, more: Sequence[Perform]) -> Sequence[Any]:
        process, world = self._process, self._process.world
        if super()._why_not(order) is None:
            for one in (order, *more):
                world.leaving(process, one.lane, one.effect)
            bug = None if world.bugs is None else world.bugs.met(order)
            if bug is not None:
                if bug.is_sent:
                    process.loop.create_task(super()._answers(order, more))
                raise bug
        begun_ms = world.now_ms
        answers = await super()._answers(order, more)
        if world.now_ms == begun_ms:
            await process.link.pause()
        return answers


def prompts_of(performers: Mapping[str, Performer]) -> dict[str, Prompt]:
    """What answers some effects in the turn that orders them."""
    return {
        kind: performer.answer_now
        for kind, performer in performers.items()
        if hasattr(performer, "answer_now")
    }
