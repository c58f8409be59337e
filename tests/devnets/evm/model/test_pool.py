"""One pool: lines by nonce, replacement, and what waits."""

from laneway.devnets.evm.model.pool import NodePool, PooledTransaction, replaces
from laneway.devnets.evm.model.rules import RefusalReason
from laneway.evm.transaction import DynamicFeeTransaction

WHO = b"\x01" * 20


def sent(nonce: int, fee: int = 10, tip: int = 10, name: str = "") -> PooledTransaction:
    made = DynamicFeeTransaction(1, nonce, tip, fee, 2, WHO, 5)
    return PooledTransaction(f"{nonce}{name}".encode(), b"", made, WHO, nonce)


def filled(*nonces: int) -> NodePool:
    pool = NodePool()
    for nonce in nonces:
        assert pool.add(sent(nonce), 10) is None
    return pool


def test_a_line_is_ready_up_to_its_first_gap() -> None:
    pool = filled(3, 1, 2, 5)
    assert [each.transaction.nonce for each in pool.ready(WHO, 1)] == [1, 2, 3]
    assert pool.ready(WHO, 0) == []
    assert pool.ready(b"other", 0) == []
    assert len(pool) == 4
    assert [each.transaction.nonce for each in pool] == [3, 1, 2, 5]
    assert pool.senders() == (WHO,)
    assert pool.get(b"5") == pool.at(WHO, 5) == sent(5)
    assert pool.get(b"6") is None
    assert pool.at(b"other", 5) is None


def test_the_same_is_known_and_another_must_pay_more() -> None:
    pool = filled(1)
    assert pool.add(sent(1), 10) is RefusalReason.KNOWN
    assert pool.add(sent(1, name="b"), 10) is RefusalReason.UNDERPRICED
    assert pool.add(sent(1, 11, 11, "c"), 10) is None
    assert pool.get(b"1") is None
    assert len(pool) == 1


def test_what_is_removed_leaves_a_gap() -> None:
    pool = filled(1, 2)
    assert pool.remove(b"1")
    assert not pool.remove(b"1")
    assert pool.ready(WHO, 1) == []
    assert pool.remove(b"2")
    assert pool.senders() == ()


def test_what_is_stranded_waits_for_its_replacement() -> None:
    pool = filled(1, 2)
    assert pool.strand(b"1")
    assert not pool.strand(b"9")
    assert pool.ready(WHO, 1) == []
    assert pool.add(sent(1, 20, 20, "b"), 10) is None
    assert len(pool.ready(WHO, 1)) == 2
    pool.clear()
    assert len(pool) == 0


def test_costs_are_summed_with_one_nonce_aside() -> None:
    pool = filled(1, 2)
    assert sent(1).cost_wei() == 25
    assert pool.cost_wei(WHO, without=2) == 25
    assert pool.cost_wei(WHO, without=7) == 50
    assert pool.cost_wei(b"other", without=1) == 0


def test_geth_wants_both_fields_to_rise_and_anvil_the_fee() -> None:
    old = sent(1, 100, 0).transaction
    assert not replaces(old, sent(1, 100, 9).transaction, 0)
    assert replaces(old, sent(1, 101, 0).transaction, 0)
    # A tenth of nothing is nothing, so the tip must rise by at least a wei.
    assert not replaces(old, sent(1, 110, 0).transaction, 10)
    assert not replaces(old, sent(1, 109, 1).transaction, 10)
    assert replaces(old, sent(1, 110, 1).transaction, 10)
