"""Blobs for Celestia: namespaces, shares, the commitment by which a blob is paid for, gas and fees.

From the specification of celestia-app (shares, namespaced Merkle tree, commitment rules, ADR-013)
and go-square's formats.
"""

import hashlib
from collections.abc import Sequence
from math import isqrt
from typing import Final

from msgspec import Struct

from laneway.cosmos.errors import InvalidBlob, InvalidNamespace
from laneway.cosmos.messages import BlobProto

NAMESPACE_BYTES: Final = 29
"""A version and 28 bytes of id."""
ID_BYTES: Final = 28
ID_ZEROS: Final = 18
"""Leading zeros of a version 0 id, which leave ten bytes to the user."""
SHARE_BYTES: Final = 512
FIRST_INFO: Final = 1
LENGTH_BYTES: Final = 4
SIGNER_BYTES: Final = 20
SHARE_VERSION_MAX: Final = 1
SUBTREE_THRESHOLD: Final = 64
"""Shares of one row above which a blob is cut into more subtrees (ADR-013)."""
BLOB_BYTES_MAX: Final = (1 << 32) - 1
PRIMARY_RESERVED_MAX: Final = bytes(ID_BYTES) + b"\xff"


class CelestiaBlob(Struct, frozen=True):
    namespace: bytes
    data: bytes
    share_version: int = 0
    signer: bytes = b""
    """Of share version 1: the twenty bytes of the account that pays for it."""


def namespace_of(user_id: bytes) -> bytes:
    """A version 0 namespace of up to ten bytes of the user's own."""
    if len(user_id) > ID_BYTES - ID_ZEROS:
        raise InvalidNamespace(namespace=user_id.hex(), problem="a user's part has up to 10 bytes")
    return checked_namespace(bytes(1) + user_id.rjust(ID_BYTES, b"\0"))


def checked_namespace(namespace: bytes) -> bytes:
    """One that a blob may be in; InvalidNamespace else."""
    if len(namespace) != NAMESPACE_BYTES:
        raise InvalidNamespace(namespace=namespace.hex(), problem="it has not 29 bytes")
    if namespace[0] != 0:
        raise InvalidNamespace(namespace=namespace.hex(), problem="its version is not 0")
    if any(namespace[1 : 1 + ID_ZEROS]):
        raise InvalidNamespace(namespace=namespace.hex(), problem="its id begins with 18 zeros")
    if namespace <= PRIMARY_RESERVED_MAX:
        raise InvalidNamespace(namespace=namespace.hex(), problem="it is reserved")
    return namespace


def check(blob: CelestiaBlob) -> None:
    checked_namespace(blob.namespace)
    if not blob.data:
        raise InvalidBlob(problem="it is empty")
    if len(blob.data) > BLOB_BYTES_MAX:
        raise InvalidBlob(problem="it has more bytes than a length can say")
    if blob.share_version > SHARE_VERSION_MAX:
        raise InvalidBlob(problem=f"its share version {blob.share_version} is unknown")
    wanted = SIGNER_BYTES if blob.share_version else 0
    if len(blob.signer) != wanted:
        raise InvalidBlob(problem=f"its signer has {len(blob.signer)} bytes, and not {wanted}")


def proto(blob: CelestiaBlob) -> BlobProto:
    return BlobProto(
        blob.namespace[1:], blob.data, blob.share_version, blob.namespace[0], blob.signer
    )


def from_proto(message: BlobProto) -> CelestiaBlob:
    if message.namespace_version > 255:
        raise InvalidBlob(problem="its namespace's version has more than a byte")
    namespace = bytes([message.namespace_version]) + message.namespace_id
    return CelestiaBlob(namespace, message.data, message.share_version, message.signer)


