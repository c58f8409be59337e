"""The clients of Cosmos accounts for code without asyncio: the same answers and errors."""

from typing import Any

from laneway.core.errors import LanewayError
from laneway.core.ids import IntentId, LaneId
from laneway.core.twins import Twin, making, making_many, waited
from laneway.kinds.cosmos.client import TxClient, TxHandle
from laneway.kinds.cosmos.workers import WorkerClient
from laneway.ports import CosmosRequest


class TxHandleSync(Twin, of=TxHandle):
    """One accepted transaction. It survives any crash until it has a final answer."""

    id: IntentId
    lane: LaneId
    data: CosmosRequest
    context: Any
    refusal: LanewayError | None

    signed = waited(TxHandle.signed)
    submitted = waited(TxHandle.submitted)
    confirmed = waited(TxHandle.confirmed)


class WorkerClientSync(Twin, of=WorkerClient):
    """Submits over an account and its workers: quicker, and without an order among them."""

    submit = making(TxHandleSync, WorkerClient.submit)
    submit_pay_for_blob_to_queue = making(TxHandleSync, WorkerClient.submit_pay_for_blob_to_queue)


class TxClientSync(Twin, of=TxClient):
    """One account's transactions; see TxClient."""

    lane: LaneId

    submit = making(TxHandleSync, TxClient.submit)
    submit_many = making_many(TxHandleSync, TxClient.submit_many)
    submit_and_wait = waited(TxClient.submit_and_wait)

    # The methods of celestia-app's v1 client.

    submit_pay_for_blob_to_queue = making(TxHandleSync, TxClient.submit_pay_for_blob_to_queue)
    submit_pay_for_blob = waited(TxClient.submit_pay_for_blob)
    broadcast_pay_for_blob = waited(TxClient.broadcast_pay_for_blob)
    submit_tx = waited(TxClient.submit_tx)
    broadcast_tx = waited(TxClient.broadcast_tx)
    confirm_tx = waited(TxClient.confirm_tx)
