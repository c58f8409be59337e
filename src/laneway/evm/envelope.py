"""A transaction's bytes: decoded strictly, encoded, hashed, signed.

A draft is the encoded fields and what is to be signed; a signature seals it into raw bytes and
their hash. Signing encodes the fields once, for that is the hot path.
Reading checks the form alone; what a fork allows is judged in validity.py.
"""

from collections.abc import Callable

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
    Access,
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


class Draft(Struct, frozen=True, gc=False):
    """A transaction on its way to a signer."""

    type: int
    body: bytes
    """The encoded fields, joined, without a signature."""
    payload: bytes
    """What is hashed and signed."""
    chain_id: int | None
    """A legacy signature carries it; every other type has it among its fields."""


class Sealed(Struct, frozen=True, gc=False):
    """What is sent, and how a chain will name it."""

    raw: bytes
    hash: bytes


def draft(transaction: Transaction) -> Draft:
    body = _body(transaction)
    chain_id = transaction.chain_id
    if transaction.type:
        return Draft(transaction.type, body, TYPES[transaction.type] + encode_list(body), chain_id)
    # EIP-155: the chain id stands where v will be, and nothing where r and s will.
    tail = b"" if chain_id is None else encode_int(chain_id) + b"\x80\x80"
    return Draft(0, body, encode_list(body + tail), chain_id)


def seal(drafted: Draft, signature: Signature) -> Sealed:
    v = signature.y_parity
    if drafted.type == 0:
        v += 27 if drafted.chain_id is None else 35 + 2 * drafted.chain_id
    body = drafted.body + encode_int(v) + encode_int(signature.r) + encode_int(signature.s)
    raw = encode_list(body)
    if drafted.type:
        raw = TYPES[drafted.type] + raw
    return Sealed(raw, keccak(raw))


def signing_digest(transaction: Transaction) -> bytes:
    return keccak(draft(transaction).payload)


def sealed(transaction: Transaction) -> Sealed:
    """The bytes and hash of a transaction that is signed."""
    assert transaction.signature is not None
    return seal(draft(transaction), transaction.signature)


def encode_canonical(transaction: Transaction) -> bytes:
    """The form that stands in a block and is hashed."""
    return sealed(transaction).raw


def encode_network(transaction: Transaction) -> bytes:
    """The form that nodes are sent: with the sidecar, where there is one."""
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
    """The account that signed it; InvalidSignature where none can have."""
    return recovered(signing_digest(transaction), transaction.signature)


def decode(raw: bytes) -> Transaction:
    """The signed transaction of these bytes, or InvalidTransaction with the reason."""
    if len(raw) > TRANSACTION_BYTES_MAX:
        raise MalformedRlp(at=TRANSACTION_BYTES_MAX, problem="there are too many bytes")
    first = raw[0] if raw else 0xC0
    if first >= 0xC0:
        return _legacy(elements(rlp.decode(raw), "the transaction", 9))
    read = _READERS.get(first)
    if read is None:
        raise TypeUnsupported(type=first, fork="any fork")
    return read(elements(rlp.decode(raw, 1), "the transaction"))


def _body(transaction: Transaction) -> bytes:
    fields = []
    if not isinstance(transaction, LegacyTransaction):
        fields.append(encode_int(transaction.chain_id))
    fields.append(encode_int(transaction.nonce))
    if isinstance(transaction, LegacyTransaction | AccessListTransaction):
        fields.append(encode_int(transaction.gas_price_wei))
    else:
        fields.append(encode_int(transaction.tip_wei_max))
        fields.append(encode_int(transaction.fee_wei_max))
    fields += (
        encode_int(transaction.gas_limit),
        encode_bytes(transaction.to or b""),
        encode_int(transaction.value_wei),
        encode_bytes(transaction.data),
    )
    if isinstance(transaction, LegacyTransaction):
        return b"".join(fields)
    listed = transaction.access_list
    fields.append(_access_list(listed) if listed else NO_ITEMS)
    if isinstance(transaction, BlobTransaction):
        fields.append(encode_int(transaction.blob_fee_wei_max))
        fields.append(encode(transaction.blob_hashes))
    elif isinstance(transaction, SetCodeTransaction):
        entries = [structs.astuple(entry) for entry in transaction.authorizations]
        fields.append(encode(entries))
    return b"".join(fields)


