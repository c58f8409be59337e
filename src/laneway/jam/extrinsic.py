"""What a block brings in: tickets, preimages, guarantees, assurances, disputes; bytes and hash.

Codecs that depend on the sizes of a chain are functions of its ChainSpec. Order, uniqueness and
signatures are rules of the chain and not of these bytes.
"""

from functools import cache
from typing import Final

import msgspec

from laneway.jam.codec import (
    BLOB,
    FLAG,
    HASH,
    U8,
    U16,
    U32,
    Codec,
    Exactly,
    Many,
    Octets,
    Record,
)
from laneway.jam.hashing import blake2b
from laneway.jam.report import WORK_REPORT, WorkReport, report_hash
from laneway.jam.spec import ChainSpec

SIGNATURE: Final = Octets(64)
"""Of Ed25519."""
VRF_SIGNATURE: Final = Octets(96)
"""Of Bandersnatch."""
RING_SIGNATURE: Final = Octets(784)
"""Of a Bandersnatch ring."""


class TicketEnvelope(msgspec.Struct, frozen=True):
    attempt: int
    signature: bytes


class Preimage(msgspec.Struct, frozen=True):
    requester: int
    blob: bytes


class ValidatorSignature(msgspec.Struct, frozen=True):
    validator_index: int
    signature: bytes


class ReportGuarantee(msgspec.Struct, frozen=True, kw_only=True):
    report: WorkReport
    slot: int
    signatures: tuple[ValidatorSignature, ...]


class AvailAssurance(msgspec.Struct, frozen=True, kw_only=True):
    """A validator's statement of which reports it holds a shard of."""

    anchor: bytes
    bitfield: bytes
    """One bit for each core, the lowest of the first byte first."""
    validator_index: int
    signature: bytes


class Judgement(msgspec.Struct, frozen=True, kw_only=True):
    vote: bool
    index: int
    signature: bytes


class DisputeVerdict(msgspec.Struct, frozen=True, kw_only=True):
    target: bytes
    age: int
    votes: tuple[Judgement, ...]


class Culprit(msgspec.Struct, frozen=True, kw_only=True):
    target: bytes
    key: bytes
    signature: bytes


class DisputeFault(msgspec.Struct, frozen=True, kw_only=True):
    target: bytes
    vote: bool
    key: bytes
    signature: bytes


class Disputes(msgspec.Struct, frozen=True, kw_only=True):
    verdicts: tuple[DisputeVerdict, ...] = ()
    culprits: tuple[Culprit, ...] = ()
    faults: tuple[DisputeFault, ...] = ()


class Extrinsic(msgspec.Struct, frozen=True, kw_only=True):
    tickets: tuple[TicketEnvelope, ...] = ()
    preimages: tuple[Preimage, ...] = ()
    guarantees: tuple[ReportGuarantee, ...] = ()
    assurances: tuple[AvailAssurance, ...] = ()
    disputes: Disputes = Disputes()


def bitfield(cores: tuple[int, ...], spec: ChainSpec) -> bytes:
    """The bits of these cores."""
    bits = 0
    for core in cores:
        assert 0 <= core < spec.core_count
        bits |= 1 << core
    return bits.to_bytes(spec.bitfield_bytes, "little")


TICKET_ENVELOPE: Final = Record(TicketEnvelope, attempt=U8, signature=RING_SIGNATURE)
PREIMAGE: Final = Record(Preimage, requester=U32, blob=BLOB)
VALIDATOR_SIGNATURE: Final = Record(ValidatorSignature, validator_index=U16, signature=SIGNATURE)
REPORT_GUARANTEE: Final = Record(
    ReportGuarantee, report=WORK_REPORT, slot=U32, signatures=Many(VALIDATOR_SIGNATURE)
)
JUDGEMENT: Final = Record(Judgement, vote=FLAG, index=U16, signature=SIGNATURE)
CULPRIT: Final = Record(Culprit, target=HASH, key=HASH, signature=SIGNATURE)
FAULT: Final = Record(DisputeFault, target=HASH, vote=FLAG, key=HASH, signature=SIGNATURE)

TICKETS: Final = Many(TICKET_ENVELOPE)
PREIMAGES: Final = Many(PREIMAGE)
GUARANTEES: Final = Many(REPORT_GUARANTEE)


@cache
def assurance_codec(spec: ChainSpec) -> Codec[AvailAssurance]:
    return Record(
        AvailAssurance,
        anchor=HASH,
        bitfield=Octets(spec.bitfield_bytes),
        validator_index=U16,
        signature=SIGNATURE,
    )


@cache
def assurances_codec(spec: ChainSpec) -> Codec[tuple[AvailAssurance, ...]]:
    return Many(assurance_codec(spec))


@cache
def disputes_codec(spec: ChainSpec) -> Codec[Disputes]:
    """A verdict holds exactly a supermajority of votes, so they are not counted in the bytes."""
    votes = Exactly(JUDGEMENT, spec.supermajority)
    verdict = Record(DisputeVerdict, target=HASH, age=U32, votes=votes)
    return Record(Disputes, verdicts=Many(verdict), culprits=Many(CULPRIT), faults=Many(FAULT))


@cache
def extrinsic_codec(spec: ChainSpec) -> Codec[Extrinsic]:
    return Record(
        Extrinsic,
        tickets=TICKETS,
        preimages=PREIMAGES,
        guarantees=GUARANTEES,
        assurances=assurances_codec(spec),
        disputes=disputes_codec(spec),
    )


class _Pledge(msgspec.Struct, frozen=True):
    """A guarantee with its report's hash in the report's place."""

    report: bytes
    slot: int
    signatures: tuple[ValidatorSignature, ...]


_PLEDGES: Final = Many(Record(_Pledge, report=HASH, slot=U32, signatures=Many(VALIDATOR_SIGNATURE)))


def guarantees_digest(guarantees: tuple[ReportGuarantee, ...]) -> bytes:
    """The guarantees as an extrinsic's hash sees them: each report stands as its hash."""
    return _PLEDGES.encode(
        tuple(_Pledge(report_hash(one.report), one.slot, one.signatures) for one in guarantees)
    )


def extrinsic_parts(extrinsic: Extrinsic, spec: ChainSpec) -> tuple[bytes, ...]:
    """The five hashes that the extrinsic's hash is of, in their order."""
    return (
        blake2b(TICKETS.encode(extrinsic.tickets)),
        blake2b(PREIMAGES.encode(extrinsic.preimages)),
        blake2b(guarantees_digest(extrinsic.guarantees)),
        blake2b(assurances_codec(spec).encode(extrinsic.assurances)),
        blake2b(disputes_codec(spec).encode(extrinsic.disputes)),
    )


def extrinsic_hash(extrinsic: Extrinsic, spec: ChainSpec) -> bytes:
    return blake2b(b"".join(extrinsic_parts(extrinsic, spec)))
