"""A law of its own: where a block can be submitted it is, in the window that is open.

A window is open, a core is free, the clock is good, the lane runs and a block waits: then a package
of it leaves before the window closes, or in the next one where messages take longer than that.
What may keep it from that is a record: it could not be built, what it leans on has changed, or
someone gave the lane another command.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from laneway.core.ids import LaneId, Owner
from laneway.core.jam import SlotClock
from laneway.engine.limits import (
    CLAIM_RETRY_MS,
    CLOCK_BACK_MS_MIN,
    HEARTBEAT_MS,
    LEASE_TTL_MS,
)
from laneway.lanes.bundle.lane import BundleLane
from laneway.lanes.bundle.limits import RETRY_GROWTH_MAX
from laneway.lanes.bundle.packages import is_open, may_act, needs_version
from laneway.lanes.bundle.records import (
    BlockDropped,
    BlockFinalised,
    BuildDelayed,
    BuildRetried,
    ChainSeen,
    LookBegun,
    LookEnded,
    OfSlot,
    Record,
    StartsCounted,
    TellsBegun,
    VersionDiscarded,
    VersionOrdered,
    WindowAwaited,
)
from laneway.lanes.bundle.rows import Slot
from laneway.lanes.bundle.show import (
    BEING_BUILT,
    GAP_BEFORE,
    WINDOW_CLOSED,
    describe,
    wait_reason,
)
from laneway.lanes.bundle.standing import (
    current,
    free_cores,
    inflight,
    is_accumulated,
    is_popped,
    prerequisites_after,
)
from laneway.lanes.common.values import ModeChanged
from laneway.sim.world import LawBroken

if TYPE_CHECKING:
    from laneway.sim.bundle.world import RollupWorld
    from laneway.sim.process import Process

MESSAGES = 12
"""Messages between a block that waits and its package that leaves: two commits, an order to the
builder, its context and its answer, an order to submit, and as many for what comes between."""

SLOW_SLOTS = 4
"""Slots in which a lane sees that its clock was set back, beside the time that it sleeps: an answer
that was on its way, two commits, and a lane that is just taken over."""

WAIT_SLOTS = 8
"""After these slots in which it got nowhere a lane has to say why: as many as a package lives.
While another process takes it over there is nobody who could."""

TAKEN_OVER_MS = LEASE_TTL_MS + CLAIM_RETRY_MS + 3 * HEARTBEAT_MS
"""After this another process has the lane of one that is gone, or of one that was frozen."""

PASSING = (BEING_BUILT, GAP_BEFORE, WINDOW_CLOSED)
"""What explains a wait of some slots, and none that is longer."""

IDLE = (
    BuildDelayed,
    BuildRetried,
    ChainSeen,
    LookBegun,
    LookEnded,
    ModeChanged,
    StartsCounted,
    TellsBegun,
    VersionOrdered,
    WindowAwaited,
)
"""Records by which a lane gets nowhere."""


class Debt(Struct, frozen=True):
    """A block that has to be submitted."""

    process: "Process"
    since_ms: int
    until_ms: int
    """The close of the window, by the clock of its machine."""
    begin_ms: int
    """Of the chain's slots, by the clock that the window is reckoned by."""


