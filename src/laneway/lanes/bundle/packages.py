"""Versions of blocks: popped in the build window, sealed, submitted in the submission window.

A window is a part of a timeslot, by the chain's slots on this machine's clock.

A version's bytes are durable before they are submitted, and every submission is of the same bytes.
"""

from collections.abc import Iterable, Sequence

from laneway.core.errors import BuildFailed
from laneway.core.jam import May, PackageAnswer, SlotClock, SubmissionAnswers
from laneway.core.outcome import Outcome
from laneway.core.reason import clip
from laneway.lanes.bundle import records as r
from laneway.lanes.bundle import values as v
from laneway.lanes.bundle.blocks import delay, is_running
from laneway.lanes.bundle.draft import DecisionDraft
from laneway.lanes.bundle.lane import BundleLane, name_of, replace
from laneway.lanes.bundle.limits import ANSWERS_KEPT_MAX, CORES_OFFERED_MAX, WORDS_BYTES_MAX
from laneway.lanes.bundle.rows import Answered, BlockState, Making, Slot, Version
from laneway.lanes.bundle.standing import (
    before,
    current,
    free_cores,
    inflight,
    is_accumulated,
    is_stale,
    payloads_below,
    prerequisites_after,
    prerequisites_of,
)
from laneway.lanes.common.heads import encode
from laneway.lanes.common.timers import is_due

GREW_OLD = "its anchor grew too old before it was submitted"
TOO_SLOW = f"{GREW_OLD}; if that goes on, the builder is too slow for this chain's slots"


def is_skewed(lane: BundleLane) -> bool:
    """Whether this machine's clock is too far from the chain's: windows would be missed."""
    clock = lane.head.clock
    if clock is None or clock.skew_ms is None:
        return False
    return abs(clock.skew_ms) > lane.settings.clock_skew_ms_max


def may_act(lane: BundleLane) -> bool:
    return is_running(lane) and lane.head.clock is not None and not is_skewed(lane)


def may_build(draft: DecisionDraft) -> bool:
    settings = draft.lane.settings
    return is_in_window(draft, settings.build_from_ms, settings.build_until_ms)


def may_submit(draft: DecisionDraft) -> bool:
    settings = draft.lane.settings
    return is_in_window(draft, settings.submit_from_ms, settings.submit_until_ms)


def is_in_window(draft: DecisionDraft, from_ms: int, until_ms: int) -> bool:
    clock = draft.lane.head.clock
    if clock is None or not may_act(draft.lane):
        return False
    return is_open(clock, draft.now_ms, from_ms, until_ms)


# Building.


def pop(draft: DecisionDraft) -> None:
    """Blocks that wait are given a version, the lowest first, while there is room and a core.

    Where packages name the one before them, a block waits until that one has its hash. So they are
    made one after the other: a line of them that was begun in the window is made to its end while
    it can be submitted, or a slow builder would make one or two in each."""
    lane = draft.lane
    is_chained = lane.settings.order == "chained"
    is_over = not may_build(draft)
    if is_over and not (is_chained and may_submit(draft)):
        return
    most = lane.settings.max_inflight
    is_full = len(lane.places[BlockState.SUBMITTED]) >= most or inflight(lane) >= most
    chosen = lane.places[BlockState.QUEUED] if draft.is_wide else draft.touched
    if is_full and not is_lowest_waiting(lane, chosen):
        return
    capacity = most - inflight(lane)
    cores = free_cores(lane)
    previous: Slot | None = None
    ahead = 0
    for slot in list(lane.in_order()):
        if needs_version(lane, slot) and (slot.retry_ms or 0) <= draft.now_ms:
            prerequisites = prerequisites_after(lane, previous)
            has_capacity = capacity > 0 or ahead == 0
            if prerequisites is None or not has_capacity or not cores:
                return
            if is_over and not is_from_window(draft, previous):
                return
            core = core_for(lane, slot, cores)
            cores.remove(core)
            make(draft, slot, prerequisites, core=core, ahead=ahead)
            capacity -= 1
        if is_chained and current(lane, lane.slots[slot.id]) is None:
            return
        ahead += not is_accumulated(lane, slot)
        previous = slot


