"""The library's client of one Cosmos account: submissions that return at once, in strict order.

    client = lw.cosmos_client("cosmos:mocha:main")
    handle = await client.submit_pay_for_blob_to_queue([CosmosBlob(namespace, data)])
    print(await handle.submitted(), (await handle.confirmed()).height)

Beside its own methods it has those of celestia-app's v1 client, as a wrapper.
"""

import asyncio
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any
from weakref import ref

from msgspec import Struct

from laneway.core.errors import LanewayError
from laneway.core.ids import IntentId, LaneId
from laneway.core.outcome import Status
from laneway.core.rows import Result
from laneway.engine.listeners import Listener
from laneway.kinds.handle import Handle, ResultSource
from laneway.kinds.limits import HANDLES_SWEEP_MIN
from laneway.lanes.sequence.lane import decode_history
from laneway.lanes.sequence.values import AttemptSigned, AttemptTaken, Submitted
from laneway.ports import CosmosBlob, CosmosRequest

if TYPE_CHECKING:
    from laneway.kinds.cosmos.served import CosmosServed

REQUEST = CosmosRequest.__struct_fields__


class TxResponse(Struct, frozen=True):
    """The final answer of one transaction."""

    id: IntentId
    status: str
    """confirmed, reverted, refused, expired, cancelled or indeterminate."""
    hash: str = ""
    """Upper-case hexadecimal, as Cosmos chains name it."""
    sequence: int | None = None
    height: int = 0
    code: int = 0
    codespace: str = ""
    log: str = ""
    gas_wanted: int = 0
    gas_used: int = 0
    signers: tuple[str, ...] = ()
    raw: bytes = b""
    """Of an indeterminate one: the bytes that may or may not be on the chain."""

    def is_confirmed(self) -> bool:
        return self.status == Status.CONFIRMED.value


class BroadcastTxError(LanewayError):
    """It never came into a block."""

    code = "broadcast_tx"

    def __init__(self, response: TxResponse) -> None:
        self.response = response
        super().__init__(f"{response.status}: {response.log}")


class ExecutionError(LanewayError):
    """It is in a block, and failed there. Its sequence is used."""

    code = "execution_failed"
    changed = True

    def __init__(self, response: TxResponse) -> None:
        self.response = response
        super().__init__(
            f"{response.hash} failed in block {response.height} with code {response.code}: "
            f"{response.log}"
        )


class TxHandle(Handle):
    """One accepted transaction. It survives any crash until it has a final answer."""

    def __init__(
        self,
        desk: ResultSource,
        intent: IntentId,
        lane: LaneId,
        request: CosmosRequest,
        context: Any,
    ) -> None:
        super().__init__(desk, intent, lane)
        self.lane = lane
        self.data = request
        """What was submitted, its options included."""
        self.context = context
        """Whatever the caller wants to find again beside the answer."""
        loop = asyncio.get_running_loop()
        self._signed: asyncio.Future[str] = loop.create_future()
        self._submitted: asyncio.Future[str] = loop.create_future()
        self._final: asyncio.Future[Result] = loop.create_future()

    async def signed(self) -> str:
        """Its hash, once its bytes are durable; they may be replaced if they can land no more."""
        return await self._first(self._signed)

    async def submitted(self) -> str:
        """Its hash, once some node took it."""
        return await self._first(self._submitted)

    async def confirmed(self, timeout_s: float | None = None) -> TxResponse:
        """Its final answer."""
        async with asyncio.timeout(timeout_s):
            return response_of(await self._wait())

    def follow(self) -> None:
        """It was submitted before, perhaps elsewhere: the store is asked for its answer."""
        self._asks = True

    async def _wait(self) -> Result:
        if not self._final.done() and (self._asks or self._desk.shared):
            # Another process may run the lane, and this one not be notified of its answers.
            self.settle(await self._desk.engine.result(self.id))
        self._desk.check()
        return await asyncio.shield(self._final)

    async def _first(self, step: "asyncio.Future[str]") -> str:
        """The step, or the end if it never came to it."""
        if not step.done():
            final = asyncio.ensure_future(self._wait())
            try:
                await asyncio.wait((step, final), return_when=asyncio.FIRST_COMPLETED)
            finally:
                if not final.done():
                    final.cancel()
            if not step.done():
                response = response_of(final.result())
                if not response.hash:
                    raise BroadcastTxError(response)
                return response.hash
        return step.result()

    def when_final(self, act: Callable[[], None]) -> None:
        """Called once it has its answer, or nobody waits for it here any more."""
        self._final.add_done_callback(lambda _: act())

    def sign(self, hash_: bytes) -> None:
        if not self._signed.done():
            self._signed.set_result(hash_.hex().upper())

    def submit(self, hash_: bytes) -> None:
        self.sign(hash_)
        if not self._submitted.done():
            self._submitted.set_result(hash_.hex().upper())

    def settle(self, result: Result) -> None:
        if not self._final.done():
            self._final.set_result(result)

    def refuse(self, refusal: LanewayError) -> None:
        """The door did not take it."""
        self.refusal = refusal
        self.fail(refusal)

    def fail(self, error: Exception) -> None:
        if not self._final.done():
            self._final.set_exception(error)
            self._final.exception()  # Nobody may be waiting.


