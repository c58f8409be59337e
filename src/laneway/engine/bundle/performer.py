"""Carries out a bundle lane's orders, and turns what nodes and builders say into its events.

Several orders of one lane are carried out at once. What all rollups of this process build, submit
and look at shares three bounds.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Any, assert_never

from laneway.core.errors import ChainError
from laneway.core.ids import LaneId
from laneway.core.jam import PackageAnswer, PackageKind, SlotClock, Submission
from laneway.core.outcome import Outcome
from laneway.core.reason import clip
from laneway.engine.bundle.building import execute, no_version, not_built, package
from laneway.engine.bundle.rollup import Heard, Rollup
from laneway.engine.bundle.telling import call, tell
from laneway.engine.limits import (
    BUILDS_AT_ONCE,
    LOOK_BLOCKS_MIN,
    READ_TIMEOUT_MS,
    ROLLUP_LOOKS_AT_ONCE,
    SUBMISSIONS_AT_ONCE,
)
from laneway.lanes.bundle.limits import CHAIN_KEPT_MAX
from laneway.lanes.bundle.rows import Ear, Tell
from laneway.lanes.bundle.values import (
    BlocksTold,
    BuildBlock,
    BuildVersion,
    ChainLooked,
    Effect,
    Event,
    LookAtChain,
    LookFailed,
    PackagesSubmitted,
    SubmitPackage,
    Submitted,
    TellBlocks,
    TellBuilder,
    VersionBuilt,
    VersionNotBuilt,
    VersionsMade,
)
from laneway.ports import Clock, JamChain

Permit = Callable[[], str | None]


class BundlePerformer:
    """Every order is answered, in the end by a time limit here or the adapter's own."""

    prompt = False

    def __init__(
        self,
        rollups: Mapping[LaneId, Rollup],
        clock: Clock,
        *,
        heard: Heard | None = None,
        builds_at_once: int = BUILDS_AT_ONCE,
        submissions_at_once: int = SUBMISSIONS_AT_ONCE,
        looks_at_once: int = ROLLUP_LOOKS_AT_ONCE,
    ) -> None:
        self._rollups = rollups
        self._clock = clock
        self._heard = heard
        self._builds = asyncio.Semaphore(builds_at_once)
        self._submissions = asyncio.Semaphore(submissions_at_once)
        self._looks = asyncio.Semaphore(looks_at_once)
        self._look_blocks: dict[LaneId, int] = {}
        """Blocks of one look, of lanes whose last one with more of them took too long."""

    # In the lane's own turn.

    def answer_now(
        self, _lane: LaneId, effects: list[Effect], _now_ms: int
    ) -> tuple[None, list[Effect]]:
        """Nothing that a rollup orders needs no waiting."""
        return None, effects

    # Behind the commit.

    async def perform(self, lane: LaneId, effect: Effect) -> Event:
        (event,) = await self.perform_all(lane, (effect,), lambda: None)
        return event

    def perform_now(self, _lane: LaneId, _effect: Effect) -> None:
        return None

    async def perform_all(
        self, lane: LaneId, effects: Sequence[Any], permit: Permit
    ) -> list[Event]:
        """Effects of one class, at once."""
        rollup = self._rollups[lane]
        first: Effect = effects[0]
        match first:
            case BuildBlock():
                return list(await asyncio.gather(*(self._execute(rollup, one) for one in effects)))
            case BuildVersion():
                made = await asyncio.gather(*(self._package(rollup, one) for one in effects))
                return [VersionsMade(self._clock.now_ms(), tuple(made))]
            case SubmitPackage():
                results = await asyncio.gather(
                    *(self._submit(rollup.chain, one, permit) for one in effects)
                )
                return [PackagesSubmitted(self._clock.now_ms(), tuple(results))]
            case LookAtChain():
                looks = [self._look(lane, rollup.chain, order) for order in effects]
                return list(await asyncio.gather(*looks))
            case TellBuilder():
                # Both keep their order, so these alone are carried out one by one.
                return [await self._tell(rollup, order) for order in effects]
            case TellBlocks():
                return [await self._call(lane, order) for order in effects]
            case _:
                assert_never(first)

    def decline(self, _lane: LaneId, effect: Effect, reason: str) -> Event:
        """What it proves that an order was not begun and never will be."""
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
            case TellBuilder(tells=tells):
                return self._told(tells, reason, Ear.BUILDER)
            case TellBlocks(tells=tells):
                return self._told(tells, reason, Ear.USER)
            case _:
                assert_never(effect)

    async def _execute(self, rollup: Rollup, order: BuildBlock) -> Event:
        async with self._builds:
            return await execute(rollup, order, self._clock)

    async def _package(self, rollup: Rollup, order: BuildVersion) -> VersionBuilt | VersionNotBuilt:
        async with self._builds:
            return await package(rollup, order)

    async def _submit(self, chain: JamChain, order: SubmitPackage, permit: Permit) -> Submitted:
        async with self._submissions:
            reason = permit()
            if reason is not None:
                return unsent(order, reason)
            try:
                told = await chain.submit(order.package, order.cores, order.nodes)
            except (ChainError, TimeoutError) as error:
                # An adapter answers in such a case, so what got out nobody knows.
                return answered(order, PackageKind.SILENT, Outcome.UNKNOWN, str(error))
        return Submitted(order.slot, order.version, order.serial, told)

    async def _look(self, lane: LaneId, chain: JamChain, order: LookAtChain) -> Event:
        blocks = self._look_blocks.get(lane, CHAIN_KEPT_MAX)
        try:
            async with asyncio.timeout(READ_TIMEOUT_MS / 1000), self._looks:
                seen = await chain.look(order.known, order.packages, blocks)
                clock = await clock_of(chain)
        except TimeoutError:
            # A node that is far away gets through with some of them, and the rest is asked next.
            self._look_blocks[lane] = max(blocks // 2, LOOK_BLOCKS_MIN)
            return LookFailed(self._clock.now_ms(), "no node told it in time")
        except ChainError as error:
            return LookFailed(self._clock.now_ms(), clip(str(error)))
        if seen.is_whole:
            self._look_blocks.pop(lane, None)
        return ChainLooked(self._clock.now_ms(), seen, clock)

    async def _tell(self, rollup: Rollup, order: TellBuilder) -> BlocksTold:
        return self._told(order.tells, await tell(rollup.builder, order.tells), Ear.BUILDER)

    async def _call(self, lane: LaneId, order: TellBlocks) -> BlocksTold:
        heard = self._heard
        problem = "" if heard is None else await call(heard, lane, order.tells)
        return self._told(order.tells, problem, Ear.USER)

    def _told(self, tells: Sequence[Tell], problem: str, ear: str) -> BlocksTold:
        """Not all of them, if there is a problem."""
        now_ms = self._clock.now_ms()
        return BlocksTold(now_ms, tells[-1].id, is_done=not problem, reason=problem, ear=ear)


async def clock_of(chain: JamChain) -> SlotClock | None:
    """What the blocks show does not wait for the clock, which the lane then keeps as it was."""
    try:
        return await chain.clock()
    except ChainError:
        return None


def unsent(order: SubmitPackage, reason: str) -> Submitted:
    """Nothing of it left."""
    return answered(order, PackageKind.UNREACHABLE, Outcome.REFUSED, reason)


def answered(order: SubmitPackage, kind: PackageKind, outcome: Outcome, words: str) -> Submitted:
    """The same answer from each node, which proves nothing for good."""
    answers = tuple(
        [
            PackageAnswer(node=node, core=None, kind=kind, outcome=outcome, words=clip(words))
            for node in order.nodes
        ]
    )
    return Submitted(order.slot, order.version, order.serial, Submission(answers, final=False))
