"""A block's header and the whole block in bytes, of every fork up to Osaka.

A header has the fields of its fork: later ones are appended and are None before it. Reading is
strict in form and judges no value: whether a header follows from its parent, and whether its
roots are those of the block's content, is for the execution to say. What is refused is refused
by the errors of the parts that a block is made of, errors.py.
"""

from collections.abc import Callable
from functools import partial
from typing import Any, Final

from msgspec import Struct

from laneway.evm import envelope, rlp
from laneway.evm.errors import MalformedField, WrongFieldCount
from laneway.evm.fields import data, elements, fixed, number
from laneway.evm.keccak import keccak
from laneway.evm.limits import EXTRA_DATA_BYTES_MAX
from laneway.evm.rlp import Item, Value
from laneway.evm.transaction import BlobTransaction, Transaction
from laneway.evm.trie.tree import ordered_root

NO_OMMERS: Final = keccak(b"\xc0")
"""The hash of an empty list, in every header since the Merge (EIP-3675)."""

BLOOM_BYTES: Final = 256


class BlockHeader(Struct, frozen=True, kw_only=True):
    parent_hash: bytes
    ommers_hash: bytes = NO_OMMERS
    coinbase: bytes
    state_root: bytes
    transactions_root: bytes
    receipts_root: bytes
    logs_bloom: bytes
    difficulty: int = 0
    number: int
    gas_limit: int
    gas_used: int
    timestamp_s: int
    extra_data: bytes = b""
    prevrandao: bytes
    """Before the Merge the mix hash of the proof of work."""
    nonce: bytes = bytes(8)
    base_fee_wei: int | None = None
    """EIP-1559, since London."""
    withdrawals_root: bytes | None = None
    """EIP-4895, since Shanghai."""
    blob_gas_used: int | None = None
    excess_blob_gas: int | None = None
    """EIP-4844, since Cancun, as the root of the parent's beacon block (EIP-4788)."""
    parent_beacon_root: bytes | None = None
    requests_hash: bytes | None = None
    """EIP-7685, since Prague."""


class Withdrawal(Struct, frozen=True):
    """EIP-4895: what the beacon chain pays out to an account."""

    index: int
    validator_index: int
    address: bytes
    amount_gwei: int


class ExecutionBlock(Struct, frozen=True):
    header: BlockHeader
    transactions: tuple[Transaction, ...] = ()
    ommers: tuple[BlockHeader, ...] = ()
    withdrawals: tuple[Withdrawal, ...] | None = None
    """None before Shanghai."""


def encode_header(header: BlockHeader) -> bytes:
    return rlp.encode(_fields(header))


def decode_header(raw: bytes) -> BlockHeader:
    return _header(rlp.decode(raw))


def hash_of(header: BlockHeader) -> bytes:
    """The name of the block."""
    return keccak(encode_header(header))


def encode_block(block: ExecutionBlock) -> bytes:
    transactions = [_item(transaction) for transaction in block.transactions]
    parts = [
        encode_header(block.header),
        rlp.encode_list(b"".join(transactions)),
        rlp.encode([_fields(ommer) for ommer in block.ommers]),
    ]
    if block.withdrawals is not None:
        parts.append(rlp.encode([_withdrawal_fields(one) for one in block.withdrawals]))
    return rlp.encode_list(b"".join(parts))


def decode_block(raw: bytes) -> ExecutionBlock:
    """The block of these bytes, or InvalidTransaction with what is wrong in its form."""
    items = elements(rlp.decode(raw), "the block")
    if len(items) not in (3, 4):
        raise WrongFieldCount(what="the block", given=len(items), wanted=4)
    header = _header(items[0])
    if (len(items) == 4) != (header.withdrawals_root is not None):
        raise MalformedField(field="withdrawals", problem="they and their root go together")
    transactions = [_transaction(item) for item in elements(items[1], "transactions")]
    ommers = [_header(item) for item in elements(items[2], "ommers")]
    withdrawals = None
    if len(items) == 4:
        withdrawals = tuple([_withdrawal(item) for item in elements(items[3], "withdrawals")])
    return ExecutionBlock(header, tuple(transactions), tuple(ommers), withdrawals)