def response_of(result: Result) -> TxResponse:
    history = decode_history(result.history) if result.history else None
    seen = None if history is None else history.seen
    if seen is None:
        attempt = None if history is None else history.slot.attempt
        return TxResponse(
            result.intent,
            result.status,
            "" if result.hash is None else result.hash.hex().upper(),
            result.number,
            code=0 if attempt is None else attempt.code,
            codespace="" if attempt is None else attempt.codespace,
            log=result.reason,
            raw=b"" if history is None else history.raw,
        )
    return TxResponse(
        result.intent,
        result.status,
        seen.hash.hex().upper(),
        result.number,
        seen.height,
        seen.code,
        seen.codespace,
        seen.log,
        seen.gas_wanted,
        seen.gas_used,
        seen.signers,
    )


class TxHandles(Listener):
    """Notifies those who hold a handle of what became of it, and keeps no handle alive."""

    def __init__(self) -> None:
        self._held: dict[IntentId, list[ref[TxHandle]]] = {}
        self._sweep_at = HANDLES_SWEEP_MIN

    def add(self, handle: TxHandle) -> TxHandle:
        """From before its intent is written: nothing can come too early."""
        self._held.setdefault(handle.id, []).append(ref(handle))
        if len(self._held) >= self._sweep_at:
            living = {intent: [*map(ref, self._living(intent))] for intent in self._held}
            self._held = {intent: handles for intent, handles in living.items() if handles}
            self._sweep_at = max(HANDLES_SWEEP_MIN, 2 * len(self._held))
        return handle

    def _living(self, intent: IntentId | None) -> list[TxHandle]:
        found = [] if intent is None else [held() for held in self._held.get(intent, ())]
        return [handle for handle in found if handle is not None]

    def notified(self, lane: LaneId, records: Sequence[Any], results: Sequence[Result]) -> None:
        if not self._held or not lane.startswith("cosmos:"):
            return
        for record in records:
            if isinstance(record, Submitted):
                for intent, hash_ in zip(record.intents, record.hashes, strict=True):
                    self._submitted(intent, hash_)
            elif isinstance(record, AttemptTaken):
                self._submitted(record.intent, record.hash)
            elif isinstance(record, AttemptSigned):
                assert record.slot.attempt is not None
                for handle in self._living(record.slot.intent):
                    handle.sign(record.slot.attempt.hash)
        for result in results:
            for handle in self._living(result.intent):
                handle.settle(result)
            self._held.pop(result.intent, None)

    def _submitted(self, intent: IntentId | None, hash_: bytes) -> None:
        for handle in self._living(intent):
            handle.submit(hash_)

    def failed(self, error: Exception) -> None:
        for intent in list(self._held):
            for handle in self._living(intent):
                handle.fail(error)


