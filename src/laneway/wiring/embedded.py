"""The library: an engine inside your own process, on one file.

async with Laneway.open("laneway.db", host=host) as lw:
    handle = await lw.submit("Qm123", data="transfer 5", executor="did:1", key="order-7")
    print((await handle.result()).block)
"""

import asyncio
from collections.abc import Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, get_args

import msgspec

from laneway.core.errors import (
    AccountNotFound,
    BadRequest,
    NoRoom,
)
from laneway.core.ids import (
    IntentId,
    LaneId,
    is_account,
    is_contract,
    is_cosmos,
    is_rollup,
    is_shown,
)
from laneway.core.intent import Accepted, Replayed
from laneway.core.rows import Result
from laneway.engine.contract import ContractPerformer
from laneway.engine.delivery import DeliveryPerformer
from laneway.engine.heart import Pace, Retention
from laneway.engine.reactor import Reactor
from laneway.engine.shell import DrainMode, Engine, EngineStopped, Listener, Performer
from laneway.feeds.bundle_log import BundleLog
from laneway.feeds.courier import Courier
from laneway.feeds.deliveries import DeliveryLog
from laneway.feeds.eoa_log import EoaLog
from laneway.feeds.log import ContractLog
from laneway.feeds.sequence_log import SequenceLog
from laneway.lanes.audit import audit_kind
from laneway.lanes.contract import ContractSettings, contract_kind
from laneway.lanes.contract.show import QueueMetrics
from laneway.lanes.delivery import delivery_kind
from laneway.ports import Clock, ContractCall, ContractHost, CosmosRequest, Store
from laneway.wire.evm_words import evm_payload
from laneway.wire.values import Lane, LaneHealth, Tx
from laneway.wiring.arrivals import Arrivals, contract_lane, named_keys
from laneway.wiring.audit import Audit
from laneway.wiring.cosmos_client import TxClient, TxHandle, TxHandles
from laneway.wiring.cosmos_door import CosmosDoor
from laneway.wiring.cosmos_workers import WorkerClient, set_up
from laneway.wiring.evm_arrivals import EvmArrivals
from laneway.wiring.evm_request import request_of
from laneway.wiring.handle import Handle, Handles, Settled, taken
from laneway.wiring.limits import LANE_PAGE
from laneway.wiring.nodes import Nodes
from laneway.wiring.rollup_calls import RollupCalls
from laneway.wiring.room import Room
from laneway.wiring.shown import Shower, contract_lanes
from laneway.wiring.stops import Stops
from laneway.wiring.store import open_store
from laneway.wiring.system import SystemClock, SystemEntropy, fresh_owner
from laneway.wiring.tellers import Tellers
from laneway.wiring.transfers import Transfers
from laneway.wiring.views import Views
from laneway.wiring.webhooks import Webhook, open_sender

if TYPE_CHECKING:
    # The curve is an extra (`evm`); contracts need none of it.
    from laneway.wiring.cosmos import CosmosLanes
    from laneway.wiring.evm import EvmLanes
    from laneway.wiring.rollup import RollupLanes

__all__ = ["EngineStopped", "Handle", "Laneway", "Settled"]


