"""A chain and a builder of a few lines behind their ports. Everything that they may say, or fail to
say, is set by the test."""

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from typing import Any

from tests.engine.virtual import VirtualTime

from laneway.core.errors import ChainUnreachable
from laneway.core.ids import IntentId, LaneId
from laneway.core.jam import (
    Context,
    JamBlockRef,
    JamBlocksSeen,
    JamHead,
    LineAsked,
    Package,
    PackageAnswer,
    PackageKind,
    SlotClock,
    SubmissionAnswers,
    Watched,
)
from laneway.core.outcome import Outcome
from laneway.engine.bundle import BundlePerformer, Rollup, rollup_lane
from laneway.lanes.bundle.rows import ExecutionVerdict, Tell
from laneway.lanes.bundle.values import (
    BuildBlock,
    BuildVersion,
    JudgedTransaction,
    LookAtChain,
    NotifyBuilder,
    NotifyUser,
    SubmitPackage,
)
from laneway.ports import ExecutedBlock, MadePackage, SendPermit

SERVICE = 7
AWAY = ChainUnreachable("node", "refused")
BEST, ANCHOR, LOOKUP = (JamBlockRef(bytes([byte]) * 32, byte) for byte in (9, 8, 7))
HEAD = JamHead(BEST, None, "node")
CLOCK = SlotClock(slot_ms=6_000, slot=9, heard_ms=1, begin_ms=0, skew_ms=None)
SEEN = JamBlocksSeen(None, (), (), HEAD, is_whole=True)
PACKAGE = Package(encoded=b"package")
PACKAGE_HASH = b"the hash of the package, with 32"


class Busy:
    """Whoever is asked: it takes its time, and counts who asks at once."""

    def __init__(self) -> None:
        self.takes_s = 0.0
        self.trouble: Exception | None = None
        self.under_way = 0
        self.under_way_max = 0

    async def ask(self) -> None:
        self.under_way += 1
        self.under_way_max = max(self.under_way, self.under_way_max)
        try:
            await asyncio.sleep(self.takes_s)
        finally:
            self.under_way -= 1
        if self.trouble is not None:
            raise self.trouble


class FakeChain(Busy):
    """The calls that a performer makes."""

    nodes: tuple[str, ...] = ("a", "b")

    def __init__(self) -> None:
        super().__init__()
        self.greets_s = 0.0
        """How long a node takes before anything may be sent to it."""
        self.clock_trouble: Exception | None = None
        self.slot_clock = CLOCK
        self.seen = SEEN
        self.offsets: list[int] = []
        self.sent: list[tuple[Package, tuple[int, ...], tuple[str, ...]]] = []
        self.lines: list[LineAsked | None] = []
        self.looked: list[tuple[tuple[JamBlockRef, ...], tuple[Watched, ...], int]] = []

    async def context(self, *, offset: int = 1) -> Context:
        self.offsets.append(offset)
        await self.ask()
        return Context(
            anchor=ANCHOR,
            state_root=b"state",
            beefy_root=b"beefy",
            lookup_anchor=LOOKUP,
            lookup_state_root=None,
            head=HEAD,
        )

    async def submit(
        self,
        package: Package,
        cores: Sequence[int],
        only: Sequence[str] = (),
        permit: SendPermit | None = None,
    ) -> SubmissionAnswers:
        assert permit is not None
        await asyncio.sleep(self.greets_s)
        if reason := permit(self.slot_clock):
            return withheld(only[0], cores[0], reason)
        await self.ask()
        self.sent.append((package, tuple(cores), tuple(only)))
        return taken(only[0], cores[0])

    async def look(
        self,
        known: Sequence[JamBlockRef],
        packages: Sequence[Watched],
        limit: int,
        line: LineAsked | None = None,
    ) -> JamBlocksSeen:
        self.looked.append((tuple(known), tuple(packages), limit))
        self.lines.append(line)
        await self.ask()
        return self.seen

    async def clock(self) -> SlotClock:
        if self.clock_trouble is not None:
            raise self.clock_trouble
        return self.slot_clock


