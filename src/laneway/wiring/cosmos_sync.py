"""The clients of Cosmos accounts for code without asyncio: the same answers and errors."""

from collections.abc import Coroutine, Sequence
from typing import Any, Protocol, TypeVar

from laneway.core.ids import IntentId
from laneway.ports import CosmosBlob, CosmosRequest
from laneway.wiring.cosmos_client import TxClient, TxHandle, TxResponse
from laneway.wiring.cosmos_workers import WorkerClient

T = TypeVar("T")


class Caller(Protocol):
    """Who runs work on the engine's loop and waits for it."""

    def call(self, work: Coroutine[Any, Any, T]) -> T: ...


class TxHandleSync:
    """One accepted transaction. It survives any crash until it has a final answer."""

    def __init__(self, caller: Caller, handle: TxHandle) -> None:
        self._caller = caller
        self._handle = handle
        self.id = handle.id
        self.lane = handle.lane
        self.data = handle.data
        self.context = handle.context
        self.refusal = handle.refusal

    def signed(self) -> str:
        """Its hash, once its bytes are durable; they may be replaced if they can land no more."""
        return self._caller.call(self._handle.signed())

    def submitted(self) -> str:
        """Its hash, once some node took it."""
        return self._caller.call(self._handle.submitted())

    def confirmed(self, timeout_s: float | None = None) -> TxResponse:
        """Its final answer; TimeoutError takes nothing back."""
        return self._caller.call(self._handle.confirmed(timeout_s))


class WorkerClientSync:
    """Submits over an account and its workers: quicker, and without an order among them."""

    def __init__(self, caller: Caller, client: TxClient | WorkerClient) -> None:
        self._caller = caller
        self._any = client

    def submit(self, request: CosmosRequest, **options: Any) -> TxHandleSync:
        """Queue it; returns when it is durable, before anything is signed or sent."""
        return self._held(self._any.submit(request, **options))

    def submit_pay_for_blob_to_queue(
        self, blobs: Sequence[CosmosBlob], **options: Any
    ) -> TxHandleSync:
        """The seed's `SubmitPayForBlobToQueue`."""
        return self._held(self._any.submit_pay_for_blob_to_queue(blobs, **options))

    def _held(self, work: Coroutine[Any, Any, TxHandle]) -> TxHandleSync:
        return TxHandleSync(self._caller, self._caller.call(work))


class TxClientSync(WorkerClientSync):
    """One account's transactions."""

    def __init__(self, caller: Caller, client: TxClient) -> None:
        super().__init__(caller, client)
        self._client = client
        self.lane = client.lane

    def submit_many(self, requests: Sequence[CosmosRequest], **options: Any) -> list[TxHandleSync]:
        """Queue a batch in its order; see TxClient.submit_many."""
        handles = self._caller.call(self._client.submit_many(requests, **options))
        return [TxHandleSync(self._caller, handle) for handle in handles]

    def submit_and_wait(self, request: CosmosRequest, **options: Any) -> TxResponse:
        """Queue it and wait for its final answer, whatever that is."""
        return self._caller.call(self._client.submit_and_wait(request, **options))

    # The words of celestia-app's v1 client.

    def submit_pay_for_blob(self, blobs: Sequence[CosmosBlob], **options: Any) -> TxResponse:
        """`SubmitPayForBlob`: wait until it is in a block; ExecutionError if it failed there,
        BroadcastTxError if it never came into one."""
        return self._caller.call(self._client.submit_pay_for_blob(blobs, **options))

    def broadcast_pay_for_blob(self, blobs: Sequence[CosmosBlob], **options: Any) -> str:
        """`BroadcastPayForBlob`: its hash, once a node has it."""
        return self._caller.call(self._client.broadcast_pay_for_blob(blobs, **options))

    def submit_tx(self, messages: Sequence[tuple[str, bytes]], **options: Any) -> TxResponse:
        """`SubmitTx`."""
        return self._caller.call(self._client.submit_tx(messages, **options))

    def broadcast_tx(self, messages: Sequence[tuple[str, bytes]], **options: Any) -> str:
        """`BroadcastTx`."""
        return self._caller.call(self._client.broadcast_tx(messages, **options))

    def confirm_tx(self, intent: IntentId) -> TxResponse:
        """`ConfirmTx`, by the id of what was submitted, also before a restart."""
        return self._caller.call(self._client.confirm_tx(intent))
