"""JIP-2, the calls that JAM nodes answer: how values are written, and which parameters each takes.

As merged in March 2026, with the drafts after it, which few nodes have. Hashes and blobs are
padded base64. Reading is as lenient as real nodes demand and no more: what is no hash is refused.
The connection is `rpc_socket`'s, what answers prove is the adapter's.
"""

from base64 import b64decode, b64encode
from collections.abc import Callable, Mapping, Sequence
from typing import Final, TypeAlias

from msgspec import DecodeError, json

from laneway.wire.jsonrpc import RpcCall, RpcError
from laneway.wire.limits import U32_MAX
from laneway.wire.numbers import read_whole

HASH_BYTES: Final = 32
STATE_KEY_BYTES: Final = 31
HEX_HASH_CHARS: Final = 2 + 2 * HASH_BYTES

OTHER: Final = 0
BLOCK_UNAVAILABLE: Final = 1
REPORT_UNAVAILABLE: Final = 2
SEGMENT_UNAVAILABLE: Final = 3
PROOF_UNAVAILABLE: Final = 4
LEAF_NOT_FOUND: Final = 5
COMMITMENTS_UNAVAILABLE: Final = 6
NOT_FINALIZED: Final = 7
"""The codes of errors; those above three are a draft's. The list does not claim to be whole."""


def blob(data: bytes) -> str:
    return b64encode(data).decode()


def read_blob(value: object) -> bytes:
    """ValueError for what is none. Older nodes write bytes as numbers, alone or by their index."""
    if isinstance(value, str):
        try:
            return b64decode(value, validate=True)
        except ValueError as error:
            raise ValueError(f"{value[:100]!r} is not base64: {error}") from error
    if isinstance(value, list):
        return octets_of(value)
    if isinstance(value, dict):
        return octets_of([value.get(str(place)) for place in range(len(value))])
    raise ValueError(f"{value!r} is no blob"[:200])


def octets_of(numbers: Sequence[object]) -> bytes:
    if not all(type(one) is int and 0 <= one < 256 for one in numbers):
        raise ValueError("these are no bytes")
    return bytes(numbers)  # type: ignore[arg-type]


def read_hash(value: object) -> bytes:
    """32 bytes; some nodes write them in hexadecimal, which no base64 of a hash looks like."""
    if isinstance(value, str) and len(value) == HEX_HASH_CHARS and value.startswith("0x"):
        return bytes.fromhex(value[2:])
    data = read_blob(value)
    if len(data) != HASH_BYTES:
        raise ValueError(f"a hash has {HASH_BYTES} bytes, and this has {len(data)}")
    return data


def read_number(value: object) -> int:
    """A slot, a core, a service or a count: 32 bits in JAM's own encoding."""
    return read_whole(value, U32_MAX)


def fixed(size: int) -> Callable[[bytes], str]:
    def written(data: bytes) -> str:
        assert len(data) == size
        return blob(data)

    return written


def each(write: Callable[[bytes], object]) -> Callable[[Sequence[bytes]], object]:
    return lambda items: [write(item) for item in items]


def pairs(ranges: Sequence[tuple[bytes, bytes]]) -> object:
    return [[blob(begin), blob(end)] for begin, end in ranges]


Writer: TypeAlias = Callable[..., object]
"""Writes one parameter as JIP-2 has it."""

HASH: Final[Writer] = fixed(HASH_BYTES)
STATE_KEY: Final[Writer] = fixed(STATE_KEY_BYTES)
STATE_KEYS: Final[Writer] = each(STATE_KEY)
BLOBS: Final[Writer] = each(blob)

SUBSCRIPTIONS: Final[Mapping[str, tuple[Writer, ...]]] = {
    "subscribeBestBlock": (),
    "subscribeFinalizedBlock": (),
    "subscribeStatistics": (bool,),
    "subscribeServiceData": (int, bool),
    "subscribeServiceValue": (int, blob, bool),
    "subscribeServicePreimage": (int, HASH, bool),
    "subscribeServiceRequest": (int, HASH, int, bool),
    "subscribeWorkPackageStatus": (HASH, HASH, bool),
    "subscribeSyncStatus": (),
    "subscribeStateValue": (STATE_KEY, bool),
}
"""Each is left by the method of the same name after "un", with its number. A flag at the end is
true for the final chain and false for the best one."""

CALLS: Final[Mapping[str, tuple[Writer, ...]]] = {
    "parameters": (),
    "bestBlock": (),
    "finalizedBlock": (),
    "parent": (HASH,),
    "stateRoot": (HASH,),
    "beefyRoot": (HASH,),
    "statistics": (HASH,),
    "serviceData": (HASH, int),
    "serviceValue": (HASH, int, blob),
    "servicePreimage": (HASH, int, HASH),
    "serviceRequest": (HASH, int, HASH, int),
    "submitWorkPackage": (int, blob, BLOBS),
    "submitWorkPackageBundle": (int, blob),
    "workPackageStatus": (HASH, HASH, HASH),
    "workReport": (HASH,),
    "submitPreimage": (int, blob),
    "listServices": (HASH,),
    "fetchWorkPackageSegments": (HASH, list),
    "fetchSegments": (HASH, list),
    "syncState": (),
    # Drafts.
    "accumulationOutputs": (HASH,),
    "accumulationOutputProof": (HASH, int),
    "beefyMmrProof": (HASH, int),
    "beefyCommitments": (HASH,),
    "beefyJustification": (HASH,),
    "stateValue": (HASH, STATE_KEY),
    "stateProof": (HASH, STATE_KEYS, pairs, str, int),
}


def call(method: str, *parameters: object) -> RpcCall:
    """A call with its parameters as JIP-2 writes them."""
    writers = CALLS[method] if method in CALLS else SUBSCRIPTIONS[method]
    written = [write(value) for write, value in zip(writers, parameters, strict=True)]
    return RpcCall(method, written)


def leaving(method: str) -> str:
    """The method that ends such a subscription."""
    assert method in SUBSCRIPTIONS
    return f"un{method}"


def hash_in(error: RpcError) -> bytes | None:
    """The block or report that an error is about, where it says so."""
    try:
        return read_hash(json.decode(error.data))
    except (DecodeError, ValueError):
        return None
