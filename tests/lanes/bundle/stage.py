"""A bundle lane on a stage: whoever tests it says what builder, nodes and chain answer.

Every decision is committed as rows, and the lane that stands up from them must equal the one in
memory; every effect that was ordered must be in `resume` until it is answered or its matter is
gone; no version is submitted while another of its block could still land.
"""

from collections.abc import Iterable, Sequence
from typing import Any

import msgspec
from tests.lanes.bundle.chain import Chain, Claim, digest

from laneway.core.ids import IntentId, LaneId, intent_id
from laneway.core.intent import IntentRow
from laneway.core.jam import (
    JamBlockRef,
    May,
    Package,
    PackageAnswer,
    PackageKind,
    SlotClock,
    SubmissionAnswers,
)
from laneway.core.outcome import Outcome
from laneway.core.rows import Command, Head, Index, Result, RowKey, RowPut, Rows, Touch
from laneway.lanes.bundle import values as v
from laneway.lanes.bundle.lane import BundleLane, put_slot, put_version, restore
from laneway.lanes.bundle.machine import bundle_kind, decide, resume, unburdened
from laneway.lanes.bundle.records import BlockDue
from laneway.lanes.bundle.rows import Ear, ExecutionVerdict, Slot, Version
from laneway.lanes.bundle.settings import BundleSettings
from laneway.lanes.bundle.show import Picture, picture
from laneway.lanes.bundle.tells import ON_THE_WAY
from laneway.lanes.common.values import CommandReceived, IntentsOffered, TimerFired

replace = msgspec.structs.replace

LANE = LaneId("rollup:7")
SETTINGS = BundleSettings(service=7, cores=(0, 1, 2, 3), nodes=("a", "b"), block_txs_max=5)
SLOT_MS = 6_000
START_MS = 1_000 * SLOT_MS
GENESIS = digest("the service's genesis")


