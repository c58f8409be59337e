"""JAM objects of any size from a seeded source, syntactically right and otherwise meaningless."""

from collections.abc import Callable
from random import Random
from typing import TypeVar

from laneway.jam.bundle import WorkBundle
from laneway.jam.extrinsic import (
    AvailAssurance,
    Culprit,
    DisputeFault,
    Disputes,
    DisputeVerdict,
    Extrinsic,
    Judgement,
    Preimage,
    ReportGuarantee,
    TicketEnvelope,
    ValidatorSignature,
)
from laneway.jam.hashing import blake2b
from laneway.jam.header import Block, EpochMark, EpochMarkValidatorKeys, Header, TicketBody
from laneway.jam.package import (
    ExtrinsicSpec,
    ImportSpec,
    RefineContext,
    RefineContextV080,
    WorkItem,
    WorkPackage,
)
from laneway.jam.report import (
    Ok,
    Outcome,
    PackageSpec,
    RefineLoad,
    SegmentRootLookupItem,
    WorkError,
    WorkReport,
    WorkResult,
)
from laneway.jam.spec import SEGMENT_BYTES, ChainSpec

T = TypeVar("T")


def natural(source: Random, bits: int) -> int:
    """Small and large ones alike, so that every width of an encoding is met."""
    return source.getrandbits(source.randint(0, bits))


def octets(source: Random) -> bytes:
    return source.randbytes(source.choice((0, 1, 5, 31, 32, 127, 128, 300)))


def hash32(source: Random) -> bytes:
    return source.randbytes(32)


def some(source: Random, make: Callable[[Random], T], most: int = 3) -> tuple[T, ...]:
    return tuple(make(source) for _ in range(source.randint(0, most)))


def refine_context(source: Random) -> RefineContext:
    return RefineContext(
        anchor=hash32(source),
        state_root=hash32(source),
        beefy_root=hash32(source),
        lookup_anchor=hash32(source),
        lookup_anchor_slot=natural(source, 32),
        prerequisites=some(source, hash32),
    )


def refine_context_v080(source: Random) -> RefineContextV080:
    return RefineContextV080(
        anchor=hash32(source),
        anchor_slot=natural(source, 32),
        state_root=hash32(source),
        beefy_root=hash32(source),
        lookup_anchor=hash32(source),
        lookup_anchor_slot=natural(source, 32),
        lookup_anchor_state_root=hash32(source),
        prerequisites=some(source, hash32),
    )


def import_spec(source: Random) -> ImportSpec:
    return ImportSpec(hash32(source), natural(source, 15), source.random() < 0.5)


def extrinsic_spec(source: Random) -> ExtrinsicSpec:
    return ExtrinsicSpec(hash32(source), natural(source, 32))


def work_item(source: Random) -> WorkItem:
    return WorkItem(
        service=natural(source, 32),
        code_hash=hash32(source),
        refine_gas_limit=natural(source, 64),
        accumulate_gas_limit=natural(source, 64),
        export_count=natural(source, 16),
        payload=octets(source),
        import_segments=some(source, import_spec),
        extrinsic=some(source, extrinsic_spec),
    )


def work_package(source: Random) -> WorkPackage:
    return WorkPackage(
        auth_code_host=natural(source, 32),
        auth_code_hash=hash32(source),
        context=refine_context(source),
        authorization=octets(source),
        authorizer_config=octets(source),
        items=some(source, work_item),
    )


def work_package_v080(source: Random) -> WorkPackage:
    return WorkPackage(
        auth_code_host=natural(source, 32),
        auth_code_hash=hash32(source),
        context=refine_context_v080(source),
        items=some(source, work_item),
    )


def work_bundle(source: Random) -> WorkBundle:
    """One whose extrinsics are what the package names."""
    blobs: list[bytes] = []

    def item(source: Random) -> WorkItem:
        brought = some(source, octets)
        blobs.extend(brought)
        return WorkItem(
            service=natural(source, 32),
            code_hash=hash32(source),
            refine_gas_limit=natural(source, 20),
            accumulate_gas_limit=natural(source, 20),
            payload=octets(source),
            import_segments=some(source, import_spec, most=1),
            extrinsic=tuple(ExtrinsicSpec(blake2b(blob), len(blob)) for blob in brought),
        )

    package = WorkPackage(
        auth_code_host=natural(source, 32),
        auth_code_hash=hash32(source),
        context=refine_context(source),
        items=(item(source), *some(source, item, most=2)),
    )
    imported = sum(len(one.import_segments) for one in package.items)
    return WorkBundle(
        package=package,
        extrinsics=tuple(blobs),
        import_segments=tuple(source.randbytes(SEGMENT_BYTES) for _ in range(imported)),
        import_proofs=tuple(some(source, hash32) for _ in range(imported)),
    )


