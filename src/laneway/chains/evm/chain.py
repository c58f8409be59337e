"""An EVM chain asked through one JSON-RPC node or several: the port `EvmChain`.

It keeps nothing that matters: what it knows of its nodes is asked again after a restart.
"""

from collections.abc import AsyncIterator, Sequence

from laneway.chains.evm.blocks import LATEST, read_blocks
from laneway.chains.evm.broadcast import Broadcast
from laneway.chains.evm.endpoint import EvmEndpoint, EvmPlace
from laneway.chains.evm.estimate import estimate_by_nodes
from laneway.chains.evm.explained import logs_of, revert_of
from laneway.chains.evm.fees import fees_of
from laneway.chains.evm.heads import EvmHeads
from laneway.chains.evm.limits import SEND_GRACE_MS, SEND_MS
from laneway.chains.evm.nodes import EvmNodes
from laneway.chains.evm.nonce import read_claim
from laneway.chains.evm.phrases import Row
from laneway.chains.evm.receipts import ask_node_receipts, receipts_of
from laneway.chains.evm.shapes import read_header, read_number
from laneway.chains.limits import POLL_MS
from laneway.chains.nodes import KnownNodes, PollPace
from laneway.core.errors import ChainUnreachable
from laneway.core.facts import (
    AccountAtBlock,
    BlockRef,
    BlockSeen,
    BlocksSeen,
    Estimated,
    FeesSeen,
    LogsSeen,
    NodeReceipts,
    NonceClaim,
    NotEstimated,
    ReceiptSeen,
    Reverted,
    RevertSeen,
    SendAnswer,
)
from laneway.core.majority import account_of, look_quorum
from laneway.ports import EvmCall, MinedCall
from laneway.wire.hex import octets, quantity
from laneway.wire.jsonrpc import RpcCall, RpcError
from laneway.wire.limits import WEI_MAX
from laneway.wire.rpc_codes import INVALID_PARAMS


class RpcChain(KnownNodes):
    """The adapter. `preconfirmed` is for chains whose "pending" state is a flashblock's promise;
    elsewhere "pending" counts what the pool may drop, and is never read."""

    def __init__(
        self,
        places: Sequence[EvmPlace],
        *,
        chain_id: int,
        preconfirmed: bool = False,
        words: Sequence[Row] = (),
        poll_ms: int = POLL_MS,
        send_ms: int = SEND_MS,
        grace_ms: int = SEND_GRACE_MS,
    ) -> None:
        self.chain_id = chain_id
        self._nodes = EvmNodes([EvmEndpoint(place, chain_id, words) for place in places])
        self.endpoints = self._nodes.all
        self.nodes = tuple(node.name for node in self._nodes.all)
        self._preconfirmed = preconfirmed
        self._pace = PollPace(poll_ms)
        self._broadcast = Broadcast(send_ms=send_ms, grace_ms=grace_ms)
        self.unknown_words = self._broadcast.unknown_words
        """Error messages that no table knows, and how often nodes sent them."""

    async def account(self, address: bytes) -> AccountAtBlock:
        """The account by a node that does not lag; of three or more, as enough of them answer."""
        count = len(self.nodes)
        if look_quorum(count) == 1:
            return await self._nodes.read(lambda node: self._account(node, address))
        seen = await self._nodes.each(lambda node: self._account(node, address))
        account = account_of(seen, count)
        if account is None:
            names = ", ".join(one.node for one in seen) or "none"
            raise ChainUnreachable(
                "nodes", f"{names} of {count} answers; {look_quorum(count)} must"
            )
        return account

    async def fees(self) -> FeesSeen:
        return await fees_of(self._nodes)

    async def estimate(self, call: EvmCall) -> Estimated | Reverted | NotEstimated:
        return await estimate_by_nodes(self._nodes, call)

    async def send(
        self, raws: Sequence[bytes], only: Sequence[str] = ()
    ) -> Sequence[Sequence[SendAnswer]]:
        nodes = [node for node in self._nodes.all if not only or node.name in only]
        return await self._broadcast.send(nodes, raws)

    async def blocks(self, known: Sequence[BlockRef], limit: int, node: str = "") -> BlocksSeen:
        return await self._nodes.read(lambda one: read_blocks(one, known, limit), first=node)

    async def receipts(
        self, hashes: Sequence[bytes], blocks: Sequence[BlockSeen] = (), node: str = ""
    ) -> Sequence[ReceiptSeen | None]:
        return await receipts_of(self._nodes, hashes, blocks, node)

    async def receipts_by_node(self, hashes: Sequence[bytes]) -> Sequence[NodeReceipts]:
        return await self._nodes.each(lambda node: ask_node_receipts(node, hashes))

    async def at_nonce(self, address: bytes, nonce: int) -> Sequence[NonceClaim]:
        return await self._nodes.each(lambda node: read_claim(node, address, nonce))

    async def logs(self, mined: MinedCall) -> LogsSeen:
        """What it logged, as one node shows it; for people alone."""
        return await logs_of(self._nodes, mined)

    async def revert(self, mined: MinedCall) -> RevertSeen:
        """Why it failed, as one node says; for people alone."""
        return await revert_of(self._nodes, mined)

    def heads(self) -> AsyncIterator[BlockRef]:
        return EvmHeads(self._nodes.all, self._pace).follow()

    async def close(self) -> None:
        await self._nodes.close()

    async def _account(self, node: EvmEndpoint, address: bytes) -> AccountAtBlock:
        asked = [LATEST]
        if self._preconfirmed:
            asked.append(RpcCall("eth_getTransactionCount", (octets(address), "pending")))
        with node.reading("account"):
            newest, *pending = await node.ask(asked)
            head = read_header(node, newest)
            count, balance = await read_state(node, address, head)
            promised = [read_number(node, answer) for answer in pending]
        return AccountAtBlock(count, max([count, *promised]), balance, head, node.name)


async def read_state(node: EvmEndpoint, address: bytes, block: BlockRef) -> tuple[int, int]:
    """Count and balance at one block, named by its hash where the node takes that."""
    where: object = {"blockHash": octets(block.hash)}
    if not node.takes_block_hash:
        where = quantity(block.number)
    parameters = (octets(address), where)
    count, balance = await node.ask(
        [RpcCall(name, parameters) for name in ("eth_getTransactionCount", "eth_getBalance")]
    )
    refused = isinstance(count, RpcError) and count.code == INVALID_PARAMS
    if refused and node.takes_block_hash:
        node.takes_block_hash = False
        return await read_state(node, address, block)
    return read_number(node, count), read_number(node, balance, WEI_MAX)
