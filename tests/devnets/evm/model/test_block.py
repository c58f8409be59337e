"""How a block is made: what runs, what it costs, and the base fee after it."""

from laneway.devnets.evm.model.block import (
    BlockPlace,
    EvmBlock,
    ValueWork,
    base_fee_after,
    genesis,
)
from laneway.devnets.evm.model.pool import PooledTransaction
from laneway.devnets.evm.model.states import EvmAccountState, ValueState
from laneway.evm.fork import Fork
from laneway.evm.opcodes.system import created_address
from laneway.evm.transaction import DynamicFeeTransaction

WHO, TO, BUILDER, BAD = b"\x01" * 20, b"\x02" * 20, b"\x03" * 20, b"\x04" * 20
GAS = 21_000


def sent(
    nonce: int = 0, *, fee: int = 10, tip: int = 2, to: bytes | None = TO, gas: int = GAS
) -> PooledTransaction:
    made = DynamicFeeTransaction(1, nonce, tip, fee, gas, to, 5)
    return PooledTransaction(b"%d" % nonce, b"", made, WHO, nonce)


def work(balance_wei: int = 10**9, gas_limit: int = 10**6, count: int = 1) -> ValueWork:
    place = BlockPlace(
        parent=genesis({WHO: 1}, gas_limit),
        made_ms=5,
        base_fee_wei=7,
        gas_limit=gas_limit,
        beneficiary=BUILDER,
        chain_id=1,
        block_hash=lambda number: bytes(32),
        count=count,
    )
    state = ValueState({WHO: EvmAccountState(balance_wei)})
    return ValueWork(state, place, fork=Fork.PRAGUE, reverts={BAD: None})


def test_what_runs_moves_value_and_pays_builder_and_base_fee() -> None:
    block = work()
    assert block.run(sent())
    assert block.account(WHO) == EvmAccountState(10**9 - GAS * 9 - 5, 1)
    assert block.account(TO) == EvmAccountState(5)
    assert block.account(BUILDER) == EvmAccountState(GAS * 2)
    assert (block.gas_used, block.done) == (GAS, [(sent(), GAS, True)])


def test_what_cannot_be_in_the_block_changes_nothing() -> None:
    for block, refused in (
        (work(), sent(1)),
        (work(), sent(fee=6)),
        (work(GAS * 10 + 4), sent()),
        (work(gas_limit=GAS - 1), sent()),
    ):
        before = dict(block.accounts)
        assert not block.run(refused)
        assert block.accounts == before
        assert block.done == []


def test_what_reverts_pays_gas_and_moves_nothing() -> None:
    block = work()
    assert block.run(sent(to=BAD, gas=30_000))
    assert block.done[0][1:] == (GAS + 6, False)
    assert block.account(BAD) == EvmAccountState(0)
    assert block.account(WHO).nonce == 1


def test_value_sent_to_nobody_goes_to_the_new_address() -> None:
    block = work()
    assert block.run(sent(to=None, gas=60_000))
    assert block.account(created_address(WHO, 0)) == EvmAccountState(5)


def test_a_senders_next_one_competes_by_its_tip() -> None:
    block = work()
    best: list[tuple[int, int, list[PooledTransaction]]] = []
    block.queue(best, [])
    assert best == []
    block.queue(best, [sent(1), sent(0, tip=3)])
    assert best[0][:2] == (-3, 0)


def test_two_blocks_of_one_content_differ_by_their_count() -> None:
    works = [work(count=count) for count in (1, 2)]
    assert all(one.run(sent()) for one in works)
    state = works[0].state()
    first, second = [one.block(state) for one in works]
    assert first.hash != second.hash
    assert (first.number, first.gas_used, first.made_ms) == (1, GAS, 5)
    assert (first.transactions, first.header) == ((sent().hash,), None)
    assert state.standing(TO) == EvmAccountState(5)


def test_the_base_fee_follows_how_full_the_parent_was() -> None:
    def after(gas_used: int, base: int = 1_000) -> int:
        return base_fee_after(EvmBlock(1, b"", b"", base, gas_used, 200, 0, ()))

    assert [after(100), after(200), after(0), after(101, 7)] == [1_000, 1_125, 875, 8]


def test_first_balances_name_the_first_block() -> None:
    assert genesis({WHO: 1}, 9).hash != genesis({WHO: 2}, 9).hash
    assert genesis({WHO: 1}, 9).number == 0
