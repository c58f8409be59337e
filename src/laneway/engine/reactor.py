"""The heart of the engine: turns, batches, deadlines and leases, with no I/O at all.

It has no task, clock or thread. Whoever drives it, the asyncio shell or the simulator, tells it
what happened and carries out the orders it gives. A lane has at most one commit under way, and
an effect is ordered only after the commit that explains it.
"""

import heapq
from collections import OrderedDict, deque
from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct

from laneway.core.errors import Bug
from laneway.core.ids import IntentId, LaneId, Owner, lane_kind
from laneway.core.intent import Arrival, BacklogPage, IntentRow, placed
from laneway.core.rows import Command, Lease, Result, Rows
from laneway.engine.limits import (
    BACKLOG_PAGE,
    CLAIM_RETRY_MS,
    COMMIT_RETRY_MS_MAX,
    COMMIT_RETRY_MS_MIN,
    EVENTS_PER_TURN_MAX,
    IDLE_LANES_MAX,
)
from laneway.engine.orders import (
    Open,
    Order,
    Perform,
    ReadBacklog,
    ReadMailbox,
    Release,
    Stopped,
    Told,
)
from laneway.engine.run import Draft, Run
from laneway.lanes.kind import LaneKind
from laneway.ports import Commit


class Windows(Struct, frozen=True):
    """Points where the simulator may make a window tiny, so that its edges are met often."""

    backlog_page: int = BACKLOG_PAGE
    events_per_turn: int = EVENTS_PER_TURN_MAX
    idle_lanes: int = IDLE_LANES_MAX


