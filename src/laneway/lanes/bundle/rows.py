"""A bundle lane's rows, and what stays of them when a block is final."""

from typing import Final

from msgspec import Struct

from laneway.core.ids import IntentId
from laneway.core.jam import JamBlockRef, SlotClock
from laneway.core.rows import START, Cursors
from laneway.lanes.common.values import LaneRow


class BlockState:
    """Where a block is, by the seeds' names. Plain strings: an Enum hashes ten times slower."""

    BUILDING: Final = "building"
    """It is being executed; it has no payload yet."""
    QUEUED: Final = "queued"
    SUBMITTED: Final = "submitted"
    GUARANTEED: Final = "guaranteed"
    ACCUMULATED: Final = "accumulated"
    FINALISED: Final = "finalised"


class FactKind:
    """What a fact says of a package on the fork of its block."""

    REPORTABLE: Final = "reportable"
    REPORTED: Final = "reported"
    READY: Final = "ready"
    FAILED: Final = "failed"
    ACCUMULATED: Final = "accumulated"
    REFUSED: Final = "refused"
    """The service was given it, and it had no effect."""
    DEAD: Final = "dead"
    """It can have no effect any more; drawn from the other facts."""


SAME_BLOCK_APPLIED: Final = "SAME_BLOCK_APPLIED"
"""Why a service refuses a package: its block has had its effect already."""
SAME_BLOCK_HELD: Final = "SAME_BLOCK_HELD"
"""Why a service refuses a package: its block waits there already for the one before it."""
NOT_AUTHORISED: Final = "NOT_AUTHORISED"
"""Why a service refuses a package: its authorizer is none of those that may move the line."""

STAGES: Final = (FactKind.REPORTABLE, FactKind.REPORTED, FactKind.READY, FactKind.FAILED)
"""Of these the newest says where a package is."""


class Ear:
    """Who is notified of what became of blocks."""

    BUILDER: Final = "builder"
    """First, for its snapshots follow; it waits for nobody."""
    USER: Final = "user"
    """Of what the builder was notified of."""


class ExecutionVerdict:
    """What became of a transaction when its block was executed."""

    INCLUDED: Final = "included"
    REVERTED: Final = "reverted"
    """It is in the block, and failed."""
    REFUSED: Final = "refused"
    """It can be in no block, whatever the state."""
    DEFERRED: Final = "deferred"
    """Something has to come before it. It goes back to the pool, though not for ever."""
    FULL: Final = "full"
    """The block was full without it; it goes back to the pool."""
    EXPIRED: Final = "expired"
    """Its time was over when its block was begun, and no final block has it."""
    APPLIED: Final = "applied"
    """It is in a final block already, which this lane does not know it by: that block's receipt is
    its answer."""


class Fact(LaneRow, frozen=True):
    """Something seen of a package, with the block whose state shows it."""

    kind: str
    block: JamBlockRef
    height: int
    """Of the block in which it came to be so, as this lane counts the blocks of a fork."""
    number: int | None = None
    """ACCUMULATED: the rollup block, by the service's own record. REPORTABLE: the height of the
    block from which on it cannot be reported. REPORTED: the slot in which it was."""
    words: str = ""
    """ACCUMULATED: why it is known though this package was refused; else a reason."""
    is_hopeless: bool = False
    """No version of the block can land."""
    by_prerequisite: bool = False
    """DEAD, because the package it names is."""


class Answered(LaneRow, frozen=True):
    """What a node said to a submission."""

    node: str
    core: int | None
    kind: str
    outcome: str
    final: bool
    words: str = ""


class Version(LaneRow, frozen=True):
    """One work package of a block. Its bytes are durable before any node is offered it."""

    slot: int
    version: int
    package_hash: bytes
    anchor: JamBlockRef
    lookup_anchor: JamBlockRef
    core: int
    prerequisites: tuple[bytes, ...]
    built_ms: int
    size: int
    born: int = 0
    """A height that its anchor is not below, as far as was known when it was built."""
    nodes: tuple[str, ...] = ()
    """Who may have been offered it; empty: nobody."""
    serial: int = 0
    """Of the last submission: the answer to an older one comes too late."""
    sends: int = 0
    """Submissions on this fork."""
    first_ms: int | None = None
    last_ms: int | None = None
    offering: bool = False
    """A submission is under way."""
    is_held: bool = False
    """Some node took it, or may have."""
    is_refused: bool = False
    """Each node refused it for good, and none ever took it: nobody has it."""
    is_hopeless: bool = False
    """And what it carries is at fault."""
    answers: tuple[Answered, ...] = ()
    facts: tuple[Fact, ...] = ()

    def fact(self, kind: str) -> Fact | None:
        for fact in self.facts:
            if fact.kind == kind:
                return fact
        return None

    def is_sent(self) -> bool:
        """Whether a node may know of it."""
        return self.first_ms is not None

    def is_dead(self) -> bool:
        return self.is_refused or self.fact(FactKind.DEAD) is not None

    def is_reported(self) -> bool:
        """Whether it is guaranteed on this fork, and that was not in vain."""
        return self.fact(FactKind.REPORTED) is not None and self.fact(FactKind.FAILED) is None

    def is_accumulated(self, keeps_records: bool) -> bool:
        """Whether its block had its effect. A service that keeps records says so; one that does not
        takes whatever it is given."""
        fact = self.fact(FactKind.ACCUMULATED)
        return fact is not None and (fact.number is not None or not keeps_records)

    def brought(self) -> bytes:
        """The package that brought its block; empty: one that this lane does not know."""
        fact = self.fact(FactKind.ACCUMULATED)
        return b"" if fact is not None and fact.words else self.package_hash


