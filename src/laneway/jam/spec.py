"""The sizes a JAM chain is made with: the tiny development chain and the full one.

The letters are the Gray Paper's (0.7.2, appendix I). What differs between the two chains stands in
`ChainSpec`; what is the same everywhere is a constant.
"""

from typing import Final

import msgspec

SLOT_SECONDS: Final = 6
"""P: between two timeslots."""
RECENT_BLOCK_COUNT: Final = 8
"""H: blocks whose header an anchor may name, and in which a package counts as reported."""
DEPENDENCY_COUNT_MAX: Final = 8
"""J: prerequisites and segment roots that a report may name, taken together."""
WORK_ITEM_COUNT_MAX: Final = 16
"""I: work items in a package."""
AVAILABILITY_TIMEOUT_SLOTS: Final = 5
"""U: after these a report that was not made available is dropped from its core."""
AUTHORIZER_POOL_COUNT_MAX: Final = 8
"""O: authorizers that a core takes at a time."""
REPORT_BYTES_MAX: Final = 48 * 1024
"""W_R: outputs and the authorizer's trace of a report, taken together."""
BUNDLE_BYTES_MAX: Final = 13_791_360
"""W_B: a package with its extrinsics, imported segments and their proofs."""
SEGMENT_BYTES: Final = 4_104
"""W_G: an exported segment."""
IMPORT_COUNT_MAX: Final = 3_072
"""W_M: segments that a package imports, and that it exports (W_X)."""
EXTRINSIC_COUNT_MAX: Final = 128
"""T: extrinsics of a package."""
ACCUMULATE_GAS_MAX: Final = 10_000_000
"""G_A: of one report."""


class ChainSpec(msgspec.Struct, frozen=True, kw_only=True):
    """The sizes in which one chain differs from another."""

    name: str
    validator_count: int
    """V."""
    core_count: int
    """C."""
    epoch_slots: int
    """E."""
    rotation_slots: int
    """R: how long guarantors stay with a core."""
    ticket_attempts: int
    """N: tickets that a validator may enter for an epoch."""
    lookup_anchor_slots_max: int
    """L: the greatest age of a lookup anchor."""
    recovery_count: int
    """How many shards give the whole back, and into how many originals data is cut."""
    refine_gas_max: int = 5_000_000_000
    """G_R: of one package."""

    @property
    def supermajority(self) -> int:
        """More than two thirds of the validators."""
        return self.validator_count * 2 // 3 + 1

    @property
    def bitfield_bytes(self) -> int:
        """One bit for each core."""
        return (self.core_count + 7) // 8

    @property
    def piece_bytes(self) -> int:
        """W_E: data is cut into pieces of this, of which each original shard holds two bytes."""
        return 2 * self.recovery_count


TINY: Final = ChainSpec(
    name="tiny",
    validator_count=6,
    core_count=2,
    epoch_slots=12,
    rotation_slots=4,
    ticket_attempts=3,
    lookup_anchor_slots_max=24,
    recovery_count=2,
    refine_gas_max=1_000_000_000,
)
FULL: Final = ChainSpec(
    name="full",
    validator_count=1023,
    core_count=341,
    epoch_slots=600,
    rotation_slots=10,
    ticket_attempts=2,
    lookup_anchor_slots_max=14_400,
    recovery_count=342,
)
