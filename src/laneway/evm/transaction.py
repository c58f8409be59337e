"""Transactions of all five types as plain values, and who signed them.

They say nothing of bytes (envelope.py) or of what a fork allows (validity.py).
"""

from collections.abc import Sequence
from typing import ClassVar, TypeAlias, TypeVar

from msgspec import Struct, structs

from laneway.evm import rlp
from laneway.evm.errors import InvalidSignature
from laneway.evm.keccak import keccak
from laneway.evm.limits import BLOB_GAS
from laneway.evm.secp256k1 import Signature, recover


class Access(Struct, frozen=True):
    """EIP-2930: an account that will be touched, and its storage keys."""

    address: bytes
    keys: tuple[bytes, ...] = ()


class Authorization(Struct, frozen=True):
    """EIP-7702: an account lets this address's code run as its own. Chain 0 is every chain.

    It may be signed by nobody: a chain skips such an entry and still takes the transaction.
    """

    chain_id: int
    address: bytes
    nonce: int
    y_parity: int = 0
    r: int = 0
    s: int = 0


class Sidecar(Struct, frozen=True):
    """EIP-4844: what travels beside a blob transaction between nodes and is in no block.

    Version 0 has one proof a blob, version 1 (EIP-7594) one a cell.
    """

    version: int
    blobs: tuple[bytes, ...]
    commitments: tuple[bytes, ...]
    proofs: tuple[bytes, ...]


class LegacyTransaction(Struct, frozen=True):
    """Without a chain id the signature holds on every chain (before EIP-155)."""

    type: ClassVar[int] = 0

    nonce: int
    gas_price_wei: int
    gas_limit: int
    to: bytes | None
    """None creates a contract."""
    value_wei: int = 0
    data: bytes = b""
    chain_id: int | None = None
    signature: Signature | None = None


class AccessListTransaction(Struct, frozen=True):
    type: ClassVar[int] = 1

    chain_id: int
    nonce: int
    gas_price_wei: int
    gas_limit: int
    to: bytes | None
    value_wei: int = 0
    data: bytes = b""
    access_list: tuple[Access, ...] = ()
    signature: Signature | None = None


class _FeeMarketTransaction(Struct, frozen=True):
    """The nine fields with which every type since EIP-1559 begins."""

    chain_id: int
    nonce: int
    tip_wei_max: int
    fee_wei_max: int
    gas_limit: int
    to: bytes | None
    """Blob and set-code transactions must have a recipient; `validate` refuses None."""
    value_wei: int = 0
    data: bytes = b""
    access_list: tuple[Access, ...] = ()


class DynamicFeeTransaction(_FeeMarketTransaction, frozen=True):
    type: ClassVar[int] = 2

    signature: Signature | None = None


class BlobTransaction(_FeeMarketTransaction, frozen=True):
    type: ClassVar[int] = 3

    blob_fee_wei_max: int = 0
    blob_hashes: tuple[bytes, ...] = ()
    sidecar: Sidecar | None = None
    signature: Signature | None = None


class SetCodeTransaction(_FeeMarketTransaction, frozen=True):
    type: ClassVar[int] = 4

    authorizations: tuple[Authorization, ...] = ()
    signature: Signature | None = None


Transaction: TypeAlias = (
    LegacyTransaction
    | AccessListTransaction
    | DynamicFeeTransaction
    | BlobTransaction
    | SetCodeTransaction
)

ONE_PRICE = (LegacyTransaction, AccessListTransaction)
"""Types before EIP-1559, which pay one price whatever the base fee is."""

Some = TypeVar("Some", bound=Transaction)


def signed(transaction: Some, signature: Signature) -> Some:
    return structs.replace(transaction, signature=signature)


def fee_wei_max(transaction: Transaction) -> int:
    """The most it pays for a unit of gas."""
    if isinstance(transaction, ONE_PRICE):
        return transaction.gas_price_wei
    return transaction.fee_wei_max


def tip_wei_max(transaction: Transaction) -> int:
    """The most of it that goes to the block's builder; before EIP-1559 all that is above base."""
    if isinstance(transaction, ONE_PRICE):
        return transaction.gas_price_wei
    return transaction.tip_wei_max


def cost_wei_max(transaction: Transaction) -> int:
    """The most that it can take from its sender: what it hands over, and all of its gas."""
    blobs = 0
    if isinstance(transaction, BlobTransaction):
        blobs = len(transaction.blob_hashes) * BLOB_GAS * transaction.blob_fee_wei_max
    return transaction.value_wei + transaction.gas_limit * fee_wei_max(transaction) + blobs


def access_list(transaction: Transaction) -> Sequence[Access]:
    if isinstance(transaction, LegacyTransaction):
        return ()
    return transaction.access_list


def authorization_digest(authorization: Authorization) -> bytes:
    """What the account that authorizes signs."""
    fields = (authorization.chain_id, authorization.address, authorization.nonce)
    return keccak(b"\x05" + rlp.encode(fields))


def authority(authorization: Authorization) -> bytes | None:
    """The account that authorized; None where no key could have."""
    signature = Signature(authorization.y_parity, authorization.r, authorization.s)
    return recover(authorization_digest(authorization), signature)


def recovered(digest: bytes, signature: Signature | None) -> bytes:
    """The account that signed a digest; InvalidSignature where there is none."""
    if signature is None:
        raise InvalidSignature(problem="there is none")
    account = recover(digest, signature)
    if account is None:
        raise InvalidSignature(problem="no key can have made it")
    return account
