"""The values of the chain model: setups, reports of steps, answers and refusals.

Values alone. Everything is bytes and whole numbers; texts are only where a person reads them.
"""

from collections.abc import Mapping
from enum import Enum
from typing import Final, TypeAlias

from msgspec import Struct

from laneway.jam.package import authorizer_hash
from laneway.jam.rules.checks import ReportFault
from laneway.jam.service.interface import Service
from laneway.jam.spec import TINY, ChainSpec

NULL_AUTHORIZER: Final = bytes.fromhex(
    "f8d86b97d65319a078e5840f1614c296a5254217794dcc910e72ca174e3c2e86"
)
"""The hash of the code of the authorizer that lets everything pass, as on the dev network."""
NULL_AUTHORIZER_HASH: Final = authorizer_hash(NULL_AUTHORIZER, b"")
"""What the pools of the cores list it by."""


class ServiceSetup(Struct, frozen=True, kw_only=True):
    """A service of the genesis state."""

    service: Service
    """The code that refines and accumulates; its hash is the account's code hash."""
    storage: Mapping[bytes, bytes] = {}
    balance: int = 10**18
    min_item_gas: int = 10
    min_memo_gas: int = 10
    preimages: tuple[bytes, ...] = ()
    """Byte strings that the service had before genesis."""
    requests: tuple[tuple[bytes, int], ...] = ()
    """Hashes and lengths of byte strings that it waits for."""


class ModelSetup(Struct, frozen=True, kw_only=True):
    """Everything that a run depends on, besides the calls."""

    spec: ChainSpec = TINY
    services: Mapping[int, ServiceSetup] = {}
    authorizers: Mapping[int, tuple[bytes, ...]] = {}
    """Of a core, by their hashes, in the turn in which they enter its pool. A core that is not
    named takes the null authorizer."""
    nodes: int = 1
    """Nodes that builders speak to; none of them is a validator."""
    finality_lag_blocks: int = 2
    """How many blocks stand on top of one before it is voted for."""
    is_voting: bool = True
    """Whether blocks become final by the validators' votes after every step."""
    signs: bool = True
    """Whether guarantees, assurances and votes are signed and verified. Without it 64 bytes of a
    hash stand for a signature and nothing verifies; for simulations that ask for speed."""
    codes_shards: bool = True
    """Whether bundles and segments are erasure coded. Without it the erasure root is a hash of what
    it should cover, and no shards are served; for simulations that ask for size."""
    validator_pool_count: int = 0
    """Validators that take turns, if more than the chain has places: the set moves along them by
    one with every epoch."""
    seed: bytes = b"laneway"
    genesis_slot: int = 0


class Descriptor(Struct, frozen=True):
    """A block as JIP-2 names it."""

    header_hash: bytes
    slot: int


class ReportedWork(Struct, frozen=True):
    package_hash: bytes
    core: int
    report_hash: bytes


class RefusedWork(Struct, frozen=True, kw_only=True):
    """A package that guarantors hold and that a block did not take."""

    package_hash: bytes
    core: int
    fault: ReportFault
    check: str
    """The check that failed; those of the guarantee's age have their names in `VerifyGuarantee`."""
    error: str
    """The error of the check: ErrG… for those three, else the rule's own name."""
    is_dropped: bool
    """Whether the guarantors gave it up."""


class StepReport(Struct, frozen=True, kw_only=True):
    """The report of one timeslot."""

    slot: int
    author: int | None = None
    """The place of the validator whose turn it was."""
    made: Descriptor | None = None
    """The block of the slot; None when there is none."""
    number: int = 0
    """Its height above the genesis."""
    reported: tuple[ReportedWork, ...] = ()
    refused: tuple[RefusedWork, ...] = ()
    available: tuple[bytes, ...] = ()
    """Packages whose reports became available."""
    timed_out: tuple[bytes, ...] = ()
    accumulated: tuple[bytes, ...] = ()
    pending: tuple[bytes | None, ...] = ()
    """The package that each core waits for, after the block."""
    queued: tuple[bytes, ...] = ()
    """Packages that wait for others before they can be accumulated."""
    finalised: tuple[Descriptor, ...] = ()
    """Blocks that became final, by votes or below one that did; the newest last."""
    rivals: "tuple[StepReport, ...]" = ()
    """Blocks of the same slot on other sides of a partition."""


class RefusalKind(Enum):
    """Why a submission is not taken; a builder may want to do something else."""

    MALFORMED = "malformed"
    """The bytes are no package, or it is one that no guarantor may take."""
    BAD_CORE = "bad_core"
    IMPORTS_UNAVAILABLE = "imports_unavailable"
    UNREACHABLE = "unreachable"
    """No guarantor of the core can be reached from the node."""
    CORE_QUEUE_FULL = "core_queue_full"
    NOT_REQUESTED = "not_requested"
    """No service asked for this preimage."""
    UNAUTHORISED = "unauthorised"
    """The code of its authorizer does not let it pass."""


class SubmissionRefusal(Struct, frozen=True):
    kind: RefusalKind
    message: str


class PackageReportable(Struct, frozen=True):
    remaining_blocks: int


class PackageReported(Struct, frozen=True):
    reported_in: Descriptor
    core: int
    report_hash: bytes


class PackageReady(Struct, frozen=True):
    reported_in: Descriptor
    core: int
    report_hash: bytes
    ready_in: Descriptor


class PackageFailed(Struct, frozen=True):
    """On the fork that was asked about; another fork may see it otherwise."""

    reason: str


Status: TypeAlias = PackageReportable | PackageReported | PackageReady | PackageFailed


class StateProof(Struct, frozen=True):
    """A value, or its absence, and the trie's nodes on the way to it."""

    value: bytes | None
    nodes: tuple[bytes, ...]


class Impossible(Exception):
    """A call that the chain cannot follow, with the reason."""


class NotHeld(Exception):
    """Something that a node does not have; `about` is its hash."""

    what = "something"

    def __init__(self, about: bytes) -> None:
        self.about = about
        super().__init__(f"{self.what} unavailable: 0x{about.hex()}")


class BlockUnavailable(NotHeld):
    what = "block"


class ReportUnavailable(NotHeld):
    what = "work report"


class SegmentUnavailable(NotHeld):
    what = "segment"


class ShardUnavailable(NotHeld):
    what = "shard"
