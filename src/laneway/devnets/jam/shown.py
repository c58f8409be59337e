"""What a node says, as JIP-2 writes it: base64 for bytes, and its shapes of blocks and statuses."""

from typing import Any, TypeAlias, assert_never

from laneway.devnets.jam.values import (
    Descriptor,
    Failed,
    Ready,
    RefusedWork,
    Reportable,
    Reported,
    ReportedWork,
    Status,
    StepReport,
)
from laneway.wire.jip2 import blob as text

Json: TypeAlias = dict[str, Any]


def text_or_null(raw: bytes | None) -> str | None:
    return None if raw is None else text(raw)


def descriptor(block: Descriptor) -> Json:
    return {"header_hash": text(block.header_hash), "slot": block.slot}


def status(found: Status) -> Json:
    match found:
        case Reportable(remaining_blocks=remaining):
            return {"Reportable": {"remaining_blocks": remaining}}
        case Reported():
            return {"Reported": reported(found)}
        case Ready(ready_in=ready_in):
            return {"Ready": {**reported(found), "ready_in": descriptor(ready_in)}}
        case Failed(reason=reason):
            return {"Failed": reason}
        case _:
            assert_never(found)


def reported(found: Reported | Ready) -> Json:
    return {
        "reported_in": descriptor(found.reported_in),
        "core": found.core,
        "report_hash": text(found.report_hash),
    }


def step(done: StepReport, parent: bytes | None) -> Json:
    """What a timeslot came to; without a block it has neither hash nor parent."""
    made = None if done.made is None else done.made.header_hash
    return {
        "header_hash": text_or_null(made),
        "slot": done.slot,
        "number": done.number,
        "parent": text_or_null(parent),
        "author": done.author,
        "reported": [work(one) for one in done.reported],
        "refused": [refusal(one) for one in done.refused],
        "available": [text(one) for one in done.available],
        "timed_out": [text(one) for one in done.timed_out],
        "accumulated": [text(one) for one in done.accumulated],
        "pending": [text_or_null(one) for one in done.pending],
        "queued": [text(one) for one in done.queued],
        "finalised": [descriptor(one) for one in done.finalised],
        "rivals": [descriptor(one.made) for one in done.rivals if one.made is not None],
    }


def work(one: ReportedWork) -> Json:
    return {
        "package": text(one.package_hash),
        "core": one.core,
        "report_hash": text(one.report_hash),
    }


def refusal(one: RefusedWork) -> Json:
    return {
        "package": text(one.package_hash),
        "core": one.core,
        "fault": one.fault.value,
        "check": one.check,
        "reason": one.error,
        "dropped": one.is_dropped,
    }