def core_for(lane: BundleLane, slot: Slot, cores: list[int]) -> int:
    """The first that is free, but not where its newest version died while another is: the
    guarantors of that one may be silent."""
    dead = [one.core for one in lane.of(slot.id)[-1:]]
    return next((core for core in cores if core not in dead), cores[0])


def is_lowest_waiting(lane: BundleLane, chosen: Iterable[int]) -> bool:
    """Whether one of these waits for a version, and all below it have accumulated. It is kept
    waiting by none above it, whatever is in flight: those may wait for it for ever."""
    waiting = [lane.slots[one] for one in chosen if lane.words.get(one) == BlockState.QUEUED]
    found = min(waiting, key=lambda one: one.number, default=None)
    if found is None:
        return False
    below = before(lane, found)
    while below is not None and is_accumulated(lane, below):
        below = before(lane, below)
    return below is None


def is_from_window(draft: DecisionDraft, found: Slot | None) -> bool:
    """Whether the version of this block was made in the window that was open last."""
    lane, clock = draft.lane, draft.lane.head.clock
    version = None if found is None else current(lane, found)
    if version is None or clock is None:
        return False
    slot_ms = draft.now_ms + clock.until_next_ms(draft.now_ms)
    return version.built_ms >= slot_ms - lane.settings.build_from_ms


def needs_version(lane: BundleLane, slot: Slot) -> bool:
    """Whether it waits for a version, and none is being built or waits to be submitted."""
    return slot.queued and slot.making is None and current(lane, slot) is None


def make(
    draft: DecisionDraft, slot: Slot, prerequisites: tuple[bytes, ...], *, core: int, ahead: int
) -> None:
    """All that a version depends on is fixed here, but for what the chain is when it is built."""
    lane, settings = draft.lane, draft.lane.settings
    offset = anchor_offset(
        settings.anchor_policy, ahead, len(settings.cores), settings.recent_blocks
    )
    # After tries that came to nothing it gets more time than the policy leaves it.
    offset = max(1, offset - slot.tries)
    making = Making(
        lane.head.order_next, slot.version + 1, prerequisites, core, offset, draft.now_ms
    )
    popped = draft.change(r.VersionOrdered(slot.id, making))
    draft.order(build_version(lane, popped))


def build_version(lane: BundleLane, slot: Slot) -> v.BuildVersion:
    making = slot.making
    assert making is not None
    return v.BuildVersion(
        slot=slot.id,
        order=making.order,
        version=making.version,
        number=slot.number,
        block=slot.block,
        digest=slot.digest,
        payload=lane.payloads[slot.id],
        pre_root=slot.pre_root,
        prerequisites=making.prerequisites,
        anchor_offset=making.anchor_offset,
        core=making.core,
        below=payloads_below(lane, slot.number, slot.parent),
    )


def popped_as(lane: BundleLane, slot: int, order: int) -> Slot | None:
    """The block that an answer is about; None: it comes too late."""
    found = lane.slots.get(slot)
    if found is None or found.making is None or found.making.order != order:
        return None
    return found


def judge_made(draft: DecisionDraft, made: tuple[v.VersionBuilt | v.VersionNotBuilt, ...]) -> None:
    for one in made:
        if isinstance(one, v.VersionBuilt):
            judge_version(draft, one)
        else:
            judge_version_failed(draft, one)


