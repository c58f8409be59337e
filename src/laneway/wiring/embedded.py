"""The library: an engine inside your own process, on one file.

async with Laneway.open("laneway.db", host=host) as lw:
    handle = await lw.submit("Qm123", data="transfer 5", executor="did:1", key="order-7")
    print((await handle.result()).block)
"""

import asyncio
from collections.abc import Sequence
from contextlib import AsyncExitStack
from typing import Any, Self, get_args

from laneway.core.errors import BadRequest, LaneNotFound
from laneway.core.ids import IntentId, LaneId, lane_kind
from laneway.core.rows import Result
from laneway.engine.heart import HeartPace, Retention
from laneway.engine.reactor import Reactor
from laneway.engine.shell import DrainMode, Engine, EngineStopped, Listener
from laneway.engine.system import SystemClock, SystemEntropy, fresh_owner
from laneway.kinds.audit.served import AuditServed
from laneway.kinds.audit.trail import Audit
from laneway.kinds.contract.calls import ContractCalls
from laneway.kinds.contract.served import ContractServed
from laneway.kinds.cosmos.calls import CosmosCalls
from laneway.kinds.cosmos.served import CosmosServed
from laneway.kinds.evm.calls import EvmCalls
from laneway.kinds.evm.served import EvmServed
from laneway.kinds.handle import Handle, Handles, Settled
from laneway.kinds.limits import LANE_PAGE
from laneway.kinds.rollup.calls import RollupCalls
from laneway.kinds.rollup.served import RollupServed
from laneway.kinds.served import Served
from laneway.lanes.contract import ContractSettings
from laneway.ports import Clock, ContractHost, Store
from laneway.wire.values import Lane, LaneHealth, Tx
from laneway.wiring.commands import Commands
from laneway.wiring.nodes import ProcessNodes
from laneway.wiring.stops import Stops
from laneway.wiring.store import open_store
from laneway.wiring.views import Views

__all__ = ["EngineStopped", "Handle", "Laneway", "Settled"]

PLAIN = "contract"
"""The kind whose lanes may be named by their key alone."""


