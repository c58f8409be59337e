"""All transitions of a bundle lane: rollup blocks as work packages, several in flight.

Queued (executed, its payload sealed for ever) → Submitted (a version's bytes are durable before
any node is offered them; the same bytes again every slot) → Guaranteed → Accumulated → Finalised. A
status is a function of facts on the best fork, so a reorganisation takes it back by taking back
facts. Another version is built only when all before it are dead on the chain.
"""

from collections.abc import Mapping
from typing import assert_never

from laneway.core.ids import LaneId
from laneway.core.rows import Command
from laneway.lanes.bundle import values as v
from laneway.lanes.bundle.blocks import (
    build,
    claim_offered,
    is_changeable,
    judge_block,
    judge_not_built,
    take_out,
    wants,
)
from laneway.lanes.bundle.clock_back import notice
from laneway.lanes.bundle.draft import Decision, DecisionDraft
from laneway.lanes.bundle.facts import judge_failed, judge_look
from laneway.lanes.bundle.fold import evolve
from laneway.lanes.bundle.lane import BundleLane, head_write, replace, restore
from laneway.lanes.bundle.limits import PAGES_AHEAD
from laneway.lanes.bundle.packages import (
    build_version,
    is_cut_off,
    judge_made,
    judge_submitted,
    may_build,
    may_submit,
    submission,
)
from laneway.lanes.bundle.records import BlockSealed, Record, VersionSealed
from laneway.lanes.bundle.released import decode_records
from laneway.lanes.bundle.rounds import deadline, drive, look, look_soon
from laneway.lanes.bundle.settings import BundleSettings
from laneway.lanes.bundle.show import describe
from laneway.lanes.bundle.standing import free_cores
from laneway.lanes.bundle.starts import judge_unanswered
from laneway.lanes.bundle.tells import judge_notified, notify_builder_of, notify_user_of
from laneway.lanes.common.commands import (
    FINAL_ALREADY,
    cancelled,
    drained,
    is_taken,
    mode_changed,
    refusal,
    unfit_cancel,
)
from laneway.lanes.common.heads import encode
from laneway.lanes.common.values import (
    CommandReceived,
    CommandRefused,
    IntentDropped,
    IntentsOffered,
    TimerFired,
)
from laneway.lanes.kind import LaneKind, PerLane


def decide(lane: BundleLane, event: v.Event) -> Decision:
    """Say what becomes true and what must be done; change nothing."""
    draft = DecisionDraft(lane, event.now_ms)
    notice(draft)
    match event:
        case IntentsOffered():
            claim_offered(draft, event)
        case v.BlockBuilt():
            judge_block(draft, event)
        case v.BlockNotBuilt():
            judge_not_built(draft, event)
        case v.BuildUnanswered():
            judge_unanswered(draft, event)
        case v.VersionsMade(made=made):
            draft.is_wide = True
            judge_made(draft, made)
        case v.PackagesSubmitted(results=results):
            draft.is_wide = True
            for result in results:
                judge_submitted(draft, result)
        case v.ChainLooked():
            judge_look(draft, event)
        case v.LookFailed():
            judge_failed(draft, event)
        case v.HeadChanged():
            look_soon(draft)
        case v.BlocksNotified():
            judge_notified(draft, event)
        case CommandReceived(command=command):
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


def resume(lane: BundleLane) -> tuple[v.Effect, ...]:
    """What a crash may have lost: blocks and versions being built, packages being submitted unless
    the lane is stopped, a look at the chain, a callback."""
    effects: list[v.Effect] = []
    cores = free_cores(lane)
    for slot in lane.in_order():
        if slot.building and slot.retry_ms is None:
            effects.append(replace(build(lane, slot, lane.intents), is_found=True))
        if slot.making is not None:
            effects.append(build_version(lane, slot))
        effects += [
            submission(lane, one, cores)
            for one in lane.of(slot.id)
            if one.offering and not is_cut_off(lane, one)
        ]
    if lane.head.looking:
        effects.append(look(lane))
    if lane.head.hearing:
        effects.append(notify_builder_of(lane))
    if lane.head.telling:
        effects.append(notify_user_of(lane))
    return tuple(effects)


def encode_for_feed(records: tuple[Record, ...]) -> bytes:
    """As the feed keeps them: large bytes stand in their own rows, and are named by their hash."""
    return encode(tuple([unburdened(record) for record in records]))


def unburdened(record: Record) -> Record:
    if isinstance(record, BlockSealed):
        return replace(record, payload=b"")
    if isinstance(record, VersionSealed):
        return replace(record, package=b"")
    return record


def bundle_kind(settings: BundleSettings | Mapping[LaneId, BundleSettings]) -> LaneKind:
    """Rollups of one chain, or each with its own settings; without them it is not served."""
    known = PerLane(settings)
    return LaneKind(
        name="rollup",
        empty=lambda lane: BundleLane(lane, known.of(lane)),
        restore=lambda rows: restore(rows, known.of(rows.head.lane)),
        serves=known.serves,
        pages=PAGES_AHEAD,
        decide=decide,
        evolve=evolve,
        resume=resume,
        wants=wants,
        deadline=deadline,
        head=head_write,
        encode=encode_for_feed,
        decode=decode_records,
        describe=describe,
    )


def judge_command(draft: DecisionDraft, command: Command) -> None:
    lane = draft.lane
    match command.verb:
        case "pause":
            draft.say(mode_changed("paused", command, draft.now_ms))
        case "resume":
            draft.say(mode_changed("running", command, draft.now_ms))
        case "drain":
            begun = sum(map(len, lane.members.values())) + len(lane.returned)
            # One that is idle is paused with all else that is due.
            draft.say(drained(lane.head, command, draft.now_ms, begun=begun, is_idle=False))
        case "cancel":
            draft.say(cancel(draft, command))
        case verb:
            draft.say(refusal(command, f"a bundle lane has no command {verb!r}"))


def cancel(draft: DecisionDraft, command: Command) -> IntentDropped | CommandRefused:
    """What is in no block is taken back, or in one that could not be built, which it may be the
    cause of; a block that is sealed never changes."""
    lane = draft.lane
    unfit = unfit_cancel(command)
    if unfit is not None:
        return unfit
    assert command.intent is not None
    if command.intent in lane.bound:
        slot = lane.slots[lane.bound[command.intent]]
        if not is_changeable(slot):
            return refusal(command, "it is in a block, which never changes")
        take_out(draft, slot, command.intent)
    if command.intent not in lane.returned and is_taken(lane.head, command):
        return refusal(command, FINAL_ALREADY)
    return cancelled(command, draft.now_ms)
