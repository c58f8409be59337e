"""Laws of one CAT mempool: sets by signer, room by worth, and what is remembered."""

import pytest
from msgspec.structs import replace
from tests.devnets.cosmos.stage import DENOM, FEE, GAS, STRANGER, A, B, pay, raw_of, reads, resigned

from laneway.cosmos.keys import HeldCosmosKey
from laneway.cosmos.tx import SignedCosmosTx
from laneway.devnets.cosmos.model.mempool import (
    HashMemory,
    HeldTransaction,
    Mempool,
    MempoolFull,
    MempoolRules,
    held,
)
from laneway.devnets.cosmos.model.verdicts import OK, AppVerdict, timed_out

NO = AppVerdict(32, "mismatch", "sdk")


def offered(made: SignedCosmosTx, *, height: int = 0, arrival: int = 0) -> HeldTransaction:
    return held(reads(made), made.raw, height, arrival, DENOM)


def one(
    sequence: int, key: HeldCosmosKey = A, *, times: int = 1, height: int = 0, arrival: int = 0
) -> HeldTransaction:
    """Pays so many times the least fee."""
    return offered(pay(sequence, key=key, fee=times * FEE), height=height, arrival=arrival)


def filled(*members: HeldTransaction, room: int = 0) -> Mempool:
    """Full, but for so many bytes."""
    mempool = Mempool(MempoolRules(bytes_max=sum(each.size for each in members) + room))
    for each in members:
        mempool.add(each)
    return mempool


def hashes(*members: HeldTransaction) -> list[bytes]:
    return [each.hash for each in members]


