"""A transaction's bytes: decoded strictly, encoded, hashed, signed.

A draft is the encoded fields and what is to be signed; a signature seals it into raw bytes and
their hash. Signing encodes the fields once, for that is the hot path.
Reading checks the form alone; what a fork allows is judged in validity.py.
"""

from collections.abc import Callable
from functools import partial
from typing import Any, TypeAlias

from msgspec import Struct, structs

from laneway.evm import rlp
from laneway.evm.errors import InvalidSignature, MalformedRlp, TypeUnsupported
from laneway.evm.fields import (
    accesses,
    authorizations,
    check_sidecar,
    data,
    elements,
    hashes,
    number,
    recipient,
    sidecar,
)
from laneway.evm.keccak import keccak
from laneway.evm.limits import TRANSACTION_BYTES_MAX
from laneway.evm.rlp import Item, encode, encode_bytes, encode_int, encode_list
from laneway.evm.secp256k1 import Signature
from laneway.evm.transaction import (
    AccessListTransaction,
    BlobTransaction,
    DynamicFeeTransaction,
    LegacyTransaction,
    SetCodeTransaction,
    Transaction,
    recovered,
)

NO_ITEMS = b"\xc0"
TYPES = tuple(bytes([number]) for number in range(5))


Readers: TypeAlias = tuple[Callable[[Item], Any], ...]


class TransactionDraft(Struct, frozen=True, gc=False):
    """A transaction on its way to a signer."""

    type: int
    body: bytes
    """The encoded fields, joined, without a signature."""
    payload: bytes
    """What is hashed and signed."""
    chain_id: int | None
    """A legacy signature carries it; every other type has it among its fields."""


class SealedTransaction(Struct, frozen=True, gc=False):
    """The bytes that are sent, and the hash by which a chain names them."""

    raw: bytes
    hash: bytes


def draft(transaction: Transaction) -> TransactionDraft:
    body = _body(transaction)
    chain_id = transaction.chain_id
    if transaction.type:
        return TransactionDraft(
            transaction.type, body, TYPES[transaction.type] + encode_list(body), chain_id
        )
    # EIP-155: the chain id stands where v will be, and nothing where r and s will.
    tail = b"" if chain_id is None else encode_int(chain_id) + b"\x80\x80"
    return TransactionDraft(0, body, encode_list(body + tail), chain_id)


def seal(drafted: TransactionDraft, signature: Signature) -> SealedTransaction:
    v = signature.y_parity
    if drafted.type == 0:
        v += 27 if drafted.chain_id is None else 35 + 2 * drafted.chain_id
    body = drafted.body + encode_int(v) + encode_int(signature.r) + encode_int(signature.s)
    raw = encode_list(body)
    if drafted.type:
        raw = TYPES[drafted.type] + raw
    return SealedTransaction(raw, keccak(raw))


def signing_digest(transaction: Transaction) -> bytes:
    return keccak(draft(transaction).payload)


def sealed(transaction: Transaction) -> SealedTransaction:
    """The bytes and hash of a transaction that is signed."""
    assert transaction.signature is not None
    return seal(draft(transaction), transaction.signature)


def encode_canonical(transaction: Transaction) -> bytes:
    """The form that stands in a block and is hashed."""
    return sealed(transaction).raw


def encode_network(transaction: Transaction) -> bytes:
    """The form that is sent to nodes: with the sidecar, if there is one."""
    raw = sealed(transaction).raw
    if not isinstance(transaction, BlobTransaction) or transaction.sidecar is None:
        return raw
    carried = transaction.sidecar
    version = encode_int(carried.version) if carried.version else b""
    lists = [encode(items) for items in (carried.blobs, carried.commitments, carried.proofs)]
    return TYPES[3] + encode_list(b"".join([raw[1:], version, *lists]))


def hash_of(transaction: Transaction) -> bytes:
    return sealed(transaction).hash


def sender(transaction: Transaction) -> bytes:
    """The account that signed it; InvalidSignature if no account can have."""
    return recovered(signing_digest(transaction), transaction.signature)


def decode(raw: bytes) -> Transaction:
    """The signed transaction of these bytes, or InvalidTransaction with the reason."""
    if len(raw) > TRANSACTION_BYTES_MAX:
        raise MalformedRlp(at=TRANSACTION_BYTES_MAX, problem="there are too many bytes")
    first = raw[0] if raw else 0xC0
    if first >= 0xC0:
        return _legacy(elements(rlp.decode(raw), "the transaction", 9))
    if first not in _READERS:
        raise TypeUnsupported(type=first, fork="any fork")
    return _typed(first, elements(rlp.decode(raw, 1), "the transaction"))


