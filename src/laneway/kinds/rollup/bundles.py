"""A rollup's lane in memory → the values of the REST API: its picture, its blocks, their versions.

Everything here is read from the lane that this process holds; nothing waits.
"""

import re
from collections.abc import Iterator

from laneway.core.jam import JamBlockRef
from laneway.kinds.common.views import copied, when
from laneway.kinds.limits import PICTURE_FINAL_MAX
from laneway.lanes.bundle import show
from laneway.lanes.bundle.lane import BundleLane
from laneway.lanes.bundle.rows import BlockState, Finished, Slot, Version
from laneway.lanes.bundle.standing import status_of
from laneway.wire import rollup as wire
from laneway.wire.hex import octets
from laneway.wire.times import to_time

EMPTY = wire.RollupPicture(
    queued=[],
    submitted=[],
    guaranteed=[],
    stale=[],
    accumulated=[],
    finalised=[],
    inflight=0,
    can_submit=False,
)
"""Of a lane without open blocks."""


def named(content: bytes) -> str | None:
    return octets(content) if content else None


def jam_block(block: JamBlockRef) -> wire.JamBlock:
    return wire.JamBlock(octets(block.header_hash), block.slot)


def picture_of(lane: BundleLane) -> wire.RollupPicture:
    seen = show.picture(lane)
    return copied(wire.RollupPicture, seen, finalised=list(seen.finalised[-PICTURE_FINAL_MAX:]))


# Blocks.


NAME = re.compile(r"(B-)?([0-9]{1,15})")
"""A block's number, or `B-` and its id."""


def number_of(name: str) -> int | None:
    """Of a block that is called by its number."""
    read = NAME.fullmatch(name)
    return None if read is None or read[1] else int(read[2])


def found(lane: BundleLane, name: str) -> Slot | Finished | None:
    read = NAME.fullmatch(name)
    if read is None:
        return None
    number = int(read[2])
    if read[1]:
        slot = lane.slots.get(number)
        final = (one for one in reversed(lane.finished.values()) if one.slot == number)
        return next(final, None) if slot is None else slot
    if number in lane.numbers:
        return lane.slots[lane.numbers[number]]
    return lane.finished.get(number)


def listed(lane: BundleLane) -> Iterator[Slot | Finished]:
    """Open blocks, the lowest first; then final ones, the newest first."""
    yield from lane.in_order()
    yield from reversed(lane.finished.values())


def place_of(block: Slot | Finished) -> tuple[bool, int]:
    """By which a page goes on: whether it is final, and its number."""
    return isinstance(block, Finished), block.number


def comes_after(block: Slot | Finished, after: tuple[bool, int] | None) -> bool:
    """Whether a list goes on with it after that place. A block that became final meanwhile may be
    listed twice, and none is left out."""
    if after is None:
        return True
    is_final, number = place_of(block)
    if is_final != after[0]:
        return is_final
    return number < after[1] if is_final else number > after[1]


def bundle_of(lane: BundleLane, block: Slot | Finished) -> wire.Bundle:
    if isinstance(block, Finished):
        return final_of(block)
    version = block.winner or block.version
    held = lane.version(block.id, version)
    return copied(
        wire.Bundle,
        block,
        id=block.bundle_id(),
        canonical=block.is_canonical,
        state=status_of(lane, block),
        version=version,
        package=None if held is None else octets(held.package_hash),
        block=named(block.block),
        wait_reason=show.wait_reason(lane, block),
        begun_at=to_time(block.made_ms),
    )


def final_of(block: Finished) -> wire.Bundle:
    return copied(
        wire.Bundle,
        block,
        id=f"B-{block.slot}",
        canonical=True,
        state=BlockState.FINALISED,
        package=named(block.package_hash),
        block=octets(block.block),
        size=None,
        wait_reason="",
        begun_at=to_time(block.begun_ms),
        finalised_at=to_time(block.finished_ms),
        accumulated_in=jam_block(block.accumulated),
    )


def final_shown(block: Finished, transactions: list[wire.BundleTx]) -> wire.BundleShown:
    """Its versions went when it became final."""
    return wire.BundleShown(
        bundle=final_of(block),
        parent=None,
        pre_root=None,
        post_root=octets(block.post_root),
        queued_at=None,
        faults=0,
        overdue=0,
        versions=[],
        transactions=transactions,
    )


def shown_of(lane: BundleLane, block: Slot) -> wire.BundleShown:
    return copied(
        wire.BundleShown,
        block,
        bundle=bundle_of(lane, block),
        parent=named(block.parent),
        pre_root=named(block.pre_root),
        post_root=named(block.post_root),
        queued_at=to_time(block.add_ms),
        versions=[version_of(lane, block, one) for one in lane.of(block.id)],
        transactions=[
            copied(wire.BundleTx, one, tx=one.intent, hash=named(one.hash))
            for one in lane.members[block.id]
        ],
    )


def version_of(lane: BundleLane, slot: Slot, version: Version) -> wire.BundleVersion:
    return copied(
        wire.BundleVersion,
        version,
        package=octets(version.package_hash),
        anchor=jam_block(version.anchor),
        lookup_anchor=jam_block(version.lookup_anchor),
        prerequisites=[octets(one) for one in version.prerequisites],
        built_at=to_time(version.built_ms),
        submissions=version.sends,
        first_submitted_at=when(version.first_ms),
        last_submitted_at=when(version.last_ms),
        wins=slot.winner == version.version,
        dead=version.is_dead(),
        stale=show.is_stale(lane, slot, version),
        answers=[copied(wire.BundleAnswer, one) for one in version.answers],
        facts=[copied(wire.BundleFact, one, at=jam_block(one.block)) for one in version.facts],
    )
