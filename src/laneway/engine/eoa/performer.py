"""Carries out an account lane's orders, and turns what nodes and signers say into its events."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Any, assert_never

from laneway.core.errors import ChainError
from laneway.core.facts import SendKind, Sent
from laneway.core.ids import LaneId
from laneway.core.outcome import Outcome
from laneway.core.reason import clip
from laneway.engine.eoa.account import EvmAccount
from laneway.engine.eoa.looking import look, prove
from laneway.engine.eoa.making import make_all, make_now, terms_of
from laneway.engine.eoa.view import ChainView
from laneway.engine.limits import READ_TIMEOUT_MS
from laneway.lanes.eoa.values import (
    AttemptsMade,
    BroadcastReturned,
    Effect,
    Event,
    HeadSeen,
    LookAtChain,
    Made,
    MakeAttempt,
    NonceProven,
    NotMade,
    ProveNonce,
    ReadFailed,
    SendAttempt,
    SendResult,
)
from laneway.ports import Clock

Permit = Callable[[], str | None]

HOPELESS = (
    SendKind.OVERSIZED,
    SendKind.GAS_LIMIT,
    SendKind.INTRINSIC_GAS,
    SendKind.TIP_ABOVE_CAP,
)
"""No other bytes for the same request fare better."""


class EoaPerformer:
    """Every order is answered, in the end by the adapter's own time limits."""

    prompt = False

    def __init__(self, accounts: Mapping[LaneId, EvmAccount], clock: Clock) -> None:
        self._accounts = accounts
        self._clock = clock
        self._busy: dict[LaneId, None] = {}
        """Accounts that have something out, and want to hear of new blocks."""

    # In the lane's own turn.

    def answer_now(
        self, lane: LaneId, effects: list[Effect], now_ms: int
    ) -> tuple[AttemptsMade | None, list[Effect]]:
        """Attempts for which neither the chain nor a signer elsewhere must be asked."""
        account = self._accounts[lane]
        terms = terms_of(account)
        made: list[Made | NotMade] = []
        rest: list[Effect] = []
        for effect in effects:
            one = make_now(account, effect, terms) if isinstance(effect, MakeAttempt) else None
            if one is None:
                rest.append(effect)
            else:
                made.append(one)
        return (AttemptsMade(now_ms, tuple(made)) if made else None), rest

    # Behind the commit.

    async def perform(self, lane: LaneId, effect: Effect) -> Event:
        (event,) = await self.perform_all(lane, (effect,), lambda: None)
        return event

    def perform_now(self, _lane: LaneId, _effect: Effect) -> None:
        return None

    async def perform_all(
        self, lane: LaneId, effects: Sequence[Any], permit: Permit
    ) -> list[Event]:
        """Effects of one class."""
        account = self._accounts[lane]
        first: Effect = effects[0]
        match first:
            case MakeAttempt():
                made = await make_all(account, effects)
                return [AttemptsMade(self._clock.now_ms(), tuple(made))]
            case SendAttempt():
                return [await self._send(account, effects, permit)]
            case LookAtChain():
                return [await self._look(account, first)]
            case ProveNonce():
                return [await self._prove(account, order) for order in effects]
            case _:
                assert_never(first)

    def decline(self, _lane: LaneId, effect: Effect, reason: str) -> Event:
        """What it proves that an order was not begun: of bytes, nothing that is worth a risk."""
        now_ms = self._clock.now_ms()
        match effect:
            case MakeAttempt(slot=slot, number=number):
                return AttemptsMade(now_ms, (NotMade(slot, number, final=False, reason=reason),))
            case SendAttempt():
                return BroadcastReturned(now_ms, tuple(unsent(effect, reason)))
            case LookAtChain():
                return ReadFailed(now_ms)
            case ProveNonce(nonce=nonce):
                return NonceProven(now_ms, nonce, None)
            case _:
                assert_never(effect)

    async def _send(
        self, account: EvmAccount, orders: Sequence[SendAttempt], permit: Permit
    ) -> BroadcastReturned:
        """In the order of their numbers, one batch behind the other."""
        self._busy[account.lane] = None
        async with account.stream:
            reason = permit()
            if reason is not None:
                results = [one for order in orders for one in unsent(order, reason)]
                return BroadcastReturned(self._clock.now_ms(), tuple(results))
            chain = account.view.chain
            only = unanswered(orders, chain.nodes)
            answers = await chain.send([order.raw for order in orders], only)
        results = [
            result(order, answer)
            for order, said in zip(orders, answers, strict=True)
            for answer in said
        ]
        return BroadcastReturned(self._clock.now_ms(), tuple(results))

    async def _look(self, account: EvmAccount, order: LookAtChain) -> Event:
        try:
            async with asyncio.timeout(READ_TIMEOUT_MS / 1000):
                seen = await look(account, order, self._clock)
        except (ChainError, TimeoutError):
            seen = None
        if seen is None:
            return ReadFailed(self._clock.now_ms())
        if order.hashes:
            self._busy[account.lane] = None
        else:
            self._busy.pop(account.lane, None)
        return seen

    async def _prove(self, account: EvmAccount, order: ProveNonce) -> NonceProven:
        try:
            async with asyncio.timeout(READ_TIMEOUT_MS / 1000):
                receipt, head = await prove(account, order)
        except (ChainError, TimeoutError):
            receipt, head = None, 0
        return NonceProven(self._clock.now_ms(), order.nonce, receipt, head)

    # What nobody asked for.

    async def follow(self, post: Callable[[LaneId, Any], None]) -> None:
        """Tell accounts with something out of each new block."""
        views = list({id(one.view): one.view for one in self._accounts.values()}.values())
        await asyncio.gather(*(self._follow(view, post) for view in views))

    async def _follow(self, view: ChainView, post: Callable[[LaneId, Any], None]) -> None:
        async for _ in view.chain.heads():
            now_ms = self._clock.now_ms()
            for lane in list(self._busy):
                if self._accounts[lane].view is view:
                    post(lane, HeadSeen(now_ms))


def unanswered(orders: Sequence[SendAttempt], nodes: Sequence[str]) -> tuple[str, ...]:
    """The nodes that some of these bytes still wait for; none named: all.

    Where one of them is no node of this chain any more, others have come instead and never heard
    of the bytes.
    """
    wanted = {node for order in orders for node in order.nodes}
    if not wanted.issubset(nodes):
        return ()
    return tuple(node for node in nodes if node in wanted)


def result(order: SendAttempt, answer: Sent) -> SendResult:
    if answer.outcome is Outcome.ACCEPTED:
        return SendResult(order.slot, order.number, answer.node, answer.outcome, not order.again)
    return SendResult(
        order.slot,
        order.number,
        answer.node,
        answer.outcome,
        first=not order.again,
        final=answer.final,
        hopeless=answer.kind in HOPELESS,
        broke=answer.kind is SendKind.INSUFFICIENT_FUNDS,
        used=answer.kind is SendKind.NONCE_TOO_LOW,
        reason=answer.reason,
    )


def unsent(order: SendAttempt, reason: str) -> list[SendResult]:
    return [
        SendResult(order.slot, order.number, node, Outcome.REFUSED, reason=clip(reason))
        for node in order.nodes
    ]
