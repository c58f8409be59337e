"""What can be read of a named block, or of what has a hash: the same on every node that has it.

What has a hash is believed on one node's word, since the caller checks it; what a service holds is
read from another node too, while one is likely to answer. That there is no such value, and bytes
that cannot be what was asked for, may be this node's own trouble: the others are asked, and two
must say so, or the only one (`NodeSet.read`). So None is a proven
absence, AnswerUnconfirmed one that nobody confirms, and ChainUnreadable means that every node was
asked and none has an answer of use.
"""

import asyncio
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, TypeVar

from laneway.chains.jam.agreement import Agreement
from laneway.chains.jam.limits import SEGMENTS_PER_CALL_MAX
from laneway.chains.jam.node import JamNode
from laneway.chains.jam.records import is_record
from laneway.chains.jam.shapes import (
    read_blobs,
    read_numbers,
    read_optional_blob,
    read_request,
    read_sync,
)
from laneway.chains.nodes import NodeSet, unreached_of
from laneway.core.errors import BuildFailed, ChainError, ChainUnreadable
from laneway.core.jam import SyncState
from laneway.jam.errors import InvalidJam
from laneway.jam.hashing import blake2b
from laneway.jam.segments import exports_root
from laneway.jam.state import SERVICE_ACCOUNT
from laneway.wire.jip2 import read_blob, read_hash

T = TypeVar("T")

OF_PACKAGE = "fetchWorkPackageSegments"
PROVEN = ("servicePreimage",)
"""Values that are proven by what they were asked for."""


class Reads:
    def __init__(self, nodes: NodeSet[JamNode], agreement: Agreement) -> None:
        self._nodes = nodes
        self._agreement = agreement

    async def _read(self, reader: Callable[[Any], T], method: str, *parameters: object) -> T:
        return await self._nodes.read(
            lambda node: node.read(reader, method, *parameters),
            at_head=False,
            blame=unreached_of,
        )

    async def _optional(
        self,
        reader: Callable[[Any], T | None],
        fits: Callable[[T], bool],
        method: str,
        *parameters: object,
    ) -> T | None:
        """A value that may be absent; `fits` says whether it can be what was asked for."""

        def is_doubtful(found: T | None) -> bool:
            return found is None or not fits(found)

        async def ask(node: JamNode) -> T | None:
            return await node.read(reader, method, *parameters)

        async def ask_sound(node: JamNode) -> T | None:
            """None of a node that proves nothing."""
            found = await ask(node)
            return None if is_doubtful(found) else found

        async def ask_two(node: JamNode) -> T | None:
            found = await ask(node)
            if found is None or is_doubtful(found) or method in PROVEN:
                return found
            return await self._agreement.seconded(node, f"the answer to {method}", found, ask_sound)

        return await self._nodes.read(
            ask_two,
            at_head=False,
            doubts=is_doubtful,
            blame=unreached_of,
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
        return await self._optional(read_optional_blob, is_account, "serviceData", at, service)

    async def service_value(
        self, at: bytes, service: int, key: bytes, fits: Callable[[bytes], bool] | None = None
    ) -> bytes | None:
        asked = (at, service, key)
        fits = fits or partial(is_record, key)
        return await self._optional(read_optional_blob, fits, "serviceValue", *asked)

    async def service_values(
        self, at: bytes, service: int, key: bytes
    ) -> list[tuple[str, bytes | None]]:
        """What each node that answers says alone, by its address, whether it is true or not."""

        async def ask(node: JamNode) -> tuple[str, bytes | None]:
            found = await node.read(read_optional_blob, "serviceValue", at, service, key)
            return node.standing.now.node, found

        asked = [ask(node) for node in self._nodes.all]
        answers = await asyncio.gather(*asked, return_exceptions=True)
        for answer in answers:
            if isinstance(answer, BaseException) and not isinstance(answer, ChainError):
                raise answer
        return [answer for answer in answers if not isinstance(answer, BaseException)]

    async def service_preimage(self, at: bytes, service: int, digest: bytes) -> bytes | None:
        return await self._optional(
            read_optional_blob,
            lambda preimage: blake2b(preimage) == digest,
            "servicePreimage",
            at,
            service,
            digest,
        )

    async def service_request(
        self, at: bytes, service: int, digest: bytes, length: int
    ) -> tuple[int, ...] | None:
        asked = (at, service, digest, length)
        return await self._optional(read_request, is_any, "serviceRequest", *asked)

    async def work_report(self, report_hash: bytes) -> bytes:
        return await self._read(read_blob, "workReport", report_hash)

    async def segments(self, root: bytes, indices: Sequence[int]) -> tuple[bytes, ...]:
        return await self._segments("fetchSegments", root, indices)

    async def package_segments(
        self, package_hash: bytes, indices: Sequence[int]
    ) -> tuple[bytes, ...]:
        return await self._segments(OF_PACKAGE, package_hash, indices)

    async def exports(
        self, package_hash: bytes, root: bytes, count_of: Callable[[bytes], int]
    ) -> tuple[bytes, ...]:
        async def fetch(node: JamNode) -> tuple[bytes, ...]:
            (first,) = await fetch_segments(node, OF_PACKAGE, package_hash, (0,))
            try:
                rest = range(1, count_of(first))
                found = (first, *await fetch_segments(node, OF_PACKAGE, package_hash, rest))
                is_proven = await asyncio.to_thread(exports_root, found) == root
            except (BuildFailed, InvalidJam) as error:
                raise ChainUnreadable(node.name, str(error)) from error
            if not is_proven:
                problem = "its segments are not those that the package exported"
                raise ChainUnreadable(node.name, problem)
            return found

        return await self._nodes.read(fetch, at_head=False, blame=unreached_of)

    async def _segments(
        self, method: str, name: bytes, indices: Sequence[int]
    ) -> tuple[bytes, ...]:
        return await self._nodes.read(
            lambda node: fetch_segments(node, method, name, indices),
            at_head=False,
            blame=unreached_of,
        )

    async def sync_state(self) -> SyncState:
        return await self._read(read_sync, "syncState")

    # Drafts, which few nodes have. Objects are passed on as they came.

    async def state_value(self, at: bytes, key: bytes) -> bytes | None:
        return await self._optional(read_optional_blob, is_any, "stateValue", at, key)

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


async def fetch_segments(
    node: JamNode, method: str, name: bytes, indices: Sequence[int]
) -> tuple[bytes, ...]:
    """Segments as one node has them, in portions."""
    found: list[bytes] = []
    for begin in range(0, len(indices), SEGMENTS_PER_CALL_MAX):
        wanted = indices[begin : begin + SEGMENTS_PER_CALL_MAX]

        def read_all(value: Any, count: int = len(wanted)) -> tuple[bytes, ...]:
            segments = read_blobs(value)
            if len(segments) != count:
                raise ValueError(f"{len(segments)} of {count} segments")
            return segments

        found += await node.read(read_all, method, name, wanted)
    return tuple(found)


def as_it_came(value: Any) -> Any:
    return value


def is_any(_: object) -> bool:
    return True


def is_account(raw: bytes) -> bool:
    try:
        SERVICE_ACCOUNT.decode(raw, "service")
    except InvalidJam:
        return False
    return True
