"""Whole blocks again."""

import pytest
from tests.evm.scene import COINBASE, OTHER

from laneway.evm import rlp
from laneway.evm.envelope import signing_digest
from laneway.evm.errors import NonceTooHigh
from laneway.evm.execution.receipt import bloom
from laneway.evm.execution.replay import replay
from laneway.evm.fork import Fork
from laneway.evm.header import BlockHeader, ExecutionBlock, Withdrawal
from laneway.evm.rules import rules_of
from laneway.evm.secp256k1 import address, sign
from laneway.evm.state.plain import PlainState
from laneway.evm.transaction import DynamicFeeTransaction, signed
from laneway.evm.trie.tree import ordered_root

SECRET = b"\x01" * 32
HEADER = BlockHeader(
    parent_hash=b"\x01" * 32,
    coinbase=COINBASE,
    state_root=bytes(32),
    transactions_root=bytes(32),
    receipts_root=bytes(32),
    logs_bloom=bytes(256),
    number=7,
    gas_limit=30_000_000,
    gas_used=0,
    timestamp_s=1,
    prevrandao=bytes(32),
    base_fee_wei=7,
)


def transfer(nonce: int) -> DynamicFeeTransaction:
    made = DynamicFeeTransaction(1, nonce, 1, 100, 21_000, OTHER, value_wei=5)
    return signed(made, sign(signing_digest(made), SECRET))


def state() -> PlainState:
    found = PlainState()
    found.put(address(SECRET), balance_wei=10**18)
    return found


def test_a_block_is_executed_in_its_order_and_its_withdrawals_are_paid() -> None:
    block = ExecutionBlock(
        HEADER, (transfer(0), transfer(1)), withdrawals=(Withdrawal(0, 0, OTHER, 1),)
    )
    found = replay(
        state(), block, rules_of(Fork.CANCUN), chain_id=1, block_hash=lambda number: bytes(32)
    )
    account = found.changes.accounts[OTHER]
    assert account is not None
    assert account.balance_wei == 10 + 10**9
    assert (found.gas_used, found.blob_gas_used, found.requests) == (42_000, 0, ())
    assert found.bloom() == bloom([])
    bodies = [(1, gas, bytes(256), ()) for gas in (21_000, 42_000)]
    wanted = ordered_root([b"\x02" + rlp.encode(body) for body in bodies])
    assert found.receipts_root() == wanted


def test_a_block_with_a_transaction_that_cannot_be_in_it_is_none() -> None:
    block = ExecutionBlock(HEADER, (transfer(1),))
    with pytest.raises(NonceTooHigh):
        replay(
            state(), block, rules_of(Fork.CANCUN), chain_id=1, block_hash=lambda number: bytes(32)
        )
