"""Keccak-256 as Ethereum has it; not the SHA-3 that was standardised later."""

from sha3 import keccak_256


def keccak(data: bytes) -> bytes:
    digest: bytes = keccak_256(data).digest()
    return digest
