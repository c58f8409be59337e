"""What several nodes say, judged together: one that lies or lags must not decide alone.

Final answers need more than half of all configured nodes, whether they can be reached or not. A
look at the present needs half of them: of two nodes nobody can say which one is right, and what a
look finds is never final.
"""

from collections.abc import Sequence
from statistics import median_high, median_low, mode
from typing import TypeVar

from msgspec import Struct
from msgspec.structs import replace

from laneway.core.facts import (
    AccountAtBlock,
    Estimated,
    NodeReceipts,
    NotEstimated,
    ReceiptSeen,
    Reverted,
    SendKind,
)
from laneway.core.limits import ESTIMATE_FACTOR_MAX

T = TypeVar("T")

Estimate = Estimated | Reverted | NotEstimated


def final_quorum(nodes: int) -> int:
    """How many of these nodes must agree before an answer is final: 1 of 1, 2 of 2, 2 of 3."""
    return nodes // 2 + 1


def look_quorum(nodes: int) -> int:
    """How many of these nodes must have reached a number before it is taken for the present:
    1 of 1, 1 of 2, 2 of 3."""
    return (nodes + 1) // 2


def reached(values: Sequence[int], quorum: int) -> int:
    """The highest value that `quorum` of them have reached."""
    return sorted(values, reverse=True)[quorum - 1]


def reached_by(values: Sequence[int], quorum: int) -> int | None:
    """The same; None if there are fewer values."""
    return reached(values, quorum) if len(values) >= quorum else None


def agreed(values: Sequence[T], quorum: int) -> T | None:
    """The value that occurs `quorum` times; None if none does."""
    return next((one for one in values if values.count(one) >= quorum), None)


def account_of(seen: Sequence[AccountAtBlock], nodes: int) -> AccountAtBlock | None:
    """The account as enough nodes have it; None where too few answered, or those differ.

    Its block is one that a quorum has reached, and if possible one that several name alike. Its
    count is one that a quorum has reached and a quorum has not passed: no node alone can raise or
    lower it.
    """
    quorum = look_quorum(nodes)
    if len(seen) < quorum:
        return None
    count = reached([one.count for one in seen], quorum)
    if sum(one.count <= count for one in seen) < quorum:
        return None
    height = reached([one.block.number for one in seen], quorum)
    heads = [one.block for one in seen]
    there = [one for one in seen if one.block.number == height]
    chosen = max(there, key=lambda one: heads.count(one.block))
    promised = reached([one.preconfirmed_count for one in seen], quorum)
    balance = reached([one.balance_wei for one in seen], quorum)
    return replace(
        chosen, count=count, preconfirmed_count=max(count, promised), balance_wei=balance
    )


def estimate_of(answers: Sequence[Estimate], nodes: int) -> Estimate:
    """The gas that the nodes together say a call needs; `answers` is not empty.

    It is the middle of their estimates, and the higher of two: gas that is not used is not paid
    for, and with too little the call is mined and fails. Where so few answer that one that lies
    could be the middle, they must be alike: with more gas than a block has, every node would refuse
    the payment for good. Only a majority of all nodes ends an intent, whether by a revert or by
    another final refusal; anything less is asked again.
    """
    quorum = final_quorum(nodes)
    reverted = [one for one in answers if isinstance(one, Reverted)]
    if len(reverted) >= quorum:
        return reverted[0]
    found = [one.gas for one in answers if isinstance(one, Estimated)]
    if len(found) > len(reverted):
        return middle_gas(found, liars=nodes - quorum)
    unable = [one for one in answers if isinstance(one, NotEstimated)]
    if found or len(reverted) > len(unable):
        problem = f"{len(reverted)} of {nodes} nodes say that the call reverts, {quorum} must"
        return NotEstimated(SendKind.UNKNOWN, f"{problem}: {reverted[0].reason}")
    kinds = [one.kind for one in unable]
    kind = mode(kinds)
    one = unable[kinds.index(kind)]
    if kind.is_final() and kinds.count(kind) < quorum:
        return NotEstimated(SendKind.UNKNOWN, one.reason)
    return one


def middle_gas(found: Sequence[int], *, liars: int) -> Estimated | NotEstimated:
    """The middle of these estimates, of which `liars` may be wrong."""
    is_outvoted = len(found) > 2 * liars
    is_alike = len(found) > liars and max(found) <= ESTIMATE_FACTOR_MAX * min(found)
    if is_outvoted or is_alike:
        return Estimated(median_high(found))
    reason = f"too few nodes estimate the call: {len(found)}, {min(found)} to {max(found)} gas"
    return NotEstimated(SendKind.UNKNOWN, reason)


class NodesVerdict(Struct, frozen=True):
    """What all nodes together show for one hash."""

    receipt: ReceiptSeen | None
    """Its receipt, if a majority of all nodes shows it alike, in a block that is final for each."""
    shown: int
    """How many nodes show any receipt of it."""
    absent: tuple[int, ...]
    """The newest blocks of the nodes that show none."""

    def is_denied(self, height: int, nodes: int) -> bool:
        """Whether a majority of all nodes, each at this height or above, shows no receipt."""
        return sum(head >= height for head in self.absent) >= final_quorum(nodes)


def verdicts(shown_by: Sequence[NodeReceipts], nodes: int, depth: int) -> list[NodesVerdict]:
    """One for each hash that was asked for, in their order."""
    if not shown_by:
        return []
    quorum = final_quorum(nodes)
    found: list[NodesVerdict] = []
    for place in range(len(shown_by[0].receipts)):
        votes: dict[object, list[ReceiptSeen]] = {}
        shown = 0
        absent: list[int] = []
        for one in shown_by:
            receipt = one.receipts[place]
            if receipt is None:
                absent.append(one.head)
                continue
            shown += 1
            if receipt.block.number + depth <= one.head:
                alike = (receipt.hash, receipt.block, receipt.succeeded, receipt.gas_used)
                votes.setdefault(alike, []).append(receipt)
        final = next((each for each in votes.values() if len(each) >= quorum), None)
        receipt = None if final is None else middle(final)
        found.append(NodesVerdict(receipt, shown, tuple(absent)))
    return found


def middle(alike: Sequence[ReceiptSeen]) -> ReceiptSeen:
    """The receipt that these are, at the median of the prices that they name, the lower of two.
    Nodes need not agree on it: it ends nothing, and some leave it out."""
    prices = [one.effective_gas_price_wei for one in alike if one.effective_gas_price_wei]
    return replace(alike[0], effective_gas_price_wei=median_low(prices) if prices else 0)