def share_count(size: int, share_version: int = 0) -> int:
    """How many shares a blob of `size` bytes takes."""
    head = NAMESPACE_BYTES + FIRST_INFO
    first = SHARE_BYTES - head - LENGTH_BYTES - (SIGNER_BYTES if share_version else 0)
    return 1 + max(0, -(-(size - first) // (SHARE_BYTES - head)))


def shares(blob: CelestiaBlob) -> list[bytes]:
    """The blob cut into shares of 512 bytes, the last filled with zeros."""
    begin = blob.namespace + bytes([blob.share_version << 1 | 1])
    begin += len(blob.data).to_bytes(LENGTH_BYTES, "big") + blob.signer
    capacity = SHARE_BYTES - len(begin)
    found = [(begin + blob.data[:capacity]).ljust(SHARE_BYTES, b"\0")]
    head = blob.namespace + bytes([blob.share_version << 1])
    step = SHARE_BYTES - len(head)
    found += [
        (head + blob.data[at : at + step]).ljust(SHARE_BYTES, b"\0")
        for at in range(capacity, len(blob.data), step)
    ]
    return found


def commitment(blob: CelestiaBlob, threshold: int = SUBTREE_THRESHOLD) -> bytes:
    """What a chain recomputes from the square: the root over the blob's subtrees."""
    leaves = _leaves(blob)
    width = subtree_width(len(leaves), threshold)
    roots: list[bytes] = []
    at = 0
    for size in mountain_sizes(len(leaves), width):
        roots.append(_root(leaves[at : at + size], blob.namespace))
        at += size
    return merkle_root(roots)


def subtree_width(count: int, threshold: int = SUBTREE_THRESHOLD) -> int:
    """Shares of the widest subtree: as few as the threshold allows, and no wider than a row."""
    return min(_power_above(-(-count // threshold)), _power_above(1 + isqrt(count - 1)))


def mountain_sizes(count: int, width: int) -> list[int]:
    """Subtrees from the left: the widest as often as they fit, then ever smaller ones."""
    sizes = [width] * (count // width)
    rest = count % width
    while rest:
        size = 1 << rest.bit_length() - 1
        sizes.append(size)
        rest -= size
    return sizes


def _leaves(blob: CelestiaBlob) -> list[bytes]:
    sha256, namespace = hashlib.sha256, blob.namespace
    prefix = b"\0" + namespace
    return [sha256(prefix + share).digest() for share in shares(blob)]


def _root(hashes: list[bytes], namespace: bytes) -> bytes:
    """Of a subtree whose size is a power of two and whose leaves share one namespace: so do all
    its nodes, and their bounds need not be carried along."""
    sha256 = hashlib.sha256
    bounds = namespace + namespace
    prefix = b"\x01" + bounds
    while len(hashes) > 1:
        hashes = [
            sha256(prefix + left + bounds + right).digest()
            for left, right in zip(hashes[::2], hashes[1::2], strict=True)
        ]
    return bounds + hashes[0]


def merkle_root(leaves: list[bytes]) -> bytes:
    """RFC 6962's tree over SHA-256."""
    if not leaves:
        return hashlib.sha256().digest()
    return _rfc6962([hashlib.sha256(b"\0" + leaf).digest() for leaf in leaves])


def _rfc6962(hashes: list[bytes]) -> bytes:
    if len(hashes) == 1:
        return hashes[0]
    split = 1 << (len(hashes) - 1).bit_length() - 1
    left, right = _rfc6962(hashes[:split]), _rfc6962(hashes[split:])
    return hashlib.sha256(b"\x01" + left + right).digest()


def _power_above(number: int) -> int:
    """The lowest power of two that is not below it."""
    return 1 << max(0, number - 1).bit_length()


MICRO = 1_000_000
"""Prices of gas are in millionths of the chain's smallest coin."""

BLOB_GAS_FIXED = 75_000
BLOB_GAS_PER_BYTE = 8
TX_GAS_PER_BYTE = 10
BLOB_INFO_BYTES = 70
"""celestia-app's formula for a transaction that pays for blobs (facts §1.6)."""


def blob_gas(blobs: Sequence[CelestiaBlob]) -> int:
    """What paying for these blobs uses at most, by celestia-app's own formula."""
    shares = sum(share_count(len(blob.data), blob.share_version) for blob in blobs)
    info = TX_GAS_PER_BYTE * BLOB_INFO_BYTES * len(blobs)
    return shares * SHARE_BYTES * BLOB_GAS_PER_BYTE + info + BLOB_GAS_FIXED


def fee_for(gas: int, price_micro: int) -> int:
    """Rounded up: a node takes nothing below its price."""
    return -(-gas * price_micro // MICRO)
