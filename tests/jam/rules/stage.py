"""Reports, guarantees and assurances of a tiny chain, signed with the keys of its validators."""

from typing import Any

from msgspec.structs import replace
from tests.jam.lookups import of_core

from laneway.jam.dev_keys import dev_keys
from laneway.jam.extrinsic import AvailAssurance, ReportGuarantee, ValidatorSignature, bitfield
from laneway.jam.hashing import blake2b
from laneway.jam.package import RefineContext
from laneway.jam.report import (
    Ok,
    PackageSpec,
    RefineLoad,
    SegmentRootLookupItem,
    WorkReport,
    WorkResult,
)
from laneway.jam.rotation import ValidatorStanding, guarantors_for
from laneway.jam.rules.assuring import assurance_message
from laneway.jam.rules.checks import (
    RecentBlock,
    ReportedPackage,
    ReportingState,
    ServiceTerms,
    guarantee_message,
)
from laneway.jam.spec import TINY

SLOT = 14
"""In the second epoch, in the first rotation of which a guarantee may be of the first epoch."""
VALIDATORS = dev_keys(2 * TINY.validator_count)
ACTIVE = tuple(key.public_key for key in VALIDATORS[: TINY.validator_count])
PREVIOUS = tuple(key.public_key for key in VALIDATORS[TINY.validator_count :])
PARENT = blake2b(b"parent")
SERVICE = 42
CODE = blake2b(b"code")
AUTHORIZER = blake2b(b"authorizer")
OLD_PACKAGE = ReportedPackage(blake2b(b"old package"), blake2b(b"its exports"))
ANCHORS = tuple(
    RecentBlock(
        header_hash=blake2b(b"header %d" % number),
        beefy_root=blake2b(b"beefy %d" % number),
        state_root=blake2b(b"state %d" % number),
        reported=(OLD_PACKAGE,) if number == 3 else (),
    )
    for number in range(8)
)
STANDING = ValidatorStanding(
    entropy=tuple(blake2b(b"entropy %d" % age) for age in range(4)),
    active=ACTIVE,
    previous=PREVIOUS,
)
STATE = ReportingState(
    pending=(None, None),
    standing=STANDING,
    recent=ANCHORS,
    authorizer_pools=((AUTHORIZER,), (AUTHORIZER,)),
    services={SERVICE: ServiceTerms(CODE, 10)},
)
CONTEXT = RefineContext(
    anchor=ANCHORS[-1].header_hash,
    state_root=ANCHORS[-1].state_root,
    beefy_root=ANCHORS[-1].beefy_root,
    lookup_anchor=blake2b(b"lookup anchor"),
    lookup_anchor_slot=SLOT - 8,
)
RESULT = WorkResult(
    service_id=SERVICE,
    code_hash=CODE,
    payload_hash=blake2b(b"payload"),
    accumulate_gas=1000,
    result=Ok(b"output"),
    refine_load=RefineLoad(gas_used=7, imports=1, extrinsic_count=2, extrinsic_size=30, exports=4),
)


def report(name: str = "package", core: int = 0, **fields: Any) -> WorkReport:
    """Of the package with this name; `needs` and `imports` are names of others."""
    needs = tuple(package(one) for one in fields.pop("needs", ()))
    imports = tuple(fields.pop("imports", ()))
    made = WorkReport(
        package_spec=PackageSpec(
            hash=package(name),
            length=1000,
            erasure_root=blake2b(b"erasure root"),
            exports_root=exports(name),
            exports_count=4,
        ),
        context=replace(CONTEXT, prerequisites=needs),
        core_index=core,
        authorizer_hash=AUTHORIZER,
        segment_root_lookup=tuple(
            SegmentRootLookupItem(package(one), exports(one)) for one in imports
        ),
        results=(RESULT,),
    )
    return replace(made, **fields)


def package(name: str) -> bytes:
    return blake2b(name.encode())


def exports(name: str) -> bytes:
    return blake2b(b"exports of " + name.encode())


def guarantee(
    made: WorkReport, slot: int = SLOT, signers: tuple[int, ...] | None = None, block: int = SLOT
) -> ReportGuarantee:
    """Signed by the validators in these places, or by all that are assigned to the core."""
    assigned = guarantors_for(STANDING, block, slot, TINY)
    places = of_core(assigned, made.core_index) if signers is None else signers
    return ReportGuarantee(
        report=made,
        slot=slot,
        signatures=tuple(
            ValidatorSignature(place, signed(assigned.keys[place], guarantee_message(made)))
            for place in places
        ),
    )


def signed(public_key: bytes, message: bytes) -> bytes:
    return next(key for key in VALIDATORS if key.public_key == public_key).sign(message)


def assurance(place: int, *cores: int, parent: bytes = PARENT) -> AvailAssurance:
    bits = bitfield(cores, TINY)
    return AvailAssurance(
        anchor=parent,
        bitfield=bits,
        validator_index=place,
        signature=VALIDATORS[place].sign(assurance_message(parent, bits)),
    )
