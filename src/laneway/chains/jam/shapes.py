"""What JAM nodes answer, as they write it, and how it is read: leniently where real nodes differ.

The first generation of JIP-2 gives arrays where the one of today gives objects, and both are read.
"""

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from msgspec import DecodeError, Raw, json

from laneway.chains.endpoint import result_of
from laneway.chains.jam.limits import SLOT_S_MAX
from laneway.core.errors import ChainUnreadable
from laneway.core.jam import (
    BlockRef,
    Failed,
    PackageFact,
    PackageKind,
    Parameters,
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
"""Of which kind the words of a failure are."""

CANONICAL: Mapping[str, int] = {
    "slot_period_sec": 6,
    "recent_block_count": 8,
    "max_lookup_anchor_age": 14_400,
    "epoch_period": 600,
    "rotation_period": 10,
    "availability_timeout": 5,
    "core_count": 341,
    "val_count": 1_023,
    "max_dependencies": 8,
    "max_work_items": 16,
    "max_extrinsics": 128,
    "max_input": 13_791_360,
    "max_refine_gas": 5_000_000_000,
    "max_accumulate_gas": 10_000_000,
}
"""What JIP-2 says that a parameter is when a node does not tell it (Gray Paper 0.7.2)."""


def read_as(node: str, answer: RpcAnswer, reader: Callable[[Any], T]) -> T:
    """A result in its shape; ChainUnreadable for the node's no and for anything else."""
    return read_raw(node, result_of(node, answer), reader)


def read_raw(node: str, raw: Raw, reader: Callable[[Any], T]) -> T:
    try:
        return reader(json.decode(raw))
    except (DecodeError, RecursionError, LookupError, TypeError, ValueError) as error:
        # A TypeError: a field was asked of a value that has none.
        raise ChainUnreadable(node, f"{bytes(raw)[:100]!r} ({error})") from error


def read_descriptor(value: Any) -> BlockRef:
    if isinstance(value, dict):
        value = [value["header_hash"], value["slot"]]
    if not isinstance(value, list) or len(value) != 2:
        raise ValueError("no block")
    return BlockRef(read_hash(value[0]), read_number(value[1]))


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
    """The parameters that a node tells, of those that matter here, by their names."""
    told = value.get("V1", value) if isinstance(value, dict) else None
    if not isinstance(told, dict):
        raise ValueError("no parameters")
    return {name: read_size(name, told[name]) for name in CANONICAL if name in told}


def read_size(name: str, value: object) -> int:
    """None is zero: a clock is divided by some of them, and no chain stands on the others."""
    return read_whole(value, SLOT_S_MAX if name == "slot_period_sec" else NUMBER_MAX, 1)


def parameters_of(sizes: Mapping[str, int]) -> Parameters:
    found = {**CANONICAL, **sizes}
    return Parameters(
        slot_ms=found["slot_period_sec"] * 1000,
        recent_block_count=found["recent_block_count"],
        lookup_anchor_slots_max=found["max_lookup_anchor_age"],
        epoch_slots=found["epoch_period"],
        rotation_slots=found["rotation_period"],
        availability_timeout_slots=found["availability_timeout"],
        core_count=found["core_count"],
        validator_count=found["val_count"],
        dependency_count_max=found["max_dependencies"],
        work_item_count_max=found["max_work_items"],
        extrinsic_count_max=found["max_extrinsics"],
        bundle_bytes_max=found["max_input"],
        refine_gas_max=found["max_refine_gas"],
        accumulate_gas_max=found["max_accumulate_gas"],
    )


def read_status(value: Any, judge: Judge) -> PackageFact:
    """One of the four words, with what stands behind it."""
    if not isinstance(value, dict) or len(value) != 1:
        raise ValueError("no status")
    ((word, told),) = value.items()
    if word == "Reportable":
        return Reportable(read_number(told["remaining_blocks"]))
    if word == "Failed":
        words = told if isinstance(told, str) else json.encode(told).decode()
        return Failed(judge(words), words[:REASON_CHARS_MAX])
    if word not in ("Reported", "Ready"):
        raise ValueError(f"{word!r} is no status")
    reported_in = read_descriptor(told["reported_in"])
    core, report_hash = read_number(told["core"]), read_hash(told["report_hash"])
    if word == "Reported":
        return Reported(reported_in, core, report_hash)
    return Ready(reported_in, core, report_hash, read_descriptor(told["ready_in"]))


def read_sync(value: Any) -> SyncState:
    return SyncState(read_number(value["num_peers"]), value["status"] == "Completed")
