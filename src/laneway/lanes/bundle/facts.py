"""What a look at the chain makes of the lane: blocks that came and went, and what they show.

A fact counts while its block is on the best fork. Which version of a block may advance follows from
facts, and is decided anew when they are taken back.
"""

from typing import assert_never

from laneway.core.jam import (
    Accumulated,
    Failed,
    Finalised,
    JamBlockRef,
    JamBlockSeen,
    JamBlocksSeen,
    May,
    PackageSeen,
    Ready,
    Reportable,
    Reported,
    ServiceRefused,
    SlotClock,
)
from laneway.core.reason import clip
from laneway.lanes.bundle import records as r
from laneway.lanes.bundle.draft import DecisionDraft
from laneway.lanes.bundle.lane import BundleLane, name_of, replace
from laneway.lanes.bundle.limits import TROUBLE_BYTES_MAX, WATCHED_MAX, WORDS_BYTES_MAX
from laneway.lanes.bundle.line import judge_line
from laneway.lanes.bundle.rows import (
    NOT_AUTHORISED,
    SAME_BLOCK_APPLIED,
    STAGES,
    Fact,
    FactKind,
    Slot,
    Version,
)
from laneway.lanes.bundle.standing import (
    death,
    end_of,
    given_up,
    is_accumulated,
    is_cancelled,
    is_eligible,
    is_passed_over,
)
from laneway.lanes.bundle.values import ChainLooked, LookFailed

WRONG_BLOCK = ("WRONG_PARENT", "OTHER_BLOCK_APPLIED")
"""Why a service takes no version of a block: another stands in its place, or before it."""
HOPELESS = (*WRONG_BLOCK, NOT_AUTHORISED)
"""Why a service takes no version of a block that is made as this one was."""

OLDER = "a node shows an older chain, or another one; name nodes of its chain, or another database"


def judge_look(draft: DecisionDraft, event: ChainLooked) -> None:
    lane, seen = draft.lane, event.seen
    if not lane.head.looking or is_late(lane, seen):
        judge_failed(draft, LookFailed(event.now_ms))
        return
    if is_older(lane, seen):
        judge_failed(draft, LookFailed(event.now_ms, OLDER))
        return
    kept = None if seen.after is None else lane.height_of(seen.after)
    take_back(draft, kept)
    blocks = tuple([one.block for one in seen.blocks])
    if blocks or kept != lane.head.height or seen.head.finalised != lane.head.finalised:
        draft.is_wide = True
        draft.say(r.ChainSeen(kept, blocks, seen.head.finalised))
    height = lane.head.height - len(blocks)
    for block in seen.blocks:
        height += 1
        for package in block.seen:
            note(draft, package, height)
    if seen.is_whole:
        judge_line(draft, seen.line)
    bury(draft, seen.blocks[-1] if seen.blocks else None)
    draft.is_wide |= is_other_clock(lane.head.clock, event.clock)
    again_ms = event.now_ms + (lane.settings.poll_ms if seen.is_whole else 0)
    draft.say(r.LookEnded(again_ms, event.clock))


def is_late(lane: BundleLane, seen: JamBlocksSeen) -> bool:
    """Whether it answers an older question: it begins after a block that is gone meanwhile, or
    knows nothing of some that came since. What those showed would be taken back for nothing."""
    if seen.after is None:
        return False
    kept = lane.height_of(seen.after)
    if kept is None:
        return True
    return tuple([block for height, block in lane.chain.items() if height > kept]) != seen.gone


def is_older(lane: BundleLane, seen: JamBlocksSeen) -> bool:
    """Whether a node is behind what is known, or on another chain: it would take back blocks that
    are final, or begins anew without being ahead. A chain that goes on is ahead before long."""
    best, finalised = lane.head.best, lane.head.finalised
    if best is None:
        return False
    if seen.after is not None:
        return any(lane.is_final(one) for one in seen.gone)
    theirs = seen.head.finalised
    is_behind = theirs is not None and finalised is not None and theirs.slot < finalised.slot
    return is_behind or seen.head.best.slot <= best.slot


def is_other_clock(known: SlotClock | None, clock: SlotClock | None) -> bool:
    """Whether windows open at other times by it, or not at all."""
    if known is None or clock is None:
        return clock is not None
    return (known.slot_ms, known.begin_ms, known.skew_ms) != (
        clock.slot_ms, clock.begin_ms, clock.skew_ms
    )  # fmt: skip


