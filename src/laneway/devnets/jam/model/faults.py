"""The switches by which a chain model misbehaves, each by its name, and how often each one bit.

A switch is a plain attribute: set it while the model runs, and take it back. Nothing here decides
anything; the parts of the model ask, and say when a switch has changed what they do.
"""

from collections.abc import Callable
from enum import Enum, unique


@unique
class JamFault(Enum):
    """What can go wrong; the value is the switch's name in `Faults`."""

    WITHHELD = "withheld_cores"
    SILENT_GUARANTOR = "silent_guarantors"
    MISMATCH = "mismatched_cores"
    LATE = "late_slots"
    WRONG_REFINE = "wrong_refiners"
    BOTH_VERSIONS = "pairs_versions"
    CENSORED = "censored"
    DROPPED_AT_ROTATION = "drops_at_rotation"
    UNAVAILABLE = "unavailable_cores"
    SILENT_ASSURER = "silent_assurers"
    SKIPPED = "skipped_slots"
    SILENT_AUTHOR = "silent_authors"
    REORG = "reorg_depth"
    STALLED = "is_finality_stalled"
    SILENT_VOTER = "silent_voters"
    LAG = "lag_slots"
    SKEW = "skew_slots"
    HIDDEN_BLOCK = "hidden_blocks"
    HIDDEN_REPORT = "hidden_reports"
    PARTITION = "partition"
    """Set by `JamModel.partition` and taken back by `heal`."""


class Faults:
    """All off in the beginning."""

    def __init__(self) -> None:
        self.withheld_cores: set[int] = set()
        """Cores whose guarantors hand out no guarantee."""
        self.silent_guarantors: set[int] = set()
        """Validators that sign no report."""
        self.mismatched_cores: set[int] = set()
        """Cores whose packages are guaranteed by the guarantors of the next core."""
        self.late_slots: int = 0
        """How many slots after it was signed a guarantee reaches the authors."""
        self.wrong_refiners: set[int] = set()
        """Validators that find another result than refine gives, each its own."""
        self.pairs_versions: bool = False
        """Guarantors keep a package back until another one with the same items was submitted, or
        only one block is left to report it, and then guarantee both."""
        self.censored: set[bytes] = set()
        """Packages that are taken and that nobody guarantees."""
        self.drops_at_rotation: bool = False
        """Guarantors give up what they hold when their rotation ends."""
        self.keeps_reported: bool = False
        """Guarantors go on holding what was reported, and report it again after a reorg. No fault,
        but what some nodes do: otherwise builders submit again."""
        self.unavailable_cores: set[int] = set()
        """Cores whose reports nobody assures."""
        self.silent_assurers: set[int] = set()
        self.skipped_slots: set[int] = set()
        """Slots whose author makes no block."""
        self.silent_authors: set[int] = set()
        self.reorg_depth: int = 0
        """With the next block this many before it are replaced by others, which report nothing;
        blocks that are final stay. It happens once."""
        self.is_finality_stalled: bool = False
        self.silent_voters: set[int] = set()
        self.lag_slots: dict[int, int] = {}
        """By node: it sees blocks this many slots late."""
        self.skew_slots: dict[int, int] = {}
        """By node: how many slots its clock is ahead, or late if negative. It takes no block from
        its future, and submits to whom it thinks are the guarantors."""
        self.hidden_blocks: dict[int, set[bytes]] = {}
        """By node: blocks that it does not see, nor those on top of them."""
        self.hidden_reports: dict[int, set[bytes]] = {}
        """By node: packages; it does not see the blocks that report them."""
        self.bites: dict[JamFault, int] = dict.fromkeys(JamFault, 0)
        """How often each switch changed what happened."""

    def bit(self, fault: JamFault, times: int = 1) -> None:
        self.bites[fault] += times

    def takes_part(
        self, validator: int, has_member: Callable[[int], bool], silence: JamFault
    ) -> bool:
        """Whether a validator is on this side of a partition, and not silenced by this switch."""
        if not has_member(validator):
            self.bit(JamFault.PARTITION)
            return False
        is_silent = validator in getattr(self, silence.value)
        self.bit(silence, is_silent)
        return not is_silent
