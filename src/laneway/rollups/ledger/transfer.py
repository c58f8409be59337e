"""Transfers: who pays whom how much, signed for one ledger of one chain, once.

Whether the sender has the money or the nonce is next is for `execution` to say.
"""

from typing import Final

import msgspec
from msgspec.structs import replace

from laneway.jam.codec import Codec, Hash, Many, Octets, Record, Uint64, record
from laneway.jam.ed25519 import SIGNATURE_BYTES, HeldEd25519Key, is_weak, verifies
from laneway.jam.hashing import blake2b
from laneway.rollups.domain import Domain
from laneway.rollups.ledger.limits import TRANSFER_COUNT_MAX

ACCOUNT_TAG: Final = b"jamroll-ledger-account/1"
TRANSFER_TAG: Final = b"jamroll-ledger-transfer/1"
TRANSFER_BYTES: Final = 144


class Transfer(msgspec.Struct, frozen=True, kw_only=True):
    sender: Hash
    """The public key, of which the account is the hash."""
    recipient: Hash
    """An account."""
    amount: Uint64
    nonce: Uint64
    """How many transfers of the sender came before it."""
    signature: bytes = bytes(SIGNATURE_BYTES)


TRANSFER: Final = record(Transfer, signature=Octets(SIGNATURE_BYTES))
_SIGNED: Final = Record(Transfer, **dict(TRANSFER.fields[:-1]))
TRANSFERS: Final[Codec[tuple[Transfer, ...]]] = Many(TRANSFER, TRANSFER_COUNT_MAX)


def account_id(public_key: bytes) -> bytes:
    return blake2b(ACCOUNT_TAG + public_key)


def transfer_hash(transfer: Transfer) -> bytes:
    """By which it is asked for; of a copy with another signature it is another."""
    return blake2b(TRANSFER.encode(transfer))


def message(domain: Domain, transfer: Transfer) -> bytes:
    """What is signed."""
    return TRANSFER_TAG + domain.identity() + _SIGNED.encode(transfer)


def signed(
    key: HeldEd25519Key, domain: Domain, *, recipient: bytes, amount: int, nonce: int
) -> Transfer:
    unsigned = Transfer(sender=key.public_key, recipient=recipient, amount=amount, nonce=nonce)
    return replace(unsigned, signature=key.sign(message(domain, unsigned)))


def is_signed(domain: Domain, transfer: Transfer) -> bool:
    """Whether the sender meant it; nobody owns a key for which everybody can sign."""
    return not is_weak(transfer.sender) and verifies(
        transfer.sender, transfer.signature, message(domain, transfer)
    )
