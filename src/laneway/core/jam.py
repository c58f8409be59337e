"""What was seen of a JAM chain, each thing with the block whose state shows it.

A fact is true on the fork of its block and claims nothing of others: "failed" is failed there, and
"ready" is no end. What a lane makes of facts is the lane's; here is only what it may do at all.
"""

from enum import Enum
from typing import TypeAlias

from msgspec import Struct

from laneway.core.outcome import Outcome


class JamBlockRef(Struct, frozen=True, array_like=True):
    """One block of one fork. Slots are skipped, so they order blocks and do not count them."""

    header_hash: bytes
    slot: int


class JamHead(Struct, frozen=True):
    """The chain as one node has it."""

    best: JamBlockRef
    finalised: JamBlockRef | None
    """The newest block that no fork can take back, on the fork of `best`; None: not known."""
    node: str


class Parameters(Struct, frozen=True, kw_only=True):
    """The sizes of a chain, as its nodes report them."""

    slot_ms: int
    recent_block_count: int
    """H: blocks after its anchor in which a package can be reported."""
    lookup_anchor_slots_max: int
    """L: the greatest age of a lookup anchor."""
    epoch_slots: int
    rotation_slots: int
    availability_timeout_slots: int
    """U: after these a report that was not made available is dropped from its core."""
    core_count: int
    validator_count: int
    dependency_count_max: int
    work_item_count_max: int
    extrinsic_count_max: int
    bundle_bytes_max: int
    refine_gas_max: int
    accumulate_gas_max: int


class SlotClock(Struct, frozen=True, kw_only=True):
    """The chain's slots on this machine's clock, reckoned from when blocks arrived."""

    slot_ms: int
    slot: int
    """Of the newest block."""
    heard_ms: int
    """When it first arrived."""
    begin_ms: int
    """When slot 0 began by this machine's clock: no recent block arrived before its slot, and the
    quickest arrived as it began."""
    skew_ms: int | None
    """How much later than by the chain's calendar the quickest block arrived; negative only if this
    machine's clock is slow. None if the calendar is unknown, as on a development chain."""

    def slot_at(self, now_ms: int) -> int:
        return (now_ms - self.begin_ms) // self.slot_ms

    def until_next_ms(self, now_ms: int) -> int:
        """How long until the next slot begins."""
        return self.slot_ms - (now_ms - self.begin_ms) % self.slot_ms


class Context(Struct, frozen=True, kw_only=True):
    """What a package can lean on now: all but its prerequisites."""

    anchor: JamBlockRef
    state_root: bytes
    beefy_root: bytes
    lookup_anchor: JamBlockRef
    lookup_state_root: bytes | None
    """Only packages of Gray Paper 0.8.0 hold it. None: the node has forgotten it."""
    head: JamHead


class May(Enum):
    """What may be done after an answer or a fact. When it is done is for the lane to say."""

    WAIT = "wait"
    """Nothing needs to be sent: it is on its way, or done."""
    SAME_BYTES = "same_bytes"
    """The same bytes may be offered again, to any node: the chain takes them once."""
    OTHER_CORE = "other_core"
    """The same bytes may be offered for another core."""
    REBUILD = "rebuild"
    """These bytes are of no use on this fork. Another version may be built once they are dead
    there: two versions can both be accumulated."""
    DROP = "drop"
    """What it carries is at fault, and no version of it can land."""


