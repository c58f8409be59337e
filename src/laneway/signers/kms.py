"""A signer whose key never leaves a cloud's key store: AWS KMS, and what has its shape.

It is asked through two calls that the embedding program brings along, so no cloud's library is
needed here. Such stores answer in DER, with either s and without the parity.
"""

from collections.abc import Awaitable
from typing import Protocol

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ec import SECP256K1, EllipticCurvePublicKey
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    PublicFormat,
    load_der_public_key,
)

from laneway.core.errors import SignerError, SignerRefused, SignerUnreachable
from laneway.core.limits import REASON_CHARS_MAX
from laneway.evm.keccak import keccak
from laneway.evm.secp256k1 import Signature, address_of
from laneway.signers.addresses import checksummed
from laneway.signers.limits import SIGN_MS
from laneway.signers.place import SignerUnusable
from laneway.signers.remote import RequestGate, proven


class Kms(Protocol):
    """What is asked of a key store. Whatever it raises means "ask again later", except
    SignerRefused, which is final for the payload."""

    async def public_key(self, key_id: str) -> bytes:
        """DER (SubjectPublicKeyInfo), as AWS's GetPublicKey answers."""

    async def sign(self, key_id: str, digest: bytes) -> bytes:
        """DER (ECDSA-Sig-Value), as AWS's Sign answers to MessageType=DIGEST, ECDSA_SHA_256."""


class KmsSigner:
    def __init__(self, key_id: str, kms: Kms, public_key: bytes, *, sign_ms: int = SIGN_MS) -> None:
        """`public_key` is in DER; open_kms asks for it."""
        self.name = f"aws-kms:{key_id}"
        self.address = kms_address(self.name, public_key)
        self._key_id = key_id
        self._kms = kms
        self._gate = RequestGate(self.name, sign_ms=sign_ms)

    async def sign(self, payload: bytes) -> Signature:
        digest = keccak(payload)
        answer = await self._gate.through(
            lambda: asked(self.name, self._kms.sign(self._key_id, digest))
        )
        r, s = parse_der(self.name, answer)
        return proven(self.name, self.address, digest, r, s)

    async def close(self) -> None:
        """The key store belongs to who brought it."""
        self._gate.close()

    def __repr__(self) -> str:
        return f"KmsSigner({self.name}, {checksummed(self.address)})"


async def open_kms(key_id: str, kms: Kms) -> KmsSigner:
    name = f"aws-kms:{key_id}"
    public_key = await RequestGate(name).through(lambda: asked(name, kms.public_key(key_id)))
    return KmsSigner(key_id, kms, public_key)


async def asked(name: str, answer: Awaitable[bytes]) -> bytes:
    try:
        content = await answer
    except SignerError:
        raise
    except Exception as error:
        # Its words are about a key that the store keeps to itself.
        problem = f"{type(error).__name__}: {error}"[:REASON_CHARS_MAX]
        raise SignerUnreachable(name, problem) from error
    if not isinstance(content, bytes):
        raise SignerUnreachable(name, f"it answered with {type(content).__name__}, not with bytes")
    return content


def kms_address(name: str, public_key: bytes) -> bytes:
    try:
        key = load_der_public_key(public_key)
    except (ValueError, UnsupportedAlgorithm):
        raise SignerUnusable(name, "its public key is not DER") from None
    if not isinstance(key, EllipticCurvePublicKey) or not isinstance(key.curve, SECP256K1):
        raise SignerUnusable(name, "its key is not of secp256k1 (AWS calls it ECC_SECG_P256K1)")
    return address_of(key.public_bytes(Encoding.X962, PublicFormat.UncompressedPoint))


def parse_der(name: str, answer: bytes) -> tuple[int, int]:
    """Strict: one sequence of two positive integers in their shortest form, and nothing more."""
    try:
        return decode_dss_signature(answer)
    except ValueError:
        raise SignerRefused(name, "its answer is not a DER signature") from None
