"""Carries out a sequence lane's orders, and turns what nodes and signers say into its events.

Offers and looks of all accounts share two bounds: the number of accounts may grow, what is asked of
nodes at once may not.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Any, assert_never

from laneway.core.cosmos import Offered, OfferKind, TxSeen
from laneway.core.errors import ChainError
from laneway.core.ids import LaneId
from laneway.core.reason import clip
from laneway.engine.limits import LOOKS_AT_ONCE, OFFERS_AT_ONCE, READ_TIMEOUT_MS
from laneway.engine.sequence.account import CosmosAccount
from laneway.engine.sequence.making import make_all, make_now
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

Permit = Callable[[], str | None]


class SequencePerformer:
    """Every order is answered, in the end by the adapter's own time limits."""

    prompt = False

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
        """Bytes for which neither the chain nor a signer elsewhere must be asked."""
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

    # Behind the commit.

    async def perform(self, lane: LaneId, effect: Effect) -> Event:
        (event,) = await self.perform_all(lane, (effect,), lambda: None)
        return event

    def perform_now(self, _lane: LaneId, _effect: Effect) -> None:
        return None

    async def perform_all(
        self, lane: LaneId, effects: Sequence[Any], permit: Permit
    ) -> list[Event]:
        """Effects of one class; the engine groups offers and looks by their node."""
        account = self._accounts[lane]
        first: Effect = effects[0]
        match first:
            case MakeAttempt():
                made = await make_all(account, effects)
                return [AttemptsMade(self._clock.now_ms(), tuple(made))]
            case OfferToNode():
                offers = (self._offer(account, order, permit) for order in effects)
                return list(await asyncio.gather(*offers))
            case LookAtNode():
                return list(await asyncio.gather(*(self._look(account, one) for one in effects)))
            case ProveSequence():
                return [await self._prove(account, order) for order in effects]
            case _:
                assert_never(first)

    def decline(self, _lane: LaneId, effect: Effect, reason: str) -> Event:
        """What it proves that an order was not begun: of bytes, nothing that is worth a risk."""
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
        return self._answered(order, tuple([said[0] for said in answers]))

    def _unsent(self, order: OfferToNode, reason: str) -> OfferReturned:
        """Nothing of it left."""
        told = Offered(order.node, OfferKind.UNREACHABLE, log=clip(reason))
        return self._answered(order, (told,) * len(order.raws))

    def _answered(self, order: OfferToNode, answers: tuple[Offered, ...]) -> OfferReturned:
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
