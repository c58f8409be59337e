"""The contracts at addresses 2, 3 and 4: SHA-256, RIPEMD-160, and the input itself."""

from functools import cache
from hashlib import new, sha256


def words(data: bytes) -> int:
    return (len(data) + 31) // 32


def sha256_gas(data: bytes) -> int:
    return 60 + 12 * words(data)


def sha256_run(data: bytes) -> bytes:
    return sha256(data).digest()


def ripemd160_gas(data: bytes) -> int:
    return 600 + 120 * words(data)


def ripemd160_run(data: bytes) -> bytes:
    if not openssl_has_ripemd160():
        from laneway.evm.precompiles.ripemd160 import ripemd160

        return ripemd160(data).rjust(32, b"\0")
    return new("ripemd160", data, usedforsecurity=False).digest().rjust(32, b"\0")


@cache
def openssl_has_ripemd160() -> bool:
    """OpenSSL 3.0 to 3.0.6 do not, unless their legacy provider is on."""
    try:
        new("ripemd160", usedforsecurity=False)
    except ValueError:
        return False
    return True


def identity_gas(data: bytes) -> int:
    return 15 + 3 * words(data)


def identity_run(data: bytes) -> bytes:
    return data
