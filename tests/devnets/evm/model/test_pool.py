"""One pool: lines by nonce, replacement, and what waits."""

from msgspec import structs

from laneway.devnets.evm.model.pool import NodePool, PooledTransaction, replaces
from laneway.devnets.evm.model.rules import RefusalReason
from laneway.evm.secp256k1 import Signature
from laneway.evm.transaction import BlobTransaction, DynamicFeeTransaction, Sidecar

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


def test_blobs_are_replaced_at_twice_the_price_and_by_blobs_alone() -> None:
    def blobs(fee: int, tip: int, blob_fee: int) -> BlobTransaction:
        return BlobTransaction(1, 0, tip, fee, 2, WHO, 5, blob_fee_wei_max=blob_fee)

    old = blobs(10, 10, 10)
    assert replaces(old, blobs(20, 20, 20), 10)
    for short in (blobs(19, 20, 20), blobs(20, 19, 20), blobs(20, 20, 19)):
        assert not replaces(old, short, 10)
    assert replaces(old, blobs(11, 1, 1), 0), "anvil asks for the fee alone"
    plain = sent(0, 100, 100).transaction
    assert not replaces(old, plain, 10)
    assert not replaces(sent(0, 1, 1).transaction, blobs(1, 1, 0), 10)


def test_blobs_have_a_size_of_their_own() -> None:
    assert sent(0).size_bytes() == 0
    assert sent(0).blobs() == ()
    bare = BlobTransaction(1, 0, 1, 1, 2, WHO, 5, blob_hashes=(b"h",), signature=Signature(0, 1, 1))
    assert PooledTransaction(b"", b"long", bare, WHO, 0).blobs() == ()
    carried = structs.replace(bare, sidecar=Sidecar(0, (b"b",), (b"c",), (b"p",)))
    found = PooledTransaction(b"", bytes(1_000), carried, WHO, 0)
    assert found.blobs() == ((b"h", b"b"),)
    assert found.size_bytes() < 100
