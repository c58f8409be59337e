"""All transitions of a bundle lane: rollup blocks as work packages, several in flight.

Queued (executed, its payload sealed for ever) → Submitted (a version's bytes are durable before
any node hears of them; the same bytes again every slot) → Guaranteed → Accumulated → Finalised. A
status is a function of facts on the best fork, so a reorganisation takes it back by taking back
facts. Another version is built only when all before it are dead on the chain.
"""

from collections.abc import Mapping
from typing import assert_never

import msgspec

from laneway.core.ids import LaneId
from laneway.lanes.bundle.blocks import build, claim_offered, judge_block, judge_not_built, wants
from laneway.lanes.bundle.commands import judge_command
from laneway.lanes.bundle.draft import Decision, Draft
from laneway.lanes.bundle.facts import judge_failed, judge_look
from laneway.lanes.bundle.fold import evolve
from laneway.lanes.bundle.lane import BundleLane, encode, head_write, replace, restore
from laneway.lanes.bundle.limits import PAGES_AHEAD
from laneway.lanes.bundle.packages import (
    build_version,
    judge_made,
    judge_results,
    may_build,
    may_submit,
    submission,
)
from laneway.lanes.bundle.rounds import deadline, drive, look
from laneway.lanes.bundle.settings import BundleSettings
from laneway.lanes.bundle.show import describe
from laneway.lanes.bundle.standing import free_cores
from laneway.lanes.bundle.tells import judge_told, tell_blocks, tell_builder
from laneway.lanes.bundle.values import (
    BlockBuilt,
    BlockNotBuilt,
    BlockSealed,
    BlocksTold,
    ChainLooked,
    CommandTold,
    Effect,
    Event,
    IntentsOffered,
    LookFailed,
    PackagesSubmitted,
    Record,
    TimerFired,
    VersionSealed,
    VersionsMade,
)
from laneway.lanes.kind import LaneKind


def decide(lane: BundleLane, event: Event) -> Decision:
    """Say what becomes true and what must be done; change nothing."""
    draft = Draft(lane, event.now_ms)
    match event:
        case IntentsOffered():
            claim_offered(draft, event)
        case BlockBuilt():
            judge_block(draft, event)
        case BlockNotBuilt():
            judge_not_built(draft, event)
        case VersionsMade(made=made):
            draft.is_wide = True
            judge_made(draft, made)
        case PackagesSubmitted(results=results):
            draft.is_wide = True
            judge_results(draft, results)
        case ChainLooked():
            judge_look(draft, event)
        case LookFailed():
            judge_failed(draft, event)
        case BlocksTold():
            judge_told(draft, event)
        case CommandTold(command=command):
            draft.is_wide = True
            judge_command(draft, command)
        case TimerFired():
            # What is due is done with every event. A clock that was set back finds a window open
            # again that nobody awaits.
            draft.is_wide = may_build(draft) or may_submit(draft)
        case _:
            assert_never(event)
    drive(draft)
    return draft.decision()


def resume(lane: BundleLane) -> tuple[Effect, ...]:
    """What a crash may have lost: blocks and versions being built, packages being submitted, a look
    at the chain, a callback."""
    effects: list[Effect] = []
    cores = free_cores(lane)
    for slot in lane.in_order():
        if slot.building and slot.retry_ms is None:
            effects.append(build(lane, slot, lane.intents))
        if slot.making is not None:
            effects.append(build_version(lane, slot))
        effects += [submission(lane, one, cores) for one in lane.of(slot.id) if one.offering]
    if lane.head.looking:
        effects.append(look(lane))
    if lane.head.hearing:
        effects.append(tell_builder(lane))
    if lane.head.telling:
        effects.append(tell_blocks(lane))
    return tuple(effects)


def encode_told(records: tuple[Record, ...]) -> bytes:
    """As the feed keeps them: large bytes stand in their own rows, and are named by their hash."""
    return encode(tuple([unburdened(record) for record in records]))


def unburdened(record: Record) -> Record:
    if isinstance(record, BlockSealed):
        return replace(record, payload=b"")
    if isinstance(record, VersionSealed):
        return replace(record, package=b"")
    return record


_decode = msgspec.msgpack.Decoder(tuple[Record, ...]).decode


def bundle_kind(settings: BundleSettings | Mapping[LaneId, BundleSettings]) -> LaneKind:
    """Rollups of one chain, or each with its own settings; without them it is not served."""

    def cursors(lane: BundleLane) -> tuple[int, ...]:
        return lane.head.cursors

    def of(lane: LaneId) -> BundleSettings:
        return settings if isinstance(settings, BundleSettings) else settings[lane]

    def serves(lane: LaneId) -> bool:
        return isinstance(settings, BundleSettings) or lane in settings

    return LaneKind(
        name="rollup",
        empty=lambda lane: BundleLane(lane, of(lane)),
        restore=lambda rows: restore(rows, of(rows.head.lane)),
        serves=serves,
        pages=PAGES_AHEAD,
        decide=decide,
        evolve=evolve,
        resume=resume,
        wants=wants,
        deadline=deadline,
        head=head_write,
        cursors=cursors,
        offered=IntentsOffered,
        told=CommandTold,
        woken=TimerFired,
        encode=encode_told,
        decode=_decode,
        describe=describe,
    )
