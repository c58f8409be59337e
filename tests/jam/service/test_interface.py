"""Laws of what a service is given: each item of a report comes to the service that it is for."""

from laneway.jam.hashing import ZERO_HASH
from laneway.jam.package import RefineContext
from laneway.jam.report import Ok, Outcome, PackageSpec, WorkError, WorkReport, WorkResult
from laneway.jam.service.interface import Operand, operands_of

CONTEXT = RefineContext(
    anchor=ZERO_HASH,
    state_root=ZERO_HASH,
    beefy_root=ZERO_HASH,
    lookup_anchor=ZERO_HASH,
    lookup_anchor_slot=0,
)


def test_a_service_gets_its_own_items_with_what_their_report_says() -> None:
    given: list[tuple[int, Outcome]] = [(7, Ok(b"out")), (8, Ok(b"")), (7, WorkError.PANIC)]
    results = [
        WorkResult(
            service_id=service,
            code_hash=ZERO_HASH,
            payload_hash=bytes([place]) * 32,
            accumulate_gas=100 + place,
            result=result,
        )
        for place, (service, result) in enumerate(given)
    ]
    report = WorkReport(
        package_spec=PackageSpec(
            hash=b"\1" * 32,
            length=9,
            erasure_root=ZERO_HASH,
            exports_root=b"\2" * 32,
            exports_count=0,
        ),
        context=CONTEXT,
        core_index=0,
        authorizer_hash=b"\3" * 32,
        auth_output=b"trace",
        results=tuple(results),
    )
    first, second = operands_of(report, 7)
    assert first == Operand(
        package_hash=b"\1" * 32,
        exports_root=b"\2" * 32,
        authorizer_hash=b"\3" * 32,
        payload_hash=bytes(32),
        gas=100,
        result=Ok(b"out"),
        auth_trace=b"trace",
    )
    assert (second.payload_hash, second.gas, second.result) == (b"\2" * 32, 102, WorkError.PANIC)
    assert operands_of(report, 9) == ()
