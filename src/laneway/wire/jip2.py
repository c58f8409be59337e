"""JIP-2, the calls that JAM nodes answer: how values are written, and which parameters each takes.

As merged in March 2026, with the drafts behind it, which few nodes have. Hashes and blobs are
padded base64. Reading is as lenient as real nodes demand and no more: what is no hash is refused.
The connection is `rpc_socket`'s, what answers prove is the adapter's.
"""

from base64 import b64decode, b64encode
from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from typing import Final

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
INVALID_PARAMS: Final = -32602
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


class Kind(Enum):
    """What a parameter is."""

    HASH = "hash"
    BLOB = "blob"
    NUMBER = "number"
    FLAG = "flag"
    STATE_KEY = "state key"
    NUMBERS = "numbers"
    BLOBS = "blobs"
    STATE_KEYS = "state keys"
    RANGES = "ranges"
    WORD = "word"


def fixed(size: int) -> Callable[[bytes], str]:
    def written(data: bytes) -> str:
        assert len(data) == size
        return blob(data)

    return written


def each(write: Callable[[bytes], object]) -> Callable[[Sequence[bytes]], object]:
    return lambda items: [write(item) for item in items]


WRITTEN: Final[Mapping[Kind, Callable[..., object]]] = {
    Kind.HASH: fixed(HASH_BYTES),
    Kind.BLOB: blob,
    Kind.NUMBER: int,
    Kind.FLAG: bool,
    Kind.STATE_KEY: fixed(STATE_KEY_BYTES),
    Kind.NUMBERS: list,
    Kind.BLOBS: each(blob),
    Kind.STATE_KEYS: each(fixed(STATE_KEY_BYTES)),
    Kind.RANGES: lambda ranges: [[blob(begin), blob(end)] for begin, end in ranges],
    Kind.WORD: str,
}

SUBSCRIPTIONS: Final[Mapping[str, tuple[Kind, ...]]] = {
    "subscribeBestBlock": (),
    "subscribeFinalizedBlock": (),
    "subscribeStatistics": (Kind.FLAG,),
    "subscribeServiceData": (Kind.NUMBER, Kind.FLAG),
    "subscribeServiceValue": (Kind.NUMBER, Kind.BLOB, Kind.FLAG),
    "subscribeServicePreimage": (Kind.NUMBER, Kind.HASH, Kind.FLAG),
    "subscribeServiceRequest": (Kind.NUMBER, Kind.HASH, Kind.NUMBER, Kind.FLAG),
    "subscribeWorkPackageStatus": (Kind.HASH, Kind.HASH, Kind.FLAG),
    "subscribeSyncStatus": (),
    "subscribeStateValue": (Kind.STATE_KEY, Kind.FLAG),
}
"""Each is left by the method of the same name behind "un", with its number. A flag at the end is
true for the final chain and false for the best one."""

CALLS: Final[Mapping[str, tuple[Kind, ...]]] = {
    "parameters": (),
    "bestBlock": (),
    "finalizedBlock": (),
    "parent": (Kind.HASH,),
    "stateRoot": (Kind.HASH,),
    "beefyRoot": (Kind.HASH,),
    "statistics": (Kind.HASH,),
    "serviceData": (Kind.HASH, Kind.NUMBER),
    "serviceValue": (Kind.HASH, Kind.NUMBER, Kind.BLOB),
    "servicePreimage": (Kind.HASH, Kind.NUMBER, Kind.HASH),
    "serviceRequest": (Kind.HASH, Kind.NUMBER, Kind.HASH, Kind.NUMBER),
    "submitWorkPackage": (Kind.NUMBER, Kind.BLOB, Kind.BLOBS),
    "submitWorkPackageBundle": (Kind.NUMBER, Kind.BLOB),
    "workPackageStatus": (Kind.HASH, Kind.HASH, Kind.HASH),
    "workReport": (Kind.HASH,),
    "submitPreimage": (Kind.NUMBER, Kind.BLOB),
    "listServices": (Kind.HASH,),
    "fetchWorkPackageSegments": (Kind.HASH, Kind.NUMBERS),
    "fetchSegments": (Kind.HASH, Kind.NUMBERS),
    "syncState": (),
    # Drafts.
    "accumulationOutputs": (Kind.HASH,),
    "accumulationOutputProof": (Kind.HASH, Kind.NUMBER),
    "beefyMmrProof": (Kind.HASH, Kind.NUMBER),
    "beefyCommitments": (Kind.HASH,),
    "beefyJustification": (Kind.HASH,),
    "stateValue": (Kind.HASH, Kind.STATE_KEY),
    "stateProof": (Kind.HASH, Kind.STATE_KEYS, Kind.RANGES, Kind.WORD, Kind.NUMBER),
}


def call(method: str, *given: object) -> RpcCall:
    """A call with its parameters as JIP-2 writes them."""
    kinds = CALLS[method] if method in CALLS else SUBSCRIPTIONS[method]
    written = [WRITTEN[kind](value) for kind, value in zip(kinds, given, strict=True)]
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