class TxClient:
    """One account's transactions."""

    def __init__(self, desk: ResultSource, lane: LaneId, accounts: "CosmosServed") -> None:
        self._desk = desk
        self._accounts = accounts
        self.lane = lane

    async def submit(
        self,
        request: CosmosRequest,
        *,
        key: str | None = None,
        valid_until_ms: int | None = None,
        context: Any = None,
        timeout_s: float | None = None,
    ) -> TxHandle:
        """Queue it; returns when it is durable, before anything is signed or sent. While there is
        no capacity for its bytes it waits, up to `timeout_s`. Safe to call twice with one key."""
        return await self._accounts.submit(
            self.lane,
            request,
            key=key,
            valid_until_ms=valid_until_ms,
            context=context,
            timeout_s=timeout_s,
        )

    async def submit_many(
        self,
        requests: Sequence[CosmosRequest],
        *,
        keys: Sequence[str | None] | None = None,
        timeout_s: float | None = None,
    ) -> list[TxHandle]:
        """Queue a batch in its order, in as few writes as there is capacity for; returns when all
        of it is durable. One that the door refuses has a `refusal`, and after one that found none
        in time nothing is accepted."""
        return await self._accounts.submit_many(self.lane, requests, keys=keys, timeout_s=timeout_s)

    async def submit_and_wait(self, /, request: CosmosRequest, **options: Any) -> TxResponse:
        """Queue it and wait for its final answer, whatever that is."""
        return await (await self.submit(request, **options)).confirmed()

    async def submit_pay_for_blob_to_queue(
        self, /, blobs: Sequence[CosmosBlob], **options: Any
    ) -> TxHandle:
        """The seed's `SubmitPayForBlobToQueue`. Options are those of a request (gas, fee, memo,
        granter …) and those of `submit`."""
        return await self._asked({"blobs": tuple(blobs), **options})

    async def _asked(self, options: dict[str, Any]) -> TxHandle:
        request = {name: options.pop(name) for name in REQUEST if name in options}
        return await self.submit(CosmosRequest(**request), **options)

    # The methods of celestia-app's v1 client.

    async def submit_pay_for_blob(
        self, /, blobs: Sequence[CosmosBlob], **options: Any
    ) -> TxResponse:
        """`SubmitPayForBlob`: wait until it is in a block; ExecutionError if it failed there,
        BroadcastTxError if it never came into one."""
        handle = await self.submit_pay_for_blob_to_queue(blobs, **options)
        return good(await handle.confirmed())

    async def broadcast_pay_for_blob(self, /, blobs: Sequence[CosmosBlob], **options: Any) -> str:
        """`BroadcastPayForBlob`: its hash, once a node has it."""
        return await (await self.submit_pay_for_blob_to_queue(blobs, **options)).submitted()

    async def submit_tx(
        self, /, messages: Sequence[tuple[str, bytes]], **options: Any
    ) -> TxResponse:
        """`SubmitTx`."""
        handle = await self._asked({"messages": tuple(messages), **options})
        return good(await handle.confirmed())

    async def broadcast_tx(self, /, messages: Sequence[tuple[str, bytes]], **options: Any) -> str:
        """`BroadcastTx`."""
        return await (await self._asked({"messages": tuple(messages), **options})).submitted()

    async def confirm_tx(self, intent: IntentId) -> TxResponse:
        """`ConfirmTx`, by the id of what was submitted, also before a restart."""
        return good(response_of(await self._desk.engine.result(intent)))


def good(response: TxResponse) -> TxResponse:
    if response.status == Status.REVERTED.value:
        raise ExecutionError(response)
    if not response.is_confirmed():
        raise BroadcastTxError(response)
    return response
