"""Laws of the EVM chain model. Time is a number; nothing runs by itself."""

import pytest
from msgspec import structs

from laneway.devnets.evm.model.block import EvmBlock, base_fee_after
from laneway.devnets.evm.model.chain import EvmModel
from laneway.devnets.evm.model.pool import PooledTransaction
from laneway.devnets.evm.model.rules import ANVIL, GETH
from laneway.devnets.evm.model.states import EvmAccountState
from laneway.devnets.evm.model.values import Fees, TransactionRefused, TransactionTaken
from laneway.evm.envelope import draft, seal, signing_digest
from laneway.evm.errors import InvalidTransaction
from laneway.evm.keccak import keccak
from laneway.evm.opcodes.system import created_address
from laneway.evm.secp256k1 import HeldEvmKey
from laneway.evm.transaction import (
    Authorization,
    DynamicFeeTransaction,
    LegacyTransaction,
    SetCodeTransaction,
    Transaction,
)

GWEI = 10**9
ETHER = 10**18
CHAIN = 31_337
A, B = HeldEvmKey(b"\x01" * 32), HeldEvmKey(b"\x02" * 32)
TO = b"\x35" * 20
GAS = 21_000


def raw_of(made: Transaction, key: HeldEvmKey = A) -> bytes:
    drafted = draft(made)
    return seal(drafted, key.sign(keccak(drafted.payload))).raw


def pay(nonce: int, *, key: HeldEvmKey = A, **fields: object) -> bytes:
    plain = DynamicFeeTransaction(CHAIN, nonce, GWEI, 10 * GWEI, GAS, TO, 5)
    return raw_of(structs.replace(plain, **fields), key)


def world(**fields: object) -> EvmModel:
    return EvmModel({A.address: ETHER, B.address: ETHER}, **fields)  # type: ignore[arg-type]


def accepted(chain: EvmModel, raw: bytes, node: int = 0) -> bytes:
    answer = chain.send(node, raw)
    assert isinstance(answer, TransactionTaken), answer
    return answer.hash


def refused(chain: EvmModel, raw: bytes, node: int = 0) -> TransactionRefused:
    answer = chain.send(node, raw)
    assert isinstance(answer, TransactionRefused)
    return answer


def test_a_payment_is_mined_once_and_every_wei_is_accounted_for() -> None:
    chain = world()
    sent = accepted(chain, pay(0))
    assert chain.count(0, A.address, "latest") == 0
    assert chain.count(0, A.address, "pending") == 1
    assert chain.receipt(0, sent) is None
    block = chain.mine(1_000)
    receipt = chain.receipt(0, sent)
    assert receipt is not None
    assert (receipt.block, receipt.index, receipt.succeeded) == (block.hash, 0, True)
    assert block.base_fee_wei == GWEI - GWEI // 8
    assert receipt.price_wei == block.base_fee_wei + GWEI
    assert chain.count(0, A.address, "latest") == chain.count(0, A.address, "pending") == 1
    assert chain.balance(0, TO) == 5
    assert chain.balance(0, A.address) == ETHER - 5 - GAS * receipt.price_wei
    assert chain.balance(0, chain.beneficiary) == GAS * GWEI
    assert chain.history()[1] is chain.head(0) is chain.block(0, 1) is block
    assert block.parent == chain.history()[0].hash
    assert chain.pool(0) == ((), ())


def test_a_gap_holds_later_nonces_back_until_it_is_filled() -> None:
    chain = world()
    late = accepted(chain, pay(1))
    assert chain.count(0, A.address, "pending") == 0
    pending, queued = chain.pool(0)
    assert (pending, [sent.hash for sent in queued]) == ((), [late])
    assert chain.mine(1).transactions == ()
    first = accepted(chain, pay(0))
    assert chain.count(0, A.address, "pending") == 2
    assert chain.mine(2).transactions == (first, late)


