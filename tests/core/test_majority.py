"""One node that lies or lags must not decide alone."""

import pytest
from msgspec.structs import replace

from laneway.core.facts import AccountSeen, BlockRef, NodeReceipts, ReceiptSeen
from laneway.core.majority import (
    account_of,
    agreed,
    final_quorum,
    look_quorum,
    reached,
    reached_by,
    verdicts,
)

OURS = b"ours"


@pytest.mark.parametrize(("nodes", "final", "look"), [(1, 1, 1), (2, 2, 1), (3, 2, 2), (5, 3, 3)])
def test_a_majority_is_of_all_nodes(nodes: int, final: int, look: int) -> None:
    assert (final_quorum(nodes), look_quorum(nodes)) == (final, look)


def test_what_is_reached_is_what_enough_have_passed() -> None:
    assert reached([3, 9, 5], 2) == 5
    assert reached([7], 1) == 7


def seen(
    node: str, count: int, block: int = 10, *, branch: bytes = b"", wei: int = 5
) -> AccountSeen:
    return AccountSeen(count, count, wei, BlockRef(block, branch + bytes([block % 256])), node)


@pytest.mark.parametrize("lie", [0, 1, 3, 2**40])
def test_no_node_alone_raises_or_lowers_a_count(lie: int) -> None:
    told = account_of([seen("liar", lie, wei=lie), seen("b", 2), seen("c", 2)], 3)
    assert told is not None
    assert (told.count, told.preconfirmed_count, told.balance_wei) == (2, 2, 5)


def test_a_head_that_nobody_else_has_is_not_taken() -> None:
    told = account_of([seen("liar", 2, 60), seen("b", 2), seen("c", 2)], 3)
    assert told is not None
    assert (told.node, told.block.number) == ("b", 10)


def test_a_block_that_several_name_alike_is_taken_before_anothers() -> None:
    told = account_of([seen("liar", 2, branch=b"x"), seen("b", 2), seen("c", 2)], 3)
    assert told is not None
    assert told.node == "b"


def test_too_few_answers_or_answers_that_differ_are_none() -> None:
    assert account_of([seen("a", 2)], 3) is None
    assert account_of([seen("a", 2), seen("liar", 9)], 3) is None
    assert account_of([seen("a", 2), seen("b", 2)], 3) == seen("a", 2)
    assert account_of([], 1) is None


def receipt(block: int = 5, *, ok: bool = True, branch: bytes = b"") -> ReceiptSeen:
    return ReceiptSeen(OURS, ok, BlockRef(block, branch + bytes([block])), 21_000, 1, "node")


def said(*shown: tuple[int, ReceiptSeen | None]) -> list[NodeReceipts]:
    return [NodeReceipts(f"n{at}", head, (one,)) for at, (head, one) in enumerate(shown)]


def test_what_a_majority_of_all_shows_alike_in_a_final_block_is_final() -> None:
    dearer = replace(receipt(), effective_gas_price_wei=9, node="other")
    (told,) = verdicts(said((8, receipt()), (8, dearer)), 3, 3)
    assert told.receipt == receipt()
    assert told.shown == 2


@pytest.mark.parametrize(
    "shown",
    [
        [(8, receipt())],
        [(8, receipt()), (7, receipt())],
        [(8, receipt()), (8, receipt(ok=False))],
        [(8, receipt()), (8, receipt(branch=b"x"))],
        [(8, receipt()), (8, None), (8, None)],
        [(60, receipt(4)), (9, receipt()), (7, receipt())],
    ],
    ids=["one", "not final", "a failure", "another block", "absent", "each otherwise"],
)
def test_anything_less_is_not(shown: list[tuple[int, ReceiptSeen | None]]) -> None:
    (told,) = verdicts(said(*shown), 3, 3)
    assert told.receipt is None


def test_a_majority_that_has_come_far_enough_can_deny() -> None:
    (told,) = verdicts(said((60, receipt()), (8, None), (9, None)), 3, 3)
    assert told.is_denied(8, 3)
    assert not told.is_denied(9, 3), "a node that lags denies nothing"
    (told,) = verdicts(said((60, receipt()), (9, None)), 3, 3)
    assert not told.is_denied(8, 3)


def test_nobody_says_nothing() -> None:
    assert verdicts([], 3, 3) == []


def test_too_few_values_reach_nothing() -> None:
    assert reached_by([5, 500, 7], 2) == 7
    assert reached_by([500], 2) is None


def test_what_enough_say_alike_is_agreed() -> None:
    assert agreed(["a", "b", "b"], 2) == "b"
    assert agreed(["a", "b", "c"], 2) is None
    assert agreed([], 1) is None
