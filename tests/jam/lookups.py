"""Questions that only tests ask of values of a JAM chain."""

from laneway.jam.extrinsic import AvailAssurance, extrinsic_hash
from laneway.jam.header import Block
from laneway.jam.rotation import Guarantors
from laneway.jam.rules.checks import ReportedPackage
from laneway.jam.spec import RECENT_BLOCK_COUNT, ChainSpec
from laneway.jam.state import RecentHistory


def reported_package(history: RecentHistory, package_hash: bytes) -> ReportedPackage | None:
    """What was reported of a package in one of the recent blocks."""
    for block in history.blocks:
        for package in block.reported:
            if package.hash == package_hash:
                return package
    return None


def reportable_blocks(anchor: int) -> range:
    """The blocks that may hold a report whose anchor is block N: N+1 to N+8."""
    return range(anchor + 1, anchor + RECENT_BLOCK_COUNT + 1)


def vouches_for(assurance: AvailAssurance, core_index: int) -> bool:
    return bool(assurance.bitfield[core_index // 8] >> core_index % 8 & 1)


def holds_together(block: Block, spec: ChainSpec) -> bool:
    """Whether the header names the block's extrinsic."""
    return block.header.extrinsic_hash == extrinsic_hash(block.extrinsic, spec)


def of_core(guarantors: Guarantors, core: int) -> tuple[int, ...]:
    """The places of the validators that guarantee for the core, lowest first."""
    return tuple(place for place, assigned in enumerate(guarantors.cores) if assigned == core)


def are_at(guarantors: Guarantors, core: int, places: tuple[int, ...]) -> bool:
    """Whether there is a validator in each of the places, and its core is this one."""
    cores = guarantors.cores
    return all(place < len(cores) and cores[place] == core for place in places)
