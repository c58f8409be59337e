"""A node of an EVM chain: which chain it serves, and whose error messages it sends."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager

from msgspec import DecodeError, Raw, json

from laneway.chains.endpoint import NodeEndpoint, NodePlace, loop_s, result_of
from laneway.chains.evm.limits import UNREAD_KEPT_MS
from laneway.chains.evm.phrases import EvmPhrases, Row, client_of
from laneway.chains.limits import NODE_READ_MS
from laneway.core.errors import ChainUnreadable
from laneway.core.facts import SendKind
from laneway.wire.hex import read_quantity
from laneway.wire.jsonrpc import RpcCall, RpcError
from laneway.wire.limits import RETRY_AFTER_S_DEFAULT, WEI_MAX

GREETING = (RpcCall("eth_chainId"), RpcCall("web3_clientVersion"))


class EvmPlace(NodePlace, frozen=True):
    ws_url: str = ""
    """Where it notifies of new blocks; without one it is polled."""
    client: str = ""
    """The client whose error messages it sends; without one the node is asked."""


class EvmEndpoint(NodeEndpoint):
    def __init__(self, place: EvmPlace, chain_id: int, overrides: Sequence[Row] = ()) -> None:
        super().__init__(place)
        self.place = place
        self.words = EvmPhrases(place.client, overrides)
        self.has_by_nonce = True
        """Whether it answers eth_getTransactionBySenderAndNonce."""
        self.has_block_receipts = True
        """Whether it answers eth_getBlockReceipts."""
        self.has_traces = True
        """Whether it answers debug_traceTransaction."""
        self.takes_block_hash = True
        """Whether it answers for a block named by its hash (EIP-1898)."""
        self.gas_limit = 0
        """What its newest block may use, as its last header says; 0 while that is not known."""
        self._unread_s: dict[str, float] = {}
        """The kinds of answers that could not be read, each with when."""
        self._chain_id = chain_id
        self._overrides = overrides

    def kind(self, error: RpcError) -> SendKind:
        kind = self.words.kind(error.code, error.message)
        if kind is SendKind.RATE_LIMITED:
            self.rest_busy(RETRY_AFTER_S_DEFAULT)
        return kind

    @contextmanager
    def reading(self, what: str) -> Iterator[None]:
        """Note in the node's standing whether an answer of this kind can be read. It is named as
        long as any kind cannot; it does not rest, for it may take what is signed all the same."""
        try:
            yield
        except ChainUnreadable as error:
            self._unread_s[what] = loop_s()
            self.standing.unfit()
            self.standing.failed(error)
            raise
        self._forget_unread([what])

    def _forget_unread(self, kinds: Iterable[str]) -> None:
        forgotten = [self._unread_s.pop(kind) for kind in kinds if kind in self._unread_s]
        if forgotten and not self._unread_s:
            self.standing.fit()

    async def _hear_chain(self) -> str | None:
        chain, version = await self.ask_prepared(GREETING, NODE_READ_MS)
        try:
            served = read_quantity(json.decode(result_of(self.name, chain), type=str), WEI_MAX)
        except (DecodeError, ValueError) as error:
            raise ChainUnreadable(self.name, f"its chain id: {error}") from error
        if served != self._chain_id:
            return f"answers chain id {served}, laneway.toml says {self._chain_id}"
        if not self.place.client and isinstance(version, Raw):
            name = bytes(version).decode(errors="replace").strip('"')
            self.words = EvmPhrases(client_of(name), self._overrides)
        until_s = loop_s() - UNREAD_KEPT_MS / 1000
        self._forget_unread([kind for kind, at_s in self._unread_s.items() if at_s < until_s])
        return None
