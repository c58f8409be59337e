"""Transfers: who pays whom how much, signed for one ledger of one chain, once.

Whether the sender has the money or the nonce is next is for `execution` to say.
"""

from typing import Final

import msgspec
from msgspec.structs import replace

from laneway.jam.codec import HASH, U32, U64, Codec, Many, Octets, Record
from laneway.jam.ed25519 import SIGNATURE_BYTES, HeldKey, is_weak, verifies
from laneway.jam.hashing import blake2b
from laneway.jam.service.ledger.limits import TRANSFER_COUNT_MAX

ACCOUNT_TAG: Final = b"jamroll-ledger-account/1"
TRANSFER_TAG: Final = b"jamroll-ledger-transfer/1"
TRANSFER_BYTES: Final = 144


class Domain(msgspec.Struct, frozen=True):
    """Which ledger: a signature for one is worth nothing on another."""

    chain: bytes
    """The hash of the genesis header of the JAM chain."""
    service: int


class Transfer(msgspec.Struct, frozen=True, kw_only=True):
    sender: bytes
    """The public key, of which the account is the hash."""
    recipient: bytes
    """An account."""
    amount: int
    nonce: int
    """How many transfers of the sender came before it."""
    signature: bytes = bytes(SIGNATURE_BYTES)


_SIGNED: Final = Record(Transfer, sender=HASH, recipient=HASH, amount=U64, nonce=U64)
_DOMAIN: Final = Record(Domain, chain=HASH, service=U32)
TRANSFER: Final[Codec[Transfer]] = Record(
    Transfer,
    sender=HASH,
    recipient=HASH,
    amount=U64,
    nonce=U64,
    signature=Octets(SIGNATURE_BYTES),
)
TRANSFERS: Final[Codec[tuple[Transfer, ...]]] = Many(TRANSFER, TRANSFER_COUNT_MAX)


def account_id(public_key: bytes) -> bytes:
    return blake2b(ACCOUNT_TAG + public_key)


def transfer_hash(transfer: Transfer) -> bytes:
    """By which it is asked for; of a copy with another signature it is another."""
    return blake2b(TRANSFER.encode(transfer))


def message(domain: Domain, transfer: Transfer) -> bytes:
    """What is signed."""
    return TRANSFER_TAG + _DOMAIN.encode(domain) + _SIGNED.encode(transfer)


def signed(key: HeldKey, domain: Domain, *, recipient: bytes, amount: int, nonce: int) -> Transfer:
    unsigned = Transfer(sender=key.public_key, recipient=recipient, amount=amount, nonce=nonce)
    return replace(unsigned, signature=key.sign(message(domain, unsigned)))


def is_signed(domain: Domain, transfer: Transfer) -> bool:
    """Whether the sender meant it; nobody owns a key for which everybody can sign."""
    return not is_weak(transfer.sender) and verifies(
        transfer.sender, transfer.signature, message(domain, transfer)
    )
