"""Carries out a sequence lane's orders, and turns the answers of nodes and signers into its events.

Offers and looks of all accounts share two bounds: the number of accounts may grow, what is asked of
nodes at once may not.
"""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any, assert_never

from laneway.core.cosmos import OfferAnswer, OfferKind, TxSeen
from laneway.core.errors import ChainError
from laneway.core.ids import LaneId
from laneway.core.reason import clip
from laneway.engine.limits import LOOKS_AT_ONCE, OFFERS_AT_ONCE, READ_TIMEOUT_MS
from laneway.engine.performers import BatchPerformer, Permit, all_of
from laneway.engine.sequence.account import CosmosAccount
from laneway.engine.sequence.making import make, make_now
from laneway.lanes.sequence.values import (
    AttemptsMade,
    Effect,
    Event,
    LookAtNode,
    LookFailed,
    Made,
    MakeAttempt,
    NodeLooked,
    NotMade,
    OfferReturned,
    OfferToNode,
    ProveSequence,
    SequenceProven,
)
from laneway.ports import Clock


class SequencePerformer(BatchPerformer):
    """Every order is answered, in the end by the adapter's own time limits."""

    def __init__(
        self,
        accounts: Mapping[LaneId, CosmosAccount],
        clock: Clock,
        *,
        offers_at_once: int = OFFERS_AT_ONCE,
        looks_at_once: int = LOOKS_AT_ONCE,
    ) -> None:
        self._accounts = accounts
        self._clock = clock
        self._offers = asyncio.Semaphore(offers_at_once)
        self._looks = asyncio.Semaphore(looks_at_once)

    # In the lane's own turn.

    def answer_now(
        self, lane: LaneId, effects: list[Effect], now_ms: int
    ) -> tuple[AttemptsMade | None, list[Effect]]:
        """Attempts that need neither the chain nor a remote signer, and the other effects."""
        account = self._accounts[lane]
        made: list[Made | NotMade] = []
        rest: list[Effect] = []
        for effect in effects:
            one = make_now(account, effect) if isinstance(effect, MakeAttempt) else None
            if one is None:
                rest.append(effect)
            else:
                made.append(one)
        return (AttemptsMade(now_ms, tuple(made)) if made else None), rest

    # After the commit.

    async def perform_all(
        self, lane: LaneId, effects: Sequence[Any], permit: Permit
    ) -> list[Event]:
        """Effects of one class; the engine groups offers and looks by their node."""
        account = self._accounts[lane]
        first: Effect = effects[0]
        match first:
            case MakeAttempt():
                made = [await make(account, order) for order in effects]
                return [AttemptsMade(self._clock.now_ms(), tuple(made))]
            case OfferToNode():
                return await all_of(self._offer(account, one, permit) for one in effects)
            case LookAtNode():
                return await all_of(self._look(account, one) for one in effects)
            case ProveSequence():
                return [await self._prove(account, order) for order in effects]
            case _:
                assert_never(first)

    def decline(self, _lane: LaneId, effect: Effect, reason: str) -> Event:
        """The answer to an order that was not begun; of signed bytes it proves nothing final."""
        now_ms = self._clock.now_ms()
        match effect:
            case MakeAttempt(slot=slot, number=number):
                return AttemptsMade(now_ms, (NotMade(slot, number, final=False, reason=reason),))
            case OfferToNode():
                return self._unsent(effect, reason)
            case LookAtNode(node=node):
                return LookFailed(now_ms, node)
            case ProveSequence(sequence=sequence):
                return SequenceProven(now_ms, sequence, ())
            case _:
                assert_never(effect)

    async def _offer(self, account: CosmosAccount, order: OfferToNode, permit: Permit) -> Event:
        async with self._offers:
            reason = permit()
            if reason is not None:
                return self._unsent(order, reason)
            answers = await account.view.chain.send(order.raws, (order.node,))
        return self._answered(order, tuple([by_node[0] for by_node in answers]))

    def _unsent(self, order: OfferToNode, reason: str) -> OfferReturned:
        """The answer to an offer that was not sent at all."""
        answer = OfferAnswer(order.node, OfferKind.UNREACHABLE, log=clip(reason))
        return self._answered(order, (answer,) * len(order.raws))

    def _answered(self, order: OfferToNode, answers: tuple[OfferAnswer, ...]) -> OfferReturned:
        return OfferReturned(
            now_ms=self._clock.now_ms(),
            node=order.node,
            serial=order.serial,
            epoch=order.epoch,
            first=order.first,
            hashes=order.hashes,
            answers=answers,
            again=order.again,
        )

    async def _look(self, account: CosmosAccount, order: LookAtNode) -> Event:
        chain = account.view.chain
        try:
            async with asyncio.timeout(READ_TIMEOUT_MS / 1000), self._looks:
                seen = await chain.look(order.node, account.address, order.hashes)
        except (ChainError, TimeoutError):
            return LookFailed(self._clock.now_ms(), order.node)
        if seen.problem(account.view.chain_id, account.address):
            return LookFailed(self._clock.now_ms(), order.node)
        return NodeLooked(self._clock.now_ms(), order.epoch, order.until, seen)

    async def _prove(self, account: CosmosAccount, order: ProveSequence) -> SequenceProven:
        seen: Sequence[TxSeen] = ()
        try:
            async with asyncio.timeout(READ_TIMEOUT_MS / 1000), self._looks:
                seen = await account.view.chain.used_by(account.address, order.sequence)
        except (ChainError, TimeoutError):
            pass
        return SequenceProven(self._clock.now_ms(), order.sequence, tuple(seen))
