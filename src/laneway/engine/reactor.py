"""The heart of the engine: turns, batches, deadlines and leases, with no I/O at all.

It has no task, clock or thread. Its driver, the asyncio shell or the simulator, reports to
it what happened and carries out the orders it returns. A lane has at most one commit under way,
and an effect is ordered only after the commit that explains it.
"""

from collections import OrderedDict, deque
from collections.abc import Mapping, Sequence
from typing import Any

from laneway.core.ids import LaneId, Owner, lane_kind
from laneway.core.intent import Arrival, BacklogPage
from laneway.core.rows import Command, Lease, Result, Rows
from laneway.engine import limits
from laneway.engine.alarms import Alarms
from laneway.engine.faults import may_go_on, suspects
from laneway.engine.fleet import Fleet
from laneway.engine.limits import CLAIM_RETRY_MS, COMMIT_RETRY_MS_MAX, COMMIT_RETRY_MS_MIN
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
from laneway.engine.run import CommitDraft, Run, Windows
from laneway.lanes.kind import LaneKind
from laneway.ports import Commit


class Reactor:
    """Runs the lanes that this process owns."""

    def __init__(
        self,
        kinds: Mapping[str, LaneKind],
        owner: Owner,
        windows: Windows | None = None,
        prompts: Mapping[str, Prompt] | None = None,
    ) -> None:
        self.owner = owner
        self._prompts = prompts or {}
        self._kinds = kinds
        self._windows = windows or Windows()
        self._runs: dict[LaneId, Run] = {}
        self._queue: deque[Run] = deque()
        self._idle: OrderedDict[LaneId, Run] = OrderedDict()
        self._alarms = Alarms(self._runs)
        self._orders: list[Order] = []
        self.stopped: dict[LaneId, int] = {}
        """Lanes that a bug stopped here, and the version of each when it did."""
        self.fleet = Fleet(owner)
        self._now_ms = 0
        """The time of the last call of `orders`."""
        self._holding = False
        self._closing = False

    # What the driver may ask.

    def serves(self, lane: LaneId) -> bool:
        """Whether this process has the lane's kind, and no bug has stopped the lane."""
        return lane not in self.stopped and self._is_known(lane)

    def holds(self, lane: LaneId) -> bool:
        return lane in self._runs

    def owns(self, lane: LaneId, fence: int) -> bool:
        """Whether what was ordered under this fence is still ours to do."""
        run = self._runs.get(lane)
        return run is not None and run.lease is not None and run.lease.fence == fence

    def is_quiet(self) -> bool:
        """Whether nothing moves here by itself any more, however much may wait."""
        if self._queue:
            return False
        if self._holding:
            return not any(run.draft or run.mailbox or run.mail for run in self._runs.values())
        return all(run.id in self._idle or run.is_stuck() for run in self._runs.values())

    def is_idle(self) -> bool:
        """Whether no lane held has anything begun that has not ended."""
        return not self._queue and len(self._runs) == len(self._idle)

    def kind(self, lane: LaneId) -> LaneKind:
        return self._kinds[lane_kind(lane)]

    def lane(self, lane: LaneId) -> Any:
        """The lane as it stands in memory, for laws and pages; never to be changed."""
        run = self._runs.get(lane)
        return None if run is None else run.lane

    def is_settled(self, lane: LaneId) -> bool:
        """Whether memory holds nothing that is not committed yet."""
        run = self._runs.get(lane)
        return run is not None and run.lane is not None and run.draft is None

    def has_work(self) -> bool:
        """Whether `orders` must be asked again at once."""
        return bool(self._queue)

    def next_ms(self) -> int | None:
        """When `orders` must be asked again if nothing happens before."""
        return self._alarms.next_ms()

    # What happened.

    def joined(self, peers: tuple[Owner, ...]) -> bool:
        """These live; True if that is new. A lane of others goes when nothing of it is out."""
        changed = self.fleet.joined(peers)
        if changed:
            for run in list(self._runs.values()):
                run.leaving = not self.fleet.is_ours(run.id)
                if run.lease is not None:
                    self._enqueue(run)
        return changed

    def woken(self, lane: LaneId, priority: int = 0) -> None:
        """Something waits for this lane; any process's door may have accepted it."""
        run = self._run(lane)
        if run is None:
            return
        run.ahead.wake(priority)
        self._stir(run)

    def handed(self, arrival: Arrival, seq: int) -> bool:
        """Take what the door just made durable straight into the lane's page, if it is next."""
        run = self._runs.get(arrival.lane)
        if run is None:
            return False
        limit = run.kind.pages * self._windows.backlog_page
        if not run.ahead.hand(arrival, seq, limit):
            return False
        self._stir(run)
        return True

    def _stir(self, run: Run) -> None:
        if run.queued or (run.lane is not None and run.kind.wants(run.lane) == 0):
            return  # It is busy, and will look for more when it is not.
        self._enqueue(run)

    def called(self, lane: LaneId) -> None:
        """An operator's command lies in this lane's mailbox; it may be what revives the lane."""
        run = self._run(lane, even_stopped=True)
        if run is not None:
            run.called = True
            self._enqueue(run)

    def opened(self, lease: Lease, rows: Rows) -> None:
        """The lane is ours, and these are its rows."""
        run = self._runs.get(lease.lane)
        if run is None:
            self._orders.append(Release(lease))  # Given up meanwhile: others may have it.
            return
        if run.lease is not None and run.lease.fence > lease.fence:
            return  # Claimed once more: this lease is no longer the last.
        if lease.lane in self.stopped:
            if not may_go_on(rows, self.stopped[lease.lane]):
                self._forget(run)
                self._orders.append(Release(lease))
                return
            del self.stopped[lease.lane]
            self._orders.append(Revived(lease.lane))
            run.revive()
        if run.lease is not None:
            # Claimed twice: the first lease is void, and so is all that stands on it.
            self._forget(run)
            run = self._runs[lease.lane] = run.afresh()
        run.lease, run.rows = lease, rows
        self._enqueue(run)

    def _stand_up(self, run: Run, rows: Rows) -> None:
        """From here on the lane is in memory, as it was committed."""
        run.rows = None
        run.version = rows.head.version
        run.lane = run.kind.restore(rows)
        run.take_commands(rows)
        self._orders += run.undoubted(rows)
        if not run.held_back:
            self._perform(run, run.kind.resume(run.lane))
        run.wake_if_far(self._now_ms)

    def not_opened(self, lane: LaneId, now_ms: int) -> None:
        """Someone else owns it: ask again in a while."""
        run = self._runs.get(lane)
        if run is None or run.lease is not None:
            return
        if run.leaving:
            self._forget(run)
        else:
            self._retry(run, now_ms + CLAIM_RETRY_MS)

    def release_failed(self, lease: Lease, now_ms: int) -> None:
        """The store may still hold it as ours: claim it, to let it go once more. If it is ours now,
        it may be another's a moment later, who would wait for it for ever."""
        lane = lease.lane
        if lane not in self._runs and not self._closing:
            run = self._runs[lane] = Run(lane, self._kinds[lane_kind(lane)])
            run.leaving = not self.fleet.is_ours(lane) or lane in self.stopped
            self._pause(run, now_ms)

    def open_failed(self, lane: LaneId, now_ms: int) -> None:
        """The store was busy or did not say: nothing stands on it yet, so ask again."""
        run = self._runs.get(lane)
        if run is not None and run.lease is None:
            self._pause(run, now_ms)

    def backlog_read(self, lease: Lease, page: BacklogPage) -> None:
        run = self._held(lease)
        if run is not None and run.lane is not None and run.ahead.reading:
            run.ahead.read(page, run.kind.cursors(run.lane))
            self._enqueue(run)

    def read_failed(self, lease: Lease, now_ms: int) -> None:
        """The store was too busy to read backlog or mailbox: read both again in a while."""
        run = self._held(lease)
        if run is not None:
            run.ahead.fail()
            run.hearing = 0
            run.called = True
            self._pause(run, now_ms)

    def mailbox_read(self, lease: Lease, commands: Sequence[Command]) -> None:
        run = self._held(lease)
        if run is None or run.lane is None:
            return
        run.hearing = max(0, run.hearing - 1)
        known = run.mail[-1].id if run.mail else run.command_last
        run.mail.extend(c for c in commands if c.id > known)
        self._enqueue(run)

    def answered(self, lane: LaneId, event: Any) -> None:
        """An effect's answer; it comes through the front door like everything else."""
        run = self._runs.get(lane)
        if run is None:
            return  # The lane was given up meanwhile; its next owner asks the chain.
        # Even if the lane was loaded again since: what became of an effect is still true.
        run.mailbox.append(event)
        self._enqueue(run)

    def broken(self, lane: LaneId, error: Exception, effect: Any = None) -> None:
        """What carries out this lane's effects met a bug: the lane stops, and it alone."""
        run = self._runs.get(lane)
        if run is not None:
            self._stop(run, error, effect)

    def committed(self, lease: Lease, version: int) -> None:
        run = self._held(lease)
        if run is None or run.draft is None or version != run.version + 1:
            return  # The answer to a commit of a lane that was thrown away since.
        draft, write = run.draft, run.write
        assert write is not None
        run.draft = run.write = None
        run.version = version
        run.retries = 0
        if draft.records:
            self._orders.append(CommitDone(run.id, draft.records, write.results()))
        self._perform(run, draft.effects)
        if run.again or run.mailbox or run.mail:
            self._enqueue(run)
        else:
            self._rest(run)

    def commit_refused(self, lease: Lease) -> None:
        """The lease is lost: another owner acts for this lane, and we no longer do."""
        run = self._held(lease)
        if run is not None:
            self._forget(run)

    def commit_unknown(self, lease: Lease) -> None:
        """Nobody knows what the store holds: throw the lane away and load it again."""
        run = self._held(lease)
        if run is None:
            return
        self._forget(run)
        again = self._runs[run.id] = run.afresh()
        again.retries = run.retries + 1
        if run.draft is not None and run.write is not None:
            again.doubted = run.version + 1, run.draft, run.write
        if run.retries == 0:
            self._orders.append(Open(run.id))
        else:
            self._pause(again, self._now_ms)  # A store that never knows is not asked in a ring.

    def commit_busy(self, lease: Lease, now_ms: int) -> None:
        """Nothing changed; the same write is tried again after a while."""
        run = self._held(lease)
        if run is not None and run.draft is not None:
            self._pause(run, now_ms)

    def _pause(self, run: Run, now_ms: int) -> None:
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
        self._alarms.clear()
        self._orders.clear()
        return leases

    # What must be done.

    def orders(self, now_ms: int) -> list[Order]:
        """Run every lane that has something to do, once, and say what must be done now."""
        if now_ms < self._now_ms - limits.CLOCK_BACK_MS_MIN:
            self._wake_all(now_ms)
        self._now_ms = now_ms
        self._fire(now_ms)
        queue = self._queue
        for _ in range(len(queue)):
            run = queue.popleft()
            run.queued = False
            if run.lease is not None and self._runs.get(run.id) is run:
                self._supervise(run, now_ms)
        if len(self._idle) > self._windows.idle_lanes:
            self._evict()
        orders, self._orders = self._orders, []
        return orders

    def _supervise(self, run: Run, now_ms: int) -> None:
        """A bug stops the lane it is in, before anything of that turn is written or sent."""
        ordered = len(self._orders)
        try:
            self._turn(run, now_ms)
            run.turn = None
        except Exception as error:  # noqa: BLE001 - the one supervisor: a bug has any class.
            del self._orders[ordered:]
            self._stop(run, error, None if run.turn is None else run.turn.doing)

    def _stop(self, run: Run, error: Exception, doing: Any) -> None:
        self._give_up(run)
        version = self.stopped[run.id] = run.version_last()
        self._orders.append(Stopped(run.id, error, doing, suspects(run.lane, doing), version))

    def _turn(self, run: Run, now_ms: int) -> None:
        """Drain what waits, decide and evolve, and order one commit for all of it."""
        if run.rows is not None:
            self._stand_up(run, run.rows)
        lease, kind, lane = run.lease, run.kind, run.lane
        assert lease is not None
        if run.called:
            run.called = False
            run.hearing += 1
            self._orders.append(ReadMailbox(lease))
        if run.draft is not None:
            run.again = True
            return
        run.again = False
        if run.ahead.gone:
            run.ahead.settle()
        draft = run.turn = CommitDraft()
        run.drain(draft, self._windows.events_per_turn, now_ms)
        if draft.answered:
            # Only a command makes a waiting intent final.
            run.ahead.drop(t.intent for t in draft.touched if isinstance(t, Result))
        if not self._holding and run.hearing == 0 and not run.leaving:
            self._pull(run, draft, now_ms)
        if draft.effects and kind.name in self._prompts:
            run.again = draft.answer(kind, lane, self._prompts[kind.name], now_ms)
        run.deadline_ms = kind.deadline(lane)
        if draft.records or draft.answered:
            write = draft.write(kind, lane, run.deadline_ms, now_ms)
            run.draft, run.write = draft, write
            self._orders.append(Commit(lease, run.version + 1, write))
        else:
            self._perform(run, draft.effects)
        if run.careful and draft.has_stepped():
            self._enqueue(run)
        self._rest(run)

    def _pull(self, run: Run, draft: CommitDraft, now_ms: int) -> None:
        """Hand over as much of the backlog as the lane wants now."""
        wanted = run.pull(draft, now_ms)
        if wanted > 0 and run.ahead.may_read() and run.lease is not None:
            run.ahead.begin_read()
            limit = max(self._windows.backlog_page, wanted)
            self._orders.append(ReadBacklog(run.lease, run.kind.cursors(run.lane), limit))

    def _rest(self, run: Run) -> None:
        """Note when the lane must be woken, and whether it is idle."""
        deadline_ms = run.deadline_ms
        if deadline_ms is not None and (run.heap_ms is None or deadline_ms < run.heap_ms):
            self._alarms.set(run, deadline_ms)
        if run.draft is not None:
            return
        if run.mailbox or run.mail:
            self._enqueue(run)
        elif run.is_asking() or run.queued or (run.wakes() and not run.leaving):
            pass
        elif not run.kind.resume(run.lane):
            # By the law of `resume`, a lane that would resume nothing waits for no answer. What
            # its page holds is only read ahead: the lane wants none of it now.
            if run.leaving:
                self._give_up(run)
            else:
                self._idle[run.id] = run

    def _perform(self, run: Run, effects: Sequence[Any]) -> None:
        if not self._closing:
            assert run.lease is not None
            lane, fence = run.id, run.lease.fence
            self._orders += [Perform(lane, effect, fence) for effect in effects]

    def _is_known(self, lane: LaneId) -> bool:
        kind = self._kinds.get(lane_kind(lane))
        return kind is not None and kind.serves(lane)

    def _run(self, lane: LaneId, *, even_stopped: bool = False) -> Run | None:
        """The lane as it is held, opened if need be; None if it is not for this process."""
        run = self._runs.get(lane)
        is_open = not self._closing and (even_stopped or lane not in self.stopped)
        if run is None and is_open and self._is_known(lane) and self.fleet.is_ours(lane):
            run = self._runs[lane] = Run(lane, self._kinds[lane_kind(lane)])
            self._orders.append(Open(lane))
        return run

    def _held(self, lease: Lease) -> Run | None:
        """The run an answer is meant for; None once it was thrown away.

        The fence distinguishes a lane that was thrown away from the one loaded since.
        """
        run = self._runs.get(lease.lane)
        if run is None or run.lease is None or run.lease.fence != lease.fence:
            return None
        return run

    def _forget(self, run: Run) -> None:
        self._runs.pop(run.id, None)
        self._idle.pop(run.id, None)

    def _evict(self) -> None:
        while len(self._idle) > self._windows.idle_lanes:
            self._give_up(next(iter(self._idle.values())))

    def _give_up(self, run: Run) -> None:
        self._forget(run)
        if run.lease is not None:
            self._orders.append(Release(run.lease))

    def _enqueue(self, run: Run) -> None:
        self._idle.pop(run.id, None)
        if not run.queued:
            run.queued = True
            self._queue.append(run)

    # Time.

    def _retry(self, run: Run, at_ms: int) -> None:
        run.retry_ms = at_ms
        self._alarms.set(run, at_ms)

    def _fire(self, now_ms: int) -> None:
        for run in self._alarms.due(now_ms):
            if run.retry_ms is not None and run.retry_ms <= now_ms:
                run.retry_ms = None
                self._again(run)
            if run.deadline_ms is not None and run.deadline_ms <= now_ms:
                run.deadline_ms = None
                run.wake(now_ms)
                self._enqueue(run)
            for later_ms in (run.retry_ms, run.deadline_ms):
                if later_ms is not None:
                    self._alarms.set(run, later_ms)

    def _wake_all(self, now_ms: int) -> None:
        """The clock was set back: what every lane waits for lies further ahead than it meant."""
        for run in self._runs.values():
            if run.retry_ms is not None:
                self._retry(run, now_ms)
            if run.lane is not None:
                run.wake(now_ms)
                self._enqueue(run)

    def _again(self, run: Run) -> None:
        # Opened even if it belongs elsewhere: the store may still say it is ours.
        order = run.again_order()
        if order is None:
            self._enqueue(run)
        else:
            self._orders.append(order)