def judge_failed(draft: DecisionDraft, event: LookFailed) -> None:
    """Asked again soon, and nothing is known."""
    if draft.lane.head.looking:
        reason = clip(event.reason, TROUBLE_BYTES_MAX)
        draft.say(r.LookEnded(event.now_ms + draft.lane.settings.poll_ms, reason=reason))


# What is not so any more.


def take_back(draft: DecisionDraft, kept: int | None) -> None:
    """Facts of blocks that are gone. Without a common block only what is final counts: the newest
    block's state shows the rest anew."""
    lane = draft.lane
    gone = {
        block.header_hash: None
        for height, block in lane.chain.items()
        if kept is None or height > kept
    }
    if not gone and kept is not None:
        return
    for versions in list(lane.versions.values()):
        for version in versions:
            lost = [one for one in version.facts if is_lost(draft, one, kept, gone)]
            if lost:
                forget(draft, version, lost)


def is_lost(draft: DecisionDraft, fact: Fact, kept: int | None, gone: dict[bytes, None]) -> bool:
    if kept is None:
        return not draft.lane.is_final(fact.block)
    return fact.block.header_hash in gone


def forget(draft: DecisionDraft, version: Version, lost: list[Fact]) -> None:
    """On another fork the same bytes may be submitted as often as on the first."""
    facts = tuple([one for one in version.facts if one not in lost])
    again = any(one.kind in (FactKind.REPORTED, FactKind.DEAD, FactKind.FAILED) for one in lost)
    sends = 0 if again else version.sends
    left = draft.alter(r.FactsTakenBack(*name_of(version), facts, sends))
    slot = draft.lane.slots[version.slot]
    if slot.winner == version.version and not may_win(left):
        draft.change(r.WinnerLost(slot.id, is_afresh=True))
    elif again and slot.wait_reason and not (slot.winner or slot.queued):
        draft.change(r.WaitChanged(slot.id, ""))


def may_win(version: Version) -> bool:
    return version.is_reported() or version.fact(FactKind.ACCUMULATED) is not None


# What is seen.


def note(draft: DecisionDraft, seen: PackageSeen, height: int) -> None:
    version = draft.lane.named(seen.package_hash)
    if version is None or not version.is_sent():
        return
    for fact in facts_of(draft, seen, height):
        version = draft.lane.version(version.slot, version.version)
        assert version is not None
        facts = merged(version, fact)
        if facts != version.facts:
            version = see(draft, version, facts)
            judge_fact(draft, draft.lane.slots[version.slot], version, fact)


def see(draft: DecisionDraft, version: Version, facts: tuple[Fact, ...]) -> Version:
    return draft.alter(r.FactsSeen(*name_of(version), facts))


def facts_of(draft: DecisionDraft, seen: PackageSeen, height: int) -> list[Fact]:
    """The fact as it is kept."""
    block, fact = seen.block, seen.fact
    match fact:
        case Reportable(remaining_blocks=left):
            return [Fact(FactKind.REPORTABLE, block, height, height + left)]
        case Reported(reported_in=reported_in):
            return [reported(draft, block, height, reported_in)]
        case Ready(reported_in=reported_in):
            first = reported(draft, block, height, reported_in)
            return [first, Fact(FactKind.READY, block, height)]
        case Failed(kind=kind, words=words):
            if not is_telling(seen):
                return []
            reason = clip(f"{kind.value}: {words}", WORDS_BYTES_MAX)
            hopeless = May.REBUILD not in seen.may
            return [Fact(FactKind.FAILED, block, height, words=reason, is_hopeless=hopeless)]
        case Accumulated(number=number):
            return [Fact(FactKind.ACCUMULATED, block, height, number)]
        case ServiceRefused(reason=reason, number=number):
            hopeless = reason.upper() in HOPELESS
            text = clip(reason, WORDS_BYTES_MAX)
            return [Fact(FactKind.REFUSED, block, height, number, text, is_hopeless=hopeless)]
        case Finalised(finalised=finalised):
            draft.say(r.ChainSeen(draft.lane.head.height, (), finalised))
            return []
        case _:
            assert_never(fact)


def is_telling(seen: PackageSeen) -> bool:
    """Whether a sighting says where a package is. What a node calls failed may land all the same if
    the same bytes may, or if nothing is to be done: then it is in the pipeline, or the node is
    behind."""
    if not isinstance(seen.fact, Failed):
        return True
    return May.SAME_BYTES not in seen.may and (May.REBUILD in seen.may or May.DROP in seen.may)