class Laneway(RollupCalls):
    """A running engine with contract lanes."""

    def __init__(
        self,
        store: Store,
        host: ContractHost,
        settings: ContractSettings,
        clock: Clock,
        listeners: Sequence[Listener] = (),
        *,
        retention: Retention | None = None,
        pace: Pace | None = None,
        webhooks: Sequence[Webhook] = (),
        evm: "EvmLanes | None" = None,
        cosmos: "CosmosLanes | None" = None,
        rollup: "RollupLanes | None" = None,
    ) -> None:
        settings = msgspec.structs.replace(
            settings, takes_parent=host.traits.takes_parent, has_chain=host.traits.has_chain
        )
        self.host, self.settings, self.shared = host, settings, store.shared
        self._closing = asyncio.Lock()
        self._closed = False
        self._handles = Handles()
        self._arrival = Arrivals(settings, clock, SystemEntropy()).make
        self._requests = EvmArrivals(clock, SystemEntropy())
        self.webhooks = tuple(webhooks)
        self._sender = open_sender(webhooks, clock)
        self._courier = Courier([webhook.subscription() for webhook in webhooks], clock)
        self.evm = evm
        performers: dict[str, Performer] = {
            "contract": ContractPerformer(host, clock),
            "delivery": DeliveryPerformer(self._sender, clock),
        }
        self.cosmos = cosmos
        self.door = None if cosmos is None else CosmosDoor(cosmos.section, clock)
        """Where Cosmos accounts' transactions come in."""
        self._txs = TxHandles()
        self.rollup = rollup
        self.transfers = Transfers(rollup, store, clock)
        served = [lanes for lanes in (evm, cosmos, rollup) if lanes is not None]
        kinds = [contract_kind(settings), audit_kind(), delivery_kind()]
        kinds += [lanes.kind() for lanes in served]
        performers |= {lanes.kind_name: lanes.performer for lanes in served}
        prompts = {lanes.kind_name: lanes.performer.answer_now for lanes in served}
        bundles = BundleLog()
        engine = Engine(
            store,
            Reactor({kind.name: kind for kind in kinds}, fresh_owner(), prompts=prompts),
            performers,
            clock,
            (*self._listeners(ContractLog(clock, settings), bundles), *listeners),
            retention=retention,
            pace=pace,
        )
        super().__init__(engine, store, clock)
        self.trail, self.stops = Audit(engine, clock, SystemEntropy()), Stops(engine, pace)
        self._shower = Shower(settings, engine.faults)
        self.tellers = Tellers(engine, evm, cosmos, rollup)
        self.nodes = Nodes(store, host, evm, cosmos, rollup)
        self.views = Views(store, self._shower, self.tellers, clock, self.nodes)
        bundles.find = self.tellers.rollup.held

    def _listeners(self, contracts: ContractLog, bundles: BundleLog) -> list[Listener]:
        """Handles first, and of logs only those that there is something to tell of."""
        heard: list[Listener] = [self._handles, contracts]
        if self.webhooks:
            heard += [self._courier, DeliveryLog()]
        if self.evm is not None:
            heard.append(EoaLog())
        if self.door is not None:
            heard += [self._txs, self.door.room, SequenceLog()]
        if self.rollup is not None:
            heard.append(bundles)
        return heard

    @classmethod
    def open(
        cls,
        path: str,
        host: ContractHost,
        settings: ContractSettings | None = None,
        listeners: Sequence[Listener] = (),
        *,
        retention: Retention | None = None,
        pace: Pace | None = None,
    ) -> Self:
        """An engine on the file at `path` (":memory:" keeps nothing). Enter it to start it."""
        clock = SystemClock()
        store = open_store(path, clock)
        return cls(
            store,
            host,
            settings or ContractSettings(),
            clock,
            listeners,
            retention=retention,
            pace=pace,
        )

    @classmethod
    def configured(cls, file: str | None = None) -> "Laneway":
        """The engine that a laneway.toml and the environment describe, its EVM accounts included.
        Enter it to start it."""
        from laneway.wiring.config import load_here
        from laneway.wiring.contract import open_laneway

        return open_laneway(load_here(file))

    async def __aenter__(self) -> Self:
        try:
            if self.evm is not None:
                await self.evm.open()
            if self.cosmos is not None:
                await self.cosmos.open()
            if self.rollup is not None:
                await self.rollup.open()
                await self.rollup.check_lines(self.store)
            await self.nodes.find_witness()
            await self.engine.start()
            if self.cosmos is not None:
                await set_up(self, self.cosmos)
            if self.shared:
                self.stops.start()
            await self._courier.start(self.engine)
        except BaseException:
            await self.close()  # Nobody else would, and the file would stay locked.
            raise
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
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
            try:
                return await self.engine.drain(drain, timeout_s)
            finally:
                await self.stops.stop()
                await self._courier.stop()
                await self.engine.stop()
                self._closed = True
                self._handles.failed(EngineStopped())
                self._txs.failed(EngineStopped())
                await self._sender.close()
                if self.evm is not None:
                    await self.evm.close()
                if self.cosmos is not None:
                    await self.cosmos.close()
                if self.rollup is not None:
                    await self.rollup.close()
                await self.host.close()
                await self.store.close()

    def check(self) -> None:
        """Raise what ended the engine, if anything did."""
        if self.engine.failure is not None:
            raise self.engine.failure
        if self._closed:
            raise EngineStopped()

    def _lane_of(self, text: str) -> LaneId:
        """A contract by its name; an account's lane by `evm:CHAIN:ACCOUNT` or
        `cosmos:CHAIN:ACCOUNT`, a rollup's by `rollup:NAME`, where there are any."""
        if self.rollup is not None and is_rollup(text):
            return self.rollup.lane(text)
        if (self.evm is not None and is_account(text)) or (
            self.cosmos is not None and is_cosmos(text)
        ):
            return self._named(text)
        return super()._lane_of(text)

    def _named(self, text: str) -> LaneId:
        """The lane of an account."""
        teller = self.tellers.of(text)
        if teller is None:
            raise AccountNotFound(text)
        return teller.name(text)

    # Submissions.

    async def submit(
        self,
        contract: str,
        data: str,
        *,
        executor: str = "",
        quorum_type: int = 2,
        comment: str = "",
        key: str | None = None,
        priority: int = 0,
        valid_until_ms: int | None = None,
    ) -> Handle:
        """Queue one execution; returns when it is durable. Safe to call twice with one key."""
        call = ContractCall(contract, executor, data, quorum_type, comment)
        arrival = self._arrival(call, key, priority, valid_until_ms)
        handle = self._handles.add(Handle(self, arrival.id, arrival.lane))
        handle = taken(self, arrival, await self.engine.submit(arrival), handle)
        if handle.refusal is not None:
            raise handle.refusal
        return handle

    async def send(
        self,
        lane: str,
        *,
        to: str | None = None,
        value: int | str = 0,
        data: str | bytes = b"",
        key: str | None = None,
        valid_until_ms: int | None = None,
        **options: Any,
    ) -> Handle:
        """Queue one transaction of an EVM account; returns when it is durable.

        `lane` is `evm:CHAIN:ACCOUNT`; amounts are wei or words like "0.5 ether"; the other options
        are the API's: gas, type, max_fee_per_gas, max_priority_fee_per_gas, max_cost, access_list,
        authorization_list, blobs. Safe to call twice with one key.
        """
        asked = request_of(evm_payload(data, {"to": to, "value": value, **options}), at="request")
        name = self.tellers.evm.name(lane)
        arrival = self._requests.make(name, asked, key, "", valid_until_ms)
        handle = self._handles.add(Handle(self, arrival.id, arrival.lane))
        handle = taken(self, arrival, await self.engine.submit(arrival), handle)
        if handle.refusal is not None:
            raise handle.refusal
        return handle

    @property
    def room(self) -> Room | None:
        """In bytes, for what Cosmos accounts have not settled."""
        return None if self.door is None else self.door.room

    def cosmos_client(self, lane: str) -> TxClient:
        """The client of one Cosmos account: `cosmos:CHAIN:ACCOUNT`, or `cosmos:CHAIN` where it has
        one account."""
        if self.cosmos is None:
            raise AccountNotFound(lane)
        return TxClient(self, self.cosmos.lane(lane))

    def cosmos_workers(self, lane: str) -> WorkerClient:
        """The client of an account and its workers, which keeps no order among them."""
        main = self.cosmos_client(lane)
        assert self.cosmos is not None
        return WorkerClient(
            [main, *(TxClient(self, worker) for worker in self.cosmos.workers(main.lane))]
        )

    async def submit_tx(
        self,
        lane: LaneId,
        request: CosmosRequest,
        *,
        key: str | None = None,
        valid_until_ms: int | None = None,
        context: Any = None,
        timeout_s: float | None = None,
    ) -> TxHandle:
        """Queue one transaction of a Cosmos account, once there is room for its bytes."""
        if self.door is None:
            raise AccountNotFound(lane)
        arrival, size = self.door.slim(lane, request, key, valid_until_ms)
        handle = self._txs.add(TxHandle(self, arrival.id, lane, request, context))
        accept = self.engine.submit
        answer = await self.door.enter(arrival, request, accept, timeout_s, size)
        if isinstance(answer, Replayed):
            handle = self._txs.add(TxHandle(self, answer.id, lane, request, context))
            handle.follow()
        elif not isinstance(answer, Accepted):
            refusal = taken(self, arrival, answer, Handle(self, arrival.id, lane)).refusal
            assert refusal is not None
            raise refusal
        return handle

    async def submit_txs(
        self,
        lane: LaneId,
        requests: Sequence[CosmosRequest],
        *,
        keys: Sequence[str | None] | None = None,
        timeout_s: float | None = None,
    ) -> list[TxHandle]:
        """Queue a batch of a Cosmos account, in one write as far as there is room."""
        if self.door is None:
            raise AccountNotFound(lane)
        named = named_keys(keys, len(requests), "requests")
        arrivals = self.door.arrivals.make_many(lane, requests, named)
        handles = [
            self._txs.add(TxHandle(self, arrival.id, lane, request, None))
            for arrival, request in zip(arrivals, requests, strict=True)
        ]
        room, engine = self.door.room, self.engine
        answers = await room.submit_many(arrivals, engine.submit_many, engine.submit, timeout_s)
        for place, (arrival, answer) in enumerate(zip(arrivals, answers, strict=True)):
            if isinstance(answer, Accepted):
                continue
            if isinstance(answer, Replayed):
                handle = TxHandle(self, answer.id, lane, requests[place], None)
                handles[place] = self._txs.add(handle)
                handle.follow()
            elif isinstance(answer, NoRoom):
                handles[place].refuse(answer)
            else:
                refused = taken(self, arrival, answer, Handle(self, arrival.id, lane)).refusal
                assert refused is not None
                handles[place].refuse(refused)
        return handles

    async def submit_many(
        self, calls: Sequence[ContractCall], keys: Sequence[str | None] | None = None
    ) -> list[Handle]:
        """Queue a batch in one write; returns when all of it is durable.

        A call that the door refuses does not take the others with it: its handle has the
        `refusal`, and asking it for a result raises that.
        """
        named = named_keys(keys, len(calls), "calls")
        arrivals = [
            self._arrival(call, key, 0, None) for call, key in zip(calls, named, strict=True)
        ]
        handles = [
            self._handles.add(Handle(self, arrival.id, arrival.lane)) for arrival in arrivals
        ]
        answers = await self.engine.submit_many(arrivals)
        return [
            taken(self, arrival, answer, handle)
            for arrival, answer, handle in zip(arrivals, answers, handles, strict=True)
        ]

    async def wait(self, intent: IntentId) -> Result:
        """Wait for the final answer of any intent, whoever submitted it."""
        return await self.engine.result(intent)

    # Questions.

    async def show(self, intent: str) -> Tx:
        """Where one transaction of any kind is and why: by its id, by its hash on chain, or by
        `LANE#NUMBER`."""
        return await self.views.show(intent)

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
        return await self.views.lane(self._asked(lane))

    async def health(self, lane: str) -> LaneHealth:
        """Whether a lane goes on by itself, its numbers, and what a person should look at."""
        return await self.views.health(self._asked(lane))

    def _asked(self, text: str) -> LaneId:
        """The lane that is meant: `Qm123`, or a name as `lanes()` has it."""
        if is_contract(text):
            return LaneId(text)
        return self._named(text) if is_shown(text) else contract_lane(text)

    async def metrics(self) -> list[QueueMetrics]:
        """The seed's metrics, one row a contract; page by page, so that others have their turn."""
        queues: list[QueueMetrics] = []
        after: LaneId | None = None
        while True:
            views = await contract_lanes(self.store, after, LANE_PAGE)
            queues += [self._shower.metrics(view) for view in views]
            if len(views) < LANE_PAGE:
                return queues
            after = views[-1].tail.lane
            await asyncio.sleep(0)
