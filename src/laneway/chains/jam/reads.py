"""What can be read of a named block, or of what has a hash: the same on every node that has it. A
node's answer is passed on as it is; a caller who needs proof checks it against a root."""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from laneway.chains.jam.limits import SEGMENTS_PER_CALL_MAX
from laneway.chains.jam.node import JamNode
from laneway.chains.jam.shapes import (
    read_blobs,
    read_numbers,
    read_optional_blob,
    read_request,
    read_sync,
)
from laneway.chains.nodes import NodeSet
from laneway.core.jam import SyncState
from laneway.wire.jip2 import read_blob, read_hash

T = TypeVar("T")


class Reads:
    def __init__(self, nodes: NodeSet[JamNode]) -> None:
        self._nodes = nodes

    async def _read(self, reader: Callable[[Any], T], method: str, *parameters: object) -> T:
        return await self._nodes.read(
            lambda node: node.read(reader, method, *parameters), at_head=False
        )

    async def state_root(self, at: bytes) -> bytes:
        return await self._read(read_hash, "stateRoot", at)

    async def beefy_root(self, at: bytes) -> bytes:
        return await self._read(read_hash, "beefyRoot", at)

    async def statistics(self, at: bytes) -> bytes:
        return await self._read(read_blob, "statistics", at)

    async def services(self, at: bytes) -> tuple[int, ...]:
        return await self._read(read_numbers, "listServices", at)

    async def service_account(self, at: bytes, service: int) -> bytes | None:
        return await self._read(read_optional_blob, "serviceData", at, service)

    async def service_value(self, at: bytes, service: int, key: bytes) -> bytes | None:
        return await self._read(read_optional_blob, "serviceValue", at, service, key)

    async def service_preimage(self, at: bytes, service: int, digest: bytes) -> bytes | None:
        return await self._read(read_optional_blob, "servicePreimage", at, service, digest)

    async def service_request(
        self, at: bytes, service: int, digest: bytes, length: int
    ) -> tuple[int, ...] | None:
        return await self._read(read_request, "serviceRequest", at, service, digest, length)

    async def work_report(self, report_hash: bytes) -> bytes:
        return await self._read(read_blob, "workReport", report_hash)

    async def segments(self, root: bytes, indices: Sequence[int]) -> tuple[bytes, ...]:
        return await self._segments("fetchSegments", root, indices)

    async def package_segments(
        self, package_hash: bytes, indices: Sequence[int]
    ) -> tuple[bytes, ...]:
        return await self._segments("fetchWorkPackageSegments", package_hash, indices)

    async def _segments(
        self, method: str, name: bytes, indices: Sequence[int]
    ) -> tuple[bytes, ...]:
        found: list[bytes] = []
        for begin in range(0, len(indices), SEGMENTS_PER_CALL_MAX):
            wanted = indices[begin : begin + SEGMENTS_PER_CALL_MAX]

            def read_all(value: Any, count: int = len(wanted)) -> tuple[bytes, ...]:
                segments = read_blobs(value)
                if len(segments) != count:
                    raise ValueError(f"{len(segments)} of {count} segments")
                return segments

            found += await self._read(read_all, method, name, wanted)
        return tuple(found)

    async def sync_state(self) -> SyncState:
        return await self._read(read_sync, "syncState")

    # Drafts, which few nodes have. Objects are passed on as they came.

    async def state_value(self, at: bytes, key: bytes) -> bytes | None:
        return await self._read(read_optional_blob, "stateValue", at, key)

    async def state_proof(
        self,
        at: bytes,
        keys: Sequence[bytes],
        ranges: Sequence[tuple[bytes, bytes]] = (),
        *,
        known: str = "none",
        bytes_max: int,
    ) -> Any:
        return await self._read(as_it_came, "stateProof", at, keys, ranges, known, bytes_max)

    async def accumulation_outputs(self, at: bytes) -> bytes:
        return await self._read(read_blob, "accumulationOutputs", at)

    async def accumulation_output_proof(self, at: bytes, service: int) -> Any:
        return await self._read(as_it_came, "accumulationOutputProof", at, service)

    async def beefy_mmr_proof(self, at: bytes, leaf_index: int) -> Any:
        return await self._read(as_it_came, "beefyMmrProof", at, leaf_index)

    async def beefy_commitments(self, at: bytes) -> Any:
        return await self._read(as_it_came, "beefyCommitments", at)

    async def beefy_justification(self, at: bytes) -> Any:
        return await self._read(as_it_came, "beefyJustification", at)


def as_it_came(value: Any) -> Any:
    return value
