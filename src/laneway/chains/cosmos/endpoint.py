"""A node of a Cosmos chain: which chain it serves, and what it can be asked."""

from collections.abc import Sequence

from laneway.chains.cosmos.phrases import CosmosPhrases, Row
from laneway.chains.cosmos.shapes import StatusShape, read_as
from laneway.chains.endpoint import NodeEndpoint, NodePlace
from laneway.chains.limits import NODE_READ_MS
from laneway.wire.jsonrpc import RpcCall


class CosmosEndpoint(NodeEndpoint):
    def __init__(self, place: NodePlace, chain_id: str, overrides: Sequence[Row] = ()) -> None:
        super().__init__(place)
        self.words = CosmosPhrases(overrides)
        self.has_statuses = True
        """Whether it answers tx_status_batch; others are asked for each transaction in a block."""
        self._chain_id = chain_id

    async def _hear_chain(self) -> str | None:
        (answer,) = await self.ask_prepared([RpcCall("status")], NODE_READ_MS)
        served = read_as(StatusShape, self.name, answer).node_info.network
        if served == self._chain_id:
            return None
        return f"answers chain id {served}, laneway.toml says {self._chain_id}"