def transactions_root(block: ExecutionBlock) -> bytes:
    return ordered_root([envelope.encode_canonical(one) for one in block.transactions])


def withdrawals_root(block: ExecutionBlock) -> bytes | None:
    """None before Shanghai."""
    if block.withdrawals is None:
        return None
    return ordered_root([rlp.encode(_withdrawal_fields(one)) for one in block.withdrawals])


def _bytes(name: str, length: int) -> tuple[str, Callable[[Item], Any]]:
    return name, partial(fixed, field=name, length=length)


def _number(name: str, bits: int = 64) -> tuple[str, Callable[[Item], Any]]:
    return name, partial(number, field=name, bits=bits)


def _extra_data(item: Item) -> bytes:
    found = data(item, "extra_data")
    if len(found) > EXTRA_DATA_BYTES_MAX:
        raise MalformedField(field="extra_data", problem=f"it has {len(found)} bytes")
    return found


_READERS: Final = (
    _bytes("parent_hash", 32),
    _bytes("ommers_hash", 32),
    _bytes("coinbase", 20),
    _bytes("state_root", 32),
    _bytes("transactions_root", 32),
    _bytes("receipts_root", 32),
    _bytes("logs_bloom", BLOOM_BYTES),
    _number("difficulty", 256),
    _number("number"),
    _number("gas_limit"),
    _number("gas_used"),
    _number("timestamp_s"),
    ("extra_data", _extra_data),
    _bytes("prevrandao", 32),
    _bytes("nonce", 8),
    _number("base_fee_wei", 256),
    _bytes("withdrawals_root", 32),
    _number("blob_gas_used"),
    _number("excess_blob_gas"),
    _bytes("parent_beacon_root", 32),
    _bytes("requests_hash", 32),
)
"""The fields in their order, each with its reader."""

_COUNTS: Final = (15, 16, 17, 20, 21)
"""How many of them a header has: until Berlin, and since London, Shanghai, Cancun and Prague."""


def _header(item: Item) -> BlockHeader:
    items = elements(item, "the header")
    if len(items) not in _COUNTS:
        raise WrongFieldCount(what="the header", given=len(items), wanted=_COUNTS[-1])
    found = zip(_READERS, items, strict=False)
    return BlockHeader(**{name: read(value) for (name, read), value in found})


def _fields(header: BlockHeader) -> list[Value]:
    values = [getattr(header, name) for name, _ in _READERS]
    present = [value for value in values if value is not None]
    assert len(present) in _COUNTS, "a header has the fields of one fork"
    assert present == values[: len(present)], "fields are missing at a header's end alone"
    return present


def _item(transaction: Transaction) -> bytes:
    """A transaction as it stands in a list: a typed one as a string of bytes."""
    raw = envelope.encode_canonical(transaction)
    return rlp.encode_bytes(raw) if transaction.type else raw


def _transaction(item: Item) -> Transaction:
    if not isinstance(item, bytes):
        # RLP has one form of each value, so these are the bytes that were signed.
        return envelope.decode(rlp.encode(item))
    if item[:1] >= b"\xc0":
        raise MalformedField(field="transactions", problem="a legacy one is wrapped in a string")
    found = envelope.decode(item)
    if isinstance(found, BlobTransaction) and found.sidecar is not None:
        raise MalformedField(field="transactions", problem="a sidecar is in no block")
    return found


def _withdrawal(item: Item) -> Withdrawal:
    index, validator, address, amount = elements(item, "withdrawals", 4)
    return Withdrawal(
        number(index, "withdrawals.index", 64),
        number(validator, "withdrawals.validator_index", 64),
        fixed(address, "withdrawals.address", 20),
        number(amount, "withdrawals.amount", 64),
    )


def _withdrawal_fields(one: Withdrawal) -> tuple[int, int, bytes, int]:
    return one.index, one.validator_index, one.address, one.amount_gwei
