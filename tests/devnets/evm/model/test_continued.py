"""Chains that began elsewhere: what they take, what they refuse, and how they go on."""

from typing import Any

import pytest
from msgspec import structs
from tests.devnets.evm.model.continuing import (
    CANCUN,
    CHAIN,
    ETHER,
    FIRST,
    GWEI,
    KEY,
    PAID,
    PAST,
    PRAGUE,
    PRAGUE_S,
    TO,
    A,
    chain,
    following,
    origin,
    pay,
)

from laneway.devnets.evm.model.continued import BlockNotImported
from laneway.devnets.evm.model.values import TransactionTaken
from laneway.evm.envelope import draft, seal, signing_digest
from laneway.evm.execution.fees import blob_fee_wei
from laneway.evm.fork import Fork
from laneway.evm.header import hash_of
from laneway.evm.limits import BLOB_GAS
from laneway.evm.transaction import BlobTransaction, signed


def test_a_chain_goes_on_from_a_block_and_knows_nothing_before_it() -> None:
    model = chain()
    assert (model.newest().number, model.newest().hash) == (FIRST, hash_of(origin().header))
    assert model.block(0, FIRST) is model.newest()
    assert model.block(0, FIRST - 1) is None
    assert model.block_by_hash(0, PAST[FIRST - 1]) is None
    assert model.hash_at(FIRST - 1) == PAST[FIRST - 1]
    assert model.hash_at(FIRST - 2) == bytes(32), "nobody said"
    assert model.hash_at(FIRST) == model.newest().hash
    assert (model.first_number, model.final_number) == (FIRST, FIRST)


def test_a_block_is_taken_as_it_was_made() -> None:
    model = chain()
    block = following(model, pay(0), pay(1))
    made = model.import_block(block)
    assert (made.hash, made.header, made.imported) == (hash_of(block.header), block.header, block)
    assert model.head(0) is made
    assert [one.gas_total for one in model.receipts_of(made)] == [21_000, 42_000]
    assert model.account(made, b"\x36" * 20).balance_wei == 10
    assert model.account(made, PAID[0].address).balance_wei == 7 * GWEI
    assert model.account(made, A).nonce == 2
    assert model.final_number == FIRST + 1


def test_blocks_see_the_hashes_of_those_before_the_first() -> None:
    model = chain()
    asked = pay(0, to=TO, data=(FIRST - 1).to_bytes(32, "big"))
    assert model.import_block(following(model, asked)).gas_used > 21_000


def test_the_chain_goes_on_with_blocks_of_its_own() -> None:
    model = chain()
    model.import_block(following(model, pay(0)))
    sent = pay(1)
    raw = seal(draft(sent), KEY.sign(signing_digest(sent))).raw
    assert isinstance(model.send(0, raw), TransactionTaken)
    made = model.mine(2_000_000)
    assert (made.number, made.imported, len(made.transactions)) == (FIRST + 2, None, 1)
    assert model.block(0, FIRST + 1) is model.parent(made)
    model.reorg(1, 2_000_000)
    assert model.block(0, FIRST + 2) is model.newest()
    assert model.block_by_hash(0, made.hash) is None
    assert model.final_number == FIRST + 1


def test_a_block_with_blobs_is_taken_with_their_price() -> None:
    model, excess = chain(), 50_000_000
    made = BlobTransaction(
        *(CHAIN, 0, GWEI, 5 * GWEI, 21_000, TO, 0, b""),
        blob_fee_wei_max=ETHER // 10**6,
        blob_hashes=(b"\x01" + bytes(31),) * 2,
    )
    made = signed(made, KEY.sign(signing_digest(made)))
    used = 2 * BLOB_GAS
    block = following(model, made, blob_gas_used=used, excess_blob_gas=excess)
    imported = model.import_block(block)
    (receipt,) = model.receipts_of(imported)
    price = blob_fee_wei(excess, CANCUN.blobs)
    assert price > 1
    assert (receipt.blob_gas, receipt.blob_price_wei) == (used, price)
    assert (model.blob_fee(imported), model.blobs_ratio(imported)) == (price, 1 / 3)
    own = model.mine(2_000_000)
    assert own.header is not None
    assert own.header.excess_blob_gas == excess + used - CANCUN.blobs.target * BLOB_GAS
    assert model.blob_fee_next(imported) == model.blob_fee(own)
    wrong = structs.replace(block.header, blob_gas_used=used - BLOB_GAS)
    with pytest.raises(BlockNotImported, match="blob_gas_used"):
        chain().import_block(structs.replace(block, header=wrong))


def test_a_chain_that_is_set_back_takes_the_same_block_again() -> None:
    model = chain()
    kept = model.snapshot()
    block = following(model, pay(0))
    first = model.import_block(block)
    model.restore(kept)
    assert (model.newest(), model.final_number) == (kept.block, FIRST), "what is gone is not final"
    again = model.import_block(block)
    assert (again.hash, model.final_number) == (first.hash, FIRST + 1)
    model.reorg(1, 2_000_000)
    assert (model.newest().number, model.final_number) == (FIRST + 1, FIRST)


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ({"parent_hash": b"\x01" * 32}, "parent"),
        ({"state_root": b"\x01" * 32}, "state_root"),
        ({"receipts_root": b"\x01" * 32}, "receipts_root"),
        ({"transactions_root": b"\x01" * 32}, "transactions_root"),
        ({"withdrawals_root": b"\x01" * 32}, "withdrawals_root"),
        ({"logs_bloom": b"\x01" * 256}, "logs_bloom"),
        ({"gas_used": 5}, "gas_used"),
        ({"blob_gas_used": 5}, "blob_gas_used"),
        ({"requests_hash": b"\x01" * 32}, "requests_hash"),
        ({"base_fee_wei": 100 * GWEI}, "the block asks"),
        ({"timestamp_s": PRAGUE_S}, "system contract"),
    ],
)
def test_a_block_that_does_not_come_to_its_header_changes_nothing(
    fields: dict[str, Any], problem: str
) -> None:
    model = chain()
    block = following(model, pay(0))
    wrong = structs.replace(block, header=structs.replace(block.header, **fields))
    before = model.newest()
    with pytest.raises(BlockNotImported, match=problem):
        model.import_block(wrong)
    assert model.newest() is before
    assert model.head(0) is before
    assert model.import_block(block).number == FIRST + 1, "the right one is still taken"


def test_rules_follow_the_time_of_a_block() -> None:
    model = chain()
    assert model.fork is Fork.PRAGUE, "what is sent now is judged by the newest"
    assert [model.fork_rules(time_s) for time_s in (0, 1_000, PRAGUE_S - 1, PRAGUE_S)] == [
        CANCUN, CANCUN, CANCUN, PRAGUE,
    ]  # fmt: skip
