"""The bundle lane's records: what becomes true."""

from typing import TypeAlias

from laneway.core.jam import JamBlockRef, SlotClock
from laneway.lanes.bundle.rows import (
    Answered,
    Ear,
    Fact,
    LinePlace,
    Making,
    Member,
    Slot,
    Tell,
    Version,
)
from laneway.lanes.common.values import CommandRefused, IntentDropped, LaneRecord, ModeChanged


class SlotClaimed(LaneRecord, frozen=True):
    """A block is begun with these transactions."""

    slot: Slot
    members: tuple[Member, ...]
    block_ms: int | None
    """Before then no other is; None: one may be at once."""
    returned: bool = False
    """Some of them had a block before: the first ones. The others are from the backlog."""


class BlockSealed(LaneRecord, frozen=True):
    """It was executed: what it holds never changes."""

    slot: Slot
    members: tuple[Member, ...]
    """All that were given to it; those that are not in it are refused or go back to the pool."""
    payload: bytes
    at_ms: int


class BlockUnmade(LaneRecord, frozen=True):
    """Nothing would be in it: there are no empty blocks. Another may be begun at once."""

    slot: int
    members: tuple[Member, ...]
    at_ms: int


class BlockShrunk(LaneRecord, frozen=True):
    """No block can be built of all its transactions: it is begun again with the first of them, and
    the others go back to the pool."""

    slot: int
    order: int
    """Of the execution that is awaited from now on."""
    members: tuple[Member, ...]
    """Those that stay."""
    reason: str


class BlockRecord(LaneRecord, frozen=True):
    """What became of one block, in its own row alone."""

    slot: int


class BuildDelayed(BlockRecord, frozen=True):
    """The builder could not build it, and is asked again then: for the block, or for a version."""

    retry_ms: int
    tries: int
    reason: str
    helps: int = 0
    """How often in a row it said that it needs an operator."""


class BuildRetried(BlockRecord, frozen=True):
    """The builder is asked again to execute it."""

    order: int
    """The same as before: what was begun then is not done a second time."""


class StartsCounted(BlockRecord, frozen=True):
    """Starts in a row that found it being executed: this may be what ended the process."""

    starts: int


class VersionOrdered(BlockRecord, frozen=True):
    """A version of it is being built."""

    making: Making


class VersionPutBack(BlockRecord, frozen=True):
    """What was being built, or waited to be submitted, is of no use: it is built again."""

    version: int
    """The newest one that is left."""


class BlockRequeued(BlockRecord, frozen=True):
    """All its versions are dead, and another one is wanted."""

    event_id: int
    at_ms: int
    faults: int
    reason: str


class BlockRevived(BlockRecord, frozen=True):
    """An earlier version may land after all, and no other one is wanted."""


class BlockHopeless(BlockRecord, frozen=True):
    """The builder can make no version of it."""


class VersionWon(BlockRecord, frozen=True):
    """A version of it may advance, and no other one."""

    version: int
    newest: int
    """The newest version that is left."""
    overdue_ms: int
    """When its accumulation is overdue."""


class WinnerLost(BlockRecord, frozen=True):
    """The version that might advance died, or a fork took back what it won by."""

    is_afresh: bool
    """Whether what was counted against the block is forgotten."""


class WaitChanged(BlockRecord, frozen=True):
    """Why it waits; empty: it does not wait for that any more."""

    reason: str


class OverdueCounted(BlockRecord, frozen=True):
    """It was guaranteed and has not accumulated in time."""

    overdue: int
    """How often."""
    overdue_ms: int | None
    """When it is so once more; None: it is left to the chain."""
    reason: str


class OverdueEnded(BlockRecord, frozen=True):
    """It has accumulated: it is overdue no longer."""


class NumberConfirmed(BlockRecord, frozen=True):
    """The service's record gives a block the number that it has."""


class BlockOnLine(BlockRecord, frozen=True):
    """The service's final line has it, by whatever package."""

    line: LinePlace


class PackageAwaited(BlockRecord, frozen=True):
    """It is final, and only the service's record says by which package: that was not read yet."""

    final_slot: int
    """The timeslot of the newest final block of the chain."""
    reason: str


class AccumulationNotified(BlockRecord, frozen=True):
    """That it accumulated is notified, or that this was taken back."""

    notified: bool
    overdue_ms: int | None = None
    """When its accumulation is overdue, if it is guaranteed and has not accumulated."""


class SlotNumbered(LaneRecord, frozen=True):
    """The service's record gave a block its number; those after it stay after it."""

    slot: int
    number: int
    count: int | None = None
    """Transactions that it holds; None: an earlier release did not write it."""


class StatusChanged(LaneRecord, frozen=True):
    """A block is somewhere else than was notified last."""

    slot: int
    number: int
    version: int
    before: str
    word: str
    count: int | None = None
    """Transactions that it holds; None: an earlier release did not write it."""


class VersionSealed(LaneRecord, frozen=True):
    """The bytes are durable, and only now may they be submitted."""

    slot: Slot
    version: Version
    package: bytes
    """Encoded, with all that comes with it."""


class VersionRecord(LaneRecord, frozen=True):
    """What became of one version."""

    slot: int
    version: int
    package_hash: bytes


