"""A bundle lane under the benchmark's own clock: decided and folded, and answered at once.

There is no engine and no store here: what is measured is the machine, on whatever chain answers it.
"""

from collections.abc import Callable, Sequence
from typing import Any, Protocol, TypeVar

from laneway.core.ids import LaneId, intent_id
from laneway.core.intent import IntentRow
from laneway.core.jam import Package, PackageAnswer, PackageKind, SlotClock, SubmissionAnswers
from laneway.core.outcome import Outcome
from laneway.jam.hashing import blake2b
from laneway.lanes.bundle.fold import evolve
from laneway.lanes.bundle.lane import BundleLane
from laneway.lanes.bundle.machine import bundle_kind, decide
from laneway.lanes.bundle.records import Record
from laneway.lanes.bundle.rows import Ear, ExecutionVerdict
from laneway.lanes.bundle.settings import BundleSettings
from laneway.lanes.bundle.values import (
    BlockBuilt,
    BlocksNotified,
    BuildBlock,
    BuildVersion,
    ChainLooked,
    Event,
    JudgedTransaction,
    LookAtChain,
    NotifyBuilder,
    NotifyUser,
    PackagesSubmitted,
    SubmitPackage,
    Submitted,
    VersionBuilt,
    VersionsMade,
)
from laneway.lanes.common.values import IntentsOffered, TimerFired

LANE = LaneId("rollup:1729")
SLOT_MS = 6_000
SETTLE_STEPS_MAX = 1_000_000
"""Answers between two moments: three for each block of a slot on 341 cores are a thousandth."""

Kind = TypeVar("Kind")


class LaneWorld(Protocol):
    """Who answers a lane's orders, at once."""

    def execute(self, order: BuildBlock, now_ms: int) -> BlockBuilt: ...
    def package(self, order: BuildVersion) -> VersionBuilt: ...
    def submit(self, order: SubmitPackage) -> None: ...
    def look(self, order: LookAtChain, now_ms: int) -> ChainLooked: ...


class DrivenLane:
    """One lane, its orders and their answers."""

    def __init__(
        self, settings: BundleSettings, world: LaneWorld, hear: Callable[[Record], None]
    ) -> None:
        self.lane = BundleLane(LANE, settings)
        self.now_ms = 0
        self.intents = 0
        self.supply = 0
        """Transactions that wait for a block."""
        self.payload = b"."
        self._kind = bundle_kind(settings)
        self._world = world
        self._hear = hear
        self._effects: list[Any] = []

    def post(self, event: Event) -> None:
        decision = decide(self.lane, event)
        for record in decision.records:
            evolve(self.lane, record)
            self._hear(record)
        self._effects += decision.effects

    def until(self, at_ms: int) -> None:
        """To this moment; the lane is woken when it wants to be."""
        self.settle()
        while True:
            wake_ms = self._kind.deadline(self.lane)
            if wake_ms is None or wake_ms > at_ms:
                break
            self.now_ms = max(self.now_ms, wake_ms)
            self.post(TimerFired(self.now_ms))
            self.settle()
        self.now_ms = max(self.now_ms, at_ms)

    def settle(self) -> None:
        """Everyone answers, until nobody is asked."""
        for _ in range(SETTLE_STEPS_MAX):
            self._pull()
            if not self._effects:
                return
            self._answer()
        raise AssertionError("the lane asks for ever")

    def _pull(self) -> None:
        wanted = min(self._kind.wants(self.lane), self.supply)
        if wanted:
            rows = tuple([self._intent() for _ in range(wanted)])
            self.supply -= wanted
            self.lane.intents |= {row.id: row for row in rows}
            self.post(IntentsOffered(self.now_ms, rows))

    def _intent(self) -> IntentRow:
        self.intents += 1
        name = intent_id(self.intents, self.intents.to_bytes(10, "big"))
        return IntentRow(
            name, LANE, self.intents, 0, self.now_ms, None, None, "", b"", self.payload
        )

    def _answer(self) -> None:
        """All orders of a kind at once, as an engine that batches would."""
        world = self._world
        for block in self._take(BuildBlock):
            self.post(world.execute(block, self.now_ms))
        versions = self._take(BuildVersion)
        if versions:
            made = tuple([world.package(order) for order in versions])
            self.post(VersionsMade(self.now_ms, made))
        submissions = self._take(SubmitPackage)
        if submissions:
            for order in submissions:
                world.submit(order)
            results = tuple([taken(order) for order in submissions])
            self.post(PackagesSubmitted(self.now_ms, results))
        for look in self._take(LookAtChain):
            self.post(world.look(look, self.now_ms))
        for first in self._take(NotifyBuilder):
            self.post(BlocksNotified(self.now_ms, first.tells[-1].id, ear=Ear.BUILDER))
        for tells in self._take(NotifyUser):
            self.post(BlocksNotified(self.now_ms, tells.tells[-1].id))

    def _take(self, kind: type[Kind]) -> list[Kind]:
        found = [one for one in self._effects if isinstance(one, kind)]
        if found:
            self._effects = [one for one in self._effects if not isinstance(one, kind)]
        return found


def taken(order: SubmitPackage) -> Submitted:
    answer = PackageAnswer(
        node=order.nodes[0],
        core=order.cores[0],
        kind=PackageKind.TAKEN,
        outcome=Outcome.ACCEPTED,
    )
    return Submitted(order.slot, order.version, order.serial, SubmissionAnswers((answer,), False))


def clock_at(slot: int, now_ms: int) -> SlotClock:
    return SlotClock(slot_ms=SLOT_MS, slot=slot, heard_ms=now_ms, begin_ms=0, skew_ms=0)


def stub_block(order: BuildBlock, payload: bytes, now_ms: int) -> BlockBuilt:
    """A block of a rollup that executes nothing: its hash stands for its state."""
    block = blake2b(b"%d" % order.number + order.parent)
    return BlockBuilt(
        now_ms=now_ms,
        slot=order.slot,
        order=order.order,
        payload=payload,
        digest=blake2b(payload),
        block=block,
        pre_root=order.parent_root or bytes(32),
        post_root=block,
        judged=tuple(
            [
                JudgedTransaction(one, ExecutionVerdict.INCLUDED, blake2b(one.encode()))
                for one in order.intents
            ]
        ),
    )


def version_of(order: BuildVersion, encoded: bytes, **refs: Any) -> VersionBuilt:
    extrinsics: Sequence[bytes] = refs.pop("extrinsics", ())
    return VersionBuilt(
        slot=order.slot,
        order=order.order,
        block=order.block,
        package_hash=blake2b(encoded),
        package=Package(encoded=encoded, extrinsics=tuple(extrinsics)),
        **refs,
    )
