"""Worker accounts: they submit in parallel, and the main account pays their fees.

Each is given a coin, so that it exists, and an allowance without a limit, in one transaction of the
main account that is submitted once for ever: its key is the worker's address.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from laneway.core.ids import LaneId
from laneway.cosmos import messages
from laneway.cosmos.messages import BasicAllowance, Coin, MsgGrantAllowance, MsgSend
from laneway.cosmos.protobuf import encode
from laneway.kinds.cosmos.client import TxClient, TxHandle
from laneway.ports import CosmosBlob, CosmosRequest

if TYPE_CHECKING:
    # The curve is an extra (`cosmos`); contracts need none of it.
    from laneway.engine.sequence.account import CosmosAccount
    from laneway.kinds.cosmos.lanes import CosmosLanes
    from laneway.kinds.cosmos.served import CosmosServed

SETUP_KEY = "laneway/worker/"


def setup_of(main: "CosmosAccount", worker: "CosmosAccount") -> CosmosRequest:
    coin = MsgSend(main.address, worker.address, (Coin(main.view.denom, "1"),))
    allowance = messages.Any(BasicAllowance.url, encode(BasicAllowance()))
    allowed = MsgGrantAllowance(main.address, worker.address, allowance)
    return CosmosRequest(
        messages=((MsgSend.url, encode(coin)), (MsgGrantAllowance.url, encode(allowed)))
    )


async def set_up(served: "CosmosServed", lanes: "CosmosLanes") -> None:
    """Ask for what the workers need; their lanes wait until it is there."""
    for lane in lanes.lanes():
        main = lanes.accounts[lane]
        for name in lanes.workers(lane):
            worker = lanes.accounts[name]
            key = f"{SETUP_KEY}{worker.address}"
            await served.submit(lane, setup_of(main, worker), key=key)


class WorkerClient:
    """Submits over an account and its workers: quicker, and without an order among them."""

    def __init__(self, clients: Sequence[TxClient]) -> None:
        self._clients = clients
        self._open = dict.fromkeys((client.lane for client in clients), 0)

    async def submit(self, /, request: CosmosRequest, **options: Any) -> TxHandle:
        """By the account that has the fewest under way."""
        client = min(self._clients, key=lambda one: self._open[one.lane])
        self._open[client.lane] += 1
        try:
            handle = await client.submit(request, **options)
        except BaseException:
            self._open[client.lane] -= 1
            raise
        handle.when_final(lambda: self._ended(client.lane))
        return handle

    async def submit_pay_for_blob_to_queue(
        self, /, blobs: Sequence[CosmosBlob], **options: Any
    ) -> TxHandle:
        return await self.submit(CosmosRequest(blobs=tuple(blobs)), **options)

    def _ended(self, lane: LaneId) -> None:
        self._open[lane] -= 1
