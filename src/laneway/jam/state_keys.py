"""The keys of a JAM state (Gray Paper 0.7.2, appendix D.1): 31 bytes each.

A component has its number, a service's own entries its id woven into a hash. A hash is not undone:
of a service's storage only those entries can be found whose names are known.
"""

from typing import Final

from laneway.jam.codec import HASH, U32
from laneway.jam.errors import Unencodable
from laneway.jam.hashing import blake2b

KEY_BYTES: Final = 31
ACCOUNT: Final = 255
STORAGE: Final = (1 << 32) - 1
PREIMAGE: Final = (1 << 32) - 2
"""Marks before a hashed name; a request has the length of what is requested in their place."""


def component_key(number: int) -> bytes:
    """C(i): the key of a component of the state."""
    return bytes([number]).ljust(KEY_BYTES, b"\0")


def account_key(service: int) -> bytes:
    """C(255, s): the key of a service's account record."""
    n = U32.encode(service)
    return bytes([ACCOUNT, n[0], 0, n[1], 0, n[2], 0, n[3]]).ljust(KEY_BYTES, b"\0")


def storage_key(service: int, name: bytes) -> bytes:
    """The key of a value that a service stored under a name."""
    return _woven(service, U32.encode(STORAGE) + name)


def preimage_key(service: int, hashed: bytes) -> bytes:
    """The key of the bytes with this hash that were provided to a service."""
    return _woven(service, U32.encode(PREIMAGE) + HASH.encode(hashed))


def request_key(service: int, hashed: bytes, length: int) -> bytes:
    """The key of what came of a service's request for `length` bytes with this hash."""
    if length >= PREIMAGE:
        raise Unencodable(problem=f"{length} bytes are more than a service can request")
    return _woven(service, U32.encode(length) + HASH.encode(hashed))


def _woven(service: int, name: bytes) -> bytes:
    """C(s, h): the key of an entry of a service."""
    n, a = U32.encode(service), blake2b(name)
    return bytes([n[0], a[0], n[1], a[1], n[2], a[2], n[3], a[3]]) + a[4:27]


AUTHORIZER_POOLS: Final = component_key(1)
AUTHORIZER_QUEUES: Final = component_key(2)
RECENT_HISTORY: Final = component_key(3)
SAFROLE: Final = component_key(4)
DISPUTES: Final = component_key(5)
ENTROPY: Final = component_key(6)
VALIDATORS_STAGED: Final = component_key(7)
VALIDATORS_ACTIVE: Final = component_key(8)
VALIDATORS_PREVIOUS: Final = component_key(9)
PENDING_REPORTS: Final = component_key(10)
TIMESLOT: Final = component_key(11)
PRIVILEGES: Final = component_key(12)
STATISTICS: Final = component_key(13)
READY_QUEUE: Final = component_key(14)
ACCUMULATED: Final = component_key(15)
OUTPUTS: Final = component_key(16)
