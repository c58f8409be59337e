"""The library's short forms for Cosmos accounts."""

from collections.abc import Sequence
from typing import Any

from laneway.core.ids import LaneId
from laneway.kinds.cosmos.capacity import ByteCapacity
from laneway.kinds.cosmos.client import TxClient, TxHandle
from laneway.kinds.cosmos.served import CosmosServed
from laneway.kinds.cosmos.workers import WorkerClient
from laneway.kinds.served import Calls
from laneway.ports import CosmosRequest


class CosmosCalls(Calls):
    @property
    def cosmos(self) -> CosmosServed:
        return self._served(CosmosServed)

    @property
    def room(self) -> ByteCapacity | None:
        """The capacity in bytes for what Cosmos accounts have not settled."""
        door = self.cosmos.door
        return None if door is None else door.capacity

    def cosmos_client(self, lane: str) -> TxClient:
        """The client of one Cosmos account: `cosmos:CHAIN:ACCOUNT`, or `cosmos:CHAIN` where it has
        one account."""
        return self.cosmos.client(lane)

    def cosmos_workers(self, lane: str) -> WorkerClient:
        """The client of an account and its workers, which keeps no order among them."""
        return self.cosmos.workers(lane)

    async def submit_tx(self, /, lane: LaneId, request: CosmosRequest, **options: Any) -> TxHandle:
        """Queue one transaction of a Cosmos account, once there is capacity for its bytes."""
        return await self.cosmos.submit(lane, request, **options)

    async def submit_txs(
        self, /, lane: LaneId, requests: Sequence[CosmosRequest], **options: Any
    ) -> list[TxHandle]:
        """Queue a batch of a Cosmos account, in one write as far as there is capacity."""
        return await self.cosmos.submit_many(lane, requests, **options)

    async def set_sequence(
        self, lane: str, sequence: int | None = None, *, reason: str = "", by: str = ""
    ) -> None:
        """Where a Cosmos account's numbers go on; None: what the chain says. Never at one that is
        used, or that someone may still use."""
        await self.command_lane(lane, "set-sequence", sequence, reason=reason, by=by)
