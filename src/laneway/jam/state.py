"""The components of a JAM state (Gray Paper 0.7.2, appendix D.1), as values and as bytes.

What stands under the keys of `state_keys` is read and written here, strictly: sets are in ascending
order without doubles, and counts that the chain's sizes give are not in the bytes. How a component
changes from block to block is decided elsewhere.
"""

from collections.abc import Callable
from functools import cache
from itertools import pairwise
from typing import Any, Final, TypeAlias, TypeVar, assert_never

from msgspec import Struct

from laneway.jam.codec import (
    HASH,
    U8,
    U32,
    ByteReader,
    Codec,
    Exactly,
    Hash,
    Many,
    Mapped,
    Maybe,
    Octets,
    Record,
    Uint32,
    Uint64,
    record,
)
from laneway.jam.errors import Unencodable
from laneway.jam.header import TICKET_BODY, TicketBody
from laneway.jam.limits import PEAK_COUNT_MAX, REQUEST_SLOT_COUNT_MAX
from laneway.jam.mmr import Mmr
from laneway.jam.report import WORK_REPORT
from laneway.jam.rules.activity import CoreActivity, ServiceActivity
from laneway.jam.rules.assuring import PendingReport
from laneway.jam.rules.checks import RecentBlock, ReportedPackage
from laneway.jam.rules.queueing import ReadyRecord
from laneway.jam.spec import AUTHORIZER_POOL_COUNT_MAX, RECENT_BLOCK_COUNT, ChainSpec

T = TypeVar("T")

AUTHORIZER_QUEUE_COUNT: Final = 80
"""Q: authorizers that wait for a place in a core's pool."""
ENTROPY_COUNT: Final = 4
"""The entropy that gathers now, and those of the last three epochs."""
ACCOUNT_VERSION: Final = 0

Hashes: TypeAlias = tuple[bytes, ...]


class RecentHistory(Struct, frozen=True):
    """β, C(3)."""

    blocks: tuple[RecentBlock, ...]
    """The latest ones, oldest first; the newest has no state root until the next block."""
    belt: Mmr
    """The accumulate roots of all blocks, as a mountain range."""


class ValidatorKeys(Struct, frozen=True, kw_only=True):
    bandersnatch: bytes
    ed25519: bytes
    bls: bytes
    metadata: bytes


class TicketSeals(Struct, frozen=True):
    """The tickets by which the blocks of an epoch are sealed."""

    tickets: tuple[TicketBody, ...]


class FallbackSeals(Struct, frozen=True):
    """The keys by which they are sealed when there were too few tickets."""

    keys: Hashes


Seals: TypeAlias = TicketSeals | FallbackSeals


class Safrole(Struct, frozen=True, kw_only=True):
    """γ, C(4)."""

    pending: tuple[ValidatorKeys, ...]
    """Who validates in the next epoch."""
    epoch_root: bytes
    seals: Seals
    tickets: tuple[TicketBody, ...]
    """Those that were entered for the next epoch so far."""


class JudgedReports(Struct, frozen=True, kw_only=True):
    """ψ, C(5): reports by what was judged of them, and the keys of those who judged wrongly."""

    good: Hashes
    bad: Hashes
    wonky: Hashes
    offenders: Hashes


class FreeGas(Struct, frozen=True):
    service_id: Uint32
    gas: Uint64


class Privileges(Struct, frozen=True, kw_only=True):
    """χ, C(12): services that may do what others may not."""

    manager: int
    assigners: tuple[int, ...]
    """Of each core."""
    delegator: int
    registrar: int
    always_accumulate: tuple[FreeGas, ...]
    """Services that are accumulated in every block."""


class ValidatorActivity(Struct, frozen=True):
    blocks: Uint32 = 0
    tickets: Uint32 = 0
    preimages: Uint32 = 0
    preimages_size: Uint32 = 0
    guarantees: Uint32 = 0
    assurances: Uint32 = 0


class ServiceEntry(Struct, frozen=True):
    service_id: Uint32
    activity: ServiceActivity


class Statistics(Struct, frozen=True, kw_only=True):
    """π, C(13)."""

    current: tuple[ValidatorActivity, ...]
    """Of the validators, since the epoch began."""
    previous: tuple[ValidatorActivity, ...]
    cores: tuple[CoreActivity, ...]
    """In this block."""
    services: tuple[ServiceEntry, ...]
    """In this block; only those that did something."""


class AccumulationOutput(Struct, frozen=True):
    """What a service yielded; it can do so more than once in a block."""

    service_id: Uint32
    output: Hash


class ServiceAccount(Struct, frozen=True, kw_only=True):
    """What the chain itself keeps of a service, C(255, s)."""

    version: int = ACCOUNT_VERSION
    code_hash: Hash
    balance: Uint64
    min_item_gas: Uint64
    min_memo_gas: Uint64
    octets: Uint64
    """Bytes that its storage counts for."""
    deposit_offset: Uint64
    items: Uint32
    creation_slot: Uint32
    last_accumulation_slot: Uint32
    parent_service: Uint32


