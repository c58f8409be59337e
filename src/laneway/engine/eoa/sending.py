"""Signed bytes on their way: in the order of their numbers, part after part over the account's
streams.

Were each stream given a long stretch of numbers, a node would keep the second waiting for the end
of the first, and then mine both at once.
"""

import asyncio
from collections.abc import Sequence

from laneway.core.facts import SendAnswer, SendKind
from laneway.core.outcome import Outcome
from laneway.core.reason import clip
from laneway.engine.eoa.account import EvmAccount
from laneway.engine.limits import SENDS_PER_PART
from laneway.engine.performers import Permit
from laneway.evm.envelope import decode
from laneway.evm.transaction import cost_wei_max
from laneway.lanes.eoa.values import SendAttempt, SendResult
from laneway.ports import Clock

HOPELESS = (
    SendKind.OVERSIZED,
    SendKind.GAS_LIMIT,
    SendKind.INTRINSIC_GAS,
    SendKind.TIP_ABOVE_CAP,
)
"""No other bytes for the same request fare better."""

CHEAP = (
    SendKind.UNDERPRICED,
    SendKind.FEE_CAP_TOO_LOW,
    SendKind.REPLACEMENT_UNDERPRICED,
    SendKind.POOL_FULL,
)
"""The node looked at the bytes, and a dearer offer may be taken in their place."""

GAVE_UP = (SendKind.UNREACHABLE, SendKind.SILENT, SendKind.RATE_LIMITED)
"""Answers for the last of a part that show that its node was not asked to the end."""

AFTER_A_DOUBT = "not offered: the node did not answer for those before it"


async def send_all(
    account: EvmAccount, orders: Sequence[SendAttempt], permit: Permit, clock: Clock
) -> list[SendResult]:
    """The answer of each node to each order."""
    lost: set[str] = set()
    parts = [orders[at : at + SENDS_PER_PART] for at in range(0, len(orders), SENDS_PER_PART)]
    async with asyncio.TaskGroup() as group:
        sent = [group.create_task(send_part(account, part, permit, clock, lost)) for part in parts]
    return [one for part in sent for one in part.result()]


async def send_part(
    account: EvmAccount,
    orders: Sequence[SendAttempt],
    permit: Permit,
    clock: Clock,
    lost: set[str],
) -> list[SendResult]:
    """`lost` are nodes that failed in an earlier part: what comes after a doubt would wait for it
    anyway."""
    chain = account.view.chain
    async with account.stream:
        reason = permit()
        if reason is not None:
            return [one for order in orders for one in unsent(order, reason)]
        only = unanswered(orders, chain.nodes)
        if lost:
            only = tuple(node for node in only or chain.nodes if node not in lost)
            if not only:
                return [one for order in orders for one in unsent(order, AFTER_A_DOUBT)]
        asked_ms = clock.now_ms()
        answers = await chain.send([order.raw for order in orders], only)
        lost.update(answer.node for answer in answers[-1] if answer.kind in GAVE_UP)
    results = [
        result(order, answer, asked_ms)
        for order, by_node in zip(orders, answers, strict=True)
        for answer in by_node
    ]
    if lost:
        asked = {answer.node for answer in answers[-1]}
        results += [
            one
            for order in orders
            for one in unsent(order, AFTER_A_DOUBT)
            if one.node in lost and one.node not in asked
        ]
    return results


def unanswered(orders: Sequence[SendAttempt], nodes: Sequence[str]) -> tuple[str, ...]:
    """The nodes that some of these bytes still wait for; none named: all.

    Where one of them is no node of this chain any more, others have come instead and never received
    the bytes.
    """
    wanted = {node for order in orders for node in order.nodes}
    if not wanted.issubset(nodes):
        return ()
    return tuple(node for node in nodes if node in wanted)


def result(order: SendAttempt, answer: SendAnswer, asked_ms: int) -> SendResult:
    if answer.outcome is Outcome.ACCEPTED:
        return SendResult(order.slot, order.number, answer.node, answer.outcome, not order.again)
    is_poor = answer.kind is SendKind.INSUFFICIENT_FUNDS
    return SendResult(
        order.slot,
        order.number,
        answer.node,
        answer.outcome,
        first=not order.again,
        final=answer.final,
        policy=answer.kind.is_policy(),
        hopeless=answer.kind in HOPELESS,
        broke=is_poor,
        cheap=answer.kind in CHEAP,
        used=answer.kind is SendKind.NONCE_TOO_LOW,
        reason=answer.reason,
        asked_ms=asked_ms,
        needed=cost_wei_max(decode(order.raw)) if is_poor else 0,
    )


def unsent(order: SendAttempt, reason: str) -> list[SendResult]:
    return [
        SendResult(order.slot, order.number, node, Outcome.REFUSED, reason=clip(reason))
        for node in order.nodes
    ]
