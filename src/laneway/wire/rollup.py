"""The values of the REST API that speak of rollups: their blocks, and the work packages of them.

Hashes, accounts and raw transactions are `0x` and hexadecimal digits. Amounts are decimal strings.
"""

from datetime import datetime
from typing import Annotated, Literal

from msgspec import Meta, Struct

from laneway.core.limits import LANE_ID_CHARS_MAX
from laneway.wire.limits import NUMBER_MAX, RAW_CHARS_MAX

Moment = Annotated[datetime, Meta(tz=True)]
Number = Annotated[int, Meta(ge=0, le=NUMBER_MAX)]
RawText = Annotated[
    str,
    Meta(
        pattern=r"^(0x)?([0-9a-fA-F]{2})+$",
        max_length=RAW_CHARS_MAX,
        description="A signed transaction, in hexadecimal digits.",
    ),
]
BundleState = Literal["building", "queued", "submitted", "guaranteed", "accumulated", "finalised"]
"""Where a block is, in the seeds' words; `building`: it is being executed."""


RollupLaneName = Annotated[
    str,
    Meta(
        max_length=LANE_ID_CHARS_MAX,
        pattern=r"^rollup:[!-.0-~]+$",
        description="`rollup:NAME` or `rollup:SERVICE`.",
    ),
]