def reported(
    draft: DecisionDraft, block: JamBlockRef, height: int, reported_in: JamBlockRef
) -> Fact:
    found = draft.lane.height_of(reported_in)
    return Fact(FactKind.REPORTED, block, height if found is None else found, reported_in.slot)


def merged(version: Version, fact: Fact) -> tuple[Fact, ...]:
    """The newest stage counts; that it was reported is remembered with what came after, and what
    the service did is not unsaid by what the chain's own queues show later."""
    known = version.fact(fact.kind)
    revived = fact.kind == FactKind.REPORTED and version.fact(FactKind.FAILED) is not None
    if known is not None and not revived and is_old(known, fact):
        return version.facts
    if fact.kind == FactKind.FAILED and version.fact(FactKind.ACCUMULATED) is not None:
        # A chain forgets what it gave to a service; a node that is asked then may call it failed.
        return version.facts
    if fact.kind == FactKind.ACCUMULATED:
        gone: tuple[str, ...] = (FactKind.ACCUMULATED, FactKind.DEAD, FactKind.FAILED)
    elif fact.kind == FactKind.REFUSED:
        gone = (FactKind.REFUSED,)
    elif fact.kind == FactKind.FAILED:
        gone = (FactKind.REPORTABLE, FactKind.FAILED, FactKind.READY)
    elif fact.kind == FactKind.READY:
        gone = (FactKind.REPORTABLE, FactKind.FAILED, FactKind.DEAD)
    else:
        gone = (*STAGES, FactKind.DEAD)
    kept = [one for one in version.facts if one.kind not in gone or is_lasting(one, fact)]
    return (*kept, fact)


def is_lasting(known: Fact, fact: Fact) -> bool:
    """Whether it died with the package that it names: that it is reported does not bring that one
    back, and only with it can it accumulate."""
    return known.by_prerequisite and fact.kind != FactKind.ACCUMULATED


def is_old(known: Fact, fact: Fact) -> bool:
    """Whether it says what is known: of that the first block that showed it is kept."""
    match fact.kind:
        case FactKind.REPORTABLE:
            return known.number == fact.number
        case FactKind.ACCUMULATED:
            return known.number is not None or fact.number is None
        case _:
            return True


# Who may advance.


def judge_fact(draft: DecisionDraft, slot: Slot, version: Version, fact: Fact) -> None:
    """Enforced when a package is guaranteed, and again when it is accumulated; what is final was
    accumulated before."""
    if version.is_accumulated(draft.lane.settings.keeps_records):
        if fact.kind == FactKind.ACCUMULATED:
            judge_accumulated(draft, slot, version, fact)
        return
    is_duplicate = is_passed_over(draft.lane, slot, version)
    if fact.kind in (FactKind.ACCUMULATED, FactKind.REFUSED):
        if is_duplicate:
            count(draft, "duplicate_accumulate", slot, version)
        elif slot.winner == 0 and fact.kind == FactKind.ACCUMULATED:
            win(draft, slot, version)
    elif fact.kind == FactKind.REPORTED:
        if is_duplicate:
            count(draft, "duplicate_guarantee", slot, version)
        elif slot.winner == 0:
            win(draft, slot, version)


def judge_accumulated(draft: DecisionDraft, slot: Slot, version: Version, fact: Fact) -> None:
    """What the service wrote down outranks every policy: the block has had its effect. Without
    such a record of two versions that accumulated the winner counts."""
    if fact.number is None and is_passed_over(draft.lane, slot, version):
        count(draft, "duplicate_accumulate", slot, version)
        return
    if is_cancelled(slot, version):
        count(draft, "overruled", slot, version)
    if slot.winner != version.version:
        win(draft, slot, version)
    if fact.number is not None and draft.lane.slots[slot.id].winner == version.version:
        if fact.number != slot.number:
            draft.say(r.SlotNumbered(slot.id, fact.number, slot.count))
        else:
            draft.change(r.NumberConfirmed(slot.id))


def count(draft: DecisionDraft, what: str, slot: Slot, version: Version) -> None:
    winner = draft.lane.slots[slot.id].winner
    draft.say(r.Counted(what, slot.id, version.version, winner))


