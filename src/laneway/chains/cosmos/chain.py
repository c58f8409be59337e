"""The Cosmos adapter: what a lane asks of a chain, asked of its nodes."""

import asyncio
import base64
from collections.abc import Sequence
from statistics import median_high

from laneway.chains.cosmos.endpoint import CosmosEndpoint
from laneway.chains.cosmos.limits import (
    ESTIMATE_GRACE_MS,
    GAS_PRICE_MAX,
    GAS_USED_MAX,
    LOOK_TXS_MAX,
    OFFER_GRACE_MS,
    STATUSES_PER_CALL_MAX,
)
from laneway.chains.cosmos.offers import Offers
from laneway.chains.cosmos.phrases import CosmosPhrases, Row
from laneway.chains.cosmos.shapes import (
    FoundTx,
    QueryAnswer,
    QueryShape,
    SearchShape,
    StatusesShape,
    message_of,
    read_account,
    read_as,
    read_hash,
    read_state_height,
    read_status,
)
from laneway.chains.endpoint import NodePlace
from laneway.chains.nodes import KnownNodes, NodeSet, gathered
from laneway.chains.standing import NodeOfOtherChain
from laneway.core.cosmos import CosmosLook, GasSeen, OfferAnswer, OfferKind, TxSeen, TxStanding
from laneway.core.errors import ChainError, ChainUnreadable
from laneway.core.limits import REASON_CHARS_MAX
from laneway.core.majority import final_quorum
from laneway.cosmos.errors import InvalidCosmos
from laneway.cosmos.messages import (
    EstimateGasPriceRequest,
    EstimateGasPriceResponse,
    QueryAccountRequest,
    SimulateRequest,
    SimulateResponse,
)
from laneway.cosmos.protobuf import Message, decode, encode
from laneway.wire.jsonrpc import RpcAnswer, RpcCall, RpcError
from laneway.wire.rpc_codes import METHOD_NOT_FOUND

NOT_SHOWN = ("not found", "indexing is disabled")
"""What a node says of bytes that it shows in no block: many keep no index of transactions."""