def judge_version(draft: DecisionDraft, event: v.VersionBuilt) -> None:
    lane = draft.lane
    slot = popped_as(lane, event.slot, event.order)
    if slot is None:
        return
    assert slot.making is not None
    if event.block != slot.block:
        problem = "its payload was built into another block than the one sealed"
        delay(draft, slot, f"{problem}; {BuildFailed.REMEDY}")
        return
    if event.package_hash in lane.hashes:
        delay(draft, slot, "the same package was built before, and is of no use")
        return
    if prerequisites_of(lane, slot) != slot.making.prerequisites:
        # What it names has changed while it was built: it is popped again.
        draft.change(r.VersionPutBack(slot.id, slot.version))
        return
    making = slot.making
    package = encode(event.package)
    version = Version(
        slot=slot.id,
        version=making.version,
        package_hash=event.package_hash,
        anchor=event.anchor,
        lookup_anchor=event.lookup_anchor,
        core=making.core,
        prerequisites=making.prerequisites,
        built_ms=draft.now_ms,
        size=len(package),
        born=lane.head.height - making.anchor_offset,
    )
    sealed = replace(slot, making=None, version=making.version, wait_reason="")
    draft.say(r.VersionSealed(sealed, version, package))


def judge_version_failed(draft: DecisionDraft, event: v.VersionNotBuilt) -> None:
    slot = popped_as(draft.lane, event.slot, event.order)
    if slot is None:
        return
    delay(draft, slot, event.reason)
    if event.final:
        draft.change(r.BlockHopeless(slot.id))


def discard(draft: DecisionDraft, slot: Slot, version: Version, reason: str) -> None:
    """No node was ever offered it; its number is given to the next."""
    draft.say(r.VersionDiscarded(slot.id, version.version, reason))
    last = max((one.version for one in draft.lane.of(slot.id)), default=0)
    draft.change(r.VersionPutBack(slot.id, last))


# Submitting.


def submit(draft: DecisionDraft) -> None:
    """What was not submitted yet, and the same bytes again where nobody reported them; the lowest
    block first. What names a package that is not to be is of no use, so none goes before it."""
    if not may_submit(draft):
        return
    lane = draft.lane
    cores = free_cores(lane)
    previous: Slot | None = None
    for slot in list(lane.in_order()):
        version = current(lane, slot)
        if version is not None and not version.is_sent():
            reason = why_useless(lane, version, previous)
            if reason:
                is_old, is_new = is_stale(lane, version), is_from_window(draft, slot)
                discard(draft, slot, version, reason)
                if is_old:
                    wait_for_fresher(draft, slot, is_new=is_new)
            else:
                offer(draft, version, cores)
        elif version is not None and is_due(retry_ms(lane, slot, version), draft.now_ms):
            offer(draft, version, cores)
        previous = lane.slots[slot.id]


def wait_for_fresher(draft: DecisionDraft, slot: Slot, *, is_new: bool) -> None:
    """Bytes that grew too old are counted until a node is offered some: the next ones may be as old
    if their builder is slow or its node behind, or if the anchor policy is at odds with the age
    that is allowed. The first that only waited for its window too long is made anew at once."""
    if is_new or slot.tries:
        delay(draft, slot, TOO_SLOW)
    else:
        draft.change(r.BuildDelayed(slot.id, draft.now_ms, 1, TOO_SLOW))


def why_useless(lane: BundleLane, version: Version, previous: Slot | None) -> str:
    """Why bytes that no node was offered are built again before they are submitted; empty: they are
    not."""
    if is_stale(lane, version):
        return GREW_OLD
    if prerequisites_after(lane, previous) != version.prerequisites:
        return "the package that it names is another by now"
    return ""


def retry_ms(lane: BundleLane, slot: Slot, version: Version) -> int | None:
    """When the same bytes are submitted again; None: they are reported, being submitted, dead, or
    were submitted often enough. A submission that was cut off does not count."""
    if slot.winner or version.is_dead() or version.last_ms is None:
        return None
    is_enough = version.offering or version.sends >= lane.settings.max_submit_retries
    if is_enough and not is_cut_off(lane, version):
        return None
    return version.last_ms + lane.settings.submit_retry_ms


def is_cut_off(lane: BundleLane, version: Version) -> bool:
    """Whether its last submission ended with a process and the lane was stopped when it was stood
    up again: then nothing was submitted, and nobody will answer."""
    return lane.cut_off.get((version.slot, version.version)) == version.serial


