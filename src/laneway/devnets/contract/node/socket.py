"""The contract devnet on a loopback socket, in the node's wire protocol (facts/contract-host.md).

An execution takes two calls: the first one asks for it and is answered at once with an id that
needs a password, the second one signs it off, starts the round and is answered when that ends.
Errors are `status: false` with HTTP 200, as the node has it.

One extension, which the real node lacks: an optional `"parentBlock": int` in the first call fixes
the parent block. Without it the round reads the latest block when it starts.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final, Literal, TypeVar
from uuid import uuid4

from aiohttp import web
from msgspec import DecodeError, Struct, field, json

from laneway.core.nesting import bounded
from laneway.devnets.contract.limits import (
    BODY_BYTES_MAX,
    HISTORY_COUNT_MAX,
    PENDING_COUNT_MAX,
)
from laneway.devnets.contract.model import ContractBlock, ContractChain, RequestFault, RoundEnded
from laneway.devnets.contract.node.host import Rounds
from laneway.devnets.node.serving import Greeting, serve
from laneway.devnets.node.socket import NodeSite
from laneway.ports import ContractCall

LITE_MODE: Final = 4
"""The kind of identity that signs with a password, as the node numbers it."""

EXECUTED = "Smart Contract Token Executed successfully"
# The node glues an error to "Consensus failed" without a space; clients must bear it.
CONFLICT = (
    "Consensus failedsmart contract token chain creation failed: "
    "invalid block number, sequence missing"
)
FAILED = "Consensus failedconsensus failed, retry transaction after sometime"
REFUSED = "smart contract execution refused: "
"""The devnet's own message: the real node runs the contract's code only after the block."""
BAD_INPUT = "Invalid input"
BAD_ID = "Invalid request ID"
BAD_PASSWORD = "x509: decryption password incorrect"

Body = TypeVar("Body", bound=Struct)


class ExecuteBody(Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    smart_contract_token: str
    executor_addr: str
    quorum_type: Literal[1, 2]
    smart_contract_data: str
    comment: str = ""
    parent_block: int | None = None


class SignOffBody(Struct, frozen=True, forbid_unknown_fields=True):
    id: str
    mode: int
    password: str


class ChainDataBody(Struct, frozen=True, forbid_unknown_fields=True):
    token: str
    latest: bool


class PasswordAsked(Struct, frozen=True):
    id: str
    mode: int = LITE_MODE
    hash: str | None = None
    only_priv_key: bool = False


class BlockWritten(Struct, frozen=True, rename="pascal"):
    block_no: int
    block_id: str


class BlockRead(Struct, frozen=True, rename="pascal"):
    block_no: int
    block_id: str
    smart_contract_data: str
    epoch: int
    executor_did: str = field(name="ExecutorDID")


class Envelope(Struct, frozen=True):
    """How the node wraps every answer."""

    status: bool
    message: str
    result: PasswordAsked | BlockWritten | None = None


class ChainDataAnswer(Struct, frozen=True):
    status: bool
    message: str
    result: None = None
    blocks: list[BlockRead] = field(name="SCTDataReply", default_factory=list)


class ContractSocket:
    """Serves one chain. An end that is not answered drops the connection, or hangs with `hang`."""

    def __init__(
        self,
        chain: ContractChain,
        *,
        port: int = 0,
        password: str | None = None,
        fault: Callable[[ContractCall], RequestFault] | None = None,
        hang: bool = False,
    ) -> None:
        self.url = ""
        """Where it listens, once entered."""
        self._chain = chain
        self._site = NodeSite(port=port)
        self._password = password
        self._fault = fault
        self._hang = hang
        self._rounds = Rounds(chain)
        self._pending: dict[str, ExecuteBody] = {}
        self._closing = asyncio.Event()

    async def __aenter__(self) -> "ContractSocket":
        app = web.Application(client_max_size=BODY_BYTES_MAX)
        app.router.add_post("/api/execute-smart-contract", reading(ExecuteBody, self._execute))
        app.router.add_post("/api/signature-response", reading(SignOffBody, self._sign_off))
        read = reading(ChainDataBody, self._chain_data)
        app.router.add_post("/api/get-smart-contract-token-chain-data", read)
        await self._site.open(app)
        self.url = f"http://{self._site.address}"
        return self

    async def __aexit__(self, *_: object) -> None:
        # Waiting calls are let go first, or the server would wait for them.
        self._closing.set()
        self._rounds.close()
        await self._site.close()

    def restart(self) -> None:
        """The node dies and comes back: rounds are killed, what was not signed off is forgotten."""
        self._pending.clear()
        self._rounds.restart()

    async def _execute(self, _request: web.Request, body: ExecuteBody) -> web.Response:
        if len(self._pending) >= PENDING_COUNT_MAX:
            del self._pending[next(iter(self._pending))]
        # Random, so that an id from before a restart never names another request.
        asked = PasswordAsked(str(uuid4()).upper())
        self._pending[asked.id] = body
        return answer(Envelope(True, "Password needed", asked))

    async def _sign_off(self, request: web.Request, body: SignOffBody) -> web.Response:
        asked = self._pending.pop(body.id, None)
        if asked is None:
            return answer(Envelope(False, BAD_ID))
        if self._password is not None and body.password != self._password:
            return answer(Envelope(False, BAD_PASSWORD))
        call = call_of(asked)
        fault = RequestFault.NONE if self._fault is None else self._fault(call)
        end = await self._rounds.run(call, asked.parent_block, fault)
        if end.is_answered:
            return answer(self._ended(end))
        if self._hang:
            await self._closing.wait()
        return drop(request)

    async def _chain_data(self, _request: web.Request, body: ChainDataBody) -> web.Response:
        self._rounds.step()
        if body.latest:
            latest = self._chain.block(body.token, self._chain.latest(body.token))
            return answer(ChainDataAnswer(True, "Fetched latest block", blocks=[block_of(latest)]))
        history = self._chain.history(body.token)[-HISTORY_COUNT_MAX:]
        blocks = [block_of(block) for block in history]
        return answer(ChainDataAnswer(True, "Fetched Smart contract data", blocks=blocks))

    def _ended(self, end: RoundEnded) -> Envelope:
        if end.block is not None:
            block = self._chain.block(end.contract, end.block)
            return Envelope(True, EXECUTED, BlockWritten(block.number, node_id(block)))
        if end.conflict:
            return Envelope(False, CONFLICT)
        if end.refused is not None:
            return Envelope(False, REFUSED + end.refused)
        return Envelope(False, FAILED)


def reading(
    kind: type[Body], call: Callable[[web.Request, Body], Awaitable[web.Response]]
) -> Callable[[web.Request], Awaitable[web.Response]]:
    """A handler that refuses a body which is not exactly of this kind."""

    async def handle(request: web.Request) -> web.Response:
        try:
            body = json.decode(bounded(await request.read()), type=kind)
        except (DecodeError, UnicodeDecodeError, web.HTTPRequestEntityTooLarge):
            return answer(Envelope(False, BAD_INPUT))
        return await call(request, body)

    return handle


def answer(body: Envelope | ChainDataAnswer) -> web.Response:
    return web.Response(body=json.encode(body), content_type="application/json")


def drop(request: web.Request) -> web.Response:
    """Cut the connection; what is returned goes nowhere."""
    if request.transport is not None:
        request.transport.abort()
    return web.Response()


def call_of(body: ExecuteBody) -> ContractCall:
    return ContractCall(
        contract=body.smart_contract_token,
        executor=body.executor_addr,
        data=body.smart_contract_data,
        quorum_type=body.quorum_type,
        comment=body.comment,
    )


def block_of(block: ContractBlock) -> BlockRead:
    return BlockRead(
        block.number, node_id(block), block.data, block.made_ms // 1000, block.executor
    )


def node_id(block: ContractBlock) -> str:
    """A block's id as the node writes it: its number, a dash, its hash."""
    return f"{block.number}-{block.id}"


def run_devnet(*, port: int, round_ms: int, as_json: bool) -> int:
    """The contract devnet as a process."""
    node = ContractSocket(ContractChain(round_ms=round_ms), port=port)
    return asyncio.run(serve(node, greeting, as_json=as_json))


def greeting(node: ContractSocket) -> Greeting:
    line = f"listening on {node.url}, a contract node for host.kind rest"
    return {"url": node.url}, [line]