class Making(LaneRow, frozen=True):
    """A version that is being built, with all that was fixed when its block was popped."""

    order: int
    version: int
    prerequisites: tuple[bytes, ...]
    core: int
    anchor_offset: int
    at_ms: int


class LinePlace(LaneRow, frozen=True):
    """A block of the service's line, by its record at a final block of the chain."""

    package_hash: bytes
    """The package that brought it; perhaps one that this lane does not know."""
    at: JamBlockRef


class Slot(LaneRow, frozen=True):
    """One rollup block. What it holds never changes once it is sealed; versions come and go."""

    id: int
    number: int
    """Provisional until the service's record is seen."""
    event_id: int
    add_ms: int
    """When it was queued last."""
    made_ms: int
    """Its timestamp, also when it is executed again: when it was begun, or later where that would
    be a dropped one's."""
    order: int
    """Of the execution that is awaited, or was the last."""
    count: int
    size: int
    """Of its transactions."""
    building: bool = True
    retry_ms: int | None = None
    """When the builder is asked again."""
    tries: int = 0
    """How often in a row nothing came of asking the builder that a node could be offered."""
    digest: bytes = b""
    """Of its payload."""
    block: bytes = b""
    """Its hash, which no rebuild changes."""
    parent: bytes = b""
    """Of the block that it was built on; empty: of what the service had then."""
    pre_root: bytes = b""
    post_root: bytes = b""
    queued: bool = False
    """Another version is to be built."""
    version: int = 0
    """The newest one."""
    faults: int = 0
    """Versions that ended by themselves, and not with one that they name."""
    is_hopeless: bool = False
    """The builder can make no version of it."""
    making: Making | None = None
    winner: int = 0
    """The version that may advance; 0: none was guaranteed on this fork."""
    overdue_ms: int | None = None
    """When it is overdue for accumulation, once more."""
    overdue: int = 0
    is_canonical: bool = False
    """The service's record gave its number."""
    word: str = BlockState.BUILDING
    """As it was notified last."""
    told: bool = False
    """Its accumulation was notified."""
    wait_reason: str = ""
    line: LinePlace | None = None
    """It is in the final line; None: that is not known, or follows from its versions alone."""
    helps: int = 0
    """How often in a row the builder said that it needs an operator to build it."""
    starts: int = 0
    """Starts in a row that found it being executed, and no answer of the builder between them."""
    unnamed_slot: int | None = None
    """It is final by a package that this lane does not know: the timeslot of the newest final block
    when that was seen first, and the service's record had not been read."""

    def bundle_id(self) -> str:
        return f"B-{self.id}"


class Deferral(LaneRow, frozen=True, gc=False):
    """A transaction that the builder puts off."""

    since_ms: int
    """When it did so first."""
    tries: int
    """How often it did."""
    again_ms: int
    """When it is tried again, should nothing come that it could be tried with before."""


class LineReceipt(LaneRow, frozen=True, gc=False):
    """Where a transaction was executed, in a block of the final line."""

    number: int
    block: bytes
    index: int
    package_hash: bytes
    is_ok: bool


class Member(LaneRow, frozen=True, gc=False):
    """A transaction of a block."""

    intent: IntentId
    seq: int
    priority: int
    size: int
    hash: bytes = b""
    verdict: str = ""
    reason: str = ""
    deferral: Deferral | None = None
    """It was left out of this block, or of the one before."""
    receipt: LineReceipt | None = None
    """Of one that was executed in a block which is final."""
    is_fault: bool = False
    """It is refused because no block can be built with it."""


class Back(LaneRow, frozen=True, gc=False):
    """A transaction that had a block and is in none. It keeps its order, before the backlog."""

    intent: IntentId
    seq: int
    priority: int
    deferral: Deferral | None = None
    """None: its block was dropped, or was full without it."""
    reason: str = ""
    """Why it is put off."""


KEY_NUMBER_BYTES: Final = 8
"""Of each number in a notification's key."""


