"""The recent history (Gray Paper 0.7.2, section 7): what a chain remembers of its last blocks.

A block cannot hold its own state root: its entry has zeros there until its child, whose header
carries the root, sets it right. Whether a block is valid is judged elsewhere.
"""

from collections.abc import Iterable
from operator import attrgetter
from typing import Final

from msgspec.structs import replace

from laneway.jam.hashing import ZERO_HASH
from laneway.jam.mmr import EMPTY as EMPTY_BELT
from laneway.jam.roots import beefy_root, belt_with
from laneway.jam.rules.checks import RecentBlock, ReportedPackage
from laneway.jam.spec import RECENT_BLOCK_COUNT
from laneway.jam.state import RecentHistory

EMPTY: Final = RecentHistory((), EMPTY_BELT)


def corrected(history: RecentHistory, parent_state_root: bytes) -> RecentHistory:
    """β†: the newest block's state root is known, from the header of the block that follows it."""
    if not history.blocks:
        return history
    newest = replace(history.blocks[-1], state_root=parent_state_root)
    return replace(history, blocks=(*history.blocks[:-1], newest))


def advanced(
    history: RecentHistory,
    *,
    header_hash: bytes,
    parent_state_root: bytes,
    accumulate_root: bytes,
    reported: Iterable[ReportedPackage],
) -> RecentHistory:
    """β′: the history after a block with this header, and with these packages in its guarantees."""
    earlier = corrected(history, parent_state_root)
    belt = belt_with(earlier.belt, accumulate_root)
    block = RecentBlock(
        header_hash=header_hash,
        beefy_root=beefy_root(belt),
        state_root=ZERO_HASH,
        reported=tuple(sorted(reported, key=attrgetter("hash"))),
    )
    return RecentHistory((*earlier.blocks, block)[-RECENT_BLOCK_COUNT:], belt)