class WindowLaw:
    def __init__(self, world: "RollupWorld") -> None:
        self._world = world
        self._debts: dict[tuple[LaneId, int], Debt] = {}

    def excuse(self, lane: LaneId, records: Sequence[Record]) -> None:
        """Whatever a lane says of a block excuses it; a mode or another clock excuses all of
        them."""
        for record in records:
            if isinstance(record, VersionOrdered):
                continue  # It is on its way to the nodes.
            if isinstance(record, OfSlot | BlockDropped | BlockFinalised | VersionDiscarded):
                self._debts.pop((lane, record.slot), None)
            elif isinstance(record, ModeChanged):
                self._debts.clear()
            elif isinstance(record, LookEnded) and record.clock is not None:
                self._reckon(record.clock)

    def _reckon(self, clock: SlotClock) -> None:
        """By another clock the windows are others."""
        same = [key for key, debt in self._debts.items() if debt.begin_ms == clock.begin_ms]
        self._debts = {key: self._debts[key] for key in same}

    def left(self, lane: LaneId, slot: int) -> None:
        """A package of it leaves."""
        if self._debts.pop((lane, slot), None) is not None:
            self._world.seen["submitted in its window"] += 1

    def stepped(self) -> None:
        world = self._world
        is_faulty = world.is_faulty or world.now_ms < max(
            world.shop.slow_until_ms, self._right_ms()
        )
        if world.bugs is not None or (is_faulty and not world.plan.is_calm):
            self._debts.clear()
            return
        for (lane, slot), debt in self._debts.items():
            if not self._is_well(debt.process) or went_over(debt.process, lane):
                self._debts.clear()
                return
            if debt.process.clock.now_ms() > debt.until_ms:
                since = debt.since_ms - world.begun_ms
                raise LawBroken(
                    f"in time: {lane} could submit {slot} since {since} ms, and did not"
                )
        for process in world.processes:
            for lane in world.lanes if self._is_well(process) else ():
                memory: BundleLane | None = process.reactor.lane(lane)
                if memory is not None and process.reactor.is_settled(lane):
                    self._note(process, memory)

    def _right_ms(self) -> int:
        """From when on nothing waits by a clock that was set a little: that is seen by the next
        look, and delays nothing by more than itself."""
        world = self._world
        if world.jumps is None:
            return 0
        return world.jumps.set_ms + CLOCK_BACK_MS_MIN + world.plan.slot_ms

    def _is_well(self, process: "Process") -> bool:
        is_frozen = process.frozen_until_ms > self._world.now_ms
        return process.alive and not is_frozen and process.may_act()

    def _note(self, process: "Process", memory: BundleLane) -> None:
        world, lane, clock = self._world, memory.id, memory.head.clock
        if clock is None or not may_act(memory):
            return
        now_ms = process.clock.now_ms()
        slot = first_able(memory, now_ms)
        for key in list(self._debts):
            # Others have come before it, or what it needs is taken.
            known = memory.slots.get(key[1])
            if known is None or not (known == slot or is_on_its_way(memory, known)):
                del self._debts[key]
        settings = memory.settings
        if not is_open(clock, now_ms, settings.build_from_ms, settings.build_until_ms):
            return
        if slot is not None and (lane, slot.id) not in self._debts:
            until_ms = self._closes(clock, now_ms)
            self._debts[lane, slot.id] = Debt(process, world.now_ms, until_ms, clock.begin_ms)

    def _closes(self, clock: SlotClock, now_ms: int) -> int:
        """When the first submission window is over that there is time for."""
        world, settings = self._world, self._world.plan.settings
        slack_ms = MESSAGES * (world.plan.delay_ms + 1)
        # The package of another block may be made before this one's.
        at_ms = now_ms + slack_ms + 2 * world.plan.packing_ms
        closes_ms = at_ms + clock.until_next_ms(at_ms) - settings.submit_until_ms
        if closes_ms < at_ms:
            closes_ms += clock.slot_ms
        return closes_ms + slack_ms


def went_over(process: "Process", lane: LaneId) -> bool:
    """Whether it gave the lane to another of the fleet, which has it by its next heartbeat."""
    reactor = process.reactor
    return reactor.lane(lane) is None and not reactor.fleet.is_ours(lane)


def first_able(lane: BundleLane, now_ms: int) -> Slot | None:
    """The lowest block that waits for a version, if nothing keeps it from one."""
    previous: Slot | None = None
    is_lowest = True
    for slot in lane.in_order():
        if needs_version(lane, slot):
            if (slot.retry_ms or 0) > now_ms or prerequisites_after(lane, previous) is None:
                return None
            has_room = is_lowest or inflight(lane) < lane.settings.max_inflight
            return slot if has_room and free_cores(lane) else None
        if lane.settings.order == "chained" and current(lane, slot) is None:
            return None
        is_lowest = is_lowest and is_accumulated(lane, slot)
        previous = slot
    return None