class Laneway(ContractCalls, EvmCalls, CosmosCalls, RollupCalls, Commands):
    """A running engine with lanes of the kinds that it is given. The audit trail is always there:
    every command is written down."""

    def __init__(
        self,
        store: Store,
        kinds: Sequence[Served],
        clock: Clock,
        listeners: Sequence[Listener] = (),
        *,
        retention: Retention | None = None,
        pace: HeartPace | None = None,
    ) -> None:
        self.kinds = {kind.name: kind for kind in kinds}
        self.kinds.setdefault(AuditServed.name, AuditServed())
        self.shared = store.shared
        self.handles = Handles()
        self._closing = asyncio.Lock()
        self._closed = False
        running = [kind for kind in self.kinds.values() if kind.is_running()]
        machines = [kind.machine() for kind in running]
        prompts = {kind.name: now for kind in running if (now := kind.answer_now()) is not None}
        own = [listener for kind in running for listener in kind.listeners()]
        engine = Engine(
            store,
            Reactor({kind.name: kind for kind in machines}, fresh_owner(), prompts=prompts),
            {kind.name: one for kind in running if (one := kind.performer) is not None},
            clock,
            (self.handles, *own, *listeners),
            retention=retention,
            pace=pace,
        )
        super().__init__(engine, store, clock)
        for kind in self.kinds.values():
            kind.attach(self)
        self.trail, self.stops = Audit(engine, clock, SystemEntropy()), Stops(engine, pace)
        self.nodes = ProcessNodes(self.kinds)
        self.views = Views(store, self.kinds, clock, self.nodes)

    @classmethod
    def open(
        cls,
        path: str,
        host: ContractHost,
        settings: ContractSettings | None = None,
        listeners: Sequence[Listener] = (),
        *,
        retention: Retention | None = None,
        pace: HeartPace | None = None,
    ) -> Self:
        """An engine for contracts on the file at `path` (":memory:" keeps nothing). Enter it to
        start it."""
        clock = SystemClock()
        kinds: list[Served] = [
            ContractServed(host, settings or ContractSettings(), clock),
            # Not configured, so that they run nothing; what an earlier engine queued is shown.
            EvmServed(None, clock),
            CosmosServed(None, clock),
            RollupServed(None, clock),
        ]
        store = open_store(path, clock)
        return cls(store, kinds, clock, listeners, retention=retention, pace=pace)

    @classmethod
    def configured(cls, file: str | None = None) -> "Laneway":
        """The engine that a laneway.toml and the environment describe, its EVM accounts included.
        Enter it to start it."""
        from laneway.wiring.config import load_here
        from laneway.wiring.opening import open_laneway

        return open_laneway(load_here(file))

    async def __aenter__(self) -> Self:
        try:
            for kind in self.kinds.values():
                await kind.open()
            await self.engine.start()
            if self.shared:
                self.stops.start()
            for kind in self.kinds.values():
                await kind.started()
        except BaseException:
            await self.close()  # Nobody else would, and the file would stay locked.
            raise
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self, drain: DrainMode = "now", timeout_s: float | None = None) -> bool:
        """Stop accepting, finish what `drain` says, release the leases, close the file.

        True if all that was to be finished is. What is not goes on at the next start.
        """
        if drain not in get_args(DrainMode):
            raise BadRequest("drain", f"one of {', '.join(get_args(DrainMode))}, not {drain!r}")
        async with self._closing:
            if self._closed:
                return True
            kinds = list(self.kinds.values())
            # From the last line to the first, each of them though another one fails.
            async with AsyncExitStack() as ending:
                ending.push_async_callback(self.store.close)
                for kind in reversed(kinds):
                    ending.push_async_callback(kind.close)
                ending.callback(self._stopped)
                ending.push_async_callback(self.engine.stop)
                for kind in reversed(kinds):
                    ending.push_async_callback(kind.stopping)
                ending.push_async_callback(self.stops.stop)
                return await self.engine.drain(drain, timeout_s)

    def _stopped(self) -> None:
        self._closed = True
        self.handles.failed(EngineStopped())

    def check(self) -> None:
        """Raise what ended the engine, if anything did."""
        if self.engine.failure is not None:
            raise self.engine.failure
        if self._closed:
            raise EngineStopped()

    # Lanes by their names.

    def kind(self, name: str) -> Served:
        found = self.kinds.get(name)
        if found is None:
            raise LaneNotFound(f"{name}:")
        return found

    def lane_id(self, text: str) -> LaneId:
        """The lane that is meant: `evm:CHAIN:ACCOUNT` or any other by its own name, a contract by
        its key alone too."""
        return self._kind_of(text).lane_name(text)

    def _kind_of(self, text: str) -> Served:
        name, mark, _ = text.partition(":") if type(text) is str else ("", "", "")
        found = self.kinds.get(name) if mark else None
        return self.kind(PLAIN) if found is None or not found.is_listed else found

    # Submissions.

    async def submit(
        self,
        /,
        lane: str = "",
        request: Any = None,
        *,
        contract: str | None = None,
        key: str | None = None,
        valid_until_ms: int | None = None,
        **more: Any,
    ) -> Handle:
        """Queue one request of any kind of lane; returns when it is durable. Safe to call twice
        with one key.

        A request is the kind's own value (ContractCall, EvmRequest, CosmosRequest, a rollup's
        bytes) or its payload as plain values, as REST has it. Of a contract's execution the data
        and the rest may stand here by themselves: `submit("Qm123", "transfer 5", executor=…)`.
        """
        lane = contract or lane
        kind = self._kind_of(lane)
        return await kind.submit(lane, request, key=key, valid_until_ms=valid_until_ms, **more)

    async def wait(self, intent: IntentId) -> Result:
        """Wait for the final answer of any intent, no matter who submitted it."""
        return await self.engine.result(intent)

    def settled(self, result: Result, lane: LaneId) -> Settled:
        return self.kind(lane_kind(lane)).settled(result)

    # Questions.

    async def show(self, intent: str) -> Tx:
        """Where one transaction of any kind is and why: by its id, by its hash on chain, or by
        `LANE#NUMBER`. Of a mined call its logs or the reason of its revert are asked of its chain,
        briefly."""
        return await self.views.explained(await self.views.show(intent))

    async def lanes(self) -> list[Lane]:
        """Every lane that something was queued for, by name, contracts and accounts alike."""
        lanes: list[Lane] = []
        while True:
            page = await self.views.lanes(lanes[-1].id if lanes else None, LANE_PAGE)
            lanes += page
            if len(page) < LANE_PAGE:
                return lanes

    async def lane(self, lane: str) -> Lane:
        """Where one lane is and why: a contract by its name, every lane by its own."""
        return await self.views.lane(self.lane_id(lane))

    async def health(self, lane: str) -> LaneHealth:
        """Whether a lane goes on by itself, its numbers, and what a person should look at."""
        return await self.views.health(self.lane_id(lane))
