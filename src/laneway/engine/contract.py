"""Carries out what a contract lane orders, and turns the host's answers into its events."""

import asyncio
from collections.abc import Coroutine
from typing import assert_never

import msgspec

from laneway.core.errors import ChainError, ChainUnreachable
from laneway.core.ids import LaneId
from laneway.core.outcome import Outcome
from laneway.core.reason import clip
from laneway.engine.expiry import Expiries
from laneway.engine.limits import READ_TIMEOUT_MS
from laneway.lanes.contract.values import (
    Effect,
    Event,
    Execute,
    ExecutionReturned,
    FindExecution,
    HeightRead,
    ReadHeight,
    SearchReturned,
)
from laneway.ports import Clock, ContractCall, ContractHost, Execution, PromptHost, TracedCall

decode_plain = msgspec.msgpack.Decoder(ContractCall).decode
decode_traced = msgspec.msgpack.Decoder(TracedCall).decode
encode_call = msgspec.msgpack.Encoder().encode

CALL_FIELDS = b"\x95"
"""How a call without a trace begins: an array of five."""


def decode_call(payload: bytes) -> ContractCall:
    return decode_plain(payload) if payload[:1] == CALL_FIELDS else decode_traced(payload)


class ContractPerformer:
    """Every effect is answered, in the end by its own deadline; none is repeated here."""

    def __init__(self, host: ContractHost, clock: Clock) -> None:
        self._host = host
        self._now = host.execute_now if isinstance(host, PromptHost) else None
        self.prompt = self._now is not None
        self._clock = clock
        self._expiries = Expiries(clock)

    def perform(self, _lane: LaneId, effect: Effect) -> Coroutine[None, None, Event]:
        match effect:
            case Execute():
                return self._execute(effect)
            case ReadHeight():
                return self._read_height(effect)
            case FindExecution():
                return self._find(effect)
            case _:
                assert_never(effect)

    def perform_now(self, _lane: LaneId, effect: Effect) -> Event | None:
        if self._now is None or not isinstance(effect, Execute):
            return None
        if effect.deadline_ms <= self._clock.now_ms():
            return self._too_late(effect)
        return self._answered(effect, self._now(decode_call(effect.payload), effect.parent))

    def decline(self, _lane: LaneId, effect: Effect, reason: str) -> Event:
        return declined(effect, self._clock.now_ms(), reason)

    async def _execute(self, effect: Execute) -> ExecutionReturned:
        call = decode_call(effect.payload)
        if effect.deadline_ms <= self._clock.now_ms():
            return self._too_late(effect)
        task = self._expiries.watch(effect.deadline_ms)
        try:
            done = await self._host.execute(call, effect.parent)
        except asyncio.CancelledError:
            if not self._expiries.has_passed(task):
                raise
            return self._returned(effect, Outcome.UNKNOWN, "no answer before its deadline")
        except ChainUnreachable as error:
            # The adapter proves that nothing was sent; that is a refusal, not a doubt.
            return self._returned(effect, Outcome.REFUSED, str(error))
        except ChainError as error:
            return self._returned(effect, Outcome.UNKNOWN, str(error))
        finally:
            self._expiries.end(task)
        return self._answered(effect, done)

    def _too_late(self, effect: Execute) -> ExecutionReturned:
        # It waited so long that its lane, or a person, may have given it up: sent now it could
        # land beside its successor. Not sent, it is proven dead.
        return self._returned(effect, Outcome.REFUSED, "not sent: its deadline had passed")

    def _answered(self, effect: Execute, done: Execution) -> ExecutionReturned:
        now_ms, slot, reason = self._clock.now_ms(), effect.slot, clip(done.reason)
        return ExecutionReturned(
            now_ms, slot, effect.attempt, done.outcome, done.block, done.final, done.stale, reason
        )

    def _returned(self, effect: Execute, outcome: Outcome, reason: str) -> ExecutionReturned:
        now_ms, slot = self._clock.now_ms(), effect.slot
        return ExecutionReturned(now_ms, slot, effect.attempt, outcome, reason=clip(reason))

    async def _read_height(self, effect: ReadHeight) -> HeightRead:
        call = decode_call(effect.payload)
        try:
            async with asyncio.timeout(READ_TIMEOUT_MS / 1000):
                height: int | None = await self._host.latest_block(call.contract)
                reason = ""
        except (ChainError, TimeoutError) as error:
            height, reason = None, str(error) or "the host did not answer with its height in time"
        return HeightRead(self._clock.now_ms(), effect.slot, height, clip(reason))

    async def _find(self, effect: FindExecution) -> Event:
        call = decode_call(effect.payload)
        try:
            async with asyncio.timeout(READ_TIMEOUT_MS / 1000):
                found = await self._host.find(call, effect.parent)
        except (ChainError, TimeoutError) as error:
            reason = clip(str(error)) or "the host did not answer the search in time"
            return declined(effect, self._clock.now_ms(), reason)
        now_ms = self._clock.now_ms()
        return SearchReturned(now_ms, effect.slot, effect.attempt, found.latest, found.block)


def declined(effect: Effect, now_ms: int, reason: str) -> Event:
    """The answer to an effect that was not begun and never will be."""
    match effect:
        case Execute(slot=slot, attempt=attempt):
            return ExecutionReturned(now_ms, slot, attempt, Outcome.REFUSED, reason=clip(reason))
        case ReadHeight(slot=slot):
            return HeightRead(now_ms, slot, None, reason)
        case FindExecution(slot=slot, attempt=attempt):
            return SearchReturned(now_ms, slot, attempt, None, None, reason)
        case _:
            assert_never(effect)