def outcome(source: Random) -> Outcome:
    choices: tuple[Outcome, ...] = (Ok(octets(source)), *WorkError)
    return source.choice(choices)


def refine_load(source: Random) -> RefineLoad:
    return RefineLoad(*(natural(source, 64) for _ in range(5)))


def work_result(source: Random) -> WorkResult:
    return WorkResult(
        service_id=natural(source, 32),
        code_hash=hash32(source),
        payload_hash=hash32(source),
        accumulate_gas=natural(source, 64),
        result=outcome(source),
        refine_load=refine_load(source),
    )


def segment_root(source: Random) -> SegmentRootLookupItem:
    return SegmentRootLookupItem(hash32(source), hash32(source))


def work_report(source: Random) -> WorkReport:
    return WorkReport(
        package_spec=PackageSpec(
            hash=hash32(source),
            length=natural(source, 32),
            erasure_root=hash32(source),
            exports_root=hash32(source),
            exports_count=natural(source, 16),
        ),
        context=refine_context(source),
        core_index=natural(source, 16),
        authorizer_hash=hash32(source),
        auth_gas_used=natural(source, 64),
        auth_output=octets(source),
        segment_root_lookup=some(source, segment_root),
        results=some(source, work_result),
    )


def ticket(source: Random) -> TicketEnvelope:
    return TicketEnvelope(natural(source, 8), source.randbytes(784))


def preimage(source: Random) -> Preimage:
    return Preimage(natural(source, 32), octets(source))


def signature(source: Random) -> ValidatorSignature:
    return ValidatorSignature(natural(source, 16), source.randbytes(64))


def guarantee(source: Random) -> ReportGuarantee:
    return ReportGuarantee(
        report=work_report(source), slot=natural(source, 32), signatures=some(source, signature)
    )


def assurance(source: Random, spec: ChainSpec) -> AvailAssurance:
    return AvailAssurance(
        anchor=hash32(source),
        bitfield=source.randbytes(spec.bitfield_bytes),
        validator_index=natural(source, 16),
        signature=source.randbytes(64),
    )


def judgement(source: Random) -> Judgement:
    return Judgement(
        vote=source.random() < 0.5, index=natural(source, 16), signature=source.randbytes(64)
    )


def verdict(source: Random, spec: ChainSpec) -> DisputeVerdict:
    votes = tuple(judgement(source) for _ in range(spec.supermajority))
    return DisputeVerdict(target=hash32(source), age=natural(source, 32), votes=votes)


def culprit(source: Random) -> Culprit:
    return Culprit(target=hash32(source), key=hash32(source), signature=source.randbytes(64))


def fault(source: Random) -> DisputeFault:
    return DisputeFault(
        target=hash32(source),
        vote=source.random() < 0.5,
        key=hash32(source),
        signature=source.randbytes(64),
    )


def disputes(source: Random, spec: ChainSpec) -> Disputes:
    return Disputes(
        verdicts=some(source, lambda source: verdict(source, spec), most=1),
        culprits=some(source, culprit),
        faults=some(source, fault),
    )


def extrinsic(source: Random, spec: ChainSpec) -> Extrinsic:
    return Extrinsic(
        tickets=some(source, ticket),
        preimages=some(source, preimage),
        guarantees=some(source, guarantee, most=2),
        assurances=some(source, lambda source: assurance(source, spec)),
        disputes=disputes(source, spec),
    )


def epoch_mark(source: Random, spec: ChainSpec) -> EpochMark:
    keys = (
        EpochMarkValidatorKeys(hash32(source), hash32(source)) for _ in range(spec.validator_count)
    )
    return EpochMark(entropy=hash32(source), tickets_entropy=hash32(source), validators=tuple(keys))


def tickets_mark(source: Random, spec: ChainSpec) -> tuple[TicketBody, ...]:
    return tuple(TicketBody(hash32(source), natural(source, 8)) for _ in range(spec.epoch_slots))


def header(source: Random, spec: ChainSpec) -> Header:
    return Header(
        parent=hash32(source),
        parent_state_root=hash32(source),
        extrinsic_hash=hash32(source),
        slot=natural(source, 32),
        epoch_mark=epoch_mark(source, spec) if source.random() < 0.3 else None,
        tickets_mark=tickets_mark(source, spec) if source.random() < 0.3 else None,
        author_index=natural(source, 16),
        entropy_source=source.randbytes(96),
        offenders_mark=some(source, hash32),
        seal=source.randbytes(96),
    )


def block(source: Random, spec: ChainSpec) -> Block:
    return Block(header=header(source, spec), extrinsic=extrinsic(source, spec))