def test_the_priority_is_what_is_paid_for_a_unit_of_gas_in_millionths() -> None:
    made = one(0)
    assert (made.priority, made.gas, made.signer) == (FEE * 1_000_000 // GAS, GAS, raw_of(A))
    assert made.size == len(pay(0).raw)
    bare = resigned(pay(0), replace(reads(pay(0)).auth, fee=None))
    assert (offered(bare).priority, offered(bare).gas) == (0, 1)


def test_the_first_word_stands() -> None:
    memory = HashMemory(2)
    memory.add(b"a", NO)
    memory.add(b"a", timed_out(5, 4))
    assert memory.get(b"a") == NO
    assert memory.get(b"b") is None


def test_the_oldest_is_forgotten_and_a_second_word_makes_it_young() -> None:
    memory = HashMemory(2)
    memory.add(b"a", NO)
    memory.add(b"b")
    memory.add(b"a")
    memory.add(b"c")
    assert memory.get(b"b") is None
    assert (memory.get(b"a"), memory.get(b"c")) == (NO, OK)


def test_what_is_held_is_found_by_its_hash_and_counted_in_bytes() -> None:
    first, second = one(0), one(1)
    mempool = filled(first, second)
    assert (len(mempool), mempool.size) == (2, first.size + second.size)
    assert mempool.get(first.hash) is first
    mempool.remove(first)
    assert mempool.get(first.hash) is None
    assert (len(mempool), mempool.size) == (1, second.size)
    assert mempool.evicted.get(first.hash) is None, "what is removed was not evicted"


def test_one_signer_is_taken_in_the_order_of_sequences() -> None:
    late, early = one(1, arrival=1), one(0, arrival=2)
    assert list(filled(late, early).in_order()) == [early, late]


def test_the_dearest_set_goes_first_and_of_equal_ones_the_oldest() -> None:
    plain = one(0, A, arrival=2)
    older = one(0, STRANGER, arrival=1)
    dear = one(0, B, times=2, arrival=3)
    assert list(filled(plain, older, dear).in_order()) == [dear, older, plain]


def test_a_set_is_worth_what_it_pays_together_by_gas() -> None:
    cheap = one(0)
    dear = offered(pay(1, fee=6 * FEE, gas=3 * GAS))
    mempool = filled(cheap, dear)
    assert (cheap.priority, dear.priority) == (4_000, 8_000)
    assert mempool.worth(raw_of(A)) == 7_000


def test_the_highest_sequence_of_a_cheaper_signer_makes_room() -> None:
    first, second, third = one(0), one(1), one(2)
    mempool = filled(first, second, third)
    dear = one(0, B, times=2)
    mempool.add(dear)
    assert list(mempool.in_order()) == [dear, first, second]
    assert mempool.evicted.get(third.hash) is not None
    assert mempool.size == dear.size + first.size + second.size


def test_as_many_go_as_room_is_missing() -> None:
    small = [one(0), one(1), one(2)]
    mempool = filled(*small)
    large = offered(pay(0, key=B, fee=2 * FEE, memo="x" * 200))
    assert small[0].size < large.size <= 2 * small[0].size
    mempool.add(large)
    assert list(mempool.in_order()) == [large, small[0]]


def test_the_cheapest_signer_goes_before_one_that_is_less_cheap() -> None:
    cheap, better = one(0, A), one(0, STRANGER, times=2)
    mempool = filled(better, cheap, room=9)
    mempool.add(one(0, B, times=3))
    assert mempool.get(cheap.hash) is None
    assert mempool.get(better.hash) is better


def test_of_equally_cheap_signers_the_youngest_goes() -> None:
    older, younger = one(0, A, arrival=1), one(0, STRANGER, arrival=2)
    mempool = filled(older, younger)
    mempool.add(one(0, B, times=2, arrival=3))
    assert mempool.get(older.hash) is older
    assert mempool.get(younger.hash) is None


@pytest.mark.parametrize("times", [1, 2])
def test_nothing_of_the_same_worth_or_better_makes_room(times: int) -> None:
    kept = one(0, times=times)
    mempool = filled(kept)
    new = one(0, B)
    with pytest.raises(MempoolFull):
        mempool.add(new)
    assert list(mempool.in_order()) == [kept]
    assert mempool.get(new.hash) is None
    assert mempool.evicted.get(new.hash) is not None, "it counts as evicted"


def test_a_signer_does_not_push_out_himself() -> None:
    kept = one(0)
    mempool = filled(kept)
    with pytest.raises(MempoolFull):
        mempool.add(one(1, times=9))
    assert list(mempool.in_order()) == [kept]


def test_where_all_that_is_cheaper_is_too_little_nothing_goes() -> None:
    cheap, dear = one(0), one(0, STRANGER, times=9)
    mempool = filled(cheap, dear)
    with pytest.raises(MempoolFull):
        mempool.add(offered(pay(0, key=B, fee=2 * FEE, memo="x" * 200)))
    assert list(mempool.in_order()) == [dear, cheap]
    assert mempool.evicted.get(cheap.hash) is None


def test_one_byte_more_than_there_is_room_costs_another_its_place() -> None:
    cheap, dear = one(0), one(0, B, times=2)
    roomy, tight = filled(cheap, room=dear.size), filled(cheap, room=dear.size - 1)
    for mempool in (roomy, tight):
        mempool.add(dear)
    assert list(roomy.in_order()) == [dear, cheap]
    assert list(tight.in_order()) == [dear]


def test_those_that_go_must_have_all_the_room_that_is_needed() -> None:
    """Also where some is free already; so celestia-core counts."""
    cheap, dear = one(0), offered(pay(0, key=B, fee=2 * FEE, memo="x"))
    assert cheap.size < dear.size
    with pytest.raises(MempoolFull):
        filled(cheap, room=dear.size - 1).add(dear)
    another = one(1)
    mempool = filled(cheap, another, room=dear.size - another.size)
    mempool.add(dear)
    assert list(mempool.in_order()) == [dear, cheap]


def test_a_newcomer_is_worth_what_its_whole_set_is_then() -> None:
    """Neither lifts a dear one its cheap set above others, nor does a cheap one fall out of a dear
    set."""
    poor, rich = one(0, times=1), one(1, times=3)
    other = offered(pay(0, key=B, fee=2 * FEE, memo="longer"))
    with pytest.raises(MempoolFull):
        filled(poor, other).add(rich)
    rich, poor = one(0, times=5), one(1, times=1)
    mempool = filled(rich, other)
    mempool.add(poor)
    assert list(mempool.in_order()) == [rich, poor]


def test_one_goes_where_there_are_too_many() -> None:
    mempool = Mempool(MempoolRules(count_max=2))
    first, second, dear = one(0), one(1), one(0, B, times=2)
    for each in (first, second, dear):
        mempool.add(each)
    assert list(mempool.in_order()) == [dear, first]
    with pytest.raises(MempoolFull):
        mempool.add(one(0, STRANGER))


def test_a_set_is_dropped_whole_when_its_first_has_waited_too_long() -> None:
    mempool = Mempool(MempoolRules(ttl_blocks=2))
    first, second = one(0, height=1), one(1, height=3)
    young = one(0, B, height=2)
    for each in (first, second, young):
        mempool.add(each)
    mempool.expire(3)
    assert len(mempool) == 3
    mempool.expire(4)
    assert list(mempool.in_order()) == [young]
    assert mempool.size == young.size
    assert None not in (mempool.evicted.get(each.hash) for each in (first, second))


def test_where_no_age_is_set_nothing_is_too_old() -> None:
    mempool = Mempool(MempoolRules(ttl_blocks=0))
    mempool.add(one(0))
    mempool.expire(1_000_000)
    assert len(mempool) == 1


def test_what_is_refused_anew_goes_and_its_reason_is_remembered() -> None:
    first, second, other = one(0), one(1), one(0, B, times=2)
    mempool = filled(second, first, other)
    asked: list[HeldTransaction] = []

    def judge(each: HeldTransaction) -> AppVerdict:
        asked.append(each)
        return NO if each is first else OK

    mempool.recheck(judge)
    assert hashes(*asked) == hashes(other, first, second)
    assert hashes(*mempool.in_order()) == hashes(other, second)
    assert mempool.rejected.get(first.hash) == NO
    assert mempool.rejected.get(second.hash) is None
    assert mempool.evicted.get(first.hash) is None


def test_memories_are_as_long_as_the_rules_say() -> None:
    mempool = Mempool(MempoolRules(rejected_max=1, evicted_max=1))
    first, second = one(0), one(1)
    for each in (first, second):
        mempool.add(each)
        mempool.evict(each)
        mempool.rejected.add(each.hash, NO)
    for memory in (mempool.evicted, mempool.rejected):
        assert memory.get(first.hash) is None
        assert memory.get(second.hash) is not None