def is_on_its_way(lane: BundleLane, slot: Slot) -> bool:
    """Whether a version of it is being built, waits to be submitted, or is being submitted."""
    version = None if slot.building else current(lane, slot)
    return is_popped(lane, slot) or (version is not None and version.offering)


class TimerLaw:
    """No lane waits by a clock that was set back: once the clocks are right, nothing lies further
    ahead than the lane's longest pause, and a lane sees that before long."""

    def __init__(self, world: "RollupWorld") -> None:
        self._world = world
        settings = world.plan.settings
        pauses = (settings.build_retry_ms, settings.tell_retry_ms)
        others = (settings.poll_ms, settings.block_interval_ms, settings.submit_retry_ms)
        self._pause_ms = max(max(pauses) << RETRY_GROWTH_MAX, *others, 2 * settings.slot_ms)
        self._patience_ms = self._pause_ms + CLOCK_BACK_MS_MIN + SLOW_SLOTS * settings.slot_ms
        self._since_ms: dict[tuple[Owner, LaneId], int] = {}
        """When a lane that is in memory began to wait for too long."""

    def stepped(self) -> None:
        world = self._world
        if world.is_faulty or world.jumps is None:
            return
        for process in world.living():
            for memory in world.held(process):
                self._look_at(process, memory)

    def _look_at(self, process: "Process", memory: BundleLane) -> None:
        now_ms, key = self._world.now_ms, (process.owner, memory.id)
        latest_ms = process.clock.now_ms() + self._pause_ms
        late = [at_ms for at_ms in awaited(memory) if at_ms > latest_ms]
        if not late:
            self._since_ms.pop(key, None)
        elif now_ms - self._since_ms.setdefault(key, now_ms) > self._patience_ms:
            far_ms = max(late) - process.clock.now_ms()
            raise LawBroken(f"in time: {memory.id} waits for {far_ms} ms by a clock that is right")


def awaited(lane: BundleLane) -> list[int]:
    """The times that a lane waits for by itself, in states in which it does."""
    head = lane.head
    times = [head.block_ms, head.look_ms, head.hear_ms, head.tell_ms]
    times += [slot.retry_ms for slot in lane.slots.values()]
    return [at_ms for at_ms in times if at_ms is not None]


class WaitLaw:
    """Once the faults are over, a lane that gets nowhere for long says why: in its state, which
    health and `lanes` show, or of each block that waits for its chain."""

    def __init__(self, world: "RollupWorld") -> None:
        self._world = world
        self._moved_ms: dict[LaneId, int] = {}
        """When each lane got somewhere."""

    def take(self, lane: LaneId, records: Sequence[Record]) -> None:
        if not all(isinstance(record, IDLE) for record in records):
            self._moved_ms[lane] = self._world.now_ms

    def stepped(self) -> None:
        world = self._world
        if world.is_faulty or world.bugs is not None:
            self._moved_ms = dict.fromkeys(world.lanes, world.now_ms)
            return
        for lane, moved_ms in self._moved_ms.items():
            if world.now_ms - moved_ms > WAIT_SLOTS * world.plan.slot_ms + TAKEN_OVER_MS:
                self._moved_ms[lane] = world.now_ms
                self._check(lane)

    def _check(self, lane: LaneId) -> None:
        view = self._world.book.lane(lane)
        if view is None or not view.depth():
            return
        held = (one for process in self._world.living() for one in self._world.held(process))
        shown = [wait_reason(memory, one) for memory in held for one in memory.in_order()]
        state = describe(view.head.state)
        says = [one for one in shown if one not in PASSING]
        if state.word in ("running", "idle") and not state.reason and not says:
            raise LawBroken(f"in time: {lane} waits for long, and nobody knows why")
        self._world.seen["a lane waited and said why"] += 1