def test_the_better_tip_goes_first_and_among_equals_the_older() -> None:
    chain = world()
    poor, rich = accepted(chain, pay(0)), accepted(chain, pay(0, key=B, tip_wei_max=2 * GWEI))
    second = accepted(chain, pay(1, key=B))
    assert chain.mine(1).transactions == (rich, poor, second)


def test_a_full_block_starves_the_lower_tip() -> None:
    chain = world(block_gas_max=2 * GAS)
    starved = accepted(chain, pay(0))
    for nonce in range(2):
        accepted(chain, pay(nonce, key=B, tip_wei_max=2 * GWEI))
    assert starved not in chain.mine(1).transactions
    assert chain.mine(2).transactions == (starved,)


@pytest.mark.parametrize(
    ("raw", "code", "message"),
    [
        (bytes.fromhex("02deadbeef"), -32602, "Failed to decode transaction"),
        (pay(0, chain_id=1), -32003, "invalid chain id for signer"),
        (
            pay(0, tip_wei_max=11 * GWEI),
            -32003,
            "max priority fee per gas higher than max fee per gas",
        ),
        (pay(0, gas_limit=20_000), -32000, "intrinsic gas too low"),
        (
            pay(0, gas_limit=10**9),
            -32000,
            "intrinsic gas too high -- tx.gas_limit > env.block.gas_limit",
        ),
        (
            pay(0, fee_wei_max=GWEI // 2, tip_wei_max=1),
            -32003,
            "max fee per gas less than block base fee",
        ),
        (pay(0, value_wei=10**30), -32003, "Insufficient funds for gas * price + value"),
    ],
)
def test_anvil_refuses_in_its_own_words(raw: bytes, code: int, message: str) -> None:
    assert refused(world(), raw) == TransactionRefused(code, message)


def test_anvil_knows_what_it_has_and_what_is_spent() -> None:
    chain = world()
    accepted(chain, pay(0))
    assert refused(chain, pay(0)) == TransactionRefused(-32003, "transaction already imported")
    chain.mine(1)
    assert refused(chain, pay(0)) == TransactionRefused(-32003, "nonce too low")


def test_geth_refuses_in_its_own_words() -> None:
    chain = world(rules=structs.replace(GETH, pool_count_max=2))
    accepted(chain, pay(0))
    words = [
        (pay(0), "already known"),
        (pay(0, gas_limit=20_000), "intrinsic gas too low: gas 20000, minimum needed 21000"),
        (pay(0, data=b"\x01" * 140_000, gas_limit=10**7), "oversized data: transaction size "),
        (pay(1, value_wei=ETHER), "insufficient funds for gas * price + value: balance "),
        (pay(0, chain_id=9), "invalid sender: invalid chain id for signer"),
    ]
    for raw, begin in words:
        answer = refused(chain, raw)
        assert answer.code == -32000
        assert answer.message.startswith(begin)
    accepted(chain, pay(1))
    assert refused(chain, pay(2)) == TransactionRefused(-32000, "txpool is full")
    accepted(chain, pay(1, fee_wei_max=20 * GWEI, tip_wei_max=2 * GWEI))
    chain.mine(1)
    assert refused(chain, pay(0)).message == "nonce too low: next nonce 2, tx nonce 0"


def test_what_changes_more_than_balances_is_refused() -> None:
    grant = (Authorization(CHAIN, TO, 0),)
    setting = SetCodeTransaction(CHAIN, 0, 1, GWEI, 10**6, TO, authorizations=grant)
    anvil, geth = world(), world(rules=GETH)
    assert refused(anvil, raw_of(setting)).code == -32602
    assert refused(geth, raw_of(setting)).message == "transaction type not supported"


def test_geth_counts_what_all_of_a_senders_transactions_can_cost() -> None:
    half = ETHER * 6 // 10
    for rules, fits in ((ANVIL, True), (GETH, False)):
        chain = world(rules=rules)
        accepted(chain, pay(0, value_wei=half))
        assert isinstance(chain.send(0, pay(1, value_wei=half)), TransactionTaken) is fits


@pytest.mark.parametrize(
    ("fee", "tip", "anvil", "geth"),
    [(100, 100, False, False), (105, 100, True, False), (110, 100, True, False),
     (110, 110, True, True), (109, 110, True, False), (100, 110, False, False)],
)  # fmt: skip
def test_a_replacement_pays_more(fee: int, tip: int, anvil: bool, geth: bool) -> None:
    for rules, replaces in ((ANVIL, anvil), (GETH, geth)):
        chain = world(rules=rules)
        old = accepted(chain, pay(0, fee_wei_max=1_000 * GWEI, tip_wei_max=100 * GWEI))
        answer = chain.send(
            0, pay(0, value_wei=6, fee_wei_max=fee * 10 * GWEI, tip_wei_max=tip * GWEI)
        )
        if replaces:
            assert isinstance(answer, TransactionTaken)
            assert chain.transaction(0, old) is None
        else:
            assert isinstance(answer, TransactionRefused)
            assert answer.message == "replacement transaction underpriced"


def test_a_base_fee_above_the_fee_evicts_on_anvil_and_waits_on_geth() -> None:
    for rules, left in ((ANVIL, 0), (GETH, 1)):
        chain = world(rules=rules)
        accepted(chain, pay(0))
        chain.base_fee_next_wei = 100 * GWEI
        assert chain.mine(1).transactions == ()
        assert chain.count(0, A.address, "pending") == left
        assert chain.base_fee_next_wei is None


def test_a_sender_without_money_is_evicted_and_a_foreign_nonce_is_seen() -> None:
    chain = world()
    accepted(chain, pay(0))
    chain.set_account(A.address, balance_wei=0)
    assert chain.mine(1).transactions == ()
    chain.set_account(A.address, balance_wei=ETHER)
    assert chain.pool(0) == ((), ())
    accepted(chain, pay(0))
    chain.set_account(A.address, nonce=1)
    assert chain.mine(2).transactions == ()
    assert chain.count(0, A.address, "pending") == 1


def test_a_dropped_transaction_is_gone_and_may_be_sent_again() -> None:
    chain = world(nodes=2)
    sent = accepted(chain, pay(0))
    assert chain.drop(sent, 1)
    assert chain.transaction(1, sent) is None
    assert chain.transaction(0, sent) is not None
    assert chain.drop(sent)
    assert not chain.drop(sent)
    accepted(chain, pay(0))


def test_a_restart_loses_the_pool_unless_it_is_kept() -> None:
    chain = world()
    accepted(chain, pay(0))
    chain.restart(0, keeps_pool=True)
    assert chain.count(0, A.address, "pending") == 1
    chain.restart(0)
    assert chain.count(0, A.address, "pending") == 0
    accepted(chain, pay(0))
    assert len(chain.mine(1).transactions) == 1


def test_only_a_replacement_frees_what_was_never_promoted() -> None:
    chain = world()
    stuck = accepted(chain, pay(0))
    accepted(chain, pay(1))
    assert chain.strand(stuck)
    assert not chain.strand(b"nobody's")
    assert chain.mine(1).transactions == ()
    assert refused(chain, pay(0)).message == "transaction already imported"
    accepted(chain, pay(0, fee_wei_max=12 * GWEI))
    assert len(chain.mine(2).transactions) == 2


def test_a_builder_may_pass_over_a_sender() -> None:
    chain = world()
    held = accepted(chain, pay(0))
    accepted(chain, pay(1))

    def skips(sent: PooledTransaction) -> bool:
        return sent.hash == held

    assert chain.mine(1, skips=skips).transactions == ()
    assert len(chain.mine(2).transactions) == 2


def test_gossip_is_at_once_or_by_command() -> None:
    chain = world(nodes=3)
    chain.gossips = False
    first, second = accepted(chain, pay(0)), accepted(chain, pay(1))
    assert chain.mine(1, node=1).transactions == ()
    chain.spread(0, first)
    assert [len(chain.pool(node)[0]) for node in range(3)] == [2, 1, 1]
    chain.spread(0)
    assert chain.mine(2, node=2).transactions == (first, second)


def test_a_lagging_node_shows_an_older_chain_and_never_goes_back() -> None:
    chain = world(nodes=2)
    chain.lag(1, 1)
    sent = accepted(chain, pay(0))
    chain.mine(1)
    assert chain.head(1).number == 0
    assert chain.receipt(1, sent) is None
    assert chain.block(1, 1) is None
    assert chain.count(1, A.address, "latest") == 0
    assert chain.count(1, A.address, "pending") == 1
    assert isinstance(chain.send(1, pay(0, fee_wei_max=20 * GWEI)), TransactionTaken)
    assert refused(chain, pay(0)).message == "nonce too low"
    chain.mine(2)
    assert chain.receipt(1, sent) is not None
    chain.lag(1, 5)
    assert chain.head(1).number == 1
    chain.lag(1, 0)
    assert chain.head(1).number == 2


def test_a_frozen_node_stays_on_a_dead_fork_until_it_is_let_go() -> None:
    chain = world(nodes=2)
    sent = accepted(chain, pay(0))
    chain.mine(1)
    dead = chain.mine(2)
    chain.freeze(1)
    chain.reorg(2, 3)
    assert chain.receipt(0, sent) is None
    assert chain.receipt(1, sent) is not None
    assert chain.block(1, 2) is dead
    assert chain.block(1, 0) is chain.history()[0]
    assert chain.block(1, 3) is None
    assert chain.block(1, -1) is None
    chain.freeze(1, frozen=False)
    assert chain.receipt(1, sent) is None


def test_a_reorg_keeps_the_height_and_returns_transactions_by_switch() -> None:
    for rules, word, left in ((ANVIL, None, 0), (GETH, None, 2), (ANVIL, True, 2)):
        chain = world(rules=rules)
        hashes = accepted(chain, pay(0)), accepted(chain, pay(1))
        block = chain.mine(1)
        assert chain.reorg(1, 2, returns=word) == (block,)
        assert chain.head(0).number == 1
        assert chain.head(0).hash != block.hash
        assert chain.count(0, A.address, "latest") == 0
        assert chain.count(0, A.address, "pending") == left
        for digest in hashes:
            assert chain.receipt(0, digest) is None
            assert chain.sent(digest).sender == A.address


def test_a_reorg_may_put_another_transaction_at_the_same_nonce() -> None:
    chain = world()
    old = accepted(chain, pay(0))
    chain.mine(1)
    other = pay(0, value_wei=6)
    chain.reorg(1, 2, blocks=[[other], []], returns=True)
    found = chain.transaction_at(0, A.address, 0)
    assert found is not None
    assert found.sent.raw == other
    assert found.block is chain.block(0, 1)
    assert chain.head(0).number == 2
    assert chain.receipt(0, old) is None
    assert refused(chain, pay(0)).message == "nonce too low"
    with pytest.raises(AssertionError, match="can be executed"):
        chain.reorg(1, 3, blocks=[[pay(7)]])


def test_a_transaction_that_returns_is_mined_again_elsewhere() -> None:
    chain = world(rules=GETH)
    sent = accepted(chain, pay(0))
    first = chain.mine(1)
    chain.reorg(1, 2)
    second = chain.mine(3)
    receipt = chain.receipt(0, sent)
    assert receipt is not None
    assert receipt.block == second.hash != first.hash


def test_the_transaction_at_a_nonce_is_in_the_chain_the_pool_or_nowhere() -> None:
    chain = world()
    assert chain.transaction_at(0, A.address, 0) is None
    sent = accepted(chain, pay(0))
    pooled = chain.transaction_at(0, A.address, 0)
    assert pooled is not None
    assert (pooled.sent.hash, pooled.block) == (sent, None)
    assert chain.transaction(0, sent) == pooled
    chain.mine(1)
    mined = chain.transaction_at(0, A.address, 0)
    assert mined is not None
    assert mined.block is chain.head(0)
    chain.reorg(1, 2)
    assert chain.transaction_at(0, A.address, 0) is None


def test_a_preconfirmation_runs_ahead_of_the_block_and_binds_nothing() -> None:
    chain = world()
    first = accepted(chain, pay(0))
    accepted(chain, pay(1))
    accepted(chain, pay(0, key=B, tip_wei_max=1))
    assert chain.preconfirm(1) == (first,)
    assert chain.count(0, A.address, "preconfirmed") == 1
    assert chain.count(0, A.address, "latest") == 0
    assert chain.count(0, B.address, "preconfirmed") == 0
    chain.mine(1)
    assert chain.count(0, A.address, "preconfirmed") == 2


def test_what_reverts_is_mined_as_failed_and_pays_gas_alone() -> None:
    chain = world()
    chain.reverts[TO] = None
    sent = accepted(chain, pay(0, gas_limit=30_000))
    tight = accepted(chain, pay(1))
    chain.mine(1)
    receipt, other = chain.receipt(0, sent), chain.receipt(0, tight)
    assert receipt is not None
    assert other is not None
    assert (receipt.succeeded, receipt.gas_used) == (False, GAS + 6)
    assert (other.succeeded, other.gas_used) == (False, GAS)
    assert chain.balance(0, TO) == 0
    assert chain.count(0, A.address, "latest") == 2


def test_a_legacy_creation_moves_its_value_to_the_new_address() -> None:
    chain = world()
    made = LegacyTransaction(0, 10 * GWEI, 60_000, None, 7, chain_id=CHAIN)
    accepted(chain, raw_of(made))
    chain.mine(1)
    assert chain.balance(0, created_address(A.address, 0)) == 7


def test_the_base_fee_follows_how_full_blocks_are() -> None:
    def after(gas_used: int, base: int = 1_000) -> int:
        return base_fee_after(EvmBlock(1, b"", b"", base, gas_used, 200, 0, ()))

    assert after(100) == 1_000
    assert after(200) == 1_125
    assert after(0) == 875
    assert after(101, 7) == 8
    chain = world()
    assert chain.fees(0) == Fees(GWEI, GWEI - GWEI // 8, GWEI)


def test_two_worlds_of_one_story_have_the_same_blocks() -> None:
    def told() -> tuple[EvmBlock, ...]:
        chain = world(nodes=2)
        accepted(chain, pay(0))
        chain.mine(1)
        chain.reorg(1, 2)
        accepted(chain, pay(0, key=B))
        chain.mine(3)
        return chain.history()

    assert told() == told()
    assert EvmAccountState() == EvmAccountState(0, 0)


def test_a_reorg_that_is_not_strict_leaves_out_what_cannot_be_executed() -> None:
    chain = world()
    chain.mine(1)
    chain.reorg(1, 2, blocks=[[pay(1), pay(0)]], strict=False)
    assert chain.head(0).transactions == (keccak(pay(0)),)


def test_a_reorg_to_what_no_chain_takes_changes_nothing() -> None:
    chain = world()
    block = chain.mine(1)
    with pytest.raises(InvalidTransaction):
        chain.reorg(1, 2, blocks=[[pay(0, chain_id=1)]], strict=False)
    assert chain.head(0) is chain.newest() is block


def test_blocks_are_found_by_hash_on_a_nodes_own_chain() -> None:
    chain = world(nodes=2)
    first = chain.mine(1)
    chain.freeze(1)
    chain.reorg(1, 2)
    assert chain.block_by_hash(0, first.hash) is None
    assert chain.block_by_hash(1, first.hash) is first
    assert chain.block_by_hash(0, bytes(32)) is None
    assert chain.parent(first) is chain.block(0, 0)


def test_an_account_is_told_as_it_stood_behind_a_block() -> None:
    chain = world()
    accepted(chain, pay(0))
    block = chain.mine(1)
    first = chain.parent(block)
    assert chain.account(first, A.address) == EvmAccountState(ETHER, 0)
    assert chain.account(block, A.address).nonce == 1
    assert chain.account(block, b"\x77" * 20) == EvmAccountState()


def test_only_what_has_no_gap_before_it_is_ready() -> None:
    chain = world()
    assert not chain.has_ready(0)
    accepted(chain, pay(1))
    assert not chain.has_ready(0)
    accepted(chain, pay(0))
    assert chain.has_ready(0)


def test_receipts_add_up_the_gas_of_their_block() -> None:
    chain = world()
    hashes = [accepted(chain, pay(nonce)) for nonce in range(3)]
    chain.mine(1)
    receipts = [chain.receipt(0, digest) for digest in hashes]
    assert [receipt and receipt.gas_total for receipt in receipts] == [GAS, 2 * GAS, 3 * GAS]


def test_a_node_may_forget_old_state_and_keeps_its_receipts() -> None:
    chain = world()
    digest = accepted(chain, pay(0))
    old = chain.mine(1)
    for at_ms in range(2, 6):
        chain.mine(at_ms)
    assert chain.has_state(0, old)
    chain.keep_state(0, 4)
    assert not chain.has_state(0, old)
    assert chain.has_state(0, chain.head(0))
    assert chain.receipt(0, digest) is not None
    chain.keep_state(0, None)
    assert chain.has_state(0, old)


def test_a_chain_that_executes_runs_code_and_names_its_state() -> None:
    executing = EvmModel({A.address: ETHER}, executes=True)
    contract = b"\xcc" * 20
    executing.set_code(contract, bytes.fromhex("5f355f55"))
    executing.set_storage(contract, 1, 9)
    made = DynamicFeeTransaction(CHAIN, 0, GWEI, 5 * GWEI, 100_000, contract, data=b"\x05" * 32)
    signed = seal(draft(made), A.sign(signing_digest(made))).raw
    assert isinstance(executing.send(0, signed), TransactionTaken)
    state = executing.executed(executing.mine(1_000))
    assert (state.storage(contract, 0) > 0, state.storage(contract, 1)) == (True, 9)
    assert executing.hash_at(1) == executing.newest().hash
    plain = EvmModel({A.address: ETHER})
    with pytest.raises(AssertionError, match="moves value alone"):
        plain.executed(plain.newest())


def test_receipts_of_a_block_are_known_when_it_has_left_the_chain() -> None:
    model = world()
    for nonce in range(2):
        model.send(0, pay(nonce))
    gone = model.mine(1_000)
    raws = [model.sent(digest).raw for digest in gone.transactions]
    model.reorg(1, 2_000, blocks=[raws[:1]])
    assert [one.block for one in model.receipts_of(gone)] == [gone.hash] * 2
    (kept,) = model.receipts_of(model.newest())
    assert (kept.hash, kept.block) == (gone.transactions[0], model.newest().hash)


def test_an_impersonated_account_sends_without_a_key() -> None:
    chain = EvmModel({TO: ETHER}, executes=True, nodes=2)
    chain.set_code(TO, b"\x00")
    made = DynamicFeeTransaction(CHAIN, 0, GWEI, 10 * GWEI, GAS, A.address, 5)
    sent = chain.send_as(0, made, TO)
    assert isinstance(sent, TransactionTaken)
    again = chain.send_as(1, made, TO)
    assert isinstance(again, TransactionRefused), "the other node has it already"
    block = chain.mine(1_000)
    assert block.transactions == (sent.hash,), "though its sender has code"
    assert (chain.balance(0, A.address), chain.count(0, TO, "latest")) == (5, 1)
    no = chain.send_as(0, structs.replace(made, nonce=1, gas_limit=1), TO)
    assert isinstance(no, TransactionRefused)
    assert no.message == "intrinsic gas too low"


def test_an_impersonated_account_cannot_pay_more_than_it_has() -> None:
    chain = EvmModel({TO: ETHER}, executes=True)
    made = DynamicFeeTransaction(CHAIN, 0, GWEI, 10 * GWEI, GAS, A.address, 5)
    chain.send_as(0, made, TO)
    chain.send_as(0, structs.replace(made, nonce=1, gas_limit=30_000_000), TO)
    assert len(chain.mine(1_000).transactions) == 1, "a block's gas holds for it too"
    chain.set_account(TO, balance_wei=1)
    assert chain.mine(2_000).transactions == ()


def test_the_pending_block_is_none_of_the_chain() -> None:
    chain = world(executes=True)
    sent = accepted(chain, pay(0))
    pending = chain.pending(0, 7_000)
    assert (pending.number, pending.transactions, pending.made_ms) == (1, (sent,), 7_000)
    assert chain.account(pending, TO).balance_wei == 5
    assert chain.executed(pending).account(TO) is not None
    assert chain.newest().number == 0
    assert chain.block_by_hash(0, pending.hash) is None
    assert chain.receipt(0, sent) is None
    chain.mine(7_000)
    assert chain.pending(0, 8_000).transactions == ()


def test_a_frozen_nodes_pending_block_is_on_its_own_head() -> None:
    chain = world(nodes=2)
    chain.freeze(1)
    chain.mine(1_000)
    chain.mine(2_000)
    assert chain.nodes_count() == 2
    assert (chain.pending(0, 3_000).number, chain.pending(1, 3_000).number) == (3, 1)


def test_blobs_cost_more_the_more_there_are() -> None:
    from tests.anvil import address
    from tests.evm_blobs import blob_transaction, named, sidecar

    from laneway.evm.envelope import encode_network

    chain = EvmModel({address(): 1_000 * ETHER}, executes=True)
    carried = sidecar(1, count=9)
    for nonce in range(3):
        accepted(chain, encode_network(blob_transaction(nonce, carried)))
        block = chain.mine(1_000 + nonce)
        assert block.header is not None
        assert block.header.excess_blob_gas == 3 * nonce * 131_072
        assert chain.blobs_ratio(block) == 1
        assert chain.blob(0, named(carried)[8]) == carried.blobs[8]
    assert chain.blob_fee(block) == 1
    assert chain.blob_fee_next(block) == 1
    assert chain.blob(0, b"\x01" + bytes(31)) is None
    plain = world()
    assert (plain.blob_fee(plain.newest()), plain.blob_fee_next(plain.newest())) == (1, 1)
    assert plain.blobs_ratio(plain.newest()) == 0


def test_a_chain_is_restored_to_where_it_stood() -> None:
    chain = world(executes=True)
    kept = chain.snapshot()
    sent = accepted(chain, pay(0))
    chain.mine(1_000)
    chain.base_fee_next_wei = 7
    later = accepted(chain, pay(1, fee_wei_max=20 * GWEI))
    chain.restore(kept)
    assert (chain.head(0), chain.receipt(0, sent)) == (kept.block, None)
    assert chain.snapshot() == kept
    assert chain.mine(2_000).base_fee_wei == GWEI - GWEI // 8, "no base fee is chosen any more"
    assert [one.hash for one in chain.pool(0)[1]] == [later], "pools stay as they are"


def test_a_package_that_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    from tests.evm_blobs import blob_transaction, sidecar

    from laneway.evm.envelope import encode_network

    monkeypatch.setitem(sys.modules, "py_arkworks_bls12381", None)
    no = refused(world(executes=True), encode_network(blob_transaction(0, sidecar(1))))
    assert (no.code, "laneway[precompiles]" in no.message) == (-32603, True)
