"""The bundle lane's three families of values: events, records, effects."""

from typing import TypeAlias

from msgspec import Struct

from laneway.core.ids import IntentId
from laneway.core.intent import IntentRow
from laneway.core.jam import BlockRef, BlocksSeen, Package, SlotClock, Submission, Watched
from laneway.core.rows import Command
from laneway.lanes.bundle.rows import Ear, Member, Slot, Tell, Version

# Events.


class IntentsOffered(Struct, frozen=True):
    now_ms: int
    intents: tuple[IntentRow, ...]


class Judged(Struct, frozen=True):
    """What became of one transaction when its block was executed."""

    intent: IntentId
    verdict: str
    """One of the words of `Verdict`."""
    hash: bytes = b""
    """Of what the rollup calls the transaction."""
    reason: str = ""


class BlockBuilt(Struct, frozen=True, kw_only=True):
    """A block was executed on its parent."""

    now_ms: int
    slot: int
    order: int
    payload: bytes
    """All that a version is made from: transactions, original extrinsics, timestamp. It is never
    changed, and handed back with every version that is wanted."""
    digest: bytes
    block: bytes
    pre_root: bytes
    post_root: bytes
    judged: tuple[Judged, ...]
    """One for each of its transactions, in their order."""


class BlockNotBuilt(Struct, frozen=True):
    """Nothing is known of its transactions."""

    now_ms: int
    slot: int
    order: int
    reason: str


class VersionBuilt(Struct, frozen=True, kw_only=True):
    """A work package of a block, in the context of now."""

    slot: int
    order: int
    block: bytes
    """The hash of the block that it carries: the one that was sealed."""
    package_hash: bytes
    package: Package
    anchor: BlockRef
    lookup_anchor: BlockRef


class VersionNotBuilt(Struct, frozen=True):
    slot: int
    order: int
    reason: str
    final: bool = False
    """No version can be made of this payload."""


class VersionsMade(Struct, frozen=True):
    """Answers to BuildVersion, one or more."""

    now_ms: int
    made: tuple[VersionBuilt | VersionNotBuilt, ...]


class Submitted(Struct, frozen=True):
    slot: int
    version: int
    serial: int
    submission: Submission


class PackagesSubmitted(Struct, frozen=True):
    """Answers to SubmitPackage, one or more."""

    now_ms: int
    results: tuple[Submitted, ...]


class ChainLooked(Struct, frozen=True):
    now_ms: int
    seen: BlocksSeen
    clock: SlotClock | None


class LookFailed(Struct, frozen=True):
    """A look came back with nothing; it proves nothing."""

    now_ms: int
    reason: str = ""


class BlocksTold(Struct, frozen=True):
    """Callbacks came back: all up to this one, or not all of them."""

    now_ms: int
    last: int
    is_done: bool = True
    reason: str = ""
    ear: str = Ear.USER


class TimerFired(Struct, frozen=True):
    now_ms: int


class CommandTold(Struct, frozen=True):
    now_ms: int
    command: Command


Event: TypeAlias = (
    IntentsOffered | BlockBuilt | BlockNotBuilt | VersionsMade | PackagesSubmitted | ChainLooked
    | LookFailed | BlocksTold | TimerFired | CommandTold
)  # fmt: skip

# Records.


class SlotClaimed(Struct, frozen=True, tag=True, array_like=True, forbid_unknown_fields=True):
    """A block is begun with these transactions."""

    slot: Slot
    members: tuple[Member, ...]
    block_ms: int | None
    """Before then no other is; None: one may be at once."""
    returned: bool = False
    """Some of them had a block before: the first ones. The others are from the backlog."""


class BlockSealed(Struct, frozen=True, tag=True, array_like=True, forbid_unknown_fields=True):
    """It was executed: what it holds never changes."""

    slot: Slot
    members: tuple[Member, ...]
    """All that were given to it; those that are not in it are refused or go back to the pool."""
    payload: bytes
    at_ms: int


class BlockUnmade(Struct, frozen=True, tag=True, array_like=True, forbid_unknown_fields=True):
    """Nothing would be in it: there are no empty blocks. Another may be begun at once."""

    slot: int
    members: tuple[Member, ...]
    at_ms: int


class SlotChanged(Struct, frozen=True, tag=True, array_like=True, forbid_unknown_fields=True):
    slot: Slot
    what: str
    """retried, delayed, popped, unpopped, requeued, won, undecided, reopened, overdue, waits or
    told."""


class SlotNumbered(Struct, frozen=True, tag=True, array_like=True, forbid_unknown_fields=True):
    """The service's record gave a block its number; those behind it stay behind it."""

    slot: int
    number: int


class StatusChanged(Struct, frozen=True, tag=True, array_like=True, forbid_unknown_fields=True):
    """A block is somewhere else than it was told to be."""

    slot: int
    number: int
    version: int
    before: str
    word: str


class VersionSealed(Struct, frozen=True, tag=True, array_like=True, forbid_unknown_fields=True):
    """The bytes are durable, and only now may they be submitted."""

    slot: Slot
    version: Version
    package: bytes
    """Encoded, with all that comes with it."""


class VersionChanged(Struct, frozen=True, tag=True, array_like=True, forbid_unknown_fields=True):
    version: Version
    what: str
    """offered, answered, seen, gone (facts were taken back) or dead."""


class VersionDiscarded(Struct, frozen=True, tag=True, array_like=True, forbid_unknown_fields=True):
    """Nobody ever heard of it, and nobody will."""

    slot: int
    version: int
    reason: str


class Counted(Struct, frozen=True, tag=True, array_like=True, forbid_unknown_fields=True):
    """Something that an operator should know of."""

    what: str
    """duplicate_guarantee, duplicate_accumulate, version_cancelled or overruled."""
    slot: int
    version: int
    winner: int = 0


