"""Answers of a node as JIP-2 writes them: base64 for bytes, shapes of blocks and statuses."""

from typing import Final

from msgspec import to_builtins

from laneway.devnets.jam.model.values import (
    PackageFailed,
    PackageReady,
    PackageReportable,
    PackageReported,
    RefusedWork,
    ReportedWork,
    Status,
    StepReport,
)
from laneway.wire.jip2 import blob as text
from laneway.wire.rpc_server.methods import Json

STATUS_NAMES: Final = {
    PackageReportable: "Reportable",
    PackageReported: "Reported",
    PackageReady: "Ready",
}
LISTED: Final = ("available", "timed_out", "accumulated", "pending", "queued", "finalised")
"""Fields of a step's report that are written as they are."""


def status(found: Status) -> Json:
    if isinstance(found, PackageFailed):
        return {"Failed": found.reason}
    return {STATUS_NAMES[type(found)]: to_builtins(found)}


def step(done: StepReport, parent: bytes | None) -> Json:
    """The report of a timeslot; without a block it has neither hash nor parent."""
    return {
        "header_hash": None if done.made is None else text(done.made.header_hash),
        "slot": done.slot,
        "number": done.number,
        "parent": to_builtins(parent),
        "author": done.author,
        "reported": [work(one) for one in done.reported],
        "refused": [refusal(one) for one in done.refused],
        **{name: [to_builtins(one) for one in getattr(done, name)] for name in LISTED},
        "rivals": [to_builtins(one.made) for one in done.rivals if one.made is not None],
    }


def work(one: ReportedWork) -> Json:
    report_hash = text(one.report_hash)
    return {"package": text(one.package_hash), "core": one.core, "report_hash": report_hash}


def refusal(one: RefusedWork) -> Json:
    return {
        "package": text(one.package_hash),
        "core": one.core,
        "fault": one.fault.value,
        "check": one.check,
        "reason": one.error,
        "dropped": one.is_dropped,
    }
