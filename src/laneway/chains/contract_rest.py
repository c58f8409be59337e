"""A ContractHost that speaks the contract node's REST API (facts/contract-host.md).

An execution takes two calls. The first one only asks: whatever goes wrong before the second one
(the sign-off) is handed to the network proves that nothing ran. Whatever goes wrong after that
proves nothing, and is unknown. The host never tries again by itself.

The real node takes no parent block. `takes_parent` is for hosts that know our devnet's extension
`parentBlock`.
"""

import asyncio
from contextlib import suppress
from time import monotonic
from typing import Annotated, TypeVar

from aiohttp import ClientConnectorError, ClientError, ClientTimeout, ConnectionTimeoutError
from msgspec import DecodeError, Meta, Struct, field, json
from yarl import URL

from laneway.chains.contract_callable import doubt
from laneway.chains.limits import (
    ANSWER_BYTES_MAX,
    ANSWER_MS,
    CONNECT_MS,
    CONNECTIONS_MAX,
    GREETING_KEPT_MS,
    KEEPALIVE_S,
    READ_MS,
)
from laneway.chains.phrases import shorten
from laneway.chains.seen import SeenBlocks
from laneway.chains.standing import NodeOfOtherChain, StandingKeeper
from laneway.core.errors import BadRequest, ChainError, ChainUnreachable, ChainUnreadable
from laneway.core.limits import REASON_CHARS_MAX
from laneway.core.nesting import bounded
from laneway.core.outcome import Outcome
from laneway.core.urls import scrubbed, shown_url
from laneway.ports import ChainFinding, ContractCall, Execution, HostTraits, TracedCall
from laneway.ports.nodes import WRONG_CHAIN, NodeStanding
from laneway.wire.http_session import HttpSession, read_body
from laneway.wire.limits import NUMBER_MAX
from laneway.wire.trace import HEADER as TRACE
from laneway.wire.trouble import no_answer, trouble_of

NOBODY = "laneway-probe"
"""Asked for while no contract is known: any answer at all proves that the node is there."""

EXECUTE = "/api/execute-smart-contract"
SIGN_OFF = "/api/signature-response"
CHAIN_DATA = "/api/get-smart-contract-token-chain-data"


class RefusalPhrase(Struct, frozen=True):
    """What a node's `status: false` proves when its message contains this phrase."""

    words: str
    outcome: Outcome
    final: bool = False
    stale: bool = False


WORDS: tuple[RefusalPhrase, ...] = (
    # The write on a stale parent (seed 004 §3).
    RefusalPhrase("sequence missing", Outcome.REFUSED, stale=True),
    # The quorum never agreed, so no block was made.
    RefusalPhrase("consensus failed, retry transaction", Outcome.REFUSED),
    RefusalPhrase("failed to get required quorums", Outcome.REFUSED),
    RefusalPhrase("quorum(s) are unavailable", Outcome.REFUSED),
    RefusalPhrase("insufficient balance in quorum", Outcome.REFUSED),
    # Any other failure of the consensus: the node also says this when a step *after* the write
    # fails (pledges, events), so the block may be there. It shadows the rows below on purpose.
    RefusalPhrase("consensus failed", Outcome.UNKNOWN),
    # Before the consensus: the node cannot run it now.
    RefusalPhrase("password incorrect", Outcome.REFUSED),
    RefusalPhrase("failed to setup executor", Outcome.REFUSED),
    RefusalPhrase("token chain not synced", Outcome.REFUSED),
    # Before the consensus: the request itself is wrong.
    RefusalPhrase("invalid input", Outcome.REFUSED, final=True),
    RefusalPhrase("invalid executer", Outcome.REFUSED, final=True),
    RefusalPhrase("invalid executor", Outcome.REFUSED, final=True),
    RefusalPhrase("invalid smart contract token", Outcome.REFUSED, final=True),
    RefusalPhrase("invalid quorum type", Outcome.REFUSED, final=True),
    RefusalPhrase("token value cannot be 0", Outcome.REFUSED, final=True),
    # Our devnet's refusal.
    RefusalPhrase("smart contract execution refused", Outcome.REFUSED, final=True),
)
"""The first row whose phrase occurs decides, in lower case. Others prove nothing."""


Whole = Annotated[int, Meta(ge=0, le=NUMBER_MAX)]
"""A block's number, or a mode; an answer with any other is not read at all."""


class ExecuteResult(Struct):
    """All that a result may say: a question for the password, or the block that was made."""

    id: str = ""
    mode: Whole = 0
    block: Whole | None = field(name="BlockNo", default=None)


class NodeAnswer(Struct):
    status: bool
    message: str = ""
    result: ExecuteResult | str | None = None