class BlockDropped(Struct, frozen=True, tag=True, array_like=True, forbid_unknown_fields=True):
    """None of its versions can land: its transactions go back to the pool, and its number to the
    next block."""

    slot: int
    reason: str
    at_ms: int
    is_cause: bool = True
    """It is dropped for itself, and not with the one that it was built on."""


class BlockFinalised(Struct, frozen=True, tag=True, array_like=True, forbid_unknown_fields=True):
    """Its accumulation cannot be taken back."""

    slot: int
    version: int
    at_ms: int
    members: tuple[Member, ...] = ()
    """Its transactions, for the feed: each of them has its final word now."""


class ChainSeen(Struct, frozen=True, tag=True, array_like=True, forbid_unknown_fields=True):
    """Blocks above `kept` are gone, and these are behind it."""

    kept: int | None
    """A height. None: none of the known blocks counts any more."""
    blocks: tuple[BlockRef, ...]
    finalised: BlockRef | None


class LookBegun(Struct, frozen=True, tag=True, array_like=True, forbid_unknown_fields=True):
    pass


class LookEnded(Struct, frozen=True, tag=True, array_like=True, forbid_unknown_fields=True):
    look_ms: int | None
    clock: SlotClock | None = None
    """None: as it was."""
    reason: str = ""
    """Why it came back with nothing."""


class BlockDue(Struct, frozen=True, tag=True, array_like=True, forbid_unknown_fields=True):
    """A block may be begun."""


class WindowAwaited(Struct, frozen=True, tag=True, array_like=True, forbid_unknown_fields=True):
    """Something waits for a window that opens then; None: nothing does."""

    window_ms: int | None


class TellOwed(Struct, frozen=True, tag=True, array_like=True, forbid_unknown_fields=True):
    tell: Tell


class TellsBegun(Struct, frozen=True, tag=True, array_like=True, forbid_unknown_fields=True):
    """All up to this one are being told."""

    last: int
    ear: str = Ear.USER


class TellsDone(Struct, frozen=True, tag=True, array_like=True, forbid_unknown_fields=True):
    last: int
    ear: str = Ear.USER


class TellsDelayed(Struct, frozen=True, tag=True, array_like=True, forbid_unknown_fields=True):
    tell_ms: int
    reason: str = ""
    ear: str = Ear.USER


class IntentDropped(Struct, frozen=True, tag=True, array_like=True, forbid_unknown_fields=True):
    """It is in no block, and never will be."""

    intent: IntentId
    seq: int
    priority: int
    size: int
    status: str
    reason: str
    at_ms: int
    passes: bool = True
    """The cursor passes it; otherwise it is behind the cursor, or waits in the backlog."""


class ModeChanged(Struct, frozen=True, tag=True, array_like=True, forbid_unknown_fields=True):
    mode: str
    reason: str
    by: str
    at_ms: int
    drain_seq: int = 0
    drain_left: int = 0


class CommandRefused(Struct, frozen=True, tag=True, array_like=True, forbid_unknown_fields=True):
    verb: str
    reason: str
    intent: IntentId | None = None


Record: TypeAlias = (
    SlotClaimed | BlockSealed | BlockUnmade | SlotChanged | SlotNumbered | StatusChanged
    | VersionSealed | VersionChanged | VersionDiscarded | Counted | BlockDropped | BlockFinalised
    | ChainSeen | LookBegun | LookEnded | BlockDue | WindowAwaited | TellOwed | TellsBegun
    | TellsDone | TellsDelayed | IntentDropped | ModeChanged | CommandRefused
)  # fmt: skip

# Effects.


class BuildBlock(Struct, frozen=True, kw_only=True):
    """Execute these transactions on the parent's state. Changes nothing but a snapshot that is
    named by its root."""

    slot: int
    order: int
    number: int
    parent: bytes
    """The hash of the block before it; empty: of what the service has."""
    parent_root: bytes
    made_ms: int
    intents: tuple[IntentId, ...]
    payloads: tuple[bytes, ...]
    behind: tuple[bytes, ...] = ()
    """Payloads of the blocks below it that are not final, the lowest first: whoever has the state
    behind the newest final block can make all others from them."""


class BuildVersion(Struct, frozen=True, kw_only=True):
    """Make a work package of a sealed block: from its payload, on the parent's snapshot, in a fresh
    context. Changes nothing anywhere."""

    slot: int
    order: int
    version: int
    number: int
    block: bytes
    digest: bytes
    payload: bytes
    pre_root: bytes
    prerequisites: tuple[bytes, ...]
    anchor_offset: int
    """Blocks below the best one; 1 is the freshest."""
    core: int
    behind: tuple[bytes, ...] = ()
    """Payloads of the blocks below it that are not final, the lowest first."""


class SubmitPackage(Struct, frozen=True, kw_only=True):
    """Offer these bytes: the same ones as often as it is ordered."""

    slot: int
    version: int
    serial: int
    package_hash: bytes
    package: Package
    cores: tuple[int, ...]
    nodes: tuple[str, ...]


class LookAtChain(Struct, frozen=True):
    known: tuple[BlockRef, ...]
    """Oldest first."""
    packages: tuple[Watched, ...]


class TellBuilder(Struct, frozen=True):
    """For each in this order: commit the block's snapshot or give it up. Safe to repeat, for a tell
    keeps its id."""

    tells: tuple[Tell, ...]


class TellBlocks(Struct, frozen=True):
    """For each in this order: call the user back. The builder has heard of them. Safe to repeat."""

    tells: tuple[Tell, ...]


Effect: TypeAlias = (
    BuildBlock | BuildVersion | SubmitPackage | LookAtChain | TellBuilder | TellBlocks
)
