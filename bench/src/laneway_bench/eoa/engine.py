"""laneway as a contestant on an account: the few words of it that `laneway bench eoa` uses.

Nothing else of that benchmark knows how an engine with an account's lane is put together.
"""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from os import environ
from typing import Protocol

from msgspec import Struct

from laneway.core.ids import ENTROPY_BYTES, IntentId, intent_id
from laneway.core.intent import Accepted, Arrival
from laneway.core.units import amount
from laneway.engine.eoa.drafts import encode_request
from laneway.engine.system import SystemClock, SystemEntropy
from laneway.kinds.evm.lanes import EvmLanes
from laneway.kinds.evm.section import AccountSection, EoaSection, EvmSection, NodeSection
from laneway.kinds.evm.served import EvmServed
from laneway.lanes.eoa.settings import INFLIGHT_MAX
from laneway.ports import EvmRequest
from laneway.wiring.embedded import Laneway
from laneway.wiring.store import open_store
from laneway_bench.anvil import CHAIN_ID
from laneway_bench.child import BenchFailed


class BenchTransfer(Struct, frozen=True):
    """What every contestant sends. All but the nonce is given, so that nobody asks for it."""

    to: bytes
    value_wei: int
    gas_limit: int
    fee_wei_max: int
    tip_wei_max: int


class BenchEngine(Protocol):
    """One engine with the lane of one account."""

    async def submit_many(self, requests: Sequence[BenchTransfer]) -> Sequence[str]:
        """The ids of intents that are durable, in the order of the requests."""

    async def all_included(self) -> None:
        """Until the engine knows of everything it took that it is in a block; raises what stopped
        the engine or its lane, for otherwise it would be waited for in vain."""

    async def waiting(self) -> int:
        """How many intents have no nonce yet."""


@asynccontextmanager
async def open_bench_engine(store: str, chain_url: str, key: str) -> AsyncIterator[BenchEngine]:
    """An engine on a store (a file of SQLite, or the address of a Redis) and one node."""
    environ[KEY_VARIABLE] = key.removeprefix("0x")
    clock = SystemClock()
    node = NodeSection(url=chain_url, ws_url=chain_url.replace("http", "ws", 1))
    account = AccountSection(name="payer", signer=f"env:{KEY_VARIABLE}")
    chain = EvmSection(name="bench", chain_id=CHAIN_ID, nodes=(node,), accounts=(account,))
    laneway = Laneway(
        open_store(store, clock),
        [EvmServed(EvmLanes((chain,), EOA, clock), clock)],
        clock,
    )
    async with laneway:
        yield EoaContestant(laneway)


EOA = EoaSection(
    # As everyone here: what is in a block counts as done.
    finality_depth_blocks=0,
    inflight=INFLIGHT_MAX,
    block_ms=100,
    poll_ms=100,
    look_ms_min=50,
    # As many connections as the raw sender has: anvil keeps numbers with a gap below them.
    streams=2,
    # Nothing else uses the account, and nothing is ever stuck for so long.
    bump_after_ms=600_000,
)

KEY_VARIABLE = "BENCH_ACCOUNT_KEY"
"""Without laneway's own prefix: a variable with it that is no setting is warned about."""


class EoaContestant:
    """An engine with the lane of one account."""

    def __init__(self, laneway: Laneway) -> None:
        self._engine = laneway.engine
        self._store = laneway.store
        evm = laneway.kind("evm")
        assert isinstance(evm, EvmServed)
        assert evm.lanes is not None
        (self._lane,) = evm.lanes.lanes()
        self._clock = SystemClock()
        self._entropy = SystemEntropy()
        self._last: IntentId | None = None

    async def submit_many(self, requests: Sequence[BenchTransfer]) -> list[str]:
        now_ms = self._clock.now_ms()
        arrivals = [
            Arrival(
                id=intent_id(now_ms, self._entropy.token(ENTROPY_BYTES)),
                lane=self._lane,
                payload=encode_request(request_of(transfer)),
                digest=b"",
                accepted_ms=now_ms,
                fresh=True,
            )
            for transfer in requests
        ]
        self._last = arrivals[-1].id
        for answer in await self._engine.submit_many(arrivals):
            assert isinstance(answer, Accepted), answer
        return [arrival.id for arrival in arrivals]

    async def all_included(self) -> None:
        assert self._last is not None
        # Final answers come in the order of the numbers, so the last one's is the last.
        waiting = asyncio.ensure_future(self._engine.result(self._last, self._lane))
        while not waiting.done():
            await asyncio.wait((waiting,), timeout=1.0)
            fault = self._engine.failure or self._engine.faults.get(self._lane)
            if fault is not None:
                waiting.cancel()
                raise BenchFailed(f"the lane stopped: {fault}")
        view = await self._store.lane(self._lane)
        assert view is not None
        if view.depth():
            raise BenchFailed(f"{view.depth()} transfers have no answer")

    async def waiting(self) -> int:
        view = await self._store.lane(self._lane)
        return 0 if view is None else view.tail.accepted_count - sum(view.head.cursors)


def request_of(transfer: BenchTransfer) -> EvmRequest:
    return EvmRequest(
        to=transfer.to,
        value_wei=amount(transfer.value_wei),
        gas=transfer.gas_limit,
        fee_wei_max=transfer.fee_wei_max,
        tip_wei=transfer.tip_wei_max,
    )
