"""The curve of EVM accounts: sign, recover, address. libsecp256k1 does the work, in constant time.

Secrets are never shown or put into an error, and only a HeldEvmKey keeps one.
"""

from typing import NoReturn

from coincurve import PrivateKey, PublicKey
from msgspec import Struct

from laneway.evm.keccak import keccak

N = 0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFEBAAEDCE6AF48A03BBFD25E8CD0364141
HALF_N = N // 2
"""A signature's s above it is the mirror of one below (EIP-2): only the lower is valid."""


class Signature(Struct, frozen=True, gc=False):
    y_parity: int
    r: int
    s: int


def sign(digest: bytes, secret: bytes) -> Signature:
    """Deterministic (RFC 6979), with the lower s."""
    return sign_by(PrivateKey(secret), digest)


def sign_by(key: PrivateKey, digest: bytes) -> Signature:
    raw = key.sign_recoverable(digest, hasher=None)
    r, s = int.from_bytes(raw[:32], "big"), int.from_bytes(raw[32:64], "big")
    return Signature(raw[64], r, s)


def recover(digest: bytes, signature: Signature) -> bytes | None:
    """The address that signed; None where no key could have."""
    if not (0 < signature.r < N and 0 < signature.s < N and signature.y_parity in (0, 1)):
        return None
    raw = signature.r.to_bytes(32, "big") + signature.s.to_bytes(32, "big")
    try:
        key = PublicKey.from_signature_and_message(
            raw + bytes([signature.y_parity]), digest, hasher=None
        )
    except ValueError:
        return None
    return address_of(key.format(compressed=False))


def address(secret: bytes) -> bytes:
    """The account of a secret."""
    return address_of(PrivateKey(secret).public_key.format(compressed=False))


def address_of(public: bytes) -> bytes:
    """The account of an uncompressed public key."""
    return keccak(public[1:])[12:]


class HeldEvmKey:
    """A secret made ready once, which costs as much as a signature. It shows its account alone."""

    __slots__ = ("_key", "address")

    def __init__(self, secret: bytes) -> None:
        """ValueError where this is no secret of the curve; the error does not show it."""
        if len(secret) != 32:
            raise ValueError("a secret has 32 bytes")
        self._key = PrivateKey(secret)
        self.address = address_of(self._key.public_key.format(compressed=False))

    def sign(self, digest: bytes) -> Signature:
        return sign_by(self._key, digest)

    def __repr__(self) -> str:
        return f"HeldKey(address={self.address!r})"

    def __reduce__(self) -> NoReturn:
        raise TypeError("a key is not copied or written anywhere")
