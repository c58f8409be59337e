"""A chain that goes on from block 44, and its next blocks, made by the replay alone."""

from typing import Any

from msgspec import structs

from laneway.devnets.evm.model.continued import ChainOrigin, ContinuedModel
from laneway.devnets.evm.model.states import first_executed_state
from laneway.evm.envelope import decode, draft, seal, signing_digest
from laneway.evm.execution.replay import replay
from laneway.evm.fork import Fork
from laneway.evm.header import (
    BlockHeader,
    ExecutionBlock,
    Withdrawal,
    transactions_root,
    withdrawals_root,
)
from laneway.evm.rules import rules_of
from laneway.evm.secp256k1 import HeldEvmKey
from laneway.evm.transaction import DynamicFeeTransaction, Transaction
from laneway.evm.trie.tree import EMPTY_ROOT

KEY = HeldEvmKey(b"\x01" * 32)
A, TO = KEY.address, b"\x35" * 20
GWEI, ETHER = 10**9, 10**18
CHAIN = 77
CANCUN, PRAGUE = rules_of(Fork.CANCUN), rules_of(Fork.PRAGUE)
FIRST = 44
PRAGUE_S = 5_000
PAST = {FIRST - 1: b"\x43" * 32}
SAYS_HASH = bytes.fromhex("5f3540" + "5f5260205ff3")
"""BLOCKHASH of the number that it is called with."""


def origin(**fields: Any) -> ChainOrigin:
    state = first_executed_state({A: ETHER}).with_code(TO, SAYS_HASH)
    header = BlockHeader(
        parent_hash=PAST[FIRST - 1],
        coinbase=b"\xc0" * 20,
        state_root=state.trie.root(),
        transactions_root=EMPTY_ROOT,
        receipts_root=EMPTY_ROOT,
        logs_bloom=bytes(256),
        number=FIRST,
        gas_limit=20_000_000,
        gas_used=0,
        timestamp_s=1_000,
        prevrandao=b"\x77" * 32,
        base_fee_wei=GWEI,
        withdrawals_root=EMPTY_ROOT,
        blob_gas_used=0,
        excess_blob_gas=0,
        parent_beacon_root=bytes(32),
    )
    schedule = ((1_000, CANCUN), (PRAGUE_S, PRAGUE))
    made = ChainOrigin(header=header, state=state, schedule=schedule, hashes=PAST)
    return structs.replace(made, **fields)


def chain() -> ContinuedModel:
    return ContinuedModel(origin(), chain_id=CHAIN)


def pay(nonce: int, **fields: object) -> Transaction:
    made = DynamicFeeTransaction(CHAIN, nonce, GWEI, 5 * GWEI, 100_000, b"\x36" * 20, 5)
    made = structs.replace(made, **fields)
    return decode(seal(draft(made), KEY.sign(signing_digest(made))).raw)


PAID = (Withdrawal(1, 2, b"\x99" * 20, 7),)


def following(model: ContinuedModel, *sent: Transaction, **fields: Any) -> ExecutionBlock:
    """The next block with these, made by the replay alone."""
    parent = model.newest()
    assert parent.header is not None
    header = structs.replace(
        parent.header,
        parent_hash=parent.hash,
        number=parent.number + 1,
        timestamp_s=parent.header.timestamp_s + 12,
        **fields,
    )
    block = ExecutionBlock(header, sent, (), PAID)
    did = replay(model.executed(parent), block, CANCUN, chain_id=CHAIN, block_hash=model.hash_at)
    header = structs.replace(
        header,
        state_root=model.executed(parent).after(did.changes).trie.root(),
        transactions_root=transactions_root(block),
        receipts_root=did.receipts_root(),
        logs_bloom=did.bloom(),
        gas_used=did.gas_used,
        withdrawals_root=withdrawals_root(block),
    )
    return structs.replace(block, header=header)
