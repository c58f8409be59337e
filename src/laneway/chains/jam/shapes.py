"""What JAM nodes answer, as they write it, and how it is read: leniently where real nodes differ.

The first generation of JIP-2 gives arrays where the one of today gives objects, and both are read.
"""

from collections.abc import Callable
from typing import Any, TypeVar

from msgspec import DecodeError, Raw, json

from laneway.chains.endpoint import result_of
from laneway.chains.jam.limits import SLOT_S_MAX
from laneway.chains.jam.parameters import PARAMETERS
from laneway.core.errors import ChainUnreadable
from laneway.core.jam import (
    Failed,
    JamBlockRef,
    PackageFact,
    PackageKind,
    Ready,
    Reportable,
    Reported,
    SyncState,
)
from laneway.core.limits import REASON_CHARS_MAX
from laneway.wire.jip2 import read_blob, read_hash, read_number
from laneway.wire.jsonrpc import RpcAnswer
from laneway.wire.limits import NUMBER_MAX
from laneway.wire.numbers import read_whole

T = TypeVar("T")

Judge = Callable[[str], PackageKind]
"""The kind of a failure, from its message."""


def read_as(node: str, answer: RpcAnswer, reader: Callable[[Any], T]) -> T:
    """A result in its shape; ChainUnreadable for the node's refusal and for anything else."""
    return read_raw(node, result_of(node, answer), reader)


def read_raw(node: str, raw: Raw, reader: Callable[[Any], T]) -> T:
    try:
        return reader(json.decode(raw))
    except (DecodeError, RecursionError, LookupError, TypeError, ValueError) as error:
        # A TypeError: a field was asked of a value that has none.
        raise ChainUnreadable(node, f"{bytes(raw)[:100]!r} ({error})") from error


def read_descriptor(value: Any) -> JamBlockRef:
    if isinstance(value, dict):
        value = [value["header_hash"], value["slot"]]
    if not isinstance(value, list) or len(value) != 2:
        raise ValueError("no block")
    return JamBlockRef(read_hash(value[0]), read_number(value[1]))


def read_optional_blob(value: Any) -> bytes | None:
    return None if value is None else read_blob(value)


def read_blobs(value: Any) -> tuple[bytes, ...]:
    if not isinstance(value, list):
        raise ValueError("no list")
    return tuple(map(read_blob, value))


def read_numbers(value: Any) -> tuple[int, ...]:
    if not isinstance(value, list):
        raise ValueError("no list")
    return tuple(map(read_number, value))


def read_request(value: Any) -> tuple[int, ...] | None:
    return None if value is None else read_numbers(value)


def read_sizes(value: Any) -> dict[str, int]:
    """The parameters in a node's answer, of those that matter here, by their names."""
    named = value.get("V1", value) if isinstance(value, dict) else None
    if not isinstance(named, dict):
        raise ValueError("no parameters")
    return {name: read_size(name, named[name]) for name in PARAMETERS if name in named}


def read_size(name: str, value: object) -> int:
    """None is zero: a clock is divided by some of them, and no chain stands on the others."""
    return read_whole(value, SLOT_S_MAX if name == "slot_period_sec" else NUMBER_MAX, 1)


def read_status(value: Any, judge: Judge) -> PackageFact:
    """One of the four statuses, with its fields."""
    if not isinstance(value, dict) or len(value) != 1:
        raise ValueError("no status")
    ((name, fields),) = value.items()
    if name == "Reportable":
        return Reportable(read_number(fields["remaining_blocks"]))
    if name == "Failed":
        message = fields if isinstance(fields, str) else json.encode(fields).decode()
        return Failed(judge(message), message[:REASON_CHARS_MAX])
    if name not in ("Reported", "Ready"):
        raise ValueError(f"{name!r} is no status")
    reported_in = read_descriptor(fields["reported_in"])
    core, report_hash = read_number(fields["core"]), read_hash(fields["report_hash"])
    if name == "Reported":
        return Reported(reported_in, core, report_hash)
    return Ready(reported_in, core, report_hash, read_descriptor(fields["ready_in"]))


def read_sync(value: Any) -> SyncState:
    return SyncState(read_number(value["num_peers"]), value["status"] == "Completed")
