"""A header and a block have one form in bytes, and another form is refused."""

from typing import Any

import pytest
from msgspec import structs

from laneway.evm import envelope, rlp
from laneway.evm.errors import (
    FieldOverflow,
    InvalidTransaction,
    MalformedField,
    MalformedRlp,
    WrongFieldCount,
)
from laneway.evm.fields import blob_hash
from laneway.evm.header import (
    NO_OMMERS,
    BlockHeader,
    ExecutionBlock,
    Withdrawal,
    decode_block,
    decode_header,
    encode_block,
    encode_header,
    hash_of,
    transactions_root,
    withdrawals_root,
)
from laneway.evm.rlp import Item
from laneway.evm.secp256k1 import sign
from laneway.evm.transaction import (
    BlobTransaction,
    DynamicFeeTransaction,
    LegacyTransaction,
    Sidecar,
    signed,
)
from laneway.evm.trie.tree import EMPTY_ROOT

GENESIS = BlockHeader(
    parent_hash=bytes(32),
    coinbase=bytes(20),
    state_root=bytes.fromhex("d7f8974fb5ac78d9ac099b9ad5018bedc2ce0a72dad1827a1709da30580f0544"),
    transactions_root=EMPTY_ROOT,
    receipts_root=EMPTY_ROOT,
    logs_bloom=bytes(256),
    difficulty=17_179_869_184,
    number=0,
    gas_limit=5_000,
    gas_used=0,
    timestamp_s=0,
    extra_data=bytes.fromhex("11bbe8db4e347b4e8c937c1c8370e4b5ed33adb3db69cbdb7a38e1e50b1b82fa"),
    prevrandao=bytes(32),
    nonce=bytes.fromhex("0000000000000042"),
)
"""Mainnet's first block."""

LONDON = structs.replace(GENESIS, base_fee_wei=7)
SHANGHAI = structs.replace(LONDON, withdrawals_root=EMPTY_ROOT)
CANCUN = structs.replace(
    SHANGHAI, blob_gas_used=131_072, excess_blob_gas=0, parent_beacon_root=b"\x0b" * 32
)
PRAGUE = structs.replace(CANCUN, requests_hash=b"\x0c" * 32)
FORKS = {"Berlin": GENESIS, "London": LONDON, "Shanghai": SHANGHAI, "Cancun": CANCUN} | {
    "Prague": PRAGUE
}

SECRET = b"\x07" * 32
TO = b"\xaa" * 20
LEGACY = LegacyTransaction(0, 10, 21_000, TO)
DYNAMIC = DynamicFeeTransaction(1, 1, 2, 10, 21_000, TO)
BLOB = BlobTransaction(
    1, 2, 2, 10, 21_000, TO, blob_fee_wei_max=1, blob_hashes=(b"\x01" + bytes(31),)
)
TRANSACTIONS = tuple(
    signed(one, sign(envelope.signing_digest(one), SECRET)) for one in (LEGACY, DYNAMIC, BLOB)
)
WITHDRAWALS = (Withdrawal(1, 2, TO, 3), Withdrawal(2, 2, TO, 0))
BLOCKS = {
    "Berlin": ExecutionBlock(GENESIS, TRANSACTIONS[:1], (GENESIS,)),
    "London": ExecutionBlock(LONDON, TRANSACTIONS[:2]),
    "Shanghai": ExecutionBlock(SHANGHAI, (), (), ()),
    "Prague": ExecutionBlock(PRAGUE, TRANSACTIONS, (), WITHDRAWALS),
}


def test_mainnets_first_block_has_its_name() -> None:
    name = bytes.fromhex("d4e56740f876aef8c010b86a40d5f56745a118d0906a34e69aec8c0db1cb8fa3")
    assert hash_of(GENESIS) == name


def test_no_ommers_is_the_hash_of_an_empty_list() -> None:
    assert NO_OMMERS.hex().startswith("1dcc4de8dec75d7aab85b567b6ccd41a")


@pytest.mark.parametrize("header", FORKS.values(), ids=FORKS)
def test_a_header_of_every_fork_is_read_as_it_was_written(header: BlockHeader) -> None:
    assert decode_header(encode_header(header)) == header


@pytest.mark.parametrize("block", BLOCKS.values(), ids=BLOCKS)
def test_a_block_of_every_fork_is_read_as_it_was_written(block: ExecutionBlock) -> None:
    raw = encode_block(block)
    assert decode_block(raw) == block
    assert encode_block(decode_block(raw)) == raw


