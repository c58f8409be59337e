"""Laws of what a service is given: each item of a report comes to the service that it is for."""

from laneway.jam.hashing import ZERO_HASH
from laneway.jam.package import RefineContext
from laneway.jam.report import Ok, Outcome, PackageSpec, WorkError, WorkReport, WorkResult
from laneway.jam.rules.queueing import turns
from laneway.jam.service.interface import Operand, Overlay, Stored, put

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
    operands = {turn.service_id: turn.operands for turn in turns([report], {})}
    first, second = operands[7]
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
    assert 9 not in operands


BELOW = {b"kept": b"1", b"changed": b"2", b"gone": b"3"}


def test_what_was_written_is_read_and_what_lies_below_stays() -> None:
    below = dict(BELOW)
    overlay = Overlay(Stored(below))
    overlay.write(b"changed", b"4")
    overlay.write(b"gone", None)
    overlay.write(b"new", b"5")
    read = [overlay.read(key) for key in (b"kept", b"changed", b"gone", b"new", b"never")]
    assert read == [b"1", b"4", None, b"5", None]
    assert below == BELOW


def test_writes_are_sorted_and_leave_out_what_is_as_it_was() -> None:
    overlay = Overlay(Stored(BELOW))
    for key, value in ((b"new", b"5"), (b"kept", b"0"), (b"gone", None), (b"never", None)):
        overlay.write(key, value)
    overlay.write(b"kept", b"1")
    assert overlay.writes() == ((b"gone", None), (b"new", b"5"))


def test_writes_that_are_carried_out_are_what_the_overlay_read() -> None:
    records = dict(BELOW)
    overlay = Overlay(Stored(BELOW))
    overlay.write(b"gone", None)
    overlay.write(b"changed", b"")
    put(records, overlay.writes())
    put(records, ((b"never", None),))
    assert records == {b"kept": b"1", b"changed": b""}
