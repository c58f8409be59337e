"""Where blocks and their versions stand: questions that rows and facts answer, and nothing else.

Nothing here knows the time or changes anything.
"""

from collections.abc import Iterator

from laneway.core.jam import JamBlockRef
from laneway.lanes.bundle.lane import WAITING, BundleLane, walked
from laneway.lanes.bundle.limits import HELD_SLOTS_MAX
from laneway.lanes.bundle.rows import (
    SAME_BLOCK_HELD,
    BlockState,
    Fact,
    FactKind,
    Slot,
    Tip,
    Version,
)


def status_of(lane: BundleLane, slot: Slot) -> str:
    """The status of a block: a function of its facts and of what is final."""
    word = lane.words[slot.id]
    if slot.line is not None:
        return BlockState.FINALISED
    if word != BlockState.ACCUMULATED:
        return word
    winner = lane.version(slot.id, slot.winner)
    fact = None if winner is None else winner.fact(FactKind.ACCUMULATED)
    assert fact is not None
    return BlockState.FINALISED if lane.is_final(fact.block) else word


def is_accumulated(lane: BundleLane, slot: Slot) -> bool:
    return lane.words[slot.id] == BlockState.ACCUMULATED


def current(lane: BundleLane, slot: Slot) -> Version | None:
    """The version that a block counts on: the winner, or the newest that may still land."""
    if slot.winner:
        return lane.version(slot.id, slot.winner)
    for version in reversed(lane.of(slot.id)):
        if not version.is_dead():
            return version
    return None


def is_cancelled(slot: Slot, version: Version) -> bool:
    """Whether another version won."""
    return slot.winner not in (0, version.version)


def is_eligible(lane: BundleLane, version: Version) -> bool:
    """Whether it may win by the lane's policy: any version, or the newest alone."""
    if lane.settings.winner == "first_guarantee_wins":
        return True
    return version.version == lane.slots[version.slot].version


def is_passed_over(lane: BundleLane, slot: Slot, version: Version) -> bool:
    """Whether it may not advance: another version won, or none did and only a newer one may."""
    if slot.winner:
        return is_cancelled(slot, version)
    return not is_eligible(lane, version)


def before(lane: BundleLane, slot: Slot) -> Slot | None:
    """The open block that this one follows; None: it follows the tip. A block below the tip is
    final too, and only its notification is left."""
    next_lower = lane.numbers.get(slot.number - 1)
    if next_lower is not None:
        return lane.slots[next_lower]
    tip = lane.head.tip.number
    lower = [number for number in lane.numbers if tip <= number < slot.number]
    return lane.slots[lane.numbers[max(lower)]] if lower else None


def parent_of(lane: BundleLane, slot: Slot) -> Tip:
    """What a block is built on."""
    found = before(lane, slot)
    return lane.head.tip if found is None else Tip(found.number, found.block, found.post_root)


def payloads_below(lane: BundleLane, number: int, parent: bytes) -> tuple[bytes, ...]:
    """Of the open blocks that a block of this number and parent stands on, the lowest first."""
    below = lane.slots.get(lane.numbers.get(number - 1, 0))
    if below is None or not parent or below.block != parent:
        return ()
    lowest = lane.line_top - len(lane.line) + 1
    if lowest < number <= lane.line_top + 1:
        return tuple(lane.line[: number - lowest])
    return tuple(walked(lane, number, parent))


def prerequisites_of(lane: BundleLane, slot: Slot) -> tuple[bytes, ...] | None:
    return prerequisites_after(lane, before(lane, slot))


def prerequisites_after(lane: BundleLane, found: Slot | None) -> tuple[bytes, ...] | None:
    """What a package names that follows this block: its package, while that is in flight. None: it
    has to be made first.

    A prerequisite has to be reported in the same block or in one of the eight before it; one that
    was reported earlier is not asked for, and the service keeps the order."""
    if lane.settings.order == "parallel" or found is None or is_accumulated(lane, found):
        return ()
    version = current(lane, found)
    if version is None:
        return None
    reported = version.fact(FactKind.REPORTED)
    if reported is not None:
        age = lane.head.height + 1 - reported.height
        if age > lane.settings.recent_blocks:
            return ()
    return (version.package_hash,)


def is_alone_at_fault(lane: BundleLane, slot: Slot) -> bool:
    """Whether a block of which no package can be made was begun with one transaction, because none
    could be made with more: what was sealed earlier is executed once more before."""
    return slot.count == 1 and lane.head.txs_max == 1


# How many are where.


def queued_count(lane: BundleLane) -> int:
    return sum([len(lane.places[word]) for word in WAITING])


def is_popped(lane: BundleLane, slot: Slot) -> bool:
    """Whether a version of it is being built, or waits to be submitted."""
    if slot.making is not None:
        return True
    version = None if slot.building else current(lane, slot)
    return version is not None and not version.is_sent()


def inflight(lane: BundleLane) -> int:
    """Blocks that count against `max_inflight`."""
    count = len(lane.places[BlockState.SUBMITTED])
    if lane.settings.inflight_counts == "submitted_and_guaranteed":
        count += len(lane.places[BlockState.GUARANTEED])
    return count + sum([is_popped(lane, lane.slots[one]) for one in lane.places[BlockState.QUEUED]])


def free_cores(lane: BundleLane) -> list[int]:
    """Cores that the next package may be given to, in their order."""
    engaged = dict.fromkeys(engaged_cores(lane))
    return [core for core in lane.settings.cores if core not in engaged]


def engaged_cores(lane: BundleLane) -> Iterator[int]:
    for slot in lane.slots.values():
        if slot.making is not None:
            yield slot.making.core
        if lane.words[slot.id] == BlockState.ACCUMULATED:
            continue  # Its versions have accumulated or are cancelled.
        for version in lane.of(slot.id):
            is_out = not version.is_dead() and not is_cancelled(slot, version)
            if is_out and engages(lane, version):
                yield version.core


