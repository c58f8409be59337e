"""The library for code without asyncio: the same engine, on a loop in a thread of its own.

with LanewaySync.open("laneway.db", host=host) as lw:
    handle = lw.submit("Qm123", data="transfer 5", executor="did:1", key="order-7")
    print(handle.result(timeout_s=60).block)

Any thread may call. Answers and errors are those of Laneway.
"""

import asyncio
import threading
from collections.abc import Callable, Coroutine, Sequence
from concurrent.futures import CancelledError, Future
from types import TracebackType
from typing import Any, Self, TypeVar

from laneway.core.errors import BadRequest, LanewayError
from laneway.core.ids import IntentId, LaneId
from laneway.engine.bundle.rollup import Heard
from laneway.engine.heart import Pace, Retention
from laneway.engine.shell import DrainMode, EngineStopped, Listener
from laneway.lanes.contract import ContractSettings
from laneway.lanes.contract.show import QueueMetrics
from laneway.ports import ContractCall, ContractHost, CosmosRequest
from laneway.wire.evm import EvmPayload
from laneway.wire.values import Lane, LaneHealth, Tx
from laneway.wiring.cosmos_sync import TxClientSync, TxHandleSync, WorkerClientSync
from laneway.wiring.embedded import Handle, Laneway, Settled
from laneway.wiring.handle import lane_of, settled
from laneway.wiring.limits import LOOP_STOP_S_MAX
from laneway.wiring.process import new_loop

T = TypeVar("T")


class HandleSync:
    """One accepted intent. It survives any crash until it has a final answer."""

    __slots__ = ("_handle", "_laneway", "id", "refusal", "replayed")

    def __init__(self, laneway: "LanewaySync", handle: Handle) -> None:
        self._laneway = laneway
        self._handle = handle
        self.id = handle.id
        self.replayed = handle.replayed
        """The key and the body came before: this is the intent they made then."""
        self.refusal = handle.refusal
        """Of one call in a batch: why it was not accepted. Nothing was written for it."""

    def result(self, timeout_s: float | None = None) -> Settled:
        """Wait for the final answer; TimeoutError takes nothing back."""
        return self._laneway.call(self._handle.result(timeout_s))

    def cancel(self, reason: str = "", by: str = "") -> None:
        self._laneway.call(self._handle.cancel(reason, by))


