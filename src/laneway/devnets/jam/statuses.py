"""What a package is on a fork, in the words of JIP-2; "Failed" is said of that fork alone.

There is no word for what was accumulated: Ready is the last, and a package that waits for another
which never comes stays Ready though it is dead.
"""

from typing import Final

from laneway.devnets.jam.chain import BlockTree, Entry
from laneway.devnets.jam.values import (
    BlockUnavailable,
    Failed,
    Ready,
    Reportable,
    Reported,
    Status,
)
from laneway.jam.windows import remaining_blocks

OTHER_FORK: Final = Failed("anchor is not among the recent blocks of this fork")
UNAVAILABLE: Final = Failed("the report was not made available in time")
TOO_OLD: Final = Failed("the package was not reported before its anchor was too old")


def status(tree: BlockTree, at: Entry, package: bytes, anchor: Entry) -> Status:
    """Of a package with this anchor, after this block. BlockUnavailable where some of the blocks
    between them are forgotten: one of those may have reported it."""
    if not tree.is_ancestor(anchor, at):
        return OTHER_FORK
    between = tree.between(anchor, at)
    if len(between) < at.number - anchor.number:
        raise BlockUnavailable(anchor.hash)
    ready: Entry | None = None
    for entry in reversed(between):
        if package in entry.made.available:
            ready = entry
        for one in entry.made.reported:
            if one.package_hash == package:
                return _since_reported(at, entry, ready, package)
    left = remaining_blocks(anchor.number, at.number)
    return Reportable(left) if left else TOO_OLD


def _since_reported(at: Entry, entry: Entry, ready: Entry | None, package: bytes) -> Status:
    one = next(one for one in entry.made.reported if one.package_hash == package)
    if ready is not None:
        return Ready(
            reported_in=entry.descriptor,
            core=one.core,
            report_hash=one.report_hash,
            ready_in=ready.descriptor,
        )
    if at.made.pending[one.core] == package:
        return Reported(reported_in=entry.descriptor, core=one.core, report_hash=one.report_hash)
    return UNAVAILABLE
