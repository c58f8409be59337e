"""What guarantors and the chain call: a service that refines work items and accumulates results.

Both calls are pure. What an answer depends on is in its arguments, so that any guarantor, auditor
or node that calls again gets the same bytes. A service never sees a socket, a clock or the state of
another service.
"""

from collections.abc import Mapping, MutableMapping
from typing import Protocol

import msgspec

from laneway.jam.package import RefineContext
from laneway.jam.report import Outcome, WorkReport, WorkResult


class RefineInput(msgspec.Struct, frozen=True, kw_only=True):
    """All that refining one work item may look at."""

    service: int
    payload: bytes
    extrinsics: tuple[bytes, ...] = ()
    imports: tuple[bytes, ...] = ()
    """Segments, each of SEGMENT_BYTES."""
    context: RefineContext
    package_hash: bytes
    item_index: int = 0
    gas_limit: int


class RefineOutput(msgspec.Struct, frozen=True, kw_only=True):
    """What a guarantor puts into the work result; a failed item exports nothing."""

    result: Outcome
    exports: tuple[bytes, ...] = ()
    """Segments, each of SEGMENT_BYTES."""
    gas_used: int


class Operand(msgspec.Struct, frozen=True, kw_only=True):
    """One refined work item, as the service sees it at accumulation (Gray Paper 0.7.2, §12.3)."""

    package_hash: bytes
    exports_root: bytes
    authorizer_hash: bytes
    payload_hash: bytes
    gas: int
    """Its limit for accumulation."""
    result: Outcome
    auth_trace: bytes = b""


class StorageView(Protocol):
    """The service's own storage before the accumulation; it cannot be listed."""

    def read(self, key: bytes, /) -> bytes | None: ...


def operand_of(report: WorkReport, result: WorkResult) -> Operand:
    """What one result of a report brings to its service."""
    return Operand(
        package_hash=report.package_spec.hash,
        exports_root=report.package_spec.exports_root,
        authorizer_hash=report.authorizer_hash,
        payload_hash=result.payload_hash,
        gas=result.accumulate_gas,
        result=result.result,
        auth_trace=report.auth_output,
    )


class Accumulation(msgspec.Struct, frozen=True, kw_only=True):
    """What accumulating came to. None as a value takes the key away."""

    writes: tuple[tuple[bytes, bytes | None], ...] = ()
    """Sorted by key, each key once."""
    yield_hash: bytes | None = None
    """What the service commits to in this block (C16)."""
    gas_used: int = 0


class Service(Protocol):
    @property
    def code_hash(self) -> bytes:
        """What a work item names the service's code by."""

    def refine(self, request: RefineInput, /) -> RefineOutput: ...

    def accumulate(
        self, view: StorageView, operands: tuple[Operand, ...], slot: int, /
    ) -> Accumulation: ...


Writes = tuple[tuple[bytes, bytes | None], ...]


class Stored:
    """A mapping, seen as storage."""

    def __init__(self, records: Mapping[bytes, bytes]) -> None:
        self._records = records

    def read(self, key: bytes, /) -> bytes | None:
        return self._records.get(key)


class Overlay:
    """Reads see what was written; what lies below stays as it is."""

    def __init__(self, below: StorageView) -> None:
        self._below = below
        self._written: dict[bytes, bytes | None] = {}

    def read(self, key: bytes, /) -> bytes | None:
        if key in self._written:
            return self._written[key]
        return self._below.read(key)

    def write(self, key: bytes, value: bytes | None) -> None:
        self._written[key] = value

    def writes(self) -> Writes:
        """What changed, by key: a record that is as it was is left out."""
        return tuple(
            (key, value)
            for key, value in sorted(self._written.items(), key=lambda item: item[0])
            if value != self._below.read(key)
        )


def put(records: MutableMapping[bytes, bytes], writes: Writes) -> None:
    """Carry the writes out."""
    for key, value in writes:
        if value is None:
            records.pop(key, None)
        else:
            records[key] = value
