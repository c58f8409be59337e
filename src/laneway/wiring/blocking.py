"""The library for code without asyncio: the same engine, on a loop in a thread of its own.

with LanewaySync.open("laneway.db", host=host) as lw:
    handle = lw.submit("Qm123", data="transfer 5", executor="did:1", key="order-7")
    print(handle.result(timeout_s=60).block)

Any thread may call. Answers and errors are those of Laneway.
"""

import asyncio
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import CancelledError, Future
from functools import wraps
from typing import Any, ParamSpec, Self, TypeVar

from laneway.core.errors import BadRequest, CallerError, LanewayError
from laneway.core.ids import IntentId
from laneway.core.twins import Twin, making, making_many, unwaited, waited
from laneway.engine.shell import DrainMode, EngineStopped
from laneway.kinds.cosmos.blocking import TxClientSync, TxHandleSync, WorkerClientSync
from laneway.kinds.handle import lane_of
from laneway.wiring.embedded import Handle, Laneway, Settled
from laneway.wiring.limits import LOOP_STOP_S_MAX
from laneway.wiring.process import new_loop

P = ParamSpec("P")
T = TypeVar("T")


def opened(make: Callable[P, Laneway]) -> Callable[P, "LanewaySync"]:
    """The same way to make one; the engine itself is made on its own loop."""

    @wraps(make)
    def open_later(*given: P.args, **named: P.kwargs) -> "LanewaySync":
        return LanewaySync(lambda: make(*given, **named))

    return open_later


class HandleSync(Twin, of=Handle):
    """One accepted intent. It survives any crash until it has a final answer."""

    id: IntentId
    replayed: bool
    """The key and the body came before: this is the intent they made then."""
    refusal: CallerError | None
    """Of one call in a batch: why it was not accepted. Nothing was written for it."""

    result = waited(Handle.result)
    cancel = waited(Handle.cancel)


class LanewaySync(Twin, of=Laneway):
    """A running engine for blocking code: the methods of Laneway, each of which waits."""

    def __init__(self, make: Callable[[], Laneway]) -> None:
        self._make, self._caller = make, self
        self._loop = new_loop()
        # A daemon, so that a program which forgets to close can still end.
        self._thread = threading.Thread(target=self._turn, name="laneway", daemon=True)
        self._laneway: Laneway | None = None
        self._closing = threading.Lock()
        self._gate = threading.Lock()
        self._closed = False

    open = staticmethod(opened(Laneway.open))
    configured = staticmethod(opened(Laneway.configured))

    def __enter__(self) -> Self:
        self._thread.start()
        try:
            self._laneway = self.call(self._start())
        except BaseException:
            self._end_loop()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self, drain: DrainMode = "now", timeout_s: float | None = None) -> bool:
        """Stop accepting, finish what `drain` says, release the leases, close the file."""
        with self._closing:
            if self._closed or self._laneway is None:
                return True
            try:
                return self.call(self._laneway.close(drain, timeout_s))
            except KeyboardInterrupt:
                # A caller who interrupts the draining still leaves a closed file.
                self.call(self._laneway.close("now"))
                raise
            finally:
                self._end_loop()

    def call(self, work: Coroutine[Any, Any, T]) -> T:
        """Run on the engine's loop and wait; an interrupted wait gives the work up."""
        # Under the lock, so that no work is handed to a loop that was just stopped.
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

    def wait(self, intent: str, timeout_s: float | None = None) -> Settled:
        """Wait for the final answer of any intent, no matter who submitted it."""
        return self.call(self._wait(IntentId(intent), timeout_s))

    # Submissions.

    submit = making(HandleSync, Laneway.submit)
    submit_many = making_many(HandleSync, Laneway.submit_many)
    send = making(HandleSync, Laneway.send)
    cosmos_client = making(TxClientSync, Laneway.cosmos_client)
    cosmos_workers = making(WorkerClientSync, Laneway.cosmos_workers)
    submit_tx = making(TxHandleSync, Laneway.submit_tx)
    submit_txs = making_many(TxHandleSync, Laneway.submit_txs)
    transfer = making(HandleSync, Laneway.transfer)
    transfer_many = making_many(HandleSync, Laneway.transfer_many)

    # Questions.

    show = waited(Laneway.show)
    metrics = waited(Laneway.metrics)
    lanes = waited(Laneway.lanes)
    lane = waited(Laneway.lane)
    health = waited(Laneway.health)
    check = unwaited(Laneway.check)
    kind = unwaited(Laneway.kind)
    lane_id = unwaited(Laneway.lane_id)
    settled = unwaited(Laneway.settled)
    on_block = unwaited(Laneway.on_block)
    """The callback is called in the engine's own thread."""

    # Commands.

    pause = waited(Laneway.pause)
    resume = waited(Laneway.resume)
    revive = waited(Laneway.revive)
    drain_lane = waited(Laneway.drain_lane)
    cancel = waited(Laneway.cancel)
    bump = waited(Laneway.bump)
    replace = waited(Laneway.replace)
    reset_nonce = waited(Laneway.reset_nonce)
    set_sequence = waited(Laneway.set_sequence)
    settle = waited(Laneway.settle)

    # The thread.

    async def _wait(self, intent: IntentId, timeout_s: float | None) -> Settled:
        engine = self._engine()
        async with asyncio.timeout(timeout_s):
            result = await engine.wait(intent)
            return engine.settled(result, await lane_of(engine.store, intent))

    async def _start(self) -> Laneway:
        laneway = self._make()
        return await laneway.__aenter__()

    def _other(self) -> Laneway:
        return self._engine()

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