class Tell(LaneRow, frozen=True):
    """A notification that is owed: what became of a block."""

    id: int
    """Rises by one. A store that was put back from a copy gives it to another notification."""
    word: str
    """submitted, guaranteed, accumulated, restored (its accumulation was taken back), failed or
    finalised."""
    slot: int
    number: int
    version: int
    package_hash: bytes
    block: bytes
    post_root: bytes
    hashes: tuple[bytes, ...]
    """Of its transactions."""
    at_ms: int
    reason: str = ""

    def key(self) -> bytes:
        """What a receiver tells this notification from all others by, also after the store was put
        back from a copy. How a block ended has one key for ever; whatever may be taken back has
        another one each time that it became so."""
        name = self.block + self.word.encode()
        if self.word in ("failed", BlockState.FINALISED):
            return name
        numbers = (self.version, self.id, self.at_ms)
        return name + b"".join([one.to_bytes(KEY_NUMBER_BYTES, "big") for one in numbers])


class Tip(LaneRow, frozen=True):
    """The block that the next one is built on; without a hash it is what the service has."""

    number: int
    block: bytes = b""
    root: bytes = b""


class Finished(LaneRow, frozen=True, gc=False):
    """A block that is final, as it is kept for a while."""

    slot: int
    number: int
    version: int
    package_hash: bytes
    """Empty: the block came by a package that this lane does not know, nor its record."""
    block: bytes
    post_root: bytes
    accumulated: JamBlockRef
    count: int
    begun_ms: int
    finished_ms: int
    serial: int = 0
    """Which it was among all that ever became final."""


class History(LaneRow, frozen=True):
    """Where a transaction is, kept in its result."""

    finished: Finished
    index: int
    """Its place in the block."""


class BundleHead(Struct, array_like=True, forbid_unknown_fields=True):
    """The lane's own head, changed in place by `evolve` alone."""

    cursors: Cursors = START
    settled_count: int = 0
    settled_bytes: int = 0
    slot_next: int = 1
    number_next: int = 1
    """Where to look for the next block's number: the first at or above it that no block has."""
    event_next: int = 1
    order_next: int = 1
    tell_next: int = 1
    mode: str = "running"
    reason: str = ""
    by: str = ""
    mode_ms: int = 0
    drain_seq: int = 0
    """While it drains: intents after this place of the backlog stay there."""
    drain_left: int = 0
    dropped_seq: int = 0
    block_ms: int | None = None
    """Before then no block is begun; None: one may be begun now."""
    looking: bool = False
    look_ms: int | None = None
    window_ms: int | None = None
    """When the next window opens that something waits for."""
    telling: int = 0
    """The user's callbacks up to this one are being made; 0: none is."""
    tell_ms: int | None = None
    """When those that failed are made again."""
    clock: SlotClock | None = None
    height: int = 0
    """Of the best block, as this lane counts."""
    best: JamBlockRef | None = None
    finalised: JamBlockRef | None = None
    tip: Tip = Tip(0)
    """The newest block that is final."""
    duplicate_guarantees: int = 0
    duplicate_accumulates: int = 0
    versions_cancelled: int = 0
    overruled: int = 0
    """How often the service took another version than the one that was guaranteed first."""
    drops: int = 0
    """Blocks dropped since one was accumulated."""
    drops_total: int = 0
    finished_count: int = 0
    finished_ms: int = 0
    open_count: int = 0
    """Blocks that are not final."""
    queued_count: int = 0
    returned_count: int = 0
    waits: str = ""
    """Why the first block that waits does."""
    heard: int = 0
    """The builder was notified of all up to this one."""
    hearing: int = 0
    """It is being notified of all up to this one; 0: of none."""
    hear_ms: int | None = None
    hear_tries: int = 0
    """How often in a row the builder could not be notified."""
    tell_tries: int = 0
    """And the user's callbacks failed."""
    tell_reason: str = ""
    """Why callbacks fail; empty: none does."""
    look_reason: str = ""
    """Why the last look at the chain came back with nothing; empty: it did not."""
    made_ms_min: int = 0
    """The next block's timestamp is not below this: it would have a dropped one's hash."""
    foreign_count: int = 0
    """Blocks of the service's line that others brought."""
    build_tries: int = 0
    """How often in a row the builder could not build one of the blocks that wait."""
    faults: int = 0
    """Transactions that were taken out one after the other because no block can be built with
    them, since one was built."""
    foreign_first: int = 0
    """The lowest block that others brought, or a time that the store forgot; 0: none is known."""
    foreign_ms: int = 0
    """When the lane saw that the newest of these blocks are there."""
    overtaken: int = 0
    """How often in a row others' blocks became final while transactions waited here."""
    look_tries: int = 0
    """How often in a row a look at the chain came back with nothing."""
    line_block: bytes = b""
    """The hash of the newest block that others brought."""
    owed_count: int = 0
    """Callbacks that were not received yet."""
    txs_max: int = 0
    """A block has no more transactions, until a package was made of one that is no larger: none
    could be made of a larger one. 0: as many as the settings allow."""
    unpacked: int = 0
    """Transactions that were refused one after the other because no package can be made of a block
    with them, since one was made."""


def seen_final(head: BundleHead) -> Tip:
    """The newest block that a lane saw final, with its hash also where others brought it."""
    return head.tip if head.tip.block else Tip(head.tip.number, head.line_block)