class PackageKind(Enum):
    """Why a node took a package or did not, or why it failed. What each proves is in the adapter's
    table of error messages."""

    TAKEN = "taken"
    ALREADY_KNOWN = "already_known"
    """It is in the pipeline, or was accumulated."""
    ANCHOR_NOT_RECENT = "anchor_not_recent"
    """Its anchor is none of the last blocks of this fork."""
    ANCHOR_UNKNOWN = "anchor_unknown"
    """The node has no such block; it may lag."""
    LOOKUP_TOO_OLD = "lookup_too_old"
    BAD_CONTEXT = "bad_context"
    """What it says of its anchor or lookup anchor is not so."""
    GUARANTEE_TOO_OLD = "guarantee_too_old"
    """The guarantors who signed it are no longer assigned."""
    UNAVAILABLE = "unavailable"
    """It was reported, and too few validators had it in time."""
    NO_GUARANTOR = "no_guarantor"
    """The node reaches nobody who could guarantee it."""
    WRONG_CORE = "wrong_core"
    CORE_BUSY = "core_busy"
    QUEUE_FULL = "queue_full"
    UNAUTHORIZED = "unauthorized"
    """Its authorizer is not in the core's pool, or its code is not there."""
    DEPENDENCY_MISSING = "dependency_missing"
    """A prerequisite was not reported in the last blocks."""
    TOO_MANY_DEPENDENCIES = "too_many_dependencies"
    BAD_SERVICE = "bad_service"
    """No such service, or its code is another by now."""
    BAD_EXTRINSICS = "bad_extrinsics"
    BAD_SEGMENTS = "bad_segments"
    """Imported segments are missing, or are not what it says."""
    GAS = "gas"
    MALFORMED = "malformed"
    OVERSIZED = "oversized"
    REFINE_FAILED = "refine_failed"
    """Its authorizer refused it, or it cannot be refined at all."""
    NOT_REQUESTED = "not_requested"
    """No service waits for this preimage."""
    UNSUPPORTED = "unsupported"
    """The node does not take packages."""
    RATE_LIMITED = "rate_limited"
    TOO_MANY_SUBSCRIPTIONS = "too_many_subscriptions"
    UNREACHABLE = "unreachable"
    """The node was never asked."""
    SILENT = "silent"
    """It was handed to the network, and no answer came back."""
    UNKNOWN = "unknown"
    """The node's error message is in no table."""


class PackageAnswer(Struct, frozen=True, kw_only=True):
    """What one node's answer proves about one package offered to it for one core."""

    node: str
    core: int | None
    """None: what was offered is for no core, as a preimage."""
    kind: PackageKind
    outcome: Outcome
    final: bool = False
    """A refusal that no later try of the same bytes can change."""
    may: tuple[May, ...] = ()
    words: str = ""


class SubmissionAnswers(Struct, frozen=True):
    """What the answers of all nodes prove together; each is kept with its message."""

    answers: tuple[PackageAnswer, ...]
    final: bool
    """Every node was asked, and each gave a final refusal: nobody can hold the package."""

    def outcome(self) -> Outcome:
        """One node that took it is more than any doubt. Unknown counts as sent, so one doubt is
        more than any number of refusals."""
        for outcome in (Outcome.ACCEPTED, Outcome.UNKNOWN):
            if any(answer.outcome is outcome for answer in self.answers):
                return outcome
        return Outcome.REFUSED

    def taken(self) -> PackageAnswer | None:
        """The first node that took it, and for which core."""
        taken = (one for one in self.answers if one.outcome is Outcome.ACCEPTED)
        return next(taken, None)


class Package(Struct, frozen=True, kw_only=True):
    """A work package as it is submitted: encoding and extrinsics, or a bundle of both with the
    segments that it imports."""

    encoded: bytes = b""
    extrinsics: tuple[bytes, ...] = ()
    bundle: bytes = b""


class Watched(Struct, frozen=True, kw_only=True):
    """A package whose way is followed."""

    package_hash: bytes
    anchor: JamBlockRef
    service: int
    keeps_records: bool = True
    """Whether the service writes down which package brought which block."""


class Reportable(Struct, frozen=True, tag=True):
    """It is not reported, and still can be."""

    remaining_blocks: int
    """In how many blocks after this one."""


class Reported(Struct, frozen=True, tag=True):
    """It was guaranteed, and its availability is awaited."""

    reported_in: JamBlockRef
    core: int | None = None
    report_hash: bytes | None = None
    """Both are None where only the recent history shows it."""


