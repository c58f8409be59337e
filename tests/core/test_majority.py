"""One node that lies or lags must not decide alone."""

import pytest
from msgspec.structs import replace

from laneway.core.facts import (
    AccountAtBlock,
    BlockRef,
    Estimated,
    NodeReceipts,
    NotEstimated,
    ReceiptSeen,
    Reverted,
    SendKind,
)
from laneway.core.majority import (
    Estimate,
    account_of,
    agreed,
    estimate_of,
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
) -> AccountAtBlock:
    return AccountAtBlock(count, count, wei, BlockRef(block, branch + bytes([block % 256])), node)


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


def priced(*wei: int) -> int:
    """What was paid where nodes that show the same receipt name these prices."""
    shown = [replace(receipt(), effective_gas_price_wei=one) for one in wei]
    (told,) = verdicts(said(*((8, one) for one in shown)), 3, 3)
    assert told.receipt is not None
    return told.receipt.effective_gas_price_wei


def test_no_node_alone_names_the_price_that_was_paid() -> None:
    assert priced(2**60, 7, 7) == priced(7, 7, 2**60) == priced(1, 7, 7) == 7
    assert priced(2**60, 7) == 7, "of two the lower"
    assert priced(0, 7, 7) == priced(0, 0, 7) == 7, "some nodes leave it out"
    assert priced(0, 0) == 0


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


TRUE = Estimated(50_000)
REVERTED = Reverted("no")
POOR = NotEstimated(SendKind.INSUFFICIENT_FUNDS, "poor")
TOO_MUCH = NotEstimated(SendKind.GAS_LIMIT, "exceeds block gas limit")


@pytest.mark.parametrize("lie", [Estimated(0), Estimated(2**40), REVERTED, POOR, TOO_MUCH])
@pytest.mark.parametrize("place", [0, 1, 2])
def test_no_node_alone_moves_an_estimate(lie: Estimate, place: int) -> None:
    said = [TRUE, TRUE]
    said.insert(place, lie)  # type: ignore[arg-type]
    assert estimate_of(said, 3) == TRUE


def test_of_two_estimates_the_higher_counts() -> None:
    """What is not used is not paid for; with too little it is mined, and fails."""
    assert estimate_of([Estimated(60_000), TRUE], 2) == Estimated(60_000)
    assert estimate_of([Estimated(60_000), TRUE], 3) == Estimated(60_000)
    assert estimate_of([TRUE], 2) == TRUE


@pytest.mark.parametrize(
    "said", [[TRUE], [TRUE, Estimated(2**40)], [Estimated(1), TRUE], [TRUE, Estimated(2**40), POOR]]
)
def test_where_others_are_silent_one_node_of_three_estimates_nothing(said: list[Estimate]) -> None:
    """With more gas than a block has, every node would refuse the payment for good."""
    found = estimate_of(said, 3)
    assert isinstance(found, NotEstimated)
    assert not found.kind.is_final()


@pytest.mark.parametrize(
    ("said", "nodes", "final"),
    [
        ([REVERTED], 1, True),
        ([REVERTED, REVERTED], 2, True),
        ([REVERTED, REVERTED, TRUE], 3, True),
        ([REVERTED, REVERTED, POOR], 3, True),
        ([REVERTED], 2, False),
        ([REVERTED, TRUE], 2, False),
        ([TRUE, REVERTED], 3, False),
        ([REVERTED, REVERTED, TRUE], 5, False),
        ([REVERTED, REVERTED, POOR], 5, False),
    ],
)
def test_a_call_reverts_when_a_majority_of_all_nodes_says_so(
    said: list[Estimate], nodes: int, final: bool
) -> None:
    found = estimate_of(said, nodes)
    if final:
        assert found == REVERTED
        return
    assert isinstance(found, NotEstimated)
    assert not found.kind.is_final()
    assert found.reason == (
        f"{said.count(REVERTED)} of {nodes} nodes say that the call reverts, "
        f"{final_quorum(nodes)} must: no"
    )


def test_what_no_node_can_estimate_has_the_kind_that_most_of_them_name() -> None:
    assert estimate_of([TOO_MUCH], 1) == TOO_MUCH
    assert estimate_of([TOO_MUCH, POOR, POOR], 3) == POOR
    assert estimate_of([REVERTED, POOR], 3) == POOR
    assert estimate_of([POOR, TOO_MUCH, TOO_MUCH], 3) == TOO_MUCH
    assert estimate_of([TOO_MUCH], 3) == NotEstimated(SendKind.UNKNOWN, TOO_MUCH.reason)
