"""When silence is a proof: so long after its anchor a package that no record of its service names
was never accumulated, and never will be.

Every bound is the chain's own. They are counted on blocks that there were, since a chain that
stands still ends nothing: the first block after a pause may make available, and give to a service,
what waited all the while.
"""

from collections.abc import Sequence
from typing import Final

from laneway.core.jam import Failed, PackageKind, Parameters

OVER: Final = Failed(PackageKind.ANCHOR_NOT_RECENT, "its time is over, and no record names it")


def is_over(slots: Sequence[int], anchor: int, parameters: Parameters) -> bool:
    """Whether a package with an anchor of this slot can be in no queue of the chain after the last
    of these blocks: their slots, oldest first, of one fork without a gap. Those before them may
    be unknown, which makes it later and never sooner."""
    later = [slot for slot in slots if slot > anchor]
    # Its lookup anchor is not newer than its anchor, and a report is too old with either of them.
    reported = anchor + parameters.lookup_anchor_slots_max
    if len(later) >= parameters.recent_block_count:
        reported = min(reported, later[parameters.recent_block_count - 1])
    for slot in later:
        if slot >= reported + parameters.availability_timeout_slots:
            # The last block that can make it available: here it is dropped, or begins to wait for
            # its prerequisites, for an epoch at the most.
            return later[-1] >= slot + parameters.epoch_slots
    return False


def blocks_needed(parameters: Parameters) -> int:
    """As many blocks as prove it whatever was before them."""
    return (
        parameters.recent_block_count
        + parameters.availability_timeout_slots
        + parameters.epoch_slots
    )