class Ready(Struct, frozen=True, tag=True):
    """It is available, and waits for its prerequisites or was accumulated. If they die it vanishes
    silently: this is no end."""

    reported_in: JamBlockRef
    core: int
    report_hash: bytes
    ready_in: JamBlockRef


class Failed(Struct, frozen=True, tag=True):
    """It cannot be reported any more, or was reported in vain; on this fork."""

    kind: PackageKind
    words: str


class Accumulated(Struct, frozen=True, tag=True):
    """The service received it."""

    number: int | None
    """The rollup block that it brought, by the service's own record. None if the service holds it
    back or keeps no records."""


class ServiceRefused(Struct, frozen=True, tag=True):
    """The service received it, and recorded why it has no effect."""

    reason: str
    number: int


class Finalised(Struct, frozen=True, tag=True):
    """What was seen of it at this block cannot be taken back."""

    finalised: JamBlockRef
    """The final block that made it so: the same or one after it."""


PackageFact: TypeAlias = (
    Reportable | Reported | Ready | Failed | Accumulated | ServiceRefused | Finalised
)


class PackageSeen(Struct, frozen=True):
    """A fact with the block whose state shows it."""

    package_hash: bytes
    block: JamBlockRef
    fact: PackageFact
    may: tuple[May, ...]
    node: str


class JamBlockSeen(Struct, frozen=True):
    """A block, and what its state shows of the packages."""

    block: JamBlockRef
    parent: bytes
    seen: tuple[PackageSeen, ...]
    is_readable: bool = True
    """False if the node has forgotten its state; later blocks show the same facts."""


class LineAsked(Struct, frozen=True):
    """What a look reads of a service's line: the rollup blocks that had their effect, in order."""

    service: int
    numbers: tuple[int, ...]
    """The rollup blocks whose records are read, beside the head of the line."""
    blocks: tuple[bytes, ...] = ()
    """What is expected under these numbers."""
    tip: int = 0
    """The newest block that is known to be in the line."""

    def expects(self, line: "LineSeen") -> bool:
        """Whether a line is as it is known here, or further by the blocks that are expected."""
        known = dict(zip(self.numbers, self.blocks, strict=True)) if self.blocks else {}
        is_own = all(known.get(one.number) == one.block for one in line.blocks)
        return is_own and line.number <= max([self.tip, *known])


class LineBlock(Struct, frozen=True):
    """A rollup block that had its effect, by its service's record."""

    number: int
    block: bytes
    package_hash: bytes
    """The package that brought it."""


class LineSeen(Struct, frozen=True):
    """A service's line as the newest final block of the chain has it: nothing takes it back."""

    at: JamBlockRef
    """That block of the chain."""
    number: int
    """The newest rollup block of the line."""
    blocks: tuple[LineBlock, ...]
    """Those that were asked for and are in the line."""
    block: bytes = b""
    """The hash of the newest one."""


class JamBlocksSeen(Struct, frozen=True):
    """The chain after the newest known block that still belongs to it."""

    after: JamBlockRef | None
    """The newest of the known blocks on this fork. None if there is none, or too far back: the
    state of a block shows all that came before."""
    gone: tuple[JamBlockRef, ...]
    """Known blocks that are not on this fork."""
    blocks: tuple[JamBlockSeen, ...]
    """Consecutive, the first one a child of `after`; the newest block alone when that is None."""
    head: JamHead
    is_whole: bool
    """Whether the last of `blocks` is the best one; else there are more, and one asks again."""
    line: LineSeen | None = None
    """None if it was not asked for, or the chain has no final block with such a service."""


class BlocksGone(Struct, frozen=True):
    """Reported blocks that are no longer on the best fork, oldest first. Facts of them are void."""

    blocks: tuple[JamBlockRef, ...]
    best: JamBlockRef


class SyncState(Struct, frozen=True):
    peers_count: int
    is_complete: bool