def offer(draft: DecisionDraft, version: Version, cores: list[int]) -> None:
    """The nodes are committed with it: until each of them refused it, one may have it."""
    lane = draft.lane
    offered = draft.alter(
        r.VersionOffered(
            *name_of(version),
            nodes=tuple(dict.fromkeys((*version.nodes, *lane.settings.nodes))),
            serial=version.serial + 1,
            sends=version.sends + 1,
            first_ms=draft.now_ms if version.first_ms is None else version.first_ms,
            last_ms=draft.now_ms,
            core=version.core,
        )
    )
    draft.order(submission(lane, offered, cores))


def submission(lane: BundleLane, version: Version, cores: list[int]) -> v.SubmitPackage:
    """For its core, or else for one of those that are free."""
    others = [core for core in cores[:CORES_OFFERED_MAX] if core != version.core]
    return v.SubmitPackage(
        slot=version.slot,
        version=version.version,
        serial=version.serial,
        package_hash=version.package_hash,
        package=lane.package(version),
        cores=(version.core, *others)[:CORES_OFFERED_MAX],
        nodes=lane.settings.nodes,
    )


def judge_submitted(draft: DecisionDraft, event: v.Submitted) -> None:
    """Decide what the answers prove: unknown counts as sent, and only a final refusal by every node
    that was ever offered it shows that nobody has it."""
    version = draft.lane.version(event.slot, event.version)
    if version is None or not version.offering or version.serial != event.serial:
        return
    submission = event.submission
    was_inherited = (event.slot, event.version) in draft.lane.inherited
    is_held = version.is_held or was_inherited or submission.outcome() is not Outcome.REFUSED
    taken = submission.taken()
    is_refused = submission.final and not is_held and covers(submission, version)
    draft.alter(
        r.VersionAnswered(
            *name_of(version),
            is_held=is_held,
            is_refused=is_refused,
            is_hopeless=is_refused and all(is_hopeless(answer) for answer in submission.answers),
            core=version.core if taken is None or taken.core is None else taken.core,
            answers=tuple([kept(answer) for answer in weightiest(submission.answers)]),
        )
    )


def weightiest(answers: Sequence[PackageAnswer]) -> list[PackageAnswer]:
    """The answers that a row keeps: what nodes took outweighs doubts, and doubts refusals."""
    order = (Outcome.REFUSED, Outcome.UNKNOWN, Outcome.ACCEPTED)
    return sorted(answers, key=lambda one: order.index(one.outcome))[-ANSWERS_KEPT_MAX:]


def covers(submission: SubmissionAnswers, version: Version) -> bool:
    """Whether each node that was ever offered it has answered."""
    asked = {answer.node: None for answer in submission.answers}
    return all(node in asked for node in version.nodes)


def is_hopeless(answer: PackageAnswer) -> bool:
    return May.DROP in answer.may and May.REBUILD not in answer.may


def kept(answer: PackageAnswer) -> Answered:
    words = clip(answer.words, WORDS_BYTES_MAX)
    return Answered(
        answer.node, answer.core, answer.kind.value, answer.outcome.value, answer.final, words
    )


def is_open(clock: SlotClock, now_ms: int, from_ms: int, until_ms: int) -> bool:
    """Whether the next timeslot is so far ahead."""
    return until_ms <= clock.until_next_ms(now_ms) <= from_ms


def opens_ms(clock: SlotClock, after_ms: int, from_ms: int) -> int:
    """When the window opens next after this moment."""
    begin = after_ms + clock.until_next_ms(after_ms) - from_ms
    while begin <= after_ms:
        begin += clock.slot_ms
    return begin


def anchor_offset(policy: str, ahead: int, cores: int, recent_blocks: int) -> int:
    """How many blocks below the best one a package is anchored, with this many bundles ahead of it.

    Seed 000 gives later bundles fresher anchors. Its formula and its table differ from the sixth
    bundle on, with two cores; both are kept."""
    pairs = ahead // cores
    match policy:
        case "formula":
            return max(recent_blocks - 2 - pairs, 1)
        case "table":
            return max(recent_blocks - 2 - pairs, 1) if pairs < 3 else 1
        case _:
            return 1
