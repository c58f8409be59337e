"""Carries out a bundle lane's orders, and turns the answers of nodes and builders into its events.

Several orders of one lane are carried out at once. What all rollups of this process build, submit
and look at shares three bounds.
"""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any, assert_never

from msgspec.structs import replace

from laneway.core.errors import BuildFailed, ChainError
from laneway.core.ids import LaneId
from laneway.core.jam import PackageAnswer, PackageKind, SlotClock, SubmissionAnswers
from laneway.core.outcome import Outcome
from laneway.core.reason import clip
from laneway.engine.bundle.rollup import BlockCallback, Rollup, notify_builder, notify_user
from laneway.engine.limits import (
    BUILD_TIMEOUT_MS,
    BUILDS_AT_ONCE,
    LOOK_BLOCKS_MIN,
    READ_TIMEOUT_MS,
    ROLLUP_LOOKS_AT_ONCE,
    SUBMISSIONS_AT_ONCE,
)
from laneway.engine.performers import BatchPerformer, Permit, all_of
from laneway.lanes.bundle.limits import CHAIN_KEPT_MAX
from laneway.lanes.bundle.rows import Ear, Tell
from laneway.lanes.bundle.values import (
    BlockBuilt,
    BlockNotBuilt,
    BlocksNotified,
    BuildBlock,
    BuildUnanswered,
    BuildVersion,
    ChainLooked,
    Effect,
    Event,
    LookAtChain,
    LookFailed,
    NotifyBuilder,
    NotifyUser,
    PackagesSubmitted,
    SubmitPackage,
    Submitted,
    VersionAnswer,
    VersionBuilt,
    VersionNotBuilt,
    VersionsMade,
)
from laneway.ports import Clock, JamChain

FAILURES = (ChainError, BuildFailed, TimeoutError)
LATE = "the builder did not answer in time"


