"""Blocks and packages from a rollup's builder. Building changes nothing that counts: what is built
twice is taken at most once, so each order may be given up when its time is over."""

import asyncio

from laneway.core.errors import BuildFailed, ChainError
from laneway.core.reason import clip
from laneway.engine.bundle.rollup import Rollup
from laneway.engine.limits import BUILD_TIMEOUT_MS
from laneway.lanes.bundle.values import (
    BlockBuilt,
    BlockNotBuilt,
    BuildBlock,
    BuildVersion,
    VersionBuilt,
    VersionNotBuilt,
)
from laneway.ports import Clock

FAILURES = (ChainError, BuildFailed, TimeoutError)
LATE = "the builder did not answer in time"


async def execute(rollup: Rollup, order: BuildBlock, clock: Clock) -> BlockBuilt | BlockNotBuilt:
    try:
        async with asyncio.timeout(BUILD_TIMEOUT_MS / 1000):
            done = await rollup.builder.execute(order)
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


def not_built(order: BuildBlock, clock: Clock, reason: str) -> BlockNotBuilt:
    return BlockNotBuilt(clock.now_ms(), order.slot, order.order, clip(reason))


async def package(rollup: Rollup, order: BuildVersion) -> VersionBuilt | VersionNotBuilt:
    """In the context of now, which is part of the answer: by it the lane tells how long the package
    can live."""
    try:
        async with asyncio.timeout(BUILD_TIMEOUT_MS / 1000):
            context = await rollup.chain.context(offset=order.anchor_offset)
            made = await rollup.builder.package(order, context)
    except FAILURES as error:
        final = isinstance(error, BuildFailed) and error.final
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