class ChainBlock(Struct):
    """A block as any known version of the node writes it."""

    number: Whole = field(name="BlockNo")
    data: str = field(name="SmartContractData", default="")
    executor_did: str | None = field(name="ExecutorDID", default=None)
    executor: str | None = None


class NodeChainData(Struct):
    status: bool
    message: str = ""
    blocks: list[ChainBlock] | None = field(name="SCTDataReply", default=None)
    result: list[ChainBlock] | ExecuteResult | str | None = None


T = TypeVar("T", NodeAnswer, NodeChainData)


class NodeAnswerLost(Exception):
    """A request left, and no answer came back. Never leaves this module."""


class NodeRefusedRead(ChainUnreadable):
    """The node refused to answer."""


class RestHost:
    """One node. Its session is opened by the first call, inside the running loop."""

    def __init__(
        self,
        url: str,
        *,
        password: str,
        takes_parent: bool = False,
        connect_ms: int = CONNECT_MS,
        read_ms: int = READ_MS,
        answer_ms: int = ANSWER_MS,
    ) -> None:
        self.traits = HostTraits(takes_parent=takes_parent)
        self.words = WORDS
        """To be replaced for a node that speaks otherwise."""
        self.unknown_words_count = 0
        """How often the node refused with a message that the table does not know."""
        self._url = node_url(url)
        self._name = shown_url(self._url)
        """The address as errors show it."""
        self._standing = StandingKeeper(self._url)
        self.witness: tuple[str, int] | None = None
        """A contract and a block of it that was seen: a node without it lags, or serves another
        chain. The API names no chain."""
        self._seen = SeenBlocks()
        self._compared_s = float("-inf")
        """When the node last showed a block that was seen before, by the monotonic clock."""
        self._password = password
        self._read_timeout = ClientTimeout(total=read_ms / 1000, connect=connect_ms / 1000)
        self._answer_timeout = ClientTimeout(total=answer_ms / 1000, connect=connect_ms / 1000)
        json_ = {"Content-Type": "application/json"}
        self._session = HttpSession(CONNECTIONS_MAX, KEEPALIVE_S, json_)
        self._closed = False

    def standings(self) -> list[NodeStanding]:
        return [self._standing.now]

    async def probe(self, timeout_ms: int, heard_ms: int) -> None:
        """Ask for the newest block of a contract, unless the node answered lately."""
        if monotonic() - self._standing.heard_s < heard_ms / 1000:
            return
        try:
            async with asyncio.timeout(timeout_ms / 1000):
                await self._newest(NOBODY if self.witness is None else self.witness[0])
        except TimeoutError:
            self._standing.failed(NodeAnswerLost(no_answer(timeout_ms)))
        except ChainError:
            pass  # Noted where it was raised, unless the node only does not know the contract.

    async def latest_block(self, contract: str) -> int:
        return (await self._newest(contract)).number

    async def execute(self, call: ContractCall, parent: int) -> Execution:
        await self._check_chain(call.contract, parent)
        asked = await self._ask(call, parent)
        if isinstance(asked, Execution):
            return asked
        body = {"id": asked.id, "mode": asked.mode, "password": self._password}
        try:
            answer = await self._post(
                SIGN_OFF, body, NodeAnswer, self._answer_timeout, trace_of(call)
            )
        except (NodeAnswerLost, ChainUnreadable) as error:
            # It was handed to the network: it may run, now or later.
            return doubt(str(error))
        if not answer.status:
            return self._translate(answer.message, Outcome.UNKNOWN)
        if isinstance(answer.result, ExecuteResult) and answer.result.id:
            question = self._clean(answer.message)
            return doubt(f"the node asks for more than a password: {question}")
        block = await self._made(call, parent, answer)
        if block is not None:
            self._compare(call.contract, block)
        return Execution(Outcome.ACCEPTED, block=block)

    async def find(self, call: ContractCall, parent: int) -> ChainFinding:
        newest = await self._newest(call.contract)
        if newest.number <= parent:
            return ChainFinding(newest.number, None)
        blocks = [newest]
        if newest.number > parent + 1:
            # Asked for only when needed: the node's history may end after a hundred blocks.
            blocks = await self._blocks(call.contract, latest=False)
        by_number = {block.number: block for block in blocks}
        last = parent + 1 if self.traits.takes_parent else newest.number
        for number in range(parent + 1, last + 1):
            block = by_number.get(number)
            if block is None:
                # A block nobody showed us may be ours, so absence is not claimed.
                raise ChainUnreadable(self._name, f"its history lacks block {number}")
            if self._is_ours(block, call):
                return ChainFinding(newest.number, number)
        return ChainFinding(newest.number, None)

    async def close(self) -> None:
        self._closed = True
        await self._session.close()

    async def _check_chain(self, contract: str, parent: int) -> None:
        """ChainUnreachable before anything is sent to a node that lacks a block which was seen.

        A parent that the node never showed was seen by an earlier process, perhaps of another
        node. One that showed a known block a moment ago is not asked again, and one that lacked a
        block must show the witness too.
        """
        if parent > (self._seen.of(contract) or 0):
            await self._show_parent(contract, parent)
            return
        if self.witness is None or self._is_proven():
            return
        asked = [self.witness[0] if self._seen.of(contract) is None else contract]
        if self._standing.now.trouble == WRONG_CHAIN:
            asked.insert(0, self.witness[0])
        for one in dict.fromkeys(asked):
            with suppress(ChainUnreadable):
                await self._newest(one)
            self._refuse_wrong()

    async def _show_parent(self, contract: str, parent: int) -> None:
        """ChainUnreachable unless the node shows the block that an execution is to build on."""
        try:
            await self._newest(contract, parent)
        except ChainUnreadable as error:
            self._refuse_wrong()
            lacks = f"block {parent} of {contract} was not shown, and nothing was sent"
            raise ChainUnreachable(self._name, f"{lacks}: {error.answer}") from error
        self._refuse_wrong()

    def _refuse_wrong(self) -> None:
        if self._standing.now.trouble == WRONG_CHAIN:
            raise NodeOfOtherChain(self._name, self._standing.now.problem)

    async def _ask(self, call: ContractCall, parent: int) -> ExecuteResult | Execution:
        """The first call: the node's question for a password, or the proof that nothing ran."""
        body: dict[str, object] = {
            "smartContractToken": call.contract,
            "executorAddr": call.executor,
            "quorumType": call.quorum_type,
            "smartContractData": call.data,
            "comment": call.comment,
        }
        if self.traits.takes_parent:
            body["parentBlock"] = parent
        try:
            answer = await self._post(EXECUTE, body, NodeAnswer, self._read_timeout, trace_of(call))
        except NodeAnswerLost as error:
            raise ChainUnreachable(self._name, f"{error}; nothing was signed off") from error
        except ChainUnreadable as error:
            return Execution(Outcome.REFUSED, reason=shorten(str(error)))
        if not answer.status:
            return self._translate(answer.message, Outcome.REFUSED)
        if isinstance(answer.result, ExecuteResult) and answer.result.id:
            return answer.result
        # A node that needs no password may have run it already.
        return doubt(f"the node did not ask for a password: {self._clean(answer.message)}")

    def _translate(self, message: str, otherwise: Outcome) -> Execution:
        message = self._clean(message)
        lowered = message.lower()
        for row in self.words:
            if row.words in lowered:
                return Execution(
                    row.outcome, final=row.final, stale=row.stale, reason=shorten(message)
                )
        self.unknown_words_count += 1
        return Execution(otherwise, reason=shorten(message))

    async def _made(self, call: ContractCall, parent: int, answer: NodeAnswer) -> int | None:
        """The block that an accepted execution made; None when it cannot be read now."""
        if isinstance(answer.result, ExecuteResult) and answer.result.block is not None:
            return answer.result.block
        if self.traits.takes_parent:
            return parent + 1
        try:
            # The real node says only "Executed successfully".
            return (await self.find(call, parent)).block
        except (ChainUnreachable, ChainUnreadable):
            return None

    async def _newest(self, contract: str, least: int = 0) -> ChainBlock:
        """The newest block; `least` is one that laneway has seen, if any."""
        try:
            blocks = await self._blocks(contract, latest=True)
        except NodeRefusedRead as error:
            self._compare(contract, None, least, f": {error.answer}")
            raise
        if not blocks:
            self._compare(contract, None, least)
            raise ChainUnreadable(self._name, f"it names no block of {contract}")
        newest = max(blocks, key=lambda block: block.number)
        self._compare(contract, newest.number, least)
        return newest

    def _compare(self, contract: str, number: int | None, least: int = 0, more: str = "") -> None:
        """Hold what the node says of a contract against the block that was seen of it before."""
        known = self._known(contract, least)
        if known is not None and (number is None or number < known):
            shows = f"no block of {contract}" if number is None else f"block {number} of {contract}"
            problem = f"answers {shows}{more}, laneway has seen block {known}"
            wrong = NodeOfOtherChain(self._name, f"{problem}: it lags, or serves another chain")
            self._standing.failed(wrong)
            return
        if number is None:
            return
        if self.witness is None or self.witness[0] == contract:
            self.witness = contract, number
        elif known is None and not self._is_proven():
            return  # The answer for a new contract proves nothing of which chain it is on.
        self._seen.saw(contract, number)
        self._compared_s = monotonic()
        if known is not None:
            self._standing.answered()

    def _is_proven(self) -> bool:
        """Whether the node showed a known block a moment ago, and lacked none since."""
        is_fresh = monotonic() - self._compared_s < GREETING_KEPT_MS / 1000
        return is_fresh and self._standing.now.trouble != WRONG_CHAIN

    def _known(self, contract: str, least: int) -> int | None:
        """The highest block of a contract that laneway has seen; None if it has seen none."""
        witness = self.witness or ("", 0)
        seen = (self._seen.of(contract), witness[1] if witness[0] == contract else None)
        return max([one for one in (*seen, least or None) if one is not None], default=None)

    async def _blocks(self, contract: str, *, latest: bool) -> list[ChainBlock]:
        body = {"token": contract, "latest": latest}
        try:
            answer = await self._post(CHAIN_DATA, body, NodeChainData, self._read_timeout)
        except NodeAnswerLost as error:
            raise ChainUnreachable(self._name, str(error)) from error
        if not answer.status:
            raise NodeRefusedRead(self._name, self._clean(answer.message))
        if answer.blocks is not None:
            return answer.blocks
        return answer.result if isinstance(answer.result, list) else []

    def _is_ours(self, block: ChainBlock, call: ContractCall) -> bool:
        if block.data != call.data:
            return False
        executor = block.executor_did or block.executor
        if not executor:
            raise ChainUnreadable(self._name, f"block {block.number} names no executor")
        # An executor's address is PEER.DID or DID; the chain keeps the DID.
        return executor in (call.executor, call.executor.rpartition(".")[2])

    async def _post(
        self,
        path: str,
        body: object,
        kind: type[T],
        timeout: ClientTimeout,
        headers: dict[str, str] | None = None,
    ) -> T:
        """What `_exchange` answers or raises, noted as the node's standing."""
        try:
            status, raw = await self._exchange(path, json.encode(body), timeout, headers)
            answer = self._decode(path, status, raw, kind)
        except (ChainUnreachable, ChainUnreadable, NodeAnswerLost) as error:
            self._standing.failed(error)
            raise
        if self._standing.now.trouble != WRONG_CHAIN:
            self._standing.answered()
        return answer

    async def _exchange(
        self, path: str, content: bytes, timeout: ClientTimeout, headers: dict[str, str] | None
    ) -> tuple[int, bytes]:
        """Post once. ChainUnreachable proves that nothing left, AnswerLost that it may have,
        and ChainUnreadable that an answer came which says nothing."""
        if self._closed:
            raise ChainUnreachable(self._name, "this host was closed")
        try:
            # A redirect would send the body again, so none is followed.
            async with self._session.opened().post(
                self._url + path,
                data=content,
                timeout=timeout,
                headers=headers,
                allow_redirects=False,
            ) as response:
                raw = await read_body(response.content, ANSWER_BYTES_MAX)
                if raw is None:
                    raise self._unreadable(path, f"more than {ANSWER_BYTES_MAX} bytes")
                return response.status, raw
        # Their own texts may hold the whole address, so nothing is chained.
        except (ClientConnectorError, ConnectionTimeoutError) as error:
            problem = trouble_of(error, timeout.connect or 0)
            raise ChainUnreachable(self._name, problem) from None
        except TimeoutError as error:
            late = no_answer(1000 * (timeout.total or 0))
            raise NodeAnswerLost(f"{late} from {path}") from error
        except (ClientError, OSError) as error:
            detail = self._clean(f"{type(error).__name__}: {error}")
            raise NodeAnswerLost(f"{path} was cut off ({detail})") from None

    def _decode(self, path: str, status: int, raw: bytes, kind: type[T]) -> T:
        text = raw[:REASON_CHARS_MAX].decode(errors="replace")
        if status != 200:
            raise self._unreadable(path, f"HTTP {status} {text}")
        try:
            return json.decode(bounded(raw), type=kind, strict=False)
        except (DecodeError, UnicodeDecodeError) as error:
            raise self._unreadable(path, f"{text} ({error})") from error

    def _unreadable(self, path: str, answer: str) -> ChainUnreadable:
        return ChainUnreadable(self._name + path, self._clean(answer))

    def _clean(self, text: str) -> str:
        """The node's message, without the secrets it was asked with."""
        return scrubbed(text, self._url, self._password)


def trace_of(call: ContractCall) -> dict[str, str]:
    """The caller's trace goes on to the node."""
    return {TRACE: call.trace} if isinstance(call, TracedCall) and call.trace else {}


def node_url(url: str) -> str:
    """Check a node's address; it comes back without a slash at its end."""
    try:
        parsed = URL(url)
    except ValueError:
        parsed = URL()
    if parsed.scheme not in ("http", "https") or not parsed.host:
        raise BadRequest("url", f"{shown_url(url)!r} is not an address like http://127.0.0.1:20000")
    if "?" in url or "#" in url:
        problem = (
            "the API's paths are appended to a contract node's address, which has no ? and no #"
        )
        raise BadRequest("url", f"{shown_url(url)!r} cannot be used: {problem}")
    return url.rstrip("/")
