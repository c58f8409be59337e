"""Carries out an account lane's orders, and turns answers of nodes and signers into its events."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Any, assert_never

from laneway.core.errors import ChainError
from laneway.core.ids import LaneId
from laneway.engine.eoa.account import EvmAccount
from laneway.engine.eoa.looking import Proof, look, prove_all
from laneway.engine.eoa.making import make, make_now, terms_of
from laneway.engine.eoa.sending import send_all, unsent
from laneway.engine.eoa.view import ChainView
from laneway.engine.limits import READ_TIMEOUT_MS
from laneway.engine.performers import BatchPerformer, Permit, all_of
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
)
from laneway.ports import Clock


class EoaPerformer(BatchPerformer):
    """Every order is answered, in the end by the adapter's own time limits."""

    def __init__(self, accounts: Mapping[LaneId, EvmAccount], clock: Clock) -> None:
        self._accounts = accounts
        self._clock = clock
        self._busy: dict[LaneId, None] = {}
        """Accounts with transactions under way, which are notified of new blocks."""

    # In the lane's own turn.

    def answer_now(
        self, lane: LaneId, effects: list[Effect], now_ms: int
    ) -> tuple[AttemptsMade | None, list[Effect]]:
        """Attempts that need neither the chain nor a remote signer, and the other effects."""
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

    # After the commit.

    async def perform_all(
        self, lane: LaneId, effects: Sequence[Any], permit: Permit
    ) -> list[Event]:
        """Effects of one class."""
        account = self._accounts[lane]
        first: Effect = effects[0]
        match first:
            case MakeAttempt():
                made = await all_of(make(account, one, self._clock) for one in effects)
                return [AttemptsMade(self._clock.now_ms(), tuple(made))]
            case SendAttempt():
                self._busy[lane] = None
                results = await send_all(account, effects, permit, self._clock)
                return [BroadcastReturned(self._clock.now_ms(), tuple(results))]
            case LookAtChain():
                return [await self._look(account, first)]
            case ProveNonce():
                return await self._prove(account, effects)
            case _:
                assert_never(first)

    def decline(self, _lane: LaneId, effect: Effect, reason: str) -> Event:
        """The answer to an order that was not begun; of signed bytes it proves nothing final."""
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

    async def _prove(self, account: EvmAccount, orders: Sequence[ProveNonce]) -> list[Event]:
        try:
            async with asyncio.timeout(READ_TIMEOUT_MS / 1000):
                proofs = await prove_all(account, orders)
        except (ChainError, TimeoutError):
            proofs = [Proof(order.nonce) for order in orders]
        now_ms = self._clock.now_ms()
        return [NonceProven(now_ms, one.nonce, one.receipt, one.evidence) for one in proofs]

    # What nobody asked for.

    async def follow(self, post: Callable[[LaneId, Any], None]) -> None:
        """Notify accounts with transactions under way of each new block."""
        views = list({id(one.view): one.view for one in self._accounts.values()}.values())
        await asyncio.gather(*(self._follow(view, post) for view in views))

    async def _follow(self, view: ChainView, post: Callable[[LaneId, Any], None]) -> None:
        async for _ in view.chain.heads():
            now_ms = self._clock.now_ms()
            for lane in list(self._busy):
                if self._accounts[lane].view is view:
                    post(lane, HeadSeen(now_ms))
