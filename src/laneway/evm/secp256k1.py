"""The curve of EVM accounts: sign, recover, address. libsecp256k1 does the work, in constant time.

Secrets are kept by a Key alone, and never shown or put into an error.
"""

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


class Key:
    """A secret that signs often: reading one costs as much as a signature. It shows no secret."""

    __slots__ = ("_key", "address")

    def __init__(self, secret: bytes) -> None:
        self._key = PrivateKey(secret)
        self.address = address_of(self._key.public_key.format(compressed=False))

    def __repr__(self) -> str:
        return f"Key(0x{self.address.hex()})"

    def sign(self, digest: bytes) -> Signature:
        """Deterministic (RFC 6979), with the lower s."""
        raw = self._key.sign_recoverable(digest, hasher=None)
        return Signature(
            raw[64], int.from_bytes(raw[:32], "big"), int.from_bytes(raw[32:64], "big")
        )


def sign(digest: bytes, secret: bytes) -> Signature:
    return Key(secret).sign(digest)


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
