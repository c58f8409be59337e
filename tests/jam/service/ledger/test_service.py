"""Laws of the ledger service on a chain: refined, accumulated, and final in its storage."""

from itertools import permutations

import pytest
from tests.jam.service.ledger.stage import (
    CHAIN,
    IDS,
    SERVICE,
    Builder,
    Chain,
    given,
    send,
)

from laneway.jam.hashing import blake2b
from laneway.jam.report import WorkError
from laneway.jam.service.commitment import block_of, head_of, number_of, peaks_of, refusal_of
from laneway.jam.service.interface import Accumulation, Service
from laneway.jam.service.ledger.block import block_hash
from laneway.jam.service.ledger.item import code_hash
from laneway.jam.service.values import Reason


def test_the_ledger_is_a_service() -> None:
    service: Service = SERVICE
    assert service.code_hash == code_hash(CHAIN)


def test_blocks_that_were_refined_are_accumulated_and_the_head_has_their_state() -> None:
    builder, chain = Builder(), Chain()
    yields = []
    for nonce in range(3):
        block, work = builder.build(send(0, 5, 10, nonce))
        yields.append(chain.accumulate((f"p{nonce}", SERVICE.refine(given(work)))))
        head = head_of(chain.view)
        assert head is not None
        assert (head.number, head.block) == (nonce + 1, block_hash(block.header))
        assert head.state_root == builder.states[-1].root
    assert len(set(yields)) == 3
    assert builder.states[-1].account(IDS[5]).balance == 30


@pytest.mark.slow
def test_in_any_order_and_in_two_versions_the_ledger_ends_in_one_state() -> None:
    builder = Builder()
    works = [builder.build(send(0, 5, 10, nonce), send(1, 6, 1, nonce))[1] for nonce in range(3)]
    refined = [SERVICE.refine(given(work)) for work in works]
    packages = [(f"{n} v{v}", refined[n]) for n in range(3) for v in (1, 2)]
    for order in permutations(packages, 6):
        chain = Chain()
        for package in order:
            chain.accumulate(package)
        head = head_of(chain.view)
        assert head is not None
        assert (head.number, head.state_root) == (3, builder.states[-1].root)
        firsts = [next(name for name, _ in order if name.startswith(f"{n} ")) for n in range(3)]
        for number, name in enumerate(firsts, 1):
            assert number_of(chain.view, blake2b(name.encode())) == number


def test_a_block_whose_refinement_failed_has_no_effect_and_says_so() -> None:
    builder, chain = Builder(), Chain()
    _, work = builder.build(send(0, 5, 10))
    failed = SERVICE.refine(given(work, payload=b"nonsense"))
    assert failed.result is WorkError.PANIC
    assert chain.accumulate(("p", failed)) is None
    refusal = refusal_of(chain.view, blake2b(b"p"))
    assert refusal is not None
    assert refusal.reason is Reason.REFINE_FAILED
    assert peaks_of(chain.view) == ()
    assert block_of(chain.view, 1) is None


def test_a_rival_on_the_same_parent_has_no_effect() -> None:
    mine, other, chain = Builder(), Builder(), Chain()
    first = SERVICE.refine(given(mine.build(send(0, 5, 10))[1]))
    second = SERVICE.refine(given(other.build(send(0, 6, 10))[1]))
    chain.accumulate(("mine", first), ("other", second))
    head = head_of(chain.view)
    assert head is not None
    assert head.state_root == mine.states[-1].root
    refusal = refusal_of(chain.view, blake2b(b"other"))
    assert refusal is not None
    assert refusal.reason is Reason.OTHER_BLOCK_APPLIED


def test_accumulating_nothing_is_nothing() -> None:
    assert SERVICE.accumulate(Chain().view, (), 5) == Accumulation()