class Stage:
    """One lane, its rows, a chain, and what it ordered."""

    def __init__(self, chain: Chain | None = None, **settings: Any) -> None:
        self.settings = replace(SETTINGS, **settings)
        self.kind = bundle_kind(self.settings)
        first = self.settings.first_number - 1
        self.chain = chain or Chain(GENESIS, START_MS // SLOT_MS, first)
        self.now_ms = START_MS
        self.skew_ms: int | None = 0
        self.shift_ms = 0
        """How far this machine's clock was set since the beginning."""
        self.lane = BundleLane(LANE, self.settings)
        self.rows: dict[tuple[str, str], RowPut] = {}
        self.head = b""
        self.wake_ms: int | None = None
        self.cursors = self.lane.head.cursors
        self.results: dict[IntentId, Result] = {}
        self.indexes: dict[str, str] = {}
        self.accepted: dict[IntentId, IntentRow] = {}
        self.out: list[Any] = []
        self.owed: list[object] = []
        """What is in `resume`: all of it was ordered."""
        self.told: list[Any] = []
        """The records of the last decision."""
        self.all: list[Any] = []
        """All records."""
        self.heard: list[Any] = []
        """All callbacks."""
        self.noted: list[Any] = []
        """All that the builder heard of."""
        self.sent: list[tuple[int, bytes]] = []
        """All submissions: when, and of which package."""

    # The engine.

    def post(self, event: Any) -> None:
        """One turn: decide, evolve, commit; then the effects may be performed."""
        before, tip = shape(self.lane), self.lane.head.tip.block
        if isinstance(event, IntentsOffered):
            self.lane.intents |= {intent.id: intent for intent in event.intents}
        decision = decide(self.lane, event)
        assert shape(self.lane) == before, "decide only reads"
        self.told = list(decision.records)
        self.apply(decision.records)
        self.out += decision.effects
        for effect in decision.effects:
            self.check_behind(effect, tip)
        self.owed += [named(effect) for effect in decision.effects]
        self.check_resume()
        wake_ms = self.kind.deadline(self.lane)
        assert wake_ms is None or wake_ms > self.now_ms, "what is due is done, so it never spins"

    def apply(self, records: Sequence[Any]) -> None:
        """Fold records into the lane and commit its rows; the lane equals what they restore."""
        told = tuple(records)
        assert self.kind.decode(self.kind.encode(told)) == tuple(map(unburdened, told))
        self.all += records
        for record in records:
            self.keep(self.kind.evolve(self.lane, record))
        self.commit()

    def put(self, *rows: Slot | Version) -> None:
        """Rows stand as a test wants them."""
        for row in rows:
            if isinstance(row, Slot):
                self.keep([put_slot(self.lane, row)])
            else:
                self.keep([put_version(self.lane, row)])
        self.commit()

    def keep(self, touched: Iterable[Touch]) -> None:
        for touch in touched:
            match touch:
                case RowPut():
                    self.rows[touch.table, touch.key] = touch
                case RowKey():
                    del self.rows[touch.table, touch.key]
                case Result():
                    assert touch.intent not in self.results, "a final answer is written once"
                    self.results[touch.intent] = touch
                case Index():
                    self.indexes[touch.value] = touch.intent

    def commit(self) -> None:
        write = self.kind.head(self.lane, self.kind.deadline(self.lane))
        self.head, self.cursors, self.wake_ms = write.state, write.cursors, write.wake_ms
        assert len(self.head) < 1_024
        assert shape(self.restored()) == shape(self.lane)

    def restored(self) -> BundleLane:
        rows = tuple(self.rows.values())
        intents = tuple(self.accepted[row.intent] for row in rows if row.intent is not None)
        head = Head(LANE, state=self.head, cursors=self.cursors)
        return restore(Rows(head, rows, intents, ()), self.settings)

    def check_resume(self) -> None:
        kept = [named(effect) for effect in resume(self.lane)]
        for effect in self.out:
            if is_awaited(self.lane, effect):
                assert named(effect) in kept, f"{effect} is not in resume"
        for one in kept:
            assert one in self.owed, f"{one} was never ordered"
        self.owed = [one for one in self.owed if one in kept]

    def check_behind(self, effect: Any, tip: bytes) -> None:
        """What an order brings along is an unbroken line of blocks from the newest final one up to
        the one that is ordered: whoever has the state behind that can make its own. `tip` was the
        newest final one before the decision that ordered it; others may be final by that too."""
        if not isinstance(effect, v.BuildBlock | v.BuildVersion):
            return
        payloads = list(effect.below)
        if isinstance(effect, v.BuildVersion):
            payloads.append(effect.payload)
        parent: bytes | None = None
        for payload in payloads:
            number, below, _, _ = msgspec.msgpack.decode(payload)
            assert parent is None or below == parent, f"{number} does not follow the one before"
            if parent is None and self.settings.keeps_records:
                known = [block for _, block, _ in self.chain.final.applied]
                tips = (tip or GENESIS, self.lane.head.tip.block or GENESIS, *known)
                assert below in tips, f"{number} is not the first"
            parent = digest("block", payload)
        if isinstance(effect, v.BuildBlock) and payloads:
            assert effect.parent == parent

    def crash(self, **settings: Any) -> None:
        """It is loaded again, perhaps with other settings; what was under way is ordered again."""
        self.settings = replace(self.settings, **settings)
        self.kind = bundle_kind(self.settings)
        self.lane = self.restored()
        self.out = list(resume(self.lane))
        self.owed = [named(effect) for effect in self.out]

    def found(self) -> None:
        """What a start finds unanswered is counted, and ordered again."""
        (order,) = self.take(v.BuildBlock)
        assert order.is_found
        self.post(v.BuildUnanswered(self.now_ms, order.slot, order.order))

    # Callers and operators.

    def accept(self, count: int = 1, **fields: Any) -> list[IntentId]:
        made = []
        for _ in range(count):
            seq = len(self.accepted) + 1
            name = intent_id(seq, seq.to_bytes(10, "big"))
            row = IntentRow(name, LANE, seq, 0, self.now_ms, None, None, "", b"", name.encode())
            self.accepted[name] = replace(row, **fields)
            made.append(name)
        return made

    def pull(self) -> None:
        wanted = self.kind.wants(self.lane)
        waiting = [
            row
            for row in self.accepted.values()
            if row.seq > self.lane.head.cursors[row.priority] and row.id not in self.results
        ]
        if wanted and waiting:
            self.post(IntentsOffered(self.now_ms, tuple(waiting[:wanted])))

    def tell(self, verb: str, intent: IntentId | None = None, **fields: Any) -> None:
        command = Command(1, LANE, verb, self.now_ms, "why", "ann", intent, **fields)
        if intent is not None:
            row = self.accepted[intent]
            command = replace(command, seq=row.seq, priority=row.priority, size=row.size())
        self.post(CommandReceived(self.now_ms, command))

    def tick(self, ms: int = 0) -> None:
        self.now_ms += ms
        self.post(TimerFired(self.now_ms))

    # The builder.

    def take(self, kind: Any, count: int | None = None) -> list[Any]:
        """What was ordered, and is carried out now."""
        found = [one for one in self.out if isinstance(one, kind)][:count]
        self.out = [one for one in self.out if not any(one is taken for taken in found)]
        return found

    def build(self, **words: str) -> None:
        """Execute the block that is ordered; `words` gives verdicts by place, as `t0="refused"`."""
        (order,) = self.take(v.BuildBlock, 1)
        self.post(self.built(order, **words))

    def built(self, order: v.BuildBlock, **words: str) -> v.BlockBuilt:
        judged = tuple(
            v.JudgedTransaction(
                one,
                words.get(
                    f"t{place}",
                    ExecutionVerdict.EXPIRED if one in order.expired else ExecutionVerdict.INCLUDED,
                ),
                digest(one),
                "so it is",
            )
            for place, one in enumerate(order.intents)
        )
        inside = tuple(
            one.intent
            for one in judged
            if one.verdict in (ExecutionVerdict.INCLUDED, ExecutionVerdict.REVERTED)
        )
        parent = order.parent or self.ground()
        payload = msgspec.msgpack.encode([order.number, parent, inside, order.made_ms])
        block = digest("block", payload)
        return v.BlockBuilt(
            now_ms=self.now_ms,
            slot=order.slot,
            order=order.order,
            payload=payload,
            digest=digest(payload),
            block=block,
            pre_root=order.parent_root or digest("root", parent),
            post_root=digest("root", block),
            judged=judged,
        )

    def ground(self) -> bytes:
        """The newest final block of the service."""
        return self.chain.final.head(GENESIS)[1]

    def not_built(self, reason: str = "no", **fields: bool) -> None:
        (order,) = self.take(v.BuildBlock, 1)
        self.post(v.BlockNotBuilt(self.now_ms, order.slot, order.order, reason, **fields))

    def version_of(self, order: v.BuildVersion) -> v.VersionBuilt:
        walk = self.chain.best
        for _ in range(order.anchor_offset):
            walk = self.chain.states[walk.parent] if walk.parent else walk
        number, parent, inside, _ = msgspec.msgpack.decode(order.payload)
        claim = Claim(number, parent, order.block, walk.ref, order.prerequisites, tuple(inside))
        encoded = msgspec.msgpack.encode(claim)
        return v.VersionBuilt(
            slot=order.slot,
            order=order.order,
            block=order.block,
            package_hash=digest("package", encoded),
            package=Package(encoded=encoded, extrinsics=(order.payload,)),
            anchor=walk.ref,
            lookup_anchor=walk.ref,
        )

    def make(self, **fields: Any) -> None:
        """All versions that are ordered, and those that are ordered behind them."""
        while orders := self.take(v.BuildVersion):
            made = tuple(replace(self.version_of(order), **fields) for order in orders)
            self.post(v.VersionsMade(self.now_ms, made))

    def not_made(self, reason: str = "no", *, final: bool = False) -> None:
        (order,) = self.take(v.BuildVersion, 1)
        failed = v.VersionNotBuilt(order.slot, order.order, reason, final)
        self.post(v.VersionsMade(self.now_ms, (failed,)))

    # The nodes.

    def send(self, kind: PackageKind = PackageKind.TAKEN, **fields: Any) -> None:
        """All packages that are ordered are submitted, and answered like this."""
        orders = self.take(v.SubmitPackage)
        if orders:
            results = tuple(self.submitted(order, kind, **fields) for order in orders)
            self.post(v.PackagesSubmitted(self.now_ms, results))

    def submitted(
        self,
        order: v.SubmitPackage,
        kind: PackageKind = PackageKind.TAKEN,
        *,
        reaches: bool | None = None,
        final: bool = False,
        may: tuple[May, ...] = (),
    ) -> v.Submitted:
        outcome = {
            PackageKind.TAKEN: Outcome.ACCEPTED,
            PackageKind.ALREADY_KNOWN: Outcome.ACCEPTED,
            PackageKind.SILENT: Outcome.UNKNOWN,
        }.get(kind, Outcome.REFUSED)
        if reaches if reaches is not None else outcome is not Outcome.REFUSED:
            self.reach(order)
        nodes = order.nodes if outcome is Outcome.REFUSED else order.nodes[:1]
        answers = tuple(
            PackageAnswer(
                node=node, core=order.cores[0], kind=kind, outcome=outcome, final=final, may=may
            )
            for node in nodes
        )
        self.sent.append((self.now_ms, order.package_hash))
        told = SubmissionAnswers(answers, final and outcome is Outcome.REFUSED)
        return v.Submitted(order.slot, order.version, order.serial, told)

    def reach(self, order: v.SubmitPackage) -> None:
        """The package is with some node: from now on it may land. So may nothing else of its block,
        or two versions could."""
        chain = self.chain
        new = order.package_hash not in chain.packages
        chain.hand_in(order.package_hash, order.package.encoded, order.cores[0])
        if new:
            for one in self.lane.of(order.slot):
                if one.package_hash != order.package_hash and one.package_hash in chain.packages:
                    landing = chain.may_land(one.package_hash, self.seen_state())
                    assert not landing, f"{order.slot}v{order.version} while {one} could land"

    def seen_state(self) -> Any:
        """The chain as the lane last saw it."""
        best = self.lane.head.best
        assert best is not None
        return self.chain.states[best.header_hash]

    # The chain.

    def clock(self) -> SlotClock:
        slot = self.chain.best.ref.slot
        return SlotClock(
            slot_ms=SLOT_MS,
            slot=slot,
            heard_ms=self.now_ms,
            begin_ms=self.shift_ms,
            skew_ms=self.skew_ms,
        )

    def look(self, limit: int = 64) -> None:
        """The chain is looked at now, whether that was ordered or is due."""
        if not self.lane.head.looking:
            wake_ms = self.lane.head.look_ms
            assert wake_ms is not None
            self.now_ms = max(self.now_ms, wake_ms)
            self.tick()
        (order,) = self.take(v.LookAtChain, 1)
        seen = self.chain.look(order.known, order.packages, limit, order.line)
        self.post(v.ChainLooked(self.now_ms, seen, self.clock()))

    def blind(self) -> None:
        self.take(v.LookAtChain, 1)
        self.post(v.LookFailed(self.now_ms, "nobody answers"))

    # The owner of the rollup.

    def note(self, *, is_done: bool = True) -> None:
        """The builder hears."""
        for order in self.take(v.NotifyBuilder):
            self.noted += order.tells
            last = order.tells[-1].id
            self.post(v.BlocksNotified(self.now_ms, last, is_done, "busy", Ear.BUILDER))

    def hear(self, *, is_done: bool = True) -> None:
        """The builder hears, and then whoever listens, or not."""
        self.note()
        for order in self.take(v.NotifyUser):
            ids = [one.id for one in self.noted]
            assert all(one.id in ids for one in order.tells), "the builder hears first"
            self.heard += order.tells
            self.post(v.BlocksNotified(self.now_ms, order.tells[-1].id, is_done, "busy"))

    def hear_all(self) -> None:
        """All that is owed."""
        while any(isinstance(one, v.NotifyBuilder | v.NotifyUser) for one in self.out):
            self.hear()

    def ends(self) -> list[Any]:
        """The callbacks of what became of blocks, without those of their way there."""
        return [one for one in self.heard if one.word not in ON_THE_WAY]

    # Time.

    def until(self, ms: int) -> None:
        """To this moment, waking the lane whenever it wants, with everyone answering at once."""
        self.settle()
        while True:
            wake_ms = self.kind.deadline(self.lane)
            if wake_ms is None or wake_ms > ms:
                break
            self.now_ms = max(self.now_ms, wake_ms)
            self.tick()
            self.settle()
        self.now_ms = max(self.now_ms, ms)

    def settle(self) -> None:
        """Everyone answers, until nobody is asked."""
        while True:
            self.pull()
            if any(isinstance(one, v.BuildBlock) for one in self.out):
                self.build()
            elif any(isinstance(one, v.BuildVersion) for one in self.out):
                self.make()
            elif any(isinstance(one, v.SubmitPackage) for one in self.out):
                self.send()
            elif any(isinstance(one, v.LookAtChain) for one in self.out):
                self.look()
            elif any(isinstance(one, v.NotifyBuilder | v.NotifyUser) for one in self.out):
                self.hear()
            else:
                return

    def to_slot(self, before_ms: int = 0) -> None:
        """To so long before the next timeslot of the chain's newest block."""
        self.until((self.chain.best.ref.slot + 1) * SLOT_MS - before_ms + self.shift_ms)

    def slot(self, *report: bytes, **fields: Any) -> None:
        """A timeslot: windows pass, a block comes with these reports, and the lane sees it."""
        self.to_slot()
        self.chain.produce(report, **fields)
        self.until(self.chain.best.ref.slot * SLOT_MS + 1_000 + self.shift_ms)

    def slot_all(self, finality: int | None = None) -> None:
        """A timeslot in which all that can be reported is."""
        self.to_slot()
        self.chain.produce(self.reportable())
        if finality is not None:
            self.chain.finalise(behind=finality)
        self.until(self.chain.best.ref.slot * SLOT_MS + 1_000 + self.shift_ms)

    def reportable(self) -> list[bytes]:
        chain, found = self.chain, list[bytes]()
        for one in chain.packages:
            if chain.can_report(one, chain.best, found):
                found.append(one)
        return found

    def run(self, slots: int, finality: int = 2) -> None:
        for _ in range(slots):
            self.slot_all(finality)

    # Questions.

    def named(self, number: int) -> Slot:
        """The open block with this number."""
        assert number in self.lane.numbers, f"no open block has the number {number}"
        return self.lane.slots[self.lane.numbers[number]]

    def version(self, number: int, version: int = 1) -> Version:
        found = self.lane.version(self.named(number).id, version)
        assert found is not None
        return found

    def hash_of(self, number: int, version: int = 1) -> bytes:
        return self.version(number, version).package_hash

    def words(self) -> dict[int, str]:
        return {slot.number: slot.word for slot in self.lane.in_order()}

    def picture(self) -> Picture:
        return picture(self.lane)

    def statuses(self) -> list[str]:
        return [self.results[one].status if one in self.results else "" for one in self.accepted]

    def of(self, kind: Any) -> list[Any]:
        """All records of a kind."""
        return [one for one in self.all if isinstance(one, kind)]

    def anchor(self) -> JamBlockRef:
        return self.chain.best.ref

    def check_places(self) -> None:
        """Each transaction is in one place: the backlog, the pool, a block, or answered."""
        lane = self.lane
        for row in self.accepted.values():
            waits = row.seq > lane.head.cursors[row.priority]
            places = [waits and row.id not in self.results, row.id in lane.returned]
            places += [row.id in lane.bound, row.id in self.results]
            assert sum(places) == 1, (row.id, places)
        inside = [one.intent for members in lane.members.values() for one in members]
        assert sorted(inside) == sorted(lane.bound)


def named(effect: Any) -> object:
    """What an effect asks for; looks and submissions are told apart by what they are about."""
    match effect:
        case v.LookAtChain():
            return "look"
        case v.SubmitPackage():
            return "submit", effect.package_hash, effect.serial, effect.package
        case v.BuildBlock():
            return replace(effect, below=(), is_found=False)
        case v.BuildVersion():
            return replace(effect, below=())  # Fewer, when some of those below are final.
        case _:
            return effect


def is_awaited(lane: BundleLane, effect: Any) -> bool:
    """Whether its answer still counts."""
    match effect:
        case v.BuildBlock(slot=slot, order=order):
            found = lane.slots.get(slot)
            return found is not None and found.building and found.order == order
        case v.BuildVersion(slot=slot, order=order):
            found = lane.slots.get(slot)
            return found is not None and found.making is not None and found.making.order == order
        case v.SubmitPackage():
            version = lane.version(effect.slot, effect.version)
            return version is not None and version.offering and version.serial == effect.serial
        case v.NotifyBuilder(tells=tells):
            return lane.head.hearing == tells[-1].id
        case v.NotifyUser(tells=tells):
            return lane.head.telling == tells[-1].id
        case _:
            return lane.head.looking


def shape(lane: BundleLane) -> dict[str, object]:
    """All that a lane is, its caches of intents aside."""
    return {
        "head": replace(lane.head),
        "slots": dict(lane.slots),
        "numbers": dict(lane.numbers),
        "versions": dict(lane.versions),
        "hashes": dict(lane.hashes),
        "members": dict(lane.members),
        "payloads": dict(lane.payloads),
        "packages": dict(lane.packages),
        "returned": dict(lane.returned),
        "tells": list(lane.tells.items()),
        "chain": list(lane.chain.items()),
        "bound": dict(lane.bound),
        "finished": list(lane.finished.items()),
        "heights": dict(lane.heights),
        "words": dict(lane.words),
        "places": {word: dict(slots) for word, slots in lane.places.items()},
        "overdue": dict(lane.overdue),
        "over": dict(lane.over),
        "line": (lane.line_top, list(lane.line)),
        "open_bytes": lane.open_bytes,
    }


def queued(blocks: int = 1, **settings: Any) -> Stage:
    """So many blocks of one transaction each are executed; the chain was looked at."""
    stage = Stage(**{"block_txs_max": 1, **settings})
    stage.chain.produce()
    stage.now_ms = stage.chain.best.ref.slot * SLOT_MS
    for _ in range(blocks):
        stage.accept(1)
        stage.pull()
        stage.build()
        if stage.lane.head.looking:
            stage.look()
        stage.now_ms += 1
        stage.apply([*due(stage)])
    return stage


def due(stage: Stage) -> list[Any]:
    """The next block may be begun at once."""
    return [BlockDue()] if stage.lane.head.block_ms is not None else []


def submitted(blocks: int = 1, **settings: Any) -> Stage:
    """They are with a node."""
    stage = queued(blocks, **settings)
    stage.to_slot(2_500)
    return stage
