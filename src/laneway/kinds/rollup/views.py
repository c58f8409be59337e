"""Views of a rollup's lane and of its transactions."""

from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from laneway.core.ids import IntentId, LaneId
from laneway.core.outcome import Status
from laneway.core.rows import LaneView
from laneway.kinds.common.views import (
    AccountServed,
    copied,
    halts,
    shown_health,
    shown_lane,
    shown_tx,
)
from laneway.kinds.outlook import joined, outlook_of
from laneway.kinds.rollup.bundles import EMPTY, jam_block, named, picture_of
from laneway.kinds.rollup.lagging import BuilderWatch, skewed
from laneway.lanes.bundle import show
from laneway.lanes.bundle.lane import BundleLane, decode_history
from laneway.lanes.bundle.rows import BundleHead, History
from laneway.lanes.bundle.settings import BundleSettings
from laneway.lanes.bundle.show import Sight, read_head
from laneway.lanes.kind import LaneState
from laneway.ports import IntentView, JamChain, RollupReads
from laneway.wire import rollup as wire
from laneway.wire.hex import octets
from laneway.wire.times import to_time
from laneway.wire.values import Lane, LaneHealth, Tx

NODES = "start one, or name others as its `nodes`"
ELSEWHERE = (
    "the blocks, their versions and the pool are known to the process that holds the lane; "
    "this is what its last commit left"
)
ASLEEP = (
    "nothing is open, and the lane sleeps until the next transaction; the list has what is final"
)


class ClosedRollup(Struct, frozen=True, kw_only=True):
    """Why a rollup is not served here yet."""

    since_ms: int
    problem: str
    is_unfit: bool = False
    """Whether a node answers, and what is configured does not fit its chain: a person has to
    change something."""

    def words(self, *, are_nodes_named: bool = False) -> str:
        """The reason for people. What the nodes said is left out where they are named beside it."""
        if self.is_unfit:
            return f"it cannot be served: {self.problem}; fix that, and start this process again"
        since = to_time(self.since_ms).isoformat(timespec="seconds")
        said = "" if are_nodes_named else f": {self.problem}"
        return f"no node of its chain could be reached since {since}{said}; {NODES}"


class ConfiguredRollup(Struct, frozen=True):
    """One rollup as its configuration names it, and whom to ask about it."""

    lane: LaneId
    name: str
    kind: str
    service: int
    settings: BundleSettings
    chain: JamChain
    reads: RollupReads
    genesis: bytes
    """The hash of the JAM chain's first header, which signatures name; empty if it is not known."""
    closed: ClosedRollup | None = None
    """Why it is not served yet: no node could be asked. None if it is served."""
    watch: BuilderWatch | None = None
    """Of its builder; None while it is not served."""

    def unwell(self, head: BundleHead) -> str:
        """What a person has to do something about: the lane is halted, no block is built, or its
        builder is not level with the chain. Empty if there is nothing."""
        return show.stuck(head) or self.lag()

    def lag(self) -> str:
        return "" if self.watch is None else self.watch.problem()

    def skew(self, known_ms: int | None = None) -> str:
        """That this machine's clock is off, also while its lane does not look at its chain; what
        the lane knew then may be of long ago."""
        fresh_ms = None if self.watch is None else self.watch.skew_ms
        skew_ms = known_ms if fresh_ms is None else fresh_ms
        return skewed(skew_ms, self.settings.clock_skew_ms_max)

    def why_closed(self) -> str:
        """For views beside which the nodes in trouble are named; empty if it is served."""
        if self.closed is None:
            return ""
        return self.closed.words(are_nodes_named=outlook_of(self.chain).is_blocked())