class CometChain(KnownNodes):
    """One chain, asked through one node or several."""

    def __init__(
        self, places: Sequence[NodePlace], chain_id: str, overrides: Sequence[Row] = ()
    ) -> None:
        nodes = NodeSet([CosmosEndpoint(place, chain_id, overrides) for place in places])
        self._nodes = nodes.by_name
        self.close = nodes.close
        self.endpoints = nodes.all
        self.nodes = tuple(nodes.by_name)
        self._offers = Offers()
        self.unknown_words = self._offers.unknown_words
        """Error messages that no table knows, and how often nodes sent them."""
        self._chain_id = chain_id

    async def send(
        self, raws: Sequence[bytes], only: Sequence[str] = ()
    ) -> Sequence[Sequence[OfferAnswer]]:
        return await self._offers.send([self._nodes[name] for name in only or self.nodes], raws)

    async def look(self, node: str, address: str, hashes: Sequence[bytes]) -> CosmosLook:
        assert len(hashes) <= LOOK_TXS_MAX
        endpoint = self._nodes[node]
        parts = [
            hashes[at : at + STATUSES_PER_CALL_MAX]
            for at in range(0, len(hashes), STATUSES_PER_CALL_MAX)
        ]
        asked = query(QueryAccountRequest.path, QueryAccountRequest(address))
        calls = [RpcCall("status"), asked]
        if endpoint.has_statuses:
            calls += [RpcCall("tx_status_batch", [base64_of(part)]) for part in parts]
        answers = await endpoint.ask(calls)
        try:
            look = await self._read_look(endpoint, parts, answers)
            problem = look.problem(self._chain_id, address)
            if problem:
                raise NodeOfOtherChain(node, problem)
        except (ChainUnreadable, NodeOfOtherChain) as error:
            endpoint.rest_unfit(error)
            raise
        endpoint.standing.fit()
        return look

    async def _read_look(
        self,
        endpoint: CosmosEndpoint,
        parts: Sequence[Sequence[bytes]],
        answers: Sequence[RpcAnswer],
    ) -> CosmosLook:
        node = endpoint.name
        status, found, *statuses = answers
        where = read_status(node, status)
        height = where.height
        endpoint.saw_head(height)
        # A node has a block before it has executed it, and several nodes may share one address:
        # what is said of the account holds for its own block alone.
        height = min(height, read_state_height(node, found) or height)
        txs: list[TxSeen] | None = None
        if endpoint.has_statuses:
            txs = self._statuses(endpoint, parts, statuses)
        if txs is None:
            txs = await self._committed(endpoint, [hash_ for part in parts for hash_ in part])
        owner, account = read_account(node, found) or ("", None)
        return CosmosLook(
            node,
            height,
            account,
            tuple(txs),
            network=where.network,
            address=owner,
            origin_height=where.origin_height,
            origin=where.origin,
        )

    def _statuses(
        self,
        endpoint: CosmosEndpoint,
        parts: Sequence[Sequence[bytes]],
        answers: Sequence[RpcAnswer],
    ) -> list[TxSeen] | None:
        """None if the node has no such call."""
        seen: list[TxSeen] = []
        for part, answer in zip(parts, answers, strict=True):
            if isinstance(answer, RpcError) and answer.code == METHOD_NOT_FOUND:
                endpoint.has_statuses = False
                return None
            named = read_as(StatusesShape, endpoint.name, answer).statuses
            if [one.hash.lower() for one in named] != [one.hex() for one in part]:
                raise ChainUnreadable(endpoint.name, "it answers for other transactions")
            pairs = zip(named, part, strict=True)
            seen += [one.result.seen(endpoint.name, hash_) for one, hash_ in pairs]
        return seen

    async def _committed(self, endpoint: CosmosEndpoint, hashes: Sequence[bytes]) -> list[TxSeen]:
        """The transactions that are in blocks; of all others such a node says nothing."""
        if not hashes:
            return []
        answers = await endpoint.ask([RpcCall("tx", [name, False]) for name in base64_of(hashes)])
        seen = []
        for hash_, answer in zip(hashes, answers, strict=True):
            if isinstance(answer, RpcError):
                if not any(phrase in message_of(answer) for phrase in NOT_SHOWN):
                    raise ChainUnreadable(endpoint.name, message_of(answer))
                seen.append(TxSeen(hash_, TxStanding.UNTOLD))
            else:
                seen.append(read_as(FoundTx, endpoint.name, answer).seen(endpoint.name, hash_))
        return seen

    async def used_by(self, address: str, sequence: int) -> Sequence[TxSeen]:
        """Asked of all nodes: many keep no index of transactions, and one may lie."""
        found = await asyncio.gather(
            *(self._used_by(node, address, sequence) for node in self._nodes.values())
        )
        return [seen for seen in found if seen is not None]

    async def _used_by(self, node: CosmosEndpoint, address: str, sequence: int) -> TxSeen | None:
        asked = f"tx.acc_seq='{address}/{sequence}'"
        try:
            (answer,) = await node.ask([RpcCall("tx_search", [asked, False, "1", "1", "asc"])])
            found = read_as(SearchShape, node.name, answer).txs
            return found[0].seen(node.name, read_hash(node.name, found[0].hash)) if found else None
        except ChainError:
            return None

    async def gas_price(self, priority: int = 2) -> float | None:
        """What a unit of gas costs now: the median of the nodes' estimates, the higher of two; None
        where no majority of all configured nodes has one. A price that is too low ends an intent,
        and one that is too high has a ceiling."""
        request = EstimateGasPriceRequest(priority)
        answers = await self._answers(EstimateGasPriceRequest.path, request)
        said = [None if one.code else read_price(one.value or b"") for one in answers]
        prices = [price for price in said if price is not None]
        return median_high(prices) if len(prices) >= final_quorum(len(self._nodes)) else None

    async def gas_used(self, raw: bytes) -> GasSeen:
        """What these bytes would use now: the median of the nodes' simulations, the higher of two,
        where a majority of all configured nodes simulates them. With too little gas they would fail
        in their block; what is too much has a ceiling. That they would fail is believed of a
        majority."""
        answers = await self._answers(SimulateRequest.path, SimulateRequest(raw))
        failures = [one for one in answers if one.code]
        need = final_quorum(len(self._nodes))
        if len(failures) >= need:
            last = failures[-1]
            kind = CosmosPhrases().of_code(last.code, last.codespace, last.log)
            return GasSeen(None, kind, last.log[:REASON_CHARS_MAX])
        if len(failures) == len(answers):
            raise ChainUnreadable(self.nodes[0], "too few nodes simulate it")
        said = [read_gas(one.value or b"") for one in answers if not one.code]
        used = [gas for gas in said if gas is not None]
        return GasSeen(median_high(used)) if len(used) >= need else GasSeen(None, OfferKind.UNKNOWN)

    async def _answers(self, path: str, request: Message) -> list[QueryAnswer]:
        """The answers of all nodes that answer in time, in the order of the nodes; ChainError if
        none does. The time of the others is short when a majority has answered."""
        troubles: list[ChainError] = []

        async def ask_one(node: CosmosEndpoint) -> QueryAnswer:
            try:
                (answer,) = await node.ask([query(path, request)])
                return read_as(QueryShape, node.name, answer).response
            except ChainError as error:
                troubles.append(error)
                raise

        ended = await gathered(
            map(ask_one, self._nodes.values()),
            OFFER_GRACE_MS / 1000,
            enough=final_quorum(len(self._nodes)),
            enough_grace_s=ESTIMATE_GRACE_MS / 1000,
        )
        answers = [one for one in ended if not isinstance(one, ChainError)]
        if not answers:
            raise troubles[-1]
        return answers


def read_price(value: bytes) -> float | None:
    try:
        price = decode(EstimateGasPriceResponse, value, strict=False).estimated_gas_price
    except InvalidCosmos:
        return None
    return price if 0 < price <= GAS_PRICE_MAX else None


def read_gas(value: bytes) -> int | None:
    try:
        info = decode(SimulateResponse, value, strict=False).gas_info
    except InvalidCosmos:
        return None
    return None if info is None or info.gas_used > GAS_USED_MAX else info.gas_used


def query(path: str, request: Message) -> RpcCall:
    return RpcCall("abci_query", [path, encode(request).hex(), "0", False])


def base64_of(hashes: Sequence[bytes]) -> list[str]:
    return [base64.b64encode(one).decode() for one in hashes]