class Reactor:
    """Runs the lanes that this process owns."""

    def __init__(
        self, kinds: Mapping[str, LaneKind], owner: Owner, windows: Windows | None = None
    ) -> None:
        self.owner = owner
        self._kinds = kinds
        self._windows = windows or Windows()
        self._runs: dict[LaneId, Run] = {}
        self._queue: deque[Run] = deque()
        self._idle: OrderedDict[LaneId, Run] = OrderedDict()
        self._heap: list[tuple[int, LaneId]] = []
        self._orders: list[Order] = []
        self._stopped: set[LaneId] = set()
        self._holding = False
        self._closing = False

    # What the driver may ask.

    def holds(self, lane: LaneId) -> bool:
        return lane in self._runs

    def lanes_held(self) -> int:
        return len(self._runs)

    def lanes_idle(self) -> int:
        return len(self._idle)

    def is_quiet(self) -> bool:
        """Whether every lane held is idle, or holds still because nothing more may be taken."""
        if self._holding:
            return not any(run.draft or run.mailbox for run in self._runs.values())
        return len(self._runs) == len(self._idle) and not self._queue

    def lane(self, lane: LaneId) -> Any:
        """The lane as it stands in memory, for laws and pages; never to be changed."""
        run = self._runs.get(lane)
        return None if run is None else run.lane

    def is_settled(self, lane: LaneId) -> bool:
        """Whether memory holds nothing that is not committed yet."""
        run = self._runs.get(lane)
        return run is not None and run.lane is not None and run.draft is None

    def next_ms(self) -> int | None:
        """When `orders` must be asked again if nothing happens before."""
        return self._heap[0][0] if self._heap else None

    # What happened.

    def woken(self, lane: LaneId, priority: int = 0) -> None:
        """The door accepted something for this lane."""
        if lane in self._stopped:
            return
        run = self._runs.get(lane) or self._open(lane)
        run.drained = False
        if run.page and run.page[-1].priority > priority:
            run.page.clear()  # What was read ahead now stands behind something more urgent.
        self._stir(run)

    def handed(self, arrival: Arrival, seq: int) -> bool:
        """Take what the door just made durable straight into the lane's page, if it is next.

        It is next only when nothing waits behind the page and its sequence follows what the page
        holds: an intent that another process accepted in between is never passed over.
        """
        run = self._runs.get(arrival.lane)
        if (
            run is None
            or not run.drained
            or run.reading
            or len(run.page) >= self._windows.backlog_page
        ):
            return False
        if seq != run.seq_seen + 1:
            return False
        if run.page and run.page[-1].priority != arrival.priority:
            return False
        run.seq_seen = seq
        run.page.append(placed(arrival, seq))
        self._stir(run)
        return True

    def _stir(self, run: Run) -> None:
        if run.lane is not None and run.draft is None and run.kind.wants(run.lane) == 0:
            return  # It is busy, and will look for more when it is not.
        self._enqueue(run)

    def called(self, lane: LaneId) -> None:
        """An operator's command lies in this lane's mailbox."""
        if lane in self._stopped:
            return
        run = self._runs.get(lane) or self._open(lane)
        run.called = True
        self._enqueue(run)

    def opened(self, lease: Lease, rows: Rows) -> None:
        run = self._runs[lease.lane]
        run.lease = lease
        run.version = rows.head.version
        run.lane = run.kind.restore(rows)
        run.mail.extend(c for c in rows.mailbox if c.id > run.command_last)
        run.drained = False
        for effect in run.kind.resume(run.lane):
            self._perform(run, effect)
        self._enqueue(run)

    def not_opened(self, lane: LaneId, now_ms: int) -> None:
        """Someone else owns it, or the store did not answer: ask again in a while."""
        self._retry(self._runs[lane], now_ms + CLAIM_RETRY_MS)

    def backlog_read(self, lane: LaneId, page: BacklogPage) -> None:
        run = self._runs.get(lane)
        if run is None or run.lane is None or not run.reading:
            return
        run.reading = False
        run.drained = run.drained and not page.more
        run.page.extend(page.intents)
        run.seq_seen = max((*run.kind.cursors(run.lane), *(row.seq for row in page.intents)))
        self._enqueue(run)

    def mailbox_read(self, lane: LaneId, commands: Sequence[Command]) -> None:
        run = self._runs.get(lane)
        if run is None or run.lane is None:
            return
        known = run.mail[-1].id if run.mail else run.command_last
        run.mail.extend(c for c in commands if c.id > known)
        self._enqueue(run)

    def answered(self, lane: LaneId, event: Any) -> None:
        """An effect's answer; it comes through the front door like everything else."""
        run = self._runs.get(lane)
        if run is None:
            return  # The lane was given up meanwhile; its next owner asks the chain.
        if run.lane is not None:
            run.mailbox.append(event)
            self._enqueue(run)

    def passed_on(self, lane: LaneId, message: IntentId, now_ms: int) -> None:
        """A message of this lane is durable in the lane it is for."""
        passed = self._kinds[lane_kind(lane)].passed
        if passed is None:
            raise Bug(f"{lane} sends messages, but its kind has no event for their delivery")
        self.answered(lane, passed(now_ms, message))

    def lapsed(self, lane: LaneId, now_ms: int) -> None:
        """An effect was not begun because our lease may be over: load the lane again later.

        If the heart has recovered by then, `resume` orders the effect once more; if not, someone
        else owns the lane.
        """
        run = self._runs.get(lane)
        if run is not None:
            self._forget(run)
            run = self._runs[lane] = Run(lane, run.kind)
            self._retry(run, now_ms + CLAIM_RETRY_MS)

    def committed(self, lane: LaneId, version: int) -> None:
        run = self._runs.get(lane)
        if run is None or run.draft is None or version != run.version + 1:
            return  # The answer to a commit of a lane that was thrown away since.
        draft, write = run.draft, run.write
        assert write is not None
        run.draft = run.write = None
        run.version = version
        run.retries = 0
        if draft.records:
            self._orders.append(Told(lane, draft.records, write.results()))
        for effect in draft.effects:
            self._perform(run, effect)
        if run.again or run.mailbox or run.mail:
            self._enqueue(run)
        else:
            self._rest(run)

    def commit_refused(self, lane: LaneId) -> None:
        """The lease is lost: another owner acts for this lane, and we no longer do."""
        run = self._runs.get(lane)
        if run is not None:
            self._forget(run)

    def commit_unknown(self, lane: LaneId) -> None:
        """Nobody knows what the store holds: throw the lane away and load it again."""
        run = self._runs.get(lane)
        if run is None:
            return
        self._forget(run)
        self._open(lane)

    def commit_busy(self, lane: LaneId, now_ms: int) -> None:
        """Nothing changed; the same write is tried again after a while."""
        run = self._runs.get(lane)
        if run is None or run.draft is None:
            return
        wait_ms = min(COMMIT_RETRY_MS_MIN << min(run.retries, 10), COMMIT_RETRY_MS_MAX)
        run.retries += 1
        self._retry(run, now_ms + wait_ms)

    def hold(self) -> None:
        """Take nothing more from any backlog; what runs goes on to its end."""
        self._holding = True

    def close(self) -> None:
        """Start no effect from here on; commits under way may still be answered."""
        self._holding = True
        self._closing = True

    def leave(self) -> list[Lease]:
        """Give up every lane; the leases are to be released."""
        leases = [run.lease for run in self._runs.values() if run.lease is not None]
        self._runs.clear()
        self._queue.clear()
        self._idle.clear()
        self._heap.clear()
        self._orders.clear()
        return leases

    # What must be done.

    def orders(self, now_ms: int) -> list[Order]:
        """Run every lane that has something to do, once, and say what must be done now."""
        self._fire(now_ms)
        queue = self._queue
        for _ in range(len(queue)):
            run = queue.popleft()
            run.queued = False
            if run.lane is not None and self._runs.get(run.id) is run:
                self._supervise(run, now_ms)
        if len(self._idle) > self._windows.idle_lanes:
            self._evict()
        orders, self._orders = self._orders, []
        return orders

    def _supervise(self, run: Run, now_ms: int) -> None:
        """A bug stops the lane it is in, before anything of that turn is written or sent."""
        try:
            self._turn(run, now_ms)
        except Exception as error:  # noqa: BLE001 - the one supervisor: a bug has any class.
            self._forget(run)
            self._stopped.add(run.id)
            self._orders.append(Stopped(run.id, error))

    def _turn(self, run: Run, now_ms: int) -> None:
        """Drain what waits, decide and evolve, and order one commit for all of it."""
        lease, kind, lane = run.lease, run.kind, run.lane
        assert lease is not None
        if run.called:
            run.called = False
            self._orders.append(ReadMailbox(lease))
        if run.draft is not None:
            run.again = True
            return
        run.again = False
        draft = Draft()
        mailbox = run.mailbox
        for _ in range(min(len(mailbox), self._windows.events_per_turn)):
            draft.apply(kind, lane, mailbox.popleft())
        while run.mail:
            command = run.mail.popleft()
            run.command_last = command.id
            draft.answered.append(command.id)
            draft.apply(kind, lane, kind.told(now_ms, command))
        if not self._holding:
            self._pull(run, draft, now_ms)
        run.deadline_ms = kind.deadline(lane)
        if draft.records or draft.answered:
            write = draft.write(kind, lane, run.deadline_ms, now_ms)
            run.draft, run.write = draft, write
            self._orders.append(Commit(lease, run.version + 1, write))
        else:
            for effect in draft.effects:
                self._perform(run, effect)
        self._rest(run)

    def _pull(self, run: Run, draft: Draft, now_ms: int) -> None:
        """Hand over as much of the backlog as the lane wants now."""
        kind, lane = run.kind, run.lane
        if draft.answered and run.page:
            # Only a command makes a waiting intent final; it may have been read ahead.
            gone = {touch.intent for touch in draft.touched if isinstance(touch, Result)}
            run.page = deque(intent for intent in run.page if intent.id not in gone)
        wanted = kind.wants(lane)
        while wanted > 0 and run.page:
            intents = tuple([run.page.popleft() for _ in range(min(wanted, len(run.page)))])
            for intent in intents:
                lane.intents[intent.id] = intent
            draft.apply(kind, lane, kind.offered(now_ms, intents))
            wanted = kind.wants(lane)
            if intents[-1].seq > kind.cursors(lane)[intents[-1].priority]:
                self._put_back(run, intents)
                break
        if wanted > 0 and not run.drained and not run.reading:
            assert run.lease is not None
            run.reading = True
            # A wake that comes while the page is read takes this back.
            run.drained = True
            limit = max(self._windows.backlog_page, wanted)
            self._orders.append(ReadBacklog(run.lease, kind.cursors(lane), limit))

    def _put_back(self, run: Run, intents: tuple[IntentRow, ...]) -> None:
        """It changed its mind (a drain came to its end): they wait where they were."""
        cursors = run.kind.cursors(run.lane)
        for intent in reversed(intents):
            if intent.seq > cursors[intent.priority]:
                run.page.appendleft(intent)
                del run.lane.intents[intent.id]

    def _rest(self, run: Run) -> None:
        """Note when the lane must be woken, and whether it is idle."""
        deadline_ms = run.deadline_ms
        if deadline_ms is not None:
            self._schedule(run, deadline_ms)
        if run.draft is None and not run.mailbox and not run.mail and not run.reading:
            # By the law of `resume`, a lane that would resume nothing waits for no answer.
            if deadline_ms is None and not run.page and not run.kind.resume(run.lane):
                self._idle[run.id] = run
        elif run.mailbox and run.draft is None:
            self._enqueue(run)

    def _perform(self, run: Run, effect: Any) -> None:
        if not self._closing:
            self._orders.append(Perform(run.id, effect))

    def _open(self, lane: LaneId) -> Run:
        kind = self._kinds.get(lane_kind(lane))
        if kind is None:
            raise Bug(f"{lane} is of a kind this process was not given")
        run = Run(lane, kind)
        self._runs[lane] = run
        self._orders.append(Open(lane))
        return run

    def _forget(self, run: Run) -> None:
        self._runs.pop(run.id, None)
        self._idle.pop(run.id, None)

    def _evict(self) -> None:
        while len(self._idle) > self._windows.idle_lanes:
            _, run = self._idle.popitem(last=False)
            self._runs.pop(run.id, None)
            if run.lease is not None:
                self._orders.append(Release(run.lease))

    def _enqueue(self, run: Run) -> None:
        self._idle.pop(run.id, None)
        if not run.queued:
            run.queued = True
            self._queue.append(run)

    # Deadlines: one heap entry a lane, moved only when it comes due too early.

    def _schedule(self, run: Run, at_ms: int) -> None:
        if run.heap_ms is None or at_ms < run.heap_ms:
            run.heap_ms = at_ms
            heapq.heappush(self._heap, (at_ms, run.id))
            if len(self._heap) > 2 * len(self._runs) + 1024:
                self._compact()

    def _retry(self, run: Run, at_ms: int) -> None:
        run.retry_ms = at_ms
        self._schedule(run, at_ms)

    def _compact(self) -> None:
        """Drop entries of lanes that were given up; what is left is at most one a lane."""
        self._heap = [(run.heap_ms, run.id) for run in self._runs.values() if run.heap_ms]
        heapq.heapify(self._heap)

    def _fire(self, now_ms: int) -> None:
        heap = self._heap
        while heap and heap[0][0] <= now_ms:
            at_ms, lane = heapq.heappop(heap)
            run = self._runs.get(lane)
            if run is None or run.heap_ms != at_ms:
                continue
            run.heap_ms = None
            if run.retry_ms is not None and run.retry_ms <= now_ms:
                run.retry_ms = None
                self._again(run)
            if run.deadline_ms is not None and run.deadline_ms <= now_ms:
                run.deadline_ms = None
                run.mailbox.append(run.kind.woken(now_ms))
                self._enqueue(run)
            later = [ms for ms in (run.retry_ms, run.deadline_ms) if ms is not None]
            if later:
                self._schedule(run, min(later))

    def _again(self, run: Run) -> None:
        if run.lane is None:
            self._orders.append(Open(run.id))
        elif run.write is not None:
            assert run.lease is not None
            self._orders.append(Commit(run.lease, run.version + 1, run.write))