class _Seals(Codec[Seals]):
    """A byte says which kind it is; there is one for each slot of an epoch."""

    def __init__(self, spec: ChainSpec) -> None:
        self.tickets = Exactly(TICKET_BODY, spec.epoch_slots)
        self.keys = Exactly(HASH, spec.epoch_slots)

    def write(self, out: bytearray, value: Seals) -> None:
        match value:
            case TicketSeals(tickets=tickets):
                out.append(0)
                self.tickets.write(out, tickets)
            case FallbackSeals(keys=keys):
                out.append(1)
                self.keys.write(out, keys)
            case _:
                assert_never(value)

    def read(self, reader: ByteReader) -> Seals:
        kind = reader.byte()
        if kind > 1:
            raise reader.trouble(f"{kind} is no kind of seals")
        if kind == 1:
            return FallbackSeals(self.keys.read(reader))
        return TicketSeals(self.tickets.read(reader))


def _ascending(item: Codec[T], rank: Callable[[T], Any]) -> Codec[tuple[T, ...]]:
    """Things after their count, of which each ranks above the one before it."""

    def checked(items: tuple[T, ...]) -> tuple[T, ...]:
        if any(rank(one) >= rank(following) for one, following in pairwise(items)):
            raise Unencodable(problem="the items are not in ascending order")
        return items

    return Mapped(Many(item), checked, checked)


def _known_version(version: int) -> int:
    if version != ACCOUNT_VERSION:
        raise Unencodable(problem=f"{version} is no known version of an account")
    return version


HASH_SET: Final = _ascending(HASH, bytes)
REPORTED_PACKAGE: Final = Record(ReportedPackage, hash=HASH, exports_root=HASH)
RECENT_BLOCK: Final = Record(
    RecentBlock,
    header_hash=HASH,
    beefy_root=HASH,
    state_root=HASH,
    reported=_ascending(REPORTED_PACKAGE, lambda package: package.hash),
)
BELT: Final[Codec[Mmr]] = Many(Maybe(HASH), PEAK_COUNT_MAX)
RECENT_HISTORY: Final = Record(
    RecentHistory, blocks=Many(RECENT_BLOCK, RECENT_BLOCK_COUNT), belt=BELT
)
VALIDATOR_KEYS: Final = Record(
    ValidatorKeys, bandersnatch=HASH, ed25519=HASH, bls=Octets(144), metadata=Octets(128)
)
JUDGED: Final = Record(
    JudgedReports, good=HASH_SET, bad=HASH_SET, wonky=HASH_SET, offenders=HASH_SET
)
ENTROPY: Final = Exactly(HASH, ENTROPY_COUNT)
TIMESLOT: Final = U32
PENDING_REPORT: Final = Record(PendingReport, report=WORK_REPORT, timeout=U32)
READY_RECORD: Final = Record(ReadyRecord, report=WORK_REPORT, dependencies=HASH_SET)
VALIDATOR_ACTIVITY: Final = record(ValidatorActivity)
ACCUMULATION_OUTPUT: Final = record(AccumulationOutput)
OUTPUTS: Final = Many(ACCUMULATION_OUTPUT)
SERVICE_ACCOUNT: Final = record(ServiceAccount, version=Mapped(U8, _known_version, _known_version))
REQUEST: Final = Many(U32, REQUEST_SLOT_COUNT_MAX)
"""The slots at which a requested preimage came, went, and came again."""


class StateCodecs(Struct, frozen=True, kw_only=True):
    """The components whose form depends on the sizes of a chain."""

    authorizer_pools: Codec[tuple[Hashes, ...]]
    """α, C(1): of each core."""
    authorizer_queues: Codec[tuple[Hashes, ...]]
    """φ, C(2): of each core."""
    safrole: Codec[Safrole]
    validators: Codec[tuple[ValidatorKeys, ...]]
    """ι, κ and λ, C(7), C(8) and C(9): who validates after the next epoch, now, and before."""
    pending_reports: Codec[tuple[PendingReport | None, ...]]
    """ρ, C(10): of each core."""
    privileges: Codec[Privileges]
    statistics: Codec[Statistics]
    ready_queue: Codec[tuple[tuple[ReadyRecord, ...], ...]]
    """ω, C(14): of each slot of an epoch."""
    accumulated: Codec[tuple[Hashes, ...]]
    """ξ, C(15): packages, of as many blocks as an epoch has slots, the latest last."""


@cache
def state_codecs(spec: ChainSpec) -> StateCodecs:
    validators = Exactly(VALIDATOR_KEYS, spec.validator_count)
    activity = Exactly(VALIDATOR_ACTIVITY, spec.validator_count)
    return StateCodecs(
        authorizer_pools=Exactly(Many(HASH, AUTHORIZER_POOL_COUNT_MAX), spec.core_count),
        authorizer_queues=Exactly(Exactly(HASH, AUTHORIZER_QUEUE_COUNT), spec.core_count),
        safrole=Record(
            Safrole,
            pending=validators,
            epoch_root=Octets(144),
            seals=_Seals(spec),
            tickets=Many(TICKET_BODY, spec.epoch_slots),
        ),
        validators=validators,
        pending_reports=Exactly(Maybe(PENDING_REPORT), spec.core_count),
        privileges=Record(
            Privileges,
            manager=U32,
            assigners=Exactly(U32, spec.core_count),
            delegator=U32,
            registrar=U32,
            always_accumulate=_ascending(record(FreeGas), lambda free: free.service_id),
        ),
        statistics=Record(
            Statistics,
            current=activity,
            previous=activity,
            cores=Exactly(record(CoreActivity), spec.core_count),
            services=_ascending(record(ServiceEntry), lambda entry: entry.service_id),
        ),
        ready_queue=Exactly(Many(READY_RECORD), spec.epoch_slots),
        accumulated=Exactly(HASH_SET, spec.epoch_slots),
    )