class RollupViews(AccountServed[ConfiguredRollup, BundleLane]):
    """Views of rollups. A block has many transactions, so none has a number of its own."""

    number_index = ""
    named_so = ("rollup", "rollup:NAME or its service")
    shows = show

    history = staticmethod(decode_history)

    def slot(self, lane: LaneId, intent: IntentId) -> Any:
        held = self.held(lane)
        number = None if held is None else held.bound.get(intent)
        return None if held is None or number is None else held.slots[number]

    def bound_at(self, _lane: LaneId, _number: int) -> IntentId | None:
        return None

    # Transactions.

    def sight(self, view: IntentView, state: bytes) -> Sight:
        row = view.intent
        lane = self.held(row.lane)
        if lane is not None:
            if view.open and row.id not in lane.bound and row.id not in lane.returned:
                # Its block ends in the commit that is being written.
                return Sight(Status.INCLUDED, show.NOT_FINAL)
            return show.sight(lane, row.id, row.seq)
        place = self.account(row.lane)
        if place is not None and place.closed is not None:
            return Sight(Status.SUBMITTED if view.open else Status.QUEUED, place.why_closed())
        if view.open:
            # It is in a block, or was; which is known to the process that holds the lane.
            return Sight(Status.SUBMITTED, "held_elsewhere")
        depth = None if place is None else place.settings.max_queue_depth
        return Sight(Status.QUEUED, show.why_pooled(read_head(state), row.seq, depth))

    def tx(self, view: IntentView, lane: LaneView) -> Tx:
        raw, result = octets(view.intent.payload), view.result
        if result is not None:
            history = decode_history(result.history) if result.history else None
            return shown_tx(
                view,
                result.status,
                "",
                block=result.number,
                hash=None if result.hash is None else octets(result.hash),
                rollup=wire.RollupTx(raw=raw) if history is None else final_tx(history, raw),
            )
        seen = self.sight(view, lane.head.state)
        held = self.held(view.intent.lane)
        rollup = open_tx(held, view.intent.id, seen, raw)
        hash_ = None if held is None else hash_in(held, view.intent.id)
        return shown_tx(
            view, seen.status.value, seen.waits, block=rollup.number, hash=hash_, rollup=rollup
        )

    # Lanes.

    def state(self, view: LaneView) -> LaneState:
        """One that no process serves says why: as halted only where a person has to act."""
        found, place = super().state(view), self.account(view.tail.lane)
        if place is None or place.closed is None or view.leased:
            return found
        if place.closed.is_unfit:
            return LaneState("halted", place.why_closed(), place.closed.since_ms)
        return replace(found, reason=joined(found.reason, place.why_closed()))

    def lane(self, view: LaneView, oldest_ms: int | None, now_ms: int) -> Lane:
        head, inside = read_head(view.head.state), self.inside(view)
        rollup = self._lane(view, head)
        return shown_lane(view, self.state(view), inside, oldest_ms, now_ms, rollup=rollup)

    def health(self, view: LaneView) -> LaneHealth:
        head, lane = read_head(view.head.state), self.held(view.tail.lane)
        problems, place = halts(self.state(view)), self.account(view.tail.lane)
        if place is not None and (off := place.skew(None if lane is None else skew_of(head))):
            problems.append(off)
        problems += [one for one in (show.unseen(head), show.unheard(head)) if one]
        if head.drops:
            problems.append(f"{head.drops} blocks were dropped since one was accumulated")
        unwell = show.stuck(head) if place is None else place.unwell(head)
        if unwell not in ("", *problems) and head.mode != "halted":  # The state says the same.
            problems.append(unwell)
        if place is not None and place.closed is not None and not place.closed.is_unfit:
            problems.append(place.why_closed())
        return shown_health(view, problems, rollup=self._lane(view, head))

    def inside(self, view: LaneView) -> int:
        """Transactions that are in blocks. Where another process holds the lane it is reckoned from
        how far the backlog was taken."""
        lane = self.held(view.tail.lane)
        if lane is not None:
            return sum(len(members) for members in lane.members.values())
        head = read_head(view.head.state)
        if not head.open_count:
            return 0
        taken = sum(head.cursors) - head.settled_count - head.returned_count
        return max(0, min(taken, view.depth()))

    def _lane(self, view: LaneView, head: BundleHead) -> wire.RollupLane | None:
        place = self.account(view.tail.lane)
        if place is None:
            return None
        return copied(
            wire.RollupLane,
            place,
            held=self.held(view.tail.lane) is not None,
            open=head.open_count,
            queued=head.queued_count,
            returned=head.returned_count,
            finalised=head.tip.number,
            drops=head.drops_total,
            skew_ms=skew_of(head),
        )

    # The rollup.

    def rollup(self, view: LaneView) -> wire.Rollup:
        lane, head, state = view.tail.lane, read_head(view.head.state), self.state(view)
        place = self.account(lane)
        assert place is not None
        left = view.depth() - self.inside(view)
        return copied(
            wire.Rollup,
            place,
            state="ready" if state.word == "idle" and left else state.word,
            reason=state.reason,
            by=state.by,
            held=self.held(lane) is not None,
            open=head.open_count,
            queued=head.queued_count,
            finalised=head.tip.number,
            total=view.depth(),
        )

    def status(self, view: LaneView, chain: bytes | None) -> wire.RollupStatus:
        lane, place = self.held(view.tail.lane), self.account(view.tail.lane)
        assert place is not None
        # What is in memory is newer than the last commit that a reader finds.
        head = read_head(view.head.state) if lane is None else lane.head
        settings, empty = place.settings, EMPTY if self.is_asleep(view) else None
        inside, known = self.inside(view), lane is not None or empty is not None
        return copied(
            wire.RollupStatus,
            settings,
            rollup=self.rollup(view),
            chain=None if chain is None else octets(chain),
            waits=show.unseen(head)
            or place.lag()
            or self._waits(place, head, lane)
            or place.skew(),
            best=None if head.best is None else jam_block(head.best),
            final=None if head.finalised is None else jam_block(head.finalised),
            clock=clock_of(head, settings),
            pool=wire.RollupPool(
                pending=max(0, view.depth() - inside) if known else None,
                in_blocks=inside if known else None,
                returned=head.returned_count,
                total=view.depth(),
            ),
            counters=counters_of(head),
            picture=empty if lane is None else picture_of(lane),
            elsewhere=self.elsewhere(view),
        )

    def _waits(self, place: ConfiguredRollup, head: BundleHead, lane: BundleLane | None) -> str:
        if lane is not None:
            return waits_of(lane)
        # No node is named beside it.
        return show.trouble(head) if place.closed is None else place.closed.words()

    def is_asleep(self, view: LaneView) -> bool:
        """Whether there is nothing that a holder would know and the store does not."""
        return not read_head(view.head.state).open_count

    def elsewhere(self, view: LaneView) -> str:
        if self.held(view.tail.lane) is not None:
            return ""
        return ASLEEP if self.is_asleep(view) else ELSEWHERE


