"""The bundle lane's events and effects; what becomes true stands in `records.py`."""

from typing import TypeAlias

from msgspec import Struct

from laneway.core.ids import IntentId
from laneway.core.jam import (
    JamBlockRef,
    JamBlocksSeen,
    LineAsked,
    Package,
    SlotClock,
    SubmissionAnswers,
    Watched,
)
from laneway.lanes.bundle.rows import Ear, LineReceipt, Tell
from laneway.lanes.common.values import CommandReceived, IntentsOffered, TimerFired

# Events.


class JudgedTransaction(Struct, frozen=True):
    """What became of one transaction when its block was executed."""

    intent: IntentId
    verdict: str
    """One of `ExecutionVerdict`."""
    hash: bytes = b""
    """Of what the rollup calls the transaction."""
    reason: str = ""
    receipt: LineReceipt | None = None
    """APPLIED: where it was executed."""
    place: int | None = None
    """Its place in the block; None: it is not in it, or the block has the order of the request."""


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
    judged: tuple[JudgedTransaction, ...]
    """One for each of its transactions, in their order."""


class BlockNotBuilt(Struct, frozen=True):
    """Nothing is known of its transactions."""

    now_ms: int
    slot: int
    order: int
    reason: str
    final: bool = False
    """No block can be built of all of them."""
    needs_help: bool = False
    """Time alone does not fix it: the reason says what an operator can do."""


class BuildUnanswered(Struct, frozen=True):
    """The process began, and found this order unanswered."""

    now_ms: int
    slot: int
    order: int


class VersionBuilt(Struct, frozen=True, kw_only=True):
    """A work package of a block, in the context of now."""

    slot: int
    order: int
    block: bytes
    """The hash of the block that it carries: the one that was sealed."""
    package_hash: bytes
    package: Package
    anchor: JamBlockRef
    lookup_anchor: JamBlockRef


class VersionNotBuilt(Struct, frozen=True):
    slot: int
    order: int
    reason: str
    final: bool = False
    """No version can be made of this payload."""


VersionAnswer: TypeAlias = VersionBuilt | VersionNotBuilt


class VersionsMade(Struct, frozen=True):
    """Answers to BuildVersion, one or more."""

    now_ms: int
    made: tuple[VersionAnswer, ...]


class Submitted(Struct, frozen=True):
    slot: int
    version: int
    serial: int
    submission: SubmissionAnswers


class PackagesSubmitted(Struct, frozen=True):
    """Answers to SubmitPackage, one or more."""

    now_ms: int
    results: tuple[Submitted, ...]


class ChainLooked(Struct, frozen=True):
    now_ms: int
    seen: JamBlocksSeen
    clock: SlotClock | None


class LookFailed(Struct, frozen=True):
    """A look came back with nothing; it proves nothing."""

    now_ms: int
    reason: str = ""


class HeadChanged(Struct, frozen=True):
    """A node notifies that the chain has another best or final block. It proves nothing: the lane
    looks itself, and sooner than it would have."""

    now_ms: int


class BlocksNotified(Struct, frozen=True):
    """Callbacks came back: all up to this one, or not all of them."""

    now_ms: int
    last: int
    is_done: bool = True
    reason: str = ""
    ear: str = Ear.USER


Event: TypeAlias = (
    IntentsOffered | BlockBuilt | BlockNotBuilt | BuildUnanswered | VersionsMade | PackagesSubmitted
    | ChainLooked | LookFailed | HeadChanged | BlocksNotified | TimerFired | CommandReceived
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
    below: tuple[bytes, ...] = ()
    """Payloads of the blocks below it that are not final, the lowest first: who has the state
    after the newest final block can make all others from them."""
    expired: tuple[IntentId, ...] = ()
    """Those of the intents that are not executed, for their time is over. A final block may have
    executed them all the same, which only the builder knows."""
    known: int = 0
    """The lane itself knows what became of these transactions if they are in blocks up to this
    one; blocks after it may be of others, or of a time that its store forgot."""
    is_found: bool = False
    """A start found it unanswered. It is answered with that, and not carried out: the lane counts
    these starts before it orders it again."""


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
    below: tuple[bytes, ...] = ()
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
    known: tuple[JamBlockRef, ...]
    """Oldest first."""
    packages: tuple[Watched, ...]
    line: LineAsked | None = None


class NotifyBuilder(Struct, frozen=True):
    """For each in this order: commit the block's snapshot or give it up. Safe to repeat, for each
    keeps its id."""

    tells: tuple[Tell, ...]


class NotifyUser(Struct, frozen=True):
    """For each in this order: call the user back. The builder knows of them. Safe to repeat."""

    tells: tuple[Tell, ...]


Effect: TypeAlias = (
    BuildBlock | BuildVersion | SubmitPackage | LookAtChain | NotifyBuilder | NotifyUser
)
