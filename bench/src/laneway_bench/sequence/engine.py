"""laneway as a contestant on Cosmos accounts: the few words of it that `laneway bench sequence`
uses.

Nothing else of that benchmark knows how an engine with such lanes is put together.
"""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from os import environ
from typing import Any

from laneway.core.ids import LaneId
from laneway.core.outcome import Status
from laneway.core.rows import Result
from laneway.engine.listeners import Listener
from laneway.engine.system import SystemClock
from laneway.kinds.cosmos.lanes import CosmosLanes
from laneway.kinds.cosmos.section import CosmosAccountSection, CosmosSection, SequenceSection
from laneway.kinds.cosmos.served import CosmosServed
from laneway.ports import CosmosBlob, CosmosRequest
from laneway.wiring.embedded import Laneway
from laneway.wiring.store import open_store
from laneway_bench.child import BenchFailed
from laneway_bench.limits import GUARD_S, PAYER_STATUSES
from laneway_bench.sequence.cosmos_node import secret

KEY_VARIABLE = "BENCH_ACCOUNT_KEY"
"""Without laneway's own prefix: a variable with it that is no setting is warned about."""
CHAIN = "bench"


class AnswerCounter(Listener):
    """Counts final answers, so that nobody has to keep what is answered."""

    def __init__(self) -> None:
        self.done = 0
        self.bad: Result | None = None
        """One that was not confirmed."""
        self._reached = asyncio.Event()
        self._wanted = 0

    async def reach(self, done: int) -> None:
        self._wanted = done
        self._reached.clear()
        if self.done < done:
            await self._reached.wait()

    def notified(self, _lane: LaneId, _records: Sequence[Any], results: Sequence[Result]) -> None:
        for result in results:
            if result.status != Status.CONFIRMED.value:
                self.bad = result
        self.done += len(results)
        if self.done >= self._wanted or self.bad is not None:
            self._reached.set()


class SequenceContestant:
    """An engine with the lanes of N accounts."""

    def __init__(self, laneway: Laneway, answers: AnswerCounter) -> None:
        self._laneway = laneway
        self._engine = laneway.engine
        self.answers = answers
        cosmos = laneway.kind("cosmos")
        assert isinstance(cosmos, CosmosServed)
        assert cosmos.lanes is not None
        self.lanes = cosmos.lanes.lanes()

    async def submit_many(self, lane: LaneId, requests: Sequence[CosmosRequest]) -> None:
        """By the library's own client, until all of them are durable."""
        for handle in await self._laneway.cosmos_client(lane).submit_many(requests):
            assert handle.refusal is None, handle.refusal

    async def submit_blob(self, lane: LaneId, blob: CosmosBlob) -> None:
        """By the library's own client: once there is room for its bytes, and they are durable."""
        await self._laneway.cosmos_client(lane).submit_pay_for_blob_to_queue([blob])

    async def reach(self, done: int) -> None:
        """Wait until `done` intents have their final answer; raises what stopped the engine or a
        lane, for otherwise they would be waited for in vain."""
        waiting = asyncio.ensure_future(self.answers.reach(done))
        while not waiting.done():
            await asyncio.wait((waiting,), timeout=GUARD_S)
            for fault in (self._engine.failure, *self._engine.faults.values()):
                if fault is not None:
                    waiting.cancel()
                    raise BenchFailed(f"the engine stopped: {fault}")
        bad = self.answers.bad
        if bad is not None:
            raise BenchFailed(f"a transaction is {bad.status}: {bad.reason}")


@asynccontextmanager
async def open_bench_engine(question: dict[str, Any]) -> AsyncIterator[SequenceContestant]:
    """An engine on a file of SQLite and one node."""
    accounts = []
    for number in range(1, 1 + question["accounts"]):
        name = f"{KEY_VARIABLE}_{number}"
        environ[name] = secret(number).hex()
        accounts.append(CosmosAccountSection(name=f"a{number}", signer=f"env:{name}"))
    chain = CosmosSection(
        name=CHAIN,
        chain_id=question["chain_id"],
        nodes=(question["url"],),
        accounts=tuple(accounts),
        gas_price="0.004",
    )
    section = SequenceSection(statuses=PAYER_STATUSES, **question.get("settings", {}))
    clock, answers = SystemClock(), AnswerCounter()
    laneway = Laneway(
        open_store(question["store"], clock),
        [CosmosServed(CosmosLanes((chain,), section, clock), clock)],
        clock,
        [answers],
    )
    async with laneway:
        yield SequenceContestant(laneway, answers)