def taken(node: str, core: int) -> SubmissionAnswers:
    answer = PackageAnswer(node=node, core=core, kind=PackageKind.TAKEN, outcome=Outcome.ACCEPTED)
    return SubmissionAnswers((answer,), final=False)


def withheld(node: str, core: int, reason: str) -> SubmissionAnswers:
    answer = PackageAnswer(
        node=node,
        core=core,
        kind=PackageKind.UNREACHABLE,
        outcome=Outcome.REFUSED,
        words=reason,
    )
    return SubmissionAnswers((answer,), final=False)


class FakeBuilder(Busy):
    def __init__(self) -> None:
        super().__init__()
        self.contexts: list[Context] = []
        self.heard: list[tuple[int, ...]] = []

    async def execute(self, order: BuildBlock) -> ExecutedBlock:
        await self.ask()
        judged = [
            JudgedTransaction(one, ExecutionVerdict.INCLUDED, b"hash") for one in order.intents
        ]
        return ExecutedBlock(
            payload=b"payload",
            digest=b"digest",
            block=b"block",
            pre_root=b"before",
            post_root=b"after",
            judged=tuple(judged),
        )

    async def package(self, order: BuildVersion, context: Context) -> MadePackage:
        self.contexts.append(context)
        await self.ask()
        return MadePackage(block=order.block, package=PACKAGE, package_hash=PACKAGE_HASH)

    async def notified(self, tells: Sequence[Tell]) -> None:
        await self.ask()
        self.heard.append(tuple(one.id for one in tells))

    async def aclose(self) -> None: ...


class Stage:
    def __init__(self, **words: Any) -> None:
        self.time = VirtualTime()
        self.chain = FakeChain()
        self.builder = FakeBuilder()
        self.lane: LaneId = rollup_lane(SERVICE)
        chain: Any = self.chain
        self.rollup = Rollup(chain, self.builder)
        self.performer = BundlePerformer({self.lane: self.rollup}, self.time, **words)

    def run(self, story: Coroutine[Any, Any, Any]) -> Any:
        return self.time.run(story)

    def perform_all(self, *effects: Any, permit: Callable[[], str | None] = lambda: None) -> Any:
        return self.run(self.performer.perform_all(self.lane, effects, permit))

    def perform(self, *effects: Any, permit: Callable[[], str | None] = lambda: None) -> Any:
        """The one event that answers effects of one class."""
        (event,) = self.perform_all(*effects, permit=permit)
        return event


def block_order(slot: int = 1) -> BuildBlock:
    return BuildBlock(
        slot=slot,
        order=slot + 10,
        number=slot,
        parent=b"",
        parent_root=b"",
        made_ms=5,
        intents=(IntentId("one"), IntentId("two")),
        payloads=(b"1", b"2"),
    )


def version_order(slot: int = 1, *, offset: int = 3) -> BuildVersion:
    return BuildVersion(
        slot=slot,
        order=slot + 10,
        version=2,
        number=slot,
        block=b"block %d" % slot,
        digest=b"digest",
        payload=b"payload",
        pre_root=b"before",
        prerequisites=(),
        anchor_offset=offset,
        core=0,
    )


def submission(slot: int = 1, *, nodes: tuple[str, ...] = ("a", "b")) -> SubmitPackage:
    return SubmitPackage(
        slot=slot,
        version=2,
        serial=4,
        package_hash=PACKAGE_HASH,
        package=PACKAGE,
        cores=(1, 0),
        nodes=nodes,
    )


def looking() -> LookAtChain:
    watched = Watched(package_hash=b"hash", anchor=ANCHOR, service=SERVICE)
    return LookAtChain((ANCHOR, BEST), (watched,))


def telling(*ids: int) -> NotifyUser:
    return NotifyUser(tuple([tell(one) for one in ids]))


def informing(*ids: int) -> NotifyBuilder:
    return NotifyBuilder(tuple([tell(one) for one in ids]))


def tell(number: int) -> Tell:
    return Tell(number, "accumulated", 1, 1, 1, b"hash", b"block", b"root", (), 5)