class BundlePerformer(BatchPerformer):
    """Every order is answered, in the end by a time limit here or the adapter's own."""

    def __init__(
        self,
        rollups: Mapping[LaneId, Rollup],
        clock: Clock,
        *,
        on_block: BlockCallback | None = None,
        builds_at_once: int = BUILDS_AT_ONCE,
        submissions_at_once: int = SUBMISSIONS_AT_ONCE,
        looks_at_once: int = ROLLUP_LOOKS_AT_ONCE,
        build_timeout_ms: int = BUILD_TIMEOUT_MS,
    ) -> None:
        self._rollups = rollups
        self._clock = clock
        self._on_block = on_block
        self._build_ms = build_timeout_ms
        self._builds = asyncio.Semaphore(builds_at_once)
        self._submissions = asyncio.Semaphore(submissions_at_once)
        self._looks = asyncio.Semaphore(looks_at_once)
        self._look_blocks: dict[LaneId, int] = {}
        """How many blocks one look asks for, of lanes whose last look timed out with more."""
        self._packing: dict[LaneId, dict[BuildVersion, asyncio.Future[VersionAnswer | None]]] = {}
        """Orders that a package is being made for, and its answer; None if it comes to none."""

    # In the lane's own turn.

    def answer_now(
        self, _lane: LaneId, effects: list[Effect], _now_ms: int
    ) -> tuple[None, list[Effect]]:
        """No event: every effect of a rollup has to wait."""
        return None, effects

    # After the commit.

    async def perform_all(
        self, lane: LaneId, effects: Sequence[Any], permit: Permit
    ) -> list[Event]:
        """Effects of one class, at once."""
        rollup = self._rollups[lane]
        first: Effect = effects[0]
        match first:
            case BuildBlock():
                return await all_of(self._execute(rollup, one) for one in effects)
            case BuildVersion():
                made = await all_of(self._package(lane, rollup, one) for one in effects)
                return [VersionsMade(self._clock.now_ms(), tuple(made))]
            case SubmitPackage():
                results = await all_of(self._submit(rollup, one, permit) for one in effects)
                return [PackagesSubmitted(self._clock.now_ms(), tuple(results))]
            case LookAtChain():
                return await all_of(self._look(lane, rollup.chain, one) for one in effects)
            case NotifyBuilder():
                # Notifications keep their order, so these alone are carried out one by one.
                return [await self._notify_builder(rollup, order.tells) for order in effects]
            case NotifyUser():
                return [await self._notify_user(lane, order.tells) for order in effects]
            case _:
                assert_never(first)

    def decline(self, _lane: LaneId, effect: Effect, reason: str) -> Event:
        """The answer to an order that was not begun and never will be."""
        now_ms, reason = self._clock.now_ms(), clip(reason)
        match effect:
            case BuildBlock():
                return not_built(effect, self._clock, reason)
            case BuildVersion():
                return VersionsMade(now_ms, (no_version(effect, reason),))
            case SubmitPackage():
                return PackagesSubmitted(now_ms, (unsent(effect, reason),))
            case LookAtChain():
                return LookFailed(now_ms, reason)
            case NotifyBuilder(tells=tells):
                return self._notified(tells, reason, Ear.BUILDER)
            case NotifyUser(tells=tells):
                return self._notified(tells, reason, Ear.USER)
            case _:
                assert_never(effect)

    async def _execute(self, rollup: Rollup, order: BuildBlock) -> Event:
        if order.is_found:
            return BuildUnanswered(self._clock.now_ms(), order.slot, order.order)
        async with self._builds:
            return await execute(rollup, order, self._clock, self._build_ms)

    async def _package(self, lane: LaneId, rollup: Rollup, order: BuildVersion) -> VersionAnswer:
        """A lane that is loaded anew repeats its orders: it has the answer to what is under way,
        and the builder does nothing twice that others wait for."""
        packing = self._packing.setdefault(lane, {})
        asked = replace(order, below=())  # Fewer, when some of those below are final by now.
        while (under_way := packing.get(asked)) is not None:
            made = await asyncio.shield(under_way)
            if made is not None:
                return made
        answer = packing[asked] = asyncio.get_running_loop().create_future()
        made = None
        try:
            async with self._builds:
                made = await package(rollup, order, self._build_ms)
            return made
        finally:
            del packing[asked]
            answer.set_result(made)

    async def _submit(self, rollup: Rollup, order: SubmitPackage, permit: Permit) -> Submitted:
        def why_not(clock: SlotClock | None) -> str:
            # The clock may have been set since the lane's last look, and is asked for again
            # whenever bytes are about to leave: nodes may be slow to take them.
            return too_skewed(clock, rollup.skew_ms_max) or permit() or ""

        async with self._submissions:
            reason = why_not(await clock_of(rollup.chain))
            if reason:
                return unsent(order, reason)
            try:
                answers = await rollup.chain.submit(
                    order.package, order.cores, order.nodes, why_not
                )
            except (ChainError, TimeoutError) as error:
                # An adapter answers in such a case; here nobody knows what was sent.
                return answered(order, PackageKind.SILENT, Outcome.UNKNOWN, str(error))
        return Submitted(order.slot, order.version, order.serial, answers)

    async def _look(self, lane: LaneId, chain: JamChain, order: LookAtChain) -> Event:
        blocks = self._look_blocks.get(lane, CHAIN_KEPT_MAX)
        try:
            async with asyncio.timeout(READ_TIMEOUT_MS / 1000), self._looks:
                seen = await chain.look(order.known, order.packages, blocks, order.line)
                clock = await clock_of(chain)
        except TimeoutError:
            # A node that is far away gets through with some of them, and the rest is asked next.
            self._look_blocks[lane] = max(blocks // 2, LOOK_BLOCKS_MIN)
            return LookFailed(self._clock.now_ms(), "no node answered the look in time")
        except ChainError as error:
            return LookFailed(self._clock.now_ms(), clip(str(error)))
        if seen.is_whole:
            self._look_blocks.pop(lane, None)
        return ChainLooked(self._clock.now_ms(), seen, clock)

    async def _notify_builder(self, rollup: Rollup, tells: Sequence[Tell]) -> BlocksNotified:
        return self._notified(tells, await notify_builder(rollup.builder, tells), Ear.BUILDER)

    async def _notify_user(self, lane: LaneId, tells: Sequence[Tell]) -> BlocksNotified:
        callback = self._on_block
        problem = "" if callback is None else await notify_user(callback, lane, tells)
        return self._notified(tells, problem, Ear.USER)

    def _notified(self, tells: Sequence[Tell], problem: str, ear: str) -> BlocksNotified:
        """The answer to notifications; if there is a problem, not all of them were received."""
        now_ms = self._clock.now_ms()
        return BlocksNotified(now_ms, tells[-1].id, is_done=not problem, reason=problem, ear=ear)


async def clock_of(chain: JamChain) -> SlotClock | None:
    """The chain's clock; None if it cannot be read, and the lane keeps the one it has."""
    try:
        return await chain.clock()
    except ChainError:
        return None


def too_skewed(clock: SlotClock | None, most_ms: int) -> str:
    """Why nothing may leave by this machine's clock; empty if something may."""
    skew_ms = None if clock is None else clock.skew_ms
    if skew_ms is None or abs(skew_ms) <= most_ms:
        return ""
    return f"not sent: this clock and the chain's are {skew_ms} ms apart"


def unsent(order: SubmitPackage, reason: str) -> Submitted:
    """The answer to a package that was not sent at all."""
    return answered(order, PackageKind.UNREACHABLE, Outcome.REFUSED, reason)


def answered(order: SubmitPackage, kind: PackageKind, outcome: Outcome, reason: str) -> Submitted:
    """The same answer from each node, which proves nothing for good."""
    answers = tuple(
        [
            PackageAnswer(node=node, core=None, kind=kind, outcome=outcome, words=clip(reason))
            for node in order.nodes
        ]
    )
    return Submitted(
        order.slot, order.version, order.serial, SubmissionAnswers(answers, final=False)
    )


# What is built twice is taken at most once, so an order to the builder may be given up in time.


async def execute(
    rollup: Rollup, order: BuildBlock, clock: Clock, timeout_ms: int = BUILD_TIMEOUT_MS
) -> BlockBuilt | BlockNotBuilt:
    try:
        async with asyncio.timeout(timeout_ms / 1000):
            done = await rollup.builder.execute(order)
    except BuildFailed as error:
        return not_built(order, clock, str(error), final=error.final, needs_help=error.needs_help)
    except FAILURES as error:
        return not_built(order, clock, str(error) or LATE)
    return BlockBuilt(
        now_ms=clock.now_ms(),
        slot=order.slot,
        order=order.order,
        payload=done.payload,
        digest=done.digest,
        block=done.block,
        pre_root=done.pre_root,
        post_root=done.post_root,
        judged=done.judged,
    )


def not_built(
    order: BuildBlock,
    clock: Clock,
    reason: str,
    *,
    final: bool = False,
    needs_help: bool = False,
) -> BlockNotBuilt:
    now_ms = clock.now_ms()
    return BlockNotBuilt(now_ms, order.slot, order.order, clip(reason), final, needs_help)


async def package(
    rollup: Rollup, order: BuildVersion, timeout_ms: int = BUILD_TIMEOUT_MS
) -> VersionAnswer:
    """In the context of now, which is part of the answer: from it the lane knows how long the
    package can live."""
    try:
        async with asyncio.timeout(timeout_ms / 1000):
            context = await rollup.chain.context(offset=order.anchor_offset)
            made = await rollup.builder.package(order, context)
    except FAILURES as error:
        # What only an operator can help with is no fault of what is in the block.
        final = isinstance(error, BuildFailed) and error.final and not error.needs_help
        return no_version(order, str(error) or LATE, final=final)
    return VersionBuilt(
        slot=order.slot,
        order=order.order,
        block=made.block,
        package_hash=made.package_hash,
        package=made.package,
        anchor=context.anchor,
        lookup_anchor=context.lookup_anchor,
    )


def no_version(order: BuildVersion, reason: str, *, final: bool = False) -> VersionNotBuilt:
    return VersionNotBuilt(order.slot, order.order, clip(reason), final)