class VersionOffered(VersionRecord, frozen=True):
    """It is being submitted. The nodes are committed with it: until each of them refused it, one
    may have it."""

    nodes: tuple[str, ...]
    serial: int
    sends: int
    first_ms: int
    last_ms: int
    core: int


class VersionAnswered(VersionRecord, frozen=True):
    """What the nodes said to the last submission of it."""

    is_held: bool
    is_refused: bool
    is_hopeless: bool
    core: int
    answers: tuple[Answered, ...]


class FactsSeen(VersionRecord, frozen=True):
    """What is known of it from the chain."""

    facts: tuple[Fact, ...]


class FactsTakenBack(VersionRecord, frozen=True):
    """Of what was known of it this is left on the fork that is the best now."""

    facts: tuple[Fact, ...]
    sends: int


class VersionDied(VersionRecord, frozen=True):
    """It can have no effect any more on this fork."""

    facts: tuple[Fact, ...]
    """With the one that it is dead by."""


class VersionDiscarded(LaneRecord, frozen=True):
    """No node was ever offered it, and none will be."""

    slot: int
    version: int
    reason: str


class Counted(LaneRecord, frozen=True):
    """Something that an operator should know of."""

    what: str
    """duplicate_guarantee, duplicate_accumulate, version_cancelled or overruled."""
    slot: int
    version: int
    winner: int = 0


class BlockDropped(LaneRecord, frozen=True):
    """None of its versions can land: its transactions go back to the pool, and its number to the
    next block."""

    slot: int
    reason: str
    at_ms: int
    is_cause: bool = True
    """It is dropped for itself, and not with the one that it was built on."""
    is_unpackable: bool = False
    """No package can be made of it: the next block has half as many transactions at most."""


class BlockFinalised(LaneRecord, frozen=True):
    """Its accumulation cannot be taken back."""

    slot: int
    version: int
    at_ms: int
    members: tuple[Member, ...] = ()
    """Its transactions, for the feed: each of them has its final status now."""


class LineMoved(LaneRecord, frozen=True):
    """Others brought the newest blocks of the service's final line, and the next one is built on
    what the service has. The lane's own blocks beyond what it knew were dropped before."""

    number: int
    """The newest block of the line."""
    foreign: int
    """How many of its blocks are not this lane's; 0 if the line was thought to be longer."""
    at_ms: int
    block: bytes = b""
    """The hash of the newest one."""


class ChainSeen(LaneRecord, frozen=True):
    """Blocks above `kept` are gone, and these are on top of it."""

    kept: int | None
    """A height. None: none of the known blocks counts any more."""
    blocks: tuple[JamBlockRef, ...]
    finalised: JamBlockRef | None


class LookBegun(LaneRecord, frozen=True):
    pass


class LookEnded(LaneRecord, frozen=True):
    look_ms: int | None
    clock: SlotClock | None = None
    """None: as it was."""
    reason: str = ""
    """Why it came back with nothing."""


class ClockSetBack(LaneRecord, frozen=True):
    """This machine's clock was set back: what the lane waits for is due now."""

    at_ms: int


class BlockDue(LaneRecord, frozen=True):
    """A block may be begun."""


class WindowAwaited(LaneRecord, frozen=True):
    """Something waits for a window that opens then; None: nothing does."""

    window_ms: int | None


class TellOwed(LaneRecord, frozen=True):
    tell: Tell


class TellsBegun(LaneRecord, frozen=True):
    """The notifications up to this one are being made."""

    last: int
    ear: str = Ear.USER


class TellsDone(LaneRecord, frozen=True):
    last: int
    ear: str = Ear.USER


class TellsDelayed(LaneRecord, frozen=True):
    tell_ms: int
    reason: str = ""
    ear: str = Ear.USER


OfSlot: TypeAlias = (
    BuildDelayed | BuildRetried | StartsCounted | VersionOrdered | VersionPutBack | BlockRequeued
    | BlockRevived | BlockHopeless | VersionWon | WinnerLost | WaitChanged | OverdueCounted
    | OverdueEnded | NumberConfirmed | BlockOnLine | PackageAwaited | AccumulationNotified
)  # fmt: skip
"""Records that change one block's own row and nothing else."""

OfVersion: TypeAlias = VersionOffered | VersionAnswered | FactsSeen | FactsTakenBack | VersionDied
"""Records that change one version's own row."""

Record: TypeAlias = (
    SlotClaimed | BlockSealed | BlockUnmade | BlockShrunk | BuildDelayed | BuildRetried
    | StartsCounted | VersionOrdered | VersionPutBack | BlockRequeued | BlockRevived | BlockHopeless
    | VersionWon | WinnerLost | WaitChanged | OverdueCounted | OverdueEnded | NumberConfirmed
    | BlockOnLine | PackageAwaited | AccumulationNotified | LineMoved | SlotNumbered | StatusChanged
    | VersionSealed | VersionOffered | VersionAnswered | FactsSeen | FactsTakenBack | VersionDied
    | VersionDiscarded | Counted | BlockDropped | BlockFinalised | ChainSeen | LookBegun | LookEnded
    | BlockDue | WindowAwaited | TellOwed | TellsBegun | TellsDone | TellsDelayed | ClockSetBack
    | IntentDropped | ModeChanged | CommandRefused
)  # fmt: skip
