"""A node of an EVM chain: which chain it serves, and whose words it speaks."""

from collections.abc import Sequence

from msgspec import DecodeError, Raw, json

from laneway.chains.endpoint import NodeEndpoint, NodePlace, result_of
from laneway.chains.evm.words import Row, Words, client_of
from laneway.chains.limits import NODE_READ_MS
from laneway.core.errors import ChainUnreadable
from laneway.core.facts import SendKind
from laneway.wire.hex import read_quantity
from laneway.wire.jsonrpc import RpcCall, RpcError
from laneway.wire.limits import RETRY_AFTER_S_DEFAULT, WEI_MAX

GREETING = (RpcCall("eth_chainId"), RpcCall("web3_clientVersion"))


class Place(NodePlace, frozen=True):
    ws_url: str = ""
    """Where it tells new blocks; without one it is polled."""
    client: str = ""
    """Whose words it speaks; without one the node is asked."""


class Endpoint(NodeEndpoint):
    def __init__(self, place: Place, chain_id: int, overrides: Sequence[Row] = ()) -> None:
        super().__init__(place)
        self.place = place
        self.words = Words(place.client, overrides)
        self.has_by_nonce = True
        """Whether it answers eth_getTransactionBySenderAndNonce."""
        self.has_block_receipts = True
        """Whether it answers eth_getBlockReceipts."""
        self.takes_block_hash = True
        """Whether it answers for a block named by its hash (EIP-1898)."""
        self.gas_limit = 0
        """What its newest block may use, as its last header says; 0 while that is not known."""
        self._chain_id = chain_id
        self._overrides = overrides

    def kind(self, error: RpcError) -> SendKind:
        kind = self.words.kind(error.code, error.message)
        if kind is SendKind.RATE_LIMITED:
            self.rest_busy(RETRY_AFTER_S_DEFAULT)
        return kind

    async def _hear_chain(self) -> str | None:
        chain, version = await self.ask_prepared(GREETING, NODE_READ_MS)
        try:
            served = read_quantity(json.decode(result_of(self.name, chain), type=str), WEI_MAX)
        except (DecodeError, ValueError) as error:
            raise ChainUnreadable(self.name, f"its chain id: {error}") from error
        if served != self._chain_id:
            return f"answers chain id {served}, laneway.toml says {self._chain_id}"
        if not self.place.client and isinstance(version, Raw):
            said = bytes(version).decode(errors="replace").strip('"')
            self.words = Words(client_of(said), self._overrides)
        return None