def engages(lane: BundleLane, version: Version) -> bool:
    """Whether it keeps its core from others: until it is reported, and then until that report is
    available or was dropped."""
    if version.fact(FactKind.ACCUMULATED) is not None or version.fact(FactKind.READY) is not None:
        return False
    reported = version.fact(FactKind.REPORTED)
    if reported is None:
        return True
    match lane.settings.core_reuse:
        case "guaranteed":
            return False
        case "expected" if reported.height == lane.head.height:
            return False
        case _:
            best, slot = lane.head.best, reported.number
            assert slot is not None
            return best is None or best.slot < slot + lane.settings.availability_slots


# The life of a package.


def expires(lane: BundleLane, version: Version) -> int | None:
    """The height from which on no block can report it: its anchor's and eight. None: not known."""
    anchor = lane.height_of(version.anchor)
    if anchor is not None:
        return anchor + lane.settings.recent_blocks
    reportable = version.fact(FactKind.REPORTABLE)
    return None if reportable is None else reportable.number


def is_stale(lane: BundleLane, version: Version) -> bool:
    """Whether its anchor is too old to submit it for the first time. Where nobody shows its age it
    is taken to be as old as it can be: nobody has these bytes, so others can be made."""
    anchor = lane.height_of(version.anchor)
    age = lane.head.height - (version.born if anchor is None else anchor)
    return age > lane.settings.anchor_age_blocks_max


def death(lane: BundleLane, version: Version, *, is_shown: bool) -> Fact | None:
    """Why a package that was submitted can have no effect any more on this fork; None while it can.

    What is reported waits for its accumulation, and only the chain or the service can end that. By
    the age of its anchor alone it is dead only where the newest block shows how it stands there: of
    what nobody looked at nobody knows that it was not reported."""
    if version.is_dead() or version.is_accumulated(lane.settings.keeps_records):
        return None
    refused, failed = version.fact(FactKind.REFUSED), version.fact(FactKind.FAILED)
    if refused is not None:
        return ended(refused)
    orphan = orphaned(lane, version)
    if orphan is not None:
        return orphan
    if failed is not None:
        return ended(failed)
    return expired(lane, version) if is_shown else None


def ended(fact: Fact) -> Fact:
    return Fact(
        FactKind.DEAD, fact.block, fact.height, words=fact.words, is_hopeless=fact.is_hopeless
    )


def orphaned(lane: BundleLane, version: Version) -> Fact | None:
    """It names a package that can never be reported, or never accumulated."""
    if version.fact(FactKind.ACCUMULATED) is not None:
        return None
    for prerequisite in version.prerequisites:
        other = lane.named(prerequisite)
        found = None if other is None else end_of(lane, other)
        if found is not None:
            words = "the package that it names is dead"
            return Fact(FactKind.DEAD, found, lane.head.height, words=words, by_prerequisite=True)
    return None


def end_of(lane: BundleLane, version: Version) -> JamBlockRef | None:
    """The block that shows that a package will never accumulate. One that the service refused did
    accumulate: those that name it are free."""
    if version.fact(FactKind.REFUSED) is not None:
        return None
    fact = version.fact(FactKind.DEAD)
    if fact is not None:
        return fact.block
    return lane.head.best if version.is_refused else None


def expired(lane: BundleLane, version: Version) -> Fact | None:
    head = lane.head
    if head.best is None or version.fact(FactKind.REPORTED) or version.fact(FactKind.ACCUMULATED):
        return None
    until = expires(lane, version)
    if until is not None and until <= head.height:
        block = lane.chain.get(until, head.best)
        return Fact(FactKind.DEAD, block, until, words="its anchor is no recent block any more")
    if head.best.slot > version.lookup_anchor.slot + lane.settings.lookup_slots_max:
        return Fact(FactKind.DEAD, head.best, head.height, words="its lookup anchor is too old")
    return None


def given_up(lane: BundleLane, version: Version) -> Fact | None:
    """It was given to the service, which holds an early block for so long. What that neither wrote
    down nor refused by then can have no effect: it was held too long, or came to nothing."""
    best, held = lane.head.best, version.fact(FactKind.ACCUMULATED)
    if best is None or held is None or version.is_accumulated(lane.settings.keeps_records):
        return None
    if version.is_dead() or best.slot <= held.block.slot + HELD_SLOTS_MAX:
        return None
    return Fact(FactKind.DEAD, best, lane.head.height, words="the service holds it no longer")


def is_leant_on(lane: BundleLane, slot: Slot) -> bool:
    """Whether a package that is out names a version of this block that did not win and may end
    another way yet. Were the block forgotten now, nobody could say whether that package can ever
    accumulate."""
    losers = {
        one.package_hash: None
        for one in lane.of(slot.id)
        if one.version != slot.winner and not is_dead_for_good(lane, one)
    }
    if not losers:
        return False
    out = [one for versions in lane.versions.values() for one in versions if one.is_sent()]
    return any(name in losers for one in out for name in one.prerequisites)


def is_dead_for_good(lane: BundleLane, version: Version) -> bool:
    """Whether no fork can bring it back, nor can its block land by a package that this lane does
    not know: one that the service holds."""
    fact, refused = version.fact(FactKind.DEAD), version.fact(FactKind.REFUSED)
    if fact is None or not lane.is_final(fact.block):
        return version.is_refused
    if refused is None or refused.words.upper() != SAME_BLOCK_HELD:
        return True
    finalised = lane.head.finalised
    return finalised is not None and finalised.slot > refused.block.slot + HELD_SLOTS_MAX
