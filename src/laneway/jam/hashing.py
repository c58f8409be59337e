"""The two hashes of a JAM chain: BLAKE2b-256 nearly everywhere, Keccak-256 for what BEEFY signs."""

from collections.abc import Callable
from hashlib import blake2b as _blake2b
from typing import TypeAlias

from sha3 import keccak_256

Hashing: TypeAlias = Callable[[bytes], bytes]

HASH_BYTES = 32
ZERO_HASH = bytes(HASH_BYTES)


def blake2b(data: bytes | bytearray | memoryview) -> bytes:
    return _blake2b(data, digest_size=HASH_BYTES).digest()


def keccak(data: bytes) -> bytes:
    digest: bytes = keccak_256(data).digest()
    return digest