def test_a_header_is_written_with_the_fields_of_one_fork() -> None:
    for wrong in (
        structs.replace(GENESIS, withdrawals_root=EMPTY_ROOT),
        structs.replace(SHANGHAI, blob_gas_used=0),
        structs.replace(CANCUN, base_fee_wei=None),
    ):
        with pytest.raises(AssertionError):
            encode_header(wrong)


def items_of(header: BlockHeader) -> list[Any]:
    items = rlp.decode(encode_header(header))
    assert isinstance(items, tuple)
    return list(items)


@pytest.mark.parametrize("count", [0, 14, 18, 19, 22])
def test_a_header_with_the_fields_of_no_fork_is_refused(count: int) -> None:
    items = [*items_of(PRAGUE), b""][:count]
    with pytest.raises(WrongFieldCount):
        decode_header(rlp.encode(items))


@pytest.mark.parametrize(
    ("index", "item", "error"),
    [
        (0, bytes(31), MalformedField),
        (6, bytes(255), MalformedField),
        (8, b"\x00\x01", MalformedField),
        (8, b"\x01" * 9, FieldOverflow),
        (12, bytes(33), MalformedField),
        (12, (b"",), MalformedField),
        (14, bytes(7), MalformedField),
        (15, b"\x01" * 33, FieldOverflow),
    ],
)
def test_a_field_of_another_form_is_refused(
    index: int, item: Item, error: type[InvalidTransaction]
) -> None:
    items = items_of(PRAGUE)
    items[index] = item
    with pytest.raises(error):
        decode_header(rlp.encode(items))


def test_the_roots_of_a_block_are_those_of_its_lists() -> None:
    empty = BLOCKS["Shanghai"]
    assert transactions_root(empty) == withdrawals_root(empty) == EMPTY_ROOT
    assert withdrawals_root(BLOCKS["London"]) is None
    full = BLOCKS["Prague"]
    assert len({EMPTY_ROOT, transactions_root(full), withdrawals_root(full)}) == 3


def parts_of(block: ExecutionBlock) -> list[Any]:
    items = rlp.decode(encode_block(block))
    assert isinstance(items, tuple)
    return list(items)


def test_a_block_has_three_parts_or_four() -> None:
    parts = parts_of(BLOCKS["Prague"])
    for wrong in (parts[:2], [*parts, ()]):
        with pytest.raises(WrongFieldCount):
            decode_block(rlp.encode(wrong))
    with pytest.raises(MalformedField):
        decode_block(b"\x80")
    with pytest.raises(MalformedRlp):
        decode_block(b"\xc1")


def test_withdrawals_and_their_root_come_together() -> None:
    for wrong in (parts_of(BLOCKS["Prague"])[:3], [*parts_of(BLOCKS["London"]), ()]):
        with pytest.raises(MalformedField, match="go together"):
            decode_block(rlp.encode(wrong))


def with_transaction(item: Item) -> bytes:
    parts = parts_of(BLOCKS["Prague"])
    parts[1] = (item,)
    return rlp.encode(parts)


def test_a_legacy_transaction_stands_in_a_block_as_a_list() -> None:
    raw = envelope.encode_canonical(TRANSACTIONS[0])
    assert decode_block(with_transaction(rlp.decode(raw))).transactions == TRANSACTIONS[:1]
    with pytest.raises(MalformedField, match="wrapped"):
        decode_block(with_transaction(raw))


def test_a_sidecar_is_in_no_block() -> None:
    commitment = bytes(48)
    carried = Sidecar(0, (bytes(131_072),), (commitment,), (bytes(48),))
    bare = structs.replace(BLOB, blob_hashes=(blob_hash(commitment),))
    sent = signed(bare, sign(envelope.signing_digest(bare), SECRET))
    raw = envelope.encode_network(structs.replace(sent, sidecar=carried))
    with pytest.raises(MalformedField, match="sidecar"):
        decode_block(with_transaction(raw))
    assert decode_block(with_transaction(envelope.encode_canonical(sent))).transactions == (sent,)


def test_a_withdrawal_has_four_fields() -> None:
    parts = parts_of(BLOCKS["Prague"])
    for wrong in ((b"", b"", TO), (b"", b"", TO[1:], b""), (b"\x01" * 9, b"", TO, b"")):
        parts[3] = (wrong,)
        with pytest.raises(InvalidTransaction):
            decode_block(rlp.encode(parts))