class NewRollupTx(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A transaction for a rollup to execute once, signed by its sender."""

    raw: RawText
    valid_until: Moment | None = None
    """Begun in no block after this moment; then its status is `expired`."""


class RollupPayload(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One transaction of the rollup that the lane is named after, signed by its sender."""

    raw: RawText


class NewLaneTx(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The same at the door of all lanes."""

    lane: RollupLaneName
    payload: RollupPayload
    valid_until: Moment | None = None
    """Begun in no block after this moment; then its status is `expired`."""


class JamBlock(Struct, frozen=True):
    """A block of the JAM chain."""

    hash: str
    slot: int


class RollupPicture(Struct, frozen=True, kw_only=True):
    """The queue as seed 001 draws it: number and version of each block, the lowest first."""

    queued: list[str]
    submitted: list[str]
    guaranteed: list[str]
    stale: list[str]
    """Packages that are guaranteed, and will never accumulate or may not advance."""
    accumulated: list[str]
    finalised: list[str]
    """The newest of them, as many as fit."""
    inflight: int
    can_submit: bool
    """Whether something waits, there is room for it in flight, and the lane is not stopped."""


class RollupCounters(Struct, frozen=True, kw_only=True):
    """Since the lane began, in all processes that held it."""

    duplicate_guarantees_rejected: int
    duplicate_accumulates_rejected: int
    non_winning_versions_canceled: int
    overruled: int
    """How often the service took another version than the one that was guaranteed first."""
    foreign_blocks: int = 0
    """Blocks of the rollup that others brought, or this lane before its store was restored."""
    drops: int
    drops_in_a_row: int
    """Since a block was accumulated; the lane halts at `drops_max`."""
    finalised: int
    settled: int
    """Transactions with a final answer."""


class RollupClock(Struct, frozen=True, kw_only=True):
    """The chain's timeslots on the machine of the lane's holder."""

    slot: int
    """The slot of the newest block that was seen."""
    slot_ms: int
    heard_at: Moment
    skew_ms: int | None
    """How far that machine's clock is off; null: the chain has no calendar."""
    skew_ms_max: int
    """With more nothing is built or submitted."""
    is_held_up: bool


class RollupPool(Struct, frozen=True, kw_only=True):
    """Transactions that are not final."""

    pending: int | None
    """In no block. Null: known to the lane's holder."""
    in_blocks: int | None
    returned: int
    """Pending ones that had a block before; they go first."""
    total: int


class Rollup(Struct, frozen=True, kw_only=True):
    """One rollup of this process."""

    name: str
    kind: str
    """What executes its transactions."""
    service: int
    lane: str
    state: str
    """Of its lane: idle, ready, running, halted, paused or draining."""
    reason: str
    by: str
    held: bool
    """Whether this process holds the lane. What only the holder knows is null elsewhere."""
    open: int
    """Blocks that are not final."""
    queued: int
    finalised: int
    """The number of the newest final block; below the first one nothing is final yet."""
    total: int
    """Transactions that are not final."""


class RollupList(Struct, frozen=True):
    items: list[Rollup]


class RollupStatus(Struct, frozen=True, kw_only=True):
    """A rollup's whole state, read in one look."""

    rollup: Rollup
    chain: str | None
    """The hash of the JAM chain's genesis header: signatures are for this chain and service."""
    waits: str
    """Why the first block that is not submitted waits; empty: none does."""
    best: JamBlock | None
    """The newest block of the JAM chain that the lane has seen."""
    final: JamBlock | None
    clock: RollupClock | None
    pool: RollupPool
    counters: RollupCounters
    cores: list[int]
    max_inflight: int
    max_queue_depth: int
    picture: RollupPicture | None
    """Null where another process holds the lane."""
    elsewhere: str
    """What is not known here, and why; empty: everything is."""


class BundleFact(Struct, frozen=True, kw_only=True):
    """Something seen of a package on the best fork."""

    kind: str
    """reportable, reported, ready, failed, accumulated, refused or dead."""
    at: JamBlock
    """The block whose state shows it."""
    number: int | None
    """Of an accumulation: the rollup block, by the service's own record. Of a report: its slot."""
    words: str


class BundleAnswer(Struct, frozen=True, kw_only=True):
    """What a node said to the last submission."""

    node: str
    core: int | None
    kind: str
    outcome: str
    final: bool
    words: str


class BundleVersion(Struct, frozen=True, kw_only=True):
    """One work package of a block. Every submission of it is of the same bytes."""

    version: int
    package: str
    anchor: JamBlock
    lookup_anchor: JamBlock
    core: int
    prerequisites: list[str]
    built_at: Moment
    size: int
    submissions: int
    """On this fork, of `max_submit_retries`."""
    first_submitted_at: Moment | None
    last_submitted_at: Moment | None
    nodes: list[str]
    """Who may have been offered it."""
    wins: bool
    """It is the version that may advance."""
    dead: bool
    """It can have no effect any more on this fork."""
    stale: bool
    """It is guaranteed, and will never accumulate or may not advance."""
    answers: list[BundleAnswer]
    facts: list[BundleFact]


class BundleTx(Struct, frozen=True, kw_only=True):
    """A transaction of a block."""

    tx: str
    """Its id; empty where it came another way, or retention removed it."""
    hash: str | None
    """Null until the block is executed."""
    verdict: str
    """included, or reverted: it is in the block, and failed."""
    reason: str


class Bundle(Struct, frozen=True, kw_only=True):
    """One rollup block: where it is, and why."""

    id: str
    """`B-` and a number: the builder's own name, which no chain ever sees."""
    number: int
    canonical: bool
    """The service's record gave the number; until then it is provisional."""
    state: BundleState
    version: int
    """The one that wins, or else the newest; 0: none was made yet."""
    package: str | None
    block: str | None
    """Its hash, which no rebuild changes."""
    count: int
    """Of its transactions."""
    size: int | None
    """Of their bytes; null of a final block."""
    wait_reason: str
    """Why it is not further: being_built, window_closed, gap_before, parked_by_cap, no_core_free,
    clock_skewed, clock_unknown, paused, not_guaranteed_yet, not_accumulated_yet, not_final_yet, or
    a builder's or the chain's own words."""
    begun_at: Moment
    finalised_at: Moment | None = None
    accumulated_in: JamBlock | None = None


class BundlePage(Struct, frozen=True, kw_only=True):
    items: list[Bundle]
    """Open blocks, the lowest first; then final ones, the newest first."""
    next_cursor: str | None
    elsewhere: str = ""
    """What is not known here, and why; empty: everything is."""


class BundleShown(Struct, frozen=True, kw_only=True):
    """A block with all its versions and transactions."""

    bundle: Bundle
    parent: str | None
    pre_root: str | None
    post_root: str | None
    queued_at: Moment | None
    """When it was queued last."""
    faults: int
    """Versions that ended by themselves, of `max_version_retries`."""
    overdue: int
    """How often its accumulation was overdue."""
    versions: list[BundleVersion]
    """While it is open, the oldest first; of a final block none is kept."""
    transactions: list[BundleTx]
    """Of a final block as far as the builder still has it."""


class RollupReceipt(Struct, frozen=True, kw_only=True):
    """What became of a rollup's transaction, by its hash."""

    hash: str
    tx: str | None
    """Its id here; null: it came another way."""
    status: str
    """The rollup's own name of what became of it."""
    ok: bool
    number: int
    """Of its block."""
    block: str
    index: int
    """Its place in the block."""
    state: str
    """Of its block: built, accumulated or finalised."""
    package: str | None
    """That brought the block; null while it is not accumulated."""


class RollupAccount(Struct, frozen=True, kw_only=True):
    """An account of a rollup, as one block leaves it."""

    account: str
    balance: str
    nonce: int
    """How many of its transactions are in blocks, up to this one."""
    nonce_next: int
    """The one to sign with: also after those that were handed in here. Where `elsewhere` is not
    empty there may be others before it."""
    balance_final: str
    """As the newest final block leaves it."""
    nonce_final: int
    block: int
    """The number of the block."""
    at: Literal["pending", "safe", "finalized"]
    """Which one that is: `pending` the newest that the lane has, `safe` the newest accumulated one
    (setting `latest_is_safe`), `finalized` the newest final."""
    held: bool
    """Whether this process holds the lane."""
    elsewhere: str
    """What is not in it, and why; empty: it has everything."""


class RollupTx(Struct, frozen=True, kw_only=True):
    """What a rollup's lane knows of a transaction beside its status."""

    bundle: str | None = None
    """The block that has it, by the builder's own name; null: it is in the pool."""
    number: int | None = None
    """Of the block; null until it is executed and sealed, for it may leave the transaction out."""
    index: int | None = None
    """Its place in the block, once that is final."""
    state: BundleState | None = None
    """Of the block."""
    verdict: str = ""
    package: str | None = None
    """The work package that counts: the one that wins, or else the newest."""
    package_version: int | None = None
    accumulated_in: JamBlock | None = None
    wait_reason: str = ""
    raw: str = ""
    """What was handed in; gone when retention removed it."""


class RollupLane(Struct, frozen=True, kw_only=True):
    """A rollup's part of its lane."""

    name: str
    kind: str
    service: int
    held: bool
    open: int
    queued: int
    returned: int
    finalised: int
    drops: int
    skew_ms: int | None
