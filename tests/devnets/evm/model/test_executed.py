"""Blocks of a chain that executes: one that its own bytes replay."""

from msgspec import structs

from laneway.devnets.evm.model.chain import EvmModel
from laneway.devnets.evm.model.executed import blob_fee_after, blob_fee_of, excess_after
from laneway.devnets.evm.model.values import TransactionTaken
from laneway.evm.envelope import draft, seal, signing_digest
from laneway.evm.execution.replay import replay
from laneway.evm.execution.system_calls import (
    CONSOLIDATION_REQUESTS,
    HISTORY,
    WITHDRAWAL_REQUESTS,
    requests_hash,
)
from laneway.evm.fork import Fork
from laneway.evm.header import ExecutionBlock, hash_of, transactions_root
from laneway.evm.rules import rules_of
from laneway.evm.secp256k1 import HeldEvmKey
from laneway.evm.transaction import (
    Authorization,
    DynamicFeeTransaction,
    SetCodeTransaction,
    Transaction,
)

KEY = HeldEvmKey(b"\x01" * 32)
A, COUNTER = KEY.address, b"\xcc" * 20
GWEI, ETHER = 10**9, 10**18
COUNTS = bytes.fromhex("5f546001018060005560005260205fa0")
"""Counts in key 0, and logs the count."""


def chain() -> EvmModel:
    found = EvmModel({A: ETHER}, executes=True)
    found.set_code(COUNTER, COUNTS)
    return found


def raw(made: Transaction) -> bytes:
    drafted = draft(made)
    return seal(drafted, KEY.sign(signing_digest(made))).raw


def call(nonce: int, to: bytes | None = COUNTER, **fields: object) -> bytes:
    made = DynamicFeeTransaction(31_337, nonce, GWEI, 5 * GWEI, 100_000, to)
    return raw(structs.replace(made, **fields))


def test_a_contract_runs_and_its_logs_are_in_the_receipt() -> None:
    model = chain()
    for nonce in range(2):
        assert isinstance(model.send(0, call(nonce)), TransactionTaken)
    block = model.mine(5_000)
    receipts = [model.receipt(0, digest) for digest in block.transactions]
    assert [one and one.succeeded for one in receipts] == [True, True]
    assert [one and one.log_first for one in receipts] == [0, 1]
    assert [one and one.logs[0].data[-1] for one in receipts] == [1, 2]
    assert model.executed(block).storage(COUNTER, 0) == 2
    assert model.executed(model.parent(block)).storage(COUNTER, 0) == 0


def test_a_block_is_named_by_what_is_in_it() -> None:
    model = chain()
    for contract in (WITHDRAWAL_REQUESTS, CONSOLIDATION_REQUESTS):
        # No chain is replayed without them; this one asks nothing.
        model.set_code(contract, b"\0")
    model.send(0, call(0))
    before = model.newest()
    block = model.mine(5_000)
    assert block.header is not None
    assert hash_of(block.header) == block.hash
    whole = ExecutionBlock(
        block.header,
        tuple([model.sent(digest).transaction for digest in block.transactions]),
        withdrawals=(),
    )
    assert transactions_root(whole) == block.header.transactions_root
    done = replay(
        model.executed(before),
        whole,
        rules_of(Fork.PRAGUE),
        chain_id=31_337,
        block_hash=model.hash_at,
    )
    assert done.gas_used == block.header.gas_used == block.gas_used
    assert done.receipts_root() == block.header.receipts_root
    assert done.bloom() == block.header.logs_bloom
    assert requests_hash(done.requests) == block.header.requests_hash
    state = model.executed(before).after(done.changes)
    assert state.trie.root() == block.header.state_root


def test_the_first_block_has_a_header_too() -> None:
    first = EvmModel({A: ETHER}, executes=True).newest()
    assert first.header is not None
    assert hash_of(first.header) == first.hash


def test_what_cannot_be_in_the_block_is_left_out() -> None:
    model = chain()
    model.send(0, call(1))
    assert model.mine(1_000).transactions == ()
    assert model.reorg(1, 2_000, blocks=[[call(7)]], strict=False)
    assert model.newest().transactions == ()


def test_storage_that_was_set_is_read_by_code() -> None:
    model = chain()
    model.set_storage(COUNTER, 0, 41)
    model.send(0, call(0))
    block = model.mine(1_000)
    assert model.executed(block).storage(COUNTER, 0) == 42


def test_delegations_are_executed_and_blobs_are_not_taken() -> None:
    model = chain()
    other = HeldEvmKey(b"\x02" * 32)
    made = SetCodeTransaction(
        31_337, 0, GWEI, 5 * GWEI, 100_000, COUNTER, authorizations=(Authorization(1, A, 0),)
    )
    assert isinstance(model.send(0, raw(made)), TransactionTaken)
    block = model.mine(1_000)
    assert len(block.transactions) == 1
    assert model.account(block, other.address).nonce == 0


def test_a_fork_is_left_with_its_state() -> None:
    model = chain()
    model.send(0, call(0))
    gone = model.mine(1_000)
    model.reorg(1, 2_000, returns=False)
    assert model.executed(model.newest()).storage(COUNTER, 0) == 0
    assert model.executed(gone).storage(COUNTER, 0) == 1
    assert model.preconfirm(1) == ()


def test_a_block_keeps_its_parents_hash_where_contracts_read_it() -> None:
    model = chain()
    first = model.newest()
    second = model.mine(1_000)
    third = model.mine(2_000)
    kept = [model.executed(third).storage(HISTORY, number) for number in range(2)]
    assert kept == [int.from_bytes(one.hash, "big") for one in (first, second)]


def test_of_what_a_block_asks_an_impersonated_account_may_have_code_alone() -> None:
    model = chain()
    model.set_account(COUNTER, balance_wei=ETHER)
    made = DynamicFeeTransaction(31_337, 0, GWEI, 5 * GWEI, 100_000, COUNTER)
    for nonce in range(2):
        sent = structs.replace(made, nonce=nonce, gas_limit=20_000_000)
        assert isinstance(model.send_as(0, sent, COUNTER), TransactionTaken)
    block = model.mine(1_000)
    assert len(block.transactions) == 2
    assert model.executed(block).storage(COUNTER, 0) == 2
    assert block.gas_used > 2 * 21_000
    assert isinstance(model.send_as(0, structs.replace(made, nonce=2), COUNTER), TransactionTaken)
    model.block_gas_max = 30_000
    assert model.mine(2_000).transactions == (), "the block's gas holds for it too"


def test_the_price_of_blobs_follows_the_blocks_before() -> None:
    rules = rules_of(Fork.PRAGUE)
    first = EvmModel({A: ETHER}, executes=True).newest()
    assert first.header is not None
    full = structs.replace(first.header, excess_blob_gas=9 * 131_072, blob_gas_used=9 * 131_072)
    dear = structs.replace(full, excess_blob_gas=200 * 131_072)
    block = structs.replace(first, header=full)
    assert excess_after(block, rules) == 12 * 131_072
    assert (blob_fee_of(block, rules), blob_fee_after(block, rules)) == (1, 1)
    block = structs.replace(first, header=dear)
    assert blob_fee_after(block, rules) > blob_fee_of(block, rules) > 100
    plain = EvmModel({A: ETHER}).newest()
    assert (blob_fee_of(plain, rules), blob_fee_after(plain, rules)) == (1, 1)


def test_a_header_of_cancun_says_nothing_of_requests() -> None:
    first = EvmModel({}, executes=True, fork=Fork.CANCUN).newest()
    assert first.header is not None
    assert first.header.requests_hash is None
    assert hash_of(first.header) == first.hash