class LanewaySync:
    """A running engine with contract lanes, for blocking code."""

    def __init__(self, make: Callable[[], Laneway]) -> None:
        self._make = make
        self._loop = new_loop()
        # A daemon, so that a program which forgets to close can still end.
        self._thread = threading.Thread(target=self._turn, name="laneway", daemon=True)
        self._laneway: Laneway | None = None
        self._closing = threading.Lock()
        self._gate = threading.Lock()
        self._closed = False

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
        return cls(
            lambda: Laneway.open(path, host, settings, listeners, retention=retention, pace=pace)
        )

    @classmethod
    def configured(cls, file: str | None = None) -> Self:
        """The engine that a laneway.toml and the environment describe, its EVM accounts included.
        Enter it to start it."""
        return cls(lambda: Laneway.configured(file))

    def __enter__(self) -> Self:
        self._thread.start()
        try:
            self._laneway = self.call(self._start())
        except BaseException:
            self._end_loop()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self, drain: DrainMode = "now", timeout_s: float | None = None) -> bool:
        """Stop accepting, finish what `drain` says, release the leases, close the file."""
        with self._closing:
            if self._closed or self._laneway is None:
                return True
            try:
                return self.call(self._laneway.close(drain, timeout_s))
            except KeyboardInterrupt:
                # Whoever is tired of the draining still leaves a closed file behind.
                self.call(self._laneway.close("now"))
                raise
            finally:
                self._end_loop()

    def call(self, work: Coroutine[Any, Any, T]) -> T:
        """Run on the engine's loop and wait; an interrupted wait gives the work up."""
        # Under the lock, so that no work is handed to a loop that was just told to stop.
        with self._gate:
            try:
                self._check_call()
            except LanewayError:
                work.close()  # Never begun, and nobody will.
                raise
            future: Future[T] = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            return future.result()
        except CancelledError:
            raise EngineStopped from None  # Another thread closed it meanwhile.
        except BaseException:
            future.cancel()
            raise

    def submit(
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
    ) -> HandleSync:
        """Queue one execution; returns when it is durable. Safe to call twice with one key."""
        submitted = self._engine().submit(
            contract,
            data,
            executor=executor,
            quorum_type=quorum_type,
            comment=comment,
            key=key,
            priority=priority,
            valid_until_ms=valid_until_ms,
        )
        return HandleSync(self, self.call(submitted))

    def send(
        self,
        lane: str,
        *,
        to: str | None = None,
        value: int | str = 0,
        data: str | bytes = b"",
        key: str | None = None,
        valid_until_ms: int | None = None,
        **options: Any,
    ) -> HandleSync:
        """Queue one transaction of an EVM account; see Laneway.send for the options."""
        sent = self._engine().send(
            lane,
            to=to,
            value=value,
            data=data,
            key=key,
            valid_until_ms=valid_until_ms,
            **options,
        )
        return HandleSync(self, self.call(sent))

    def cosmos_client(self, lane: str) -> TxClientSync:
        """The client of one Cosmos account; see Laneway.cosmos_client."""
        return TxClientSync(self, self._engine().cosmos_client(lane))

    def cosmos_workers(self, lane: str) -> WorkerClientSync:
        """The client of an account and its workers, which keeps no order among them."""
        return WorkerClientSync(self, self._engine().cosmos_workers(lane))

    def submit_tx(
        self,
        lane: LaneId,
        request: CosmosRequest,
        *,
        key: str | None = None,
        valid_until_ms: int | None = None,
        context: Any = None,
        timeout_s: float | None = None,
    ) -> TxHandleSync:
        """Queue one transaction of a Cosmos account, once there is room for its bytes."""
        submitted = self._engine().submit_tx(
            lane,
            request,
            key=key,
            valid_until_ms=valid_until_ms,
            context=context,
            timeout_s=timeout_s,
        )
        return TxHandleSync(self, self.call(submitted))

    def submit_txs(
        self,
        lane: LaneId,
        requests: Sequence[CosmosRequest],
        *,
        keys: Sequence[str | None] | None = None,
        timeout_s: float | None = None,
    ) -> list[TxHandleSync]:
        """Queue a batch of a Cosmos account, in one write as far as there is room."""
        submitted = self._engine().submit_txs(lane, requests, keys=keys, timeout_s=timeout_s)
        return [TxHandleSync(self, handle) for handle in self.call(submitted)]

    def transfer(
        self,
        lane: str,
        raw: bytes | str,
        *,
        key: str | None = None,
        valid_until_ms: int | None = None,
    ) -> HandleSync:
        """Queue one transaction of a rollup; see Laneway.transfer."""
        given = self._engine().transfer(lane, raw, key=key, valid_until_ms=valid_until_ms)
        return HandleSync(self, self.call(given))

    def transfer_many(
        self,
        lane: str,
        raws: Sequence[bytes | str],
        *,
        keys: Sequence[str | None] | None = None,
        valid_until_ms: int | None = None,
    ) -> list[HandleSync]:
        """Queue a batch of a rollup's transactions; see Laneway.transfer_many."""
        engine = self._engine()
        given = engine.transfer_many(lane, raws, keys=keys, valid_until_ms=valid_until_ms)
        return [HandleSync(self, handle) for handle in self.call(given)]

    def on_block(self, callback: Heard) -> None:
        """Hear of rollups' blocks, in the engine's own thread; see Laneway.on_block."""
        self._engine().on_block(callback)

    def submit_many(
        self, calls: Sequence[ContractCall], keys: Sequence[str | None] | None = None
    ) -> list[HandleSync]:
        """Queue a batch in one write; a handle whose `refusal` is set was not accepted."""
        handles = self.call(self._engine().submit_many(calls, keys))
        return [HandleSync(self, handle) for handle in handles]

    def wait(self, intent: str, timeout_s: float | None = None) -> Settled:
        """Wait for the final answer of any intent, whoever submitted it."""
        return self.call(self._wait(IntentId(intent), timeout_s))

    # Questions.

    def show(self, intent: str) -> Tx:
        """Where one transaction of any kind is and why; see Laneway.show."""
        return self.call(self._engine().show(intent))

    def metrics(self) -> list[QueueMetrics]:
        """The seed's metrics, one row a contract."""
        return self.call(self._engine().metrics())

    def lanes(self) -> list[Lane]:
        """Every lane that something was queued for, by name, contracts and accounts alike."""
        return self.call(self._engine().lanes())

    def lane(self, lane: str) -> Lane:
        """Where one lane is and why: a contract by its name, every lane by its own."""
        return self.call(self._engine().lane(lane))

    def health(self, lane: str) -> LaneHealth:
        """Whether a lane goes on by itself, its numbers, and what a person should look at."""
        return self.call(self._engine().health(lane))

    def check(self) -> None:
        """Raise what stopped the engine, if anything did."""
        self._engine().check()

    # Commands.

    def pause(self, contract: str, *, reason: str = "", by: str = "") -> None:
        self.call(self._engine().pause(contract, reason=reason, by=by))

    def resume(self, contract: str, *, reason: str = "", by: str = "") -> None:
        self.call(self._engine().resume(contract, reason=reason, by=by))

    def revive(
        self, lane: str, *, tx: str | None = None, keep: bool = False, reason: str, by: str = ""
    ) -> str:
        """Go on with a lane that a bug stopped, without the transaction that stopped it; what was
        put aside, in words. `tx` names that transaction, `keep` puts none aside."""
        return self.call(self._engine().revive(lane, tx=tx, keep=keep, reason=reason, by=by))

    def drain_lane(
        self, contract: str, mode: str = "queue", *, reason: str = "", by: str = ""
    ) -> None:
        """Take what waits now and nothing after (queue), or only what runs (running)."""
        self.call(self._engine().drain_lane(contract, mode, reason=reason, by=by))

    def cancel(self, intent: str, *, reason: str = "", by: str = "") -> None:
        """Take back a waiting execution; one that runs cannot be called back."""
        self.call(self._engine().cancel(intent, reason=reason, by=by))

    def bump(self, intent: str, *, reason: str = "", by: str = "") -> None:
        """Offer more for an account's transaction that is out, at the same nonce."""
        self.call(self._engine().bump(intent, reason=reason, by=by))

    def replace(self, intent: str, payload: EvmPayload, *, reason: str = "", by: str = "") -> None:
        """Other content for an account's transaction, at the same nonce."""
        self.call(self._engine().replace(intent, payload, reason=reason, by=by))

    def reset_nonce(self, lane: str, *, reason: str = "", by: str = "") -> None:
        """Back to what the chain says, never below a number that may still be used."""
        self.call(self._engine().reset_nonce(lane, reason=reason, by=by))

    def set_sequence(
        self, lane: str, sequence: int | None = None, *, reason: str = "", by: str = ""
    ) -> None:
        """Where a Cosmos account's numbers go on; None: what the chain says."""
        self.call(self._engine().set_sequence(lane, sequence, reason=reason, by=by))

    def settle(self, intent: str, word: str, *, reason: str = "", by: str = "") -> None:
        """Tell a halted lane what a person found out: executed, not_executed or skip."""
        self.call(self._engine().settle(intent, word, reason=reason, by=by))

    # The thread.

    async def _wait(self, intent: IntentId, timeout_s: float | None) -> Settled:
        engine = self._engine()
        async with asyncio.timeout(timeout_s):
            result = await engine.wait(intent)
            return settled(result, await lane_of(engine.store, intent))

    async def _start(self) -> Laneway:
        laneway = self._make()
        return await laneway.__aenter__()

    def _engine(self) -> Laneway:
        if self._laneway is None:
            raise BadRequest("LanewaySync", NOT_STARTED)
        return self._laneway

    def _check_call(self) -> None:
        if self._closed:
            raise EngineStopped
        if threading.current_thread() is self._thread:
            raise BadRequest("LanewaySync", INSIDE)
        if not self._thread.is_alive():
            raise BadRequest("LanewaySync", NOT_STARTED)

    def _turn(self) -> None:
        asyncio.set_event_loop(self._loop)
        try:
            self._loop.run_forever()
        finally:
            leftovers = asyncio.all_tasks(self._loop)
            for task in leftovers:
                task.cancel()
            if leftovers:
                self._loop.run_until_complete(asyncio.wait(leftovers, timeout=LOOP_STOP_S_MAX))
            self._loop.run_until_complete(self._loop.shutdown_asyncgens())
            self._loop.close()

    def _end_loop(self) -> None:
        with self._gate:
            self._closed = True
            self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(LOOP_STOP_S_MAX)


NOT_STARTED = "it is not started; use it in a with statement"
INSIDE = "its own thread cannot wait for itself; use Laneway in asynchronous code"