def win(draft: DecisionDraft, slot: Slot, version: Version) -> None:
    """All other versions are cancelled: what waits is not submitted, what is out not again. The
    block itself stays what it was."""
    lane = draft.lane
    others = [one for one in lane.of(slot.id) if one.version != version.version]
    unsent = [one for one in others if not one.is_sent()]
    for other in others:
        if not other.is_dead():
            cancel(draft, slot, other.version, version)
    for other in unsent:
        draft.say(r.VersionDiscarded(slot.id, other.version, "another version was guaranteed"))
    if slot.queued and slot.version and not unsent:
        cancel(draft, slot, slot.version + 1, version)  # It was to be built.
    newest = max(one.version for one in lane.of(slot.id))
    overdue_ms = draft.now_ms + lane.settings.accumulate_timeout_ms
    draft.change(r.VersionWon(slot.id, version.version, newest, overdue_ms))


def cancel(draft: DecisionDraft, slot: Slot, version: int, winner: Version) -> None:
    draft.say(r.Counted("version_cancelled", slot.id, version, winner.version))


# What can have no effect any more.


def bury(draft: DecisionDraft, newest: JamBlockSeen | None) -> None:
    """The lowest block first, for those after it may name what died."""
    lane = draft.lane
    shown = shown_by(newest)
    is_whole = newest is not None and newest.is_readable and is_watched_whole(lane)
    for slot in list(lane.in_order()):
        recognise(draft, slot)
        for version in lane.of(slot.id):
            version = reviewed(draft, version)
            is_shown = version.package_hash in shown
            fact = death(lane, version, is_shown=is_shown) if version.is_sent() else None
            if fact is None and is_whole:
                fact = given_up(lane, version)
            if fact is not None:
                draft.alter(r.VersionDied(*name_of(version), (*version.facts, fact)))
        undecide(draft, lane.slots[slot.id])


def shown_by(newest: JamBlockSeen | None) -> dict[bytes, None]:
    """The packages that the newest block was asked for, and that it says something of."""
    if newest is None:
        return {}
    return {one.package_hash: None for one in newest.seen if is_telling(one)}


def is_watched_whole(lane: BundleLane) -> bool:
    """Whether every package that is out is asked for in each look: then what the newest block does
    not show is not there."""
    out = [one for versions in lane.versions.values() for one in versions if one.is_sent()]
    return len(out) <= WATCHED_MAX


def reviewed(draft: DecisionDraft, version: Version) -> Version:
    """It lives again with the package that it names, if that does."""
    fact = version.fact(FactKind.DEAD)
    if fact is None or not fact.by_prerequisite:
        return version
    others = [draft.lane.named(one) for one in version.prerequisites]
    if any(other is None or end_of(draft.lane, other) is not None for other in others):
        return version
    return see(draft, version, tuple([one for one in version.facts if one != fact]))


def recognise(draft: DecisionDraft, slot: Slot) -> None:
    """The service refuses a package because its block was applied: then the block has had its
    effect, by whatever package. Were it built again, its transactions would be in two blocks."""
    if is_accumulated(draft.lane, slot):
        return
    for version in draft.lane.of(slot.id):
        fact = version.fact(FactKind.REFUSED)
        if fact is not None and fact.words.upper() == SAME_BLOCK_APPLIED:
            done = replace(fact, kind=FactKind.ACCUMULATED)
            facts = [
                one
                for one in version.facts
                if one.kind not in (FactKind.ACCUMULATED, FactKind.DEAD)
            ]
            version = see(draft, version, (*facts, done))
            if slot.winner in (0, version.version):
                count(draft, "overruled", slot, version)
            judge_accumulated(draft, draft.lane.slots[slot.id], version, done)
            return


def undecide(draft: DecisionDraft, slot: Slot) -> None:
    """A winner that died leaves the place to whichever other version is guaranteed."""
    winner = draft.lane.version(slot.id, slot.winner) if slot.winner else None
    if winner is not None and winner.is_dead():
        slot = draft.change(r.WinnerLost(slot.id, is_afresh=False))
    if slot.winner:
        return
    able = [
        one
        for one in draft.lane.of(slot.id)
        if may_win(one) and not one.is_dead() and is_eligible(draft.lane, one)
    ]
    if able:
        win(draft, slot, min(able, key=guaranteed_at))


def guaranteed_at(version: Version) -> int:
    """The block in which it was seen first; one that accumulated was reported before."""
    return min(
        fact.height for fact in version.facts if fact.kind in (*STAGES, FactKind.ACCUMULATED)
    )