def _body(transaction: Transaction) -> bytes:
    fields = [encode_int(transaction.nonce)]
    if not isinstance(transaction, LegacyTransaction):
        fields.insert(0, encode_int(transaction.chain_id))
    if isinstance(transaction, LegacyTransaction | AccessListTransaction):
        fields.append(encode_int(transaction.gas_price_wei))
    else:
        fields += (encode_int(transaction.tip_wei_max), encode_int(transaction.fee_wei_max))
    fields += (
        encode_int(transaction.gas_limit),
        encode_bytes(transaction.to or b""),
        encode_int(transaction.value_wei),
        encode_bytes(transaction.data),
    )
    if isinstance(transaction, LegacyTransaction):
        return b"".join(fields)
    listed = transaction.access_list
    fields.append(encode([(entry.address, entry.keys) for entry in listed]) if listed else NO_ITEMS)
    if isinstance(transaction, BlobTransaction):
        fields += (encode_int(transaction.blob_fee_wei_max), encode(transaction.blob_hashes))
    elif isinstance(transaction, SetCodeTransaction):
        fields.append(encode([structs.astuple(entry) for entry in transaction.authorizations]))
    return b"".join(fields)


def _number(field: str, bits: int) -> Callable[[Item], int]:
    return partial(number, field=field, bits=bits)


_CHAIN_ID, _NONCE, _GAS_LIMIT = (_number(name, 64) for name in ("chain_id", "nonce", "gas_limit"))
_GAS_PRICE, _TIP, _FEE = (_number(name, 256) for name in ("gas_price", "tip", "fee"))
_CALL: Readers = (_GAS_LIMIT, recipient, _number("value", 256), partial(data, field="data"))
_LEGACY: Readers = (_NONCE, _GAS_PRICE, *_CALL)
_FEE_MARKET: Readers = (_CHAIN_ID, _NONCE, _TIP, _FEE, *_CALL, accesses)
_BLOB_FIELDS = (_number("blob_fee", 256), partial(hashes, field="blob_hashes"))

_READERS: dict[int, tuple[Callable[..., Transaction], Readers]] = {
    1: (AccessListTransaction, (_CHAIN_ID, *_LEGACY, accesses)),
    2: (DynamicFeeTransaction, _FEE_MARKET),
    3: (BlobTransaction, (*_FEE_MARKET, *_BLOB_FIELDS)),
    4: (SetCodeTransaction, (*_FEE_MARKET, authorizations)),
}
"""The class of each type, and the readers of its fields before the signature, in their order."""


def _legacy(fields: tuple[Item, ...]) -> LegacyTransaction:
    # A chain id has 64 bits, so its v may have one more.
    tag = number(fields[6], "v", 72)
    if tag in (27, 28):
        chain_id, y_parity = None, tag - 27
    elif tag >= 35:
        chain_id, y_parity = divmod(tag - 35, 2)
    else:
        raise InvalidSignature(problem=f"v is {tag}")
    found = [read(field) for read, field in zip(_LEGACY, fields, strict=False)]
    signature = _signature(y_parity, fields[7:])
    return structs.replace(LegacyTransaction(*found), chain_id=chain_id, signature=signature)


def _typed(number_of_type: int, items: tuple[Item, ...]) -> Transaction:
    made, readers = _READERS[number_of_type]
    if made is BlobTransaction and items and not isinstance(items[0], bytes):
        bare = _typed(number_of_type, items[0])
        assert isinstance(bare, BlobTransaction)
        carried = sidecar(items[1:])
        check_sidecar(carried, bare.blob_hashes)
        return structs.replace(bare, sidecar=carried)
    fields = elements(items, "the transaction", len(readers) + 3)
    found = [read(field) for read, field in zip(readers, fields, strict=False)]
    parity = number(fields[-3], "y_parity", 256)
    if parity > 1:
        raise InvalidSignature(problem=f"y parity is {parity}")
    return made(*found, signature=_signature(parity, fields[-2:]))


def _signature(y_parity: int, fields: tuple[Item, ...]) -> Signature:
    return Signature(y_parity, number(fields[0], "r", 256), number(fields[1], "s", 256))