def _access_list(listed: tuple[Access, ...]) -> bytes:
    return encode([(entry.address, entry.keys) for entry in listed])


def _legacy(fields: tuple[Item, ...]) -> LegacyTransaction:
    nonce, gas_price, gas_limit, to, value, content, v, r, s = fields
    # A chain id has 64 bits, so its v may have one more.
    tag = number(v, "v", 72)
    if tag in (27, 28):
        chain_id, y_parity = None, tag - 27
    elif tag >= 35:
        chain_id, y_parity = divmod(tag - 35, 2)
    else:
        raise InvalidSignature(problem=f"v is {tag}")
    return LegacyTransaction(
        number(nonce, "nonce", 64),
        number(gas_price, "gas_price", 256),
        number(gas_limit, "gas_limit", 64),
        recipient(to),
        number(value, "value", 256),
        data(content, "data"),
        chain_id,
        Signature(y_parity, number(r, "r", 256), number(s, "s", 256)),
    )


def _access_list_one(items: tuple[Item, ...]) -> AccessListTransaction:
    fields = elements(items, "the transaction", 11)
    return AccessListTransaction(
        number(fields[0], "chain_id", 64),
        number(fields[1], "nonce", 64),
        number(fields[2], "gas_price", 256),
        number(fields[3], "gas_limit", 64),
        recipient(fields[4]),
        number(fields[5], "value", 256),
        data(fields[6], "data"),
        accesses(fields[7]),
        _signature(fields[8:]),
    )


def _dynamic_fee(items: tuple[Item, ...]) -> DynamicFeeTransaction:
    fields = elements(items, "the transaction", 12)
    return DynamicFeeTransaction(*_common(fields), signature=_signature(fields[9:]))


def _blob(items: tuple[Item, ...]) -> BlobTransaction:
    if items and not isinstance(items[0], bytes):
        bare = _blob(items[0])
        carried = sidecar(items[1:])
        check_sidecar(carried, bare.blob_hashes)
        return structs.replace(bare, sidecar=carried)
    fields = elements(items, "the transaction", 14)
    return BlobTransaction(
        *_common(fields),
        number(fields[9], "blob_fee", 256),
        hashes(fields[10], "blob_hashes"),
        signature=_signature(fields[11:]),
    )


def _set_code(items: tuple[Item, ...]) -> SetCodeTransaction:
    fields = elements(items, "the transaction", 13)
    return SetCodeTransaction(
        *_common(fields), authorizations(fields[9]), signature=_signature(fields[10:])
    )


def _common(
    fields: tuple[Item, ...],
) -> tuple[int, int, int, int, int, bytes | None, int, bytes, tuple[Access, ...]]:
    """The nine fields with which every type since EIP-1559 begins."""
    return (
        number(fields[0], "chain_id", 64),
        number(fields[1], "nonce", 64),
        number(fields[2], "tip", 256),
        number(fields[3], "fee", 256),
        number(fields[4], "gas_limit", 64),
        recipient(fields[5]),
        number(fields[6], "value", 256),
        data(fields[7], "data"),
        accesses(fields[8]),
    )


def _signature(fields: tuple[Item, ...]) -> Signature:
    y_parity, r, s = fields
    parity = number(y_parity, "y_parity", 256)
    if parity > 1:
        raise InvalidSignature(problem=f"y parity is {parity}")
    return Signature(parity, number(r, "r", 256), number(s, "s", 256))


_READERS: dict[int, Callable[[tuple[Item, ...]], Transaction]] = {
    1: _access_list_one,
    2: _dynamic_fee,
    3: _blob,
    4: _set_code,
}