def waits_of(lane: BundleLane) -> str:
    """Why the lane as a whole waits, or the lowest block that is not submitted."""
    if lane.head.look_reason:
        return show.unseen(lane.head)
    blocked = show.starved(lane.head) or show.filled(lane.head)
    if blocked and not show.stopped(lane.head):
        return blocked
    for slot in lane.in_order():
        if show.STATUSES[slot.word] is Status.QUEUED:
            return f"{slot.bundle_id()} (block {slot.number}): {show.wait_reason(lane, slot)}"
    return show.unheard(lane.head)


def skew_of(head: BundleHead) -> int | None:
    return None if head.clock is None else head.clock.skew_ms


def clock_of(head: BundleHead, settings: BundleSettings) -> wire.RollupClock | None:
    clock = head.clock
    if clock is None:
        return None
    skew, most = clock.skew_ms, settings.clock_skew_ms_max
    return copied(
        wire.RollupClock,
        clock,
        heard_at=to_time(clock.heard_ms),
        skew_ms_max=most,
        is_held_up=skew is not None and abs(skew) > most,
    )


def counters_of(head: BundleHead) -> wire.RollupCounters:
    return wire.RollupCounters(
        duplicate_guarantees_rejected=head.duplicate_guarantees,
        duplicate_accumulates_rejected=head.duplicate_accumulates,
        non_winning_versions_canceled=head.versions_cancelled,
        overruled=head.overruled,
        foreign_blocks=head.foreign_count,
        drops=head.drops_total,
        drops_in_a_row=head.drops,
        finalised=head.finished_count,
        settled=head.settled_count,
    )


def final_tx(history: History, raw: str) -> wire.RollupTx:
    finished = history.finished
    is_ours = finished.slot > 0
    return wire.RollupTx(
        bundle=f"B-{finished.slot}" if is_ours else None,
        number=finished.number,
        index=history.index,
        state="finalised",
        package=named(finished.package_hash),
        package_version=finished.version if finished.version else None,
        accumulated_in=jam_block(finished.accumulated) if is_ours else None,
        raw=raw,
    )


def open_tx(lane: BundleLane | None, intent: IntentId, seen: Sight, raw: str) -> wire.RollupTx:
    slot = seen.slot
    if lane is None or slot is None:
        return wire.RollupTx(wait_reason=seen.waits, raw=raw)
    version = lane.version(slot.id, slot.winner or slot.version)
    inside = [one for one in lane.members[slot.id] if one.intent == intent]
    return wire.RollupTx(
        bundle=slot.bundle_id(),
        # While it is being executed it may come to nothing, or to a block without this one.
        number=None if slot.building else slot.number,
        state=slot.word,  # type: ignore[arg-type]
        verdict=inside[0].verdict if inside else "",
        package=None if version is None else octets(version.package_hash),
        package_version=None if version is None else version.version,
        wait_reason=seen.waits,
        raw=raw,
    )


def hash_in(lane: BundleLane, intent: IntentId) -> str | None:
    """Of a transaction whose block was executed."""
    slot = lane.bound.get(intent)
    for member in () if slot is None else lane.members[slot]:
        if member.intent == intent and member.hash:
            return octets(member.hash)
    return None
