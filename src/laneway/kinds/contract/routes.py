"""REST routes of contracts: what a person found out of an execution, and the node's own two.

Those two have exactly the node's JSON (seed 004 §§6, 7, 10). Errors are `status: false` with HTTP
200, as the node has it, and none is answered 429 for the length of its queue. One thing differs:
the node asks for a password and then executes, here the answer is the queue's.
"""

from aiohttp import web
from msgspec import Struct

from laneway.core.errors import LanewayError
from laneway.kinds.common.views import copied
from laneway.server.answers import RequestRefused, reply
from laneway.server.call import Call, decode
from laneway.server.route import GoodAnswer, Route
from laneway.server.transactions import command_route, commanded
from laneway.wire.idempotency import HEADER, OTHER_HEADER
from laneway.wire.values import ContractPayload, Count, NewTx, SettleOrder

FAILED = "Failed to enqueue execution: "
QUEUED = "Smart contract execution queued"
BAD_INPUT = "Invalid input"


class ExecuteRequest(Struct, frozen=True, rename="camel"):
    """As the node reads it; fields it does not know are ignored, as Go does."""

    smart_contract_token: str
    executor_addr: str
    smart_contract_data: str
    quorum_type: Count = 2
    comment: str = ""


class Queued(Struct, frozen=True):
    id: str


class BasicResponse(Struct, frozen=True):
    """How the node wraps every answer."""

    status: bool
    message: str
    result: Queued | None = None


class QueueRow(Struct, frozen=True, rename="camel"):
    """One contract's row of the seed's metrics, with its eight names and no other."""

    contract: str
    fast_queue_len: int
    slow_queue_len: int
    enqueue_count: int
    execute_count: int
    fast_hit_count: int
    slow_hit_count: int
    worker_running: bool


async def execute_smart_contract(call: Call) -> web.Response:
    """Queue an execution, as the node's API has it."""
    try:
        asked = decode(await call.raw(), ExecuteRequest)
        key = call.idempotency_key()
    except RequestRefused as refused:
        return reply(BasicResponse(False, f"{BAD_INPUT}: {refused.problem.detail}"))
    lane = f"contract:{asked.smart_contract_token}"
    payload = ContractPayload(
        data=asked.smart_contract_data,
        executor=asked.executor_addr,
        quorum_type=asked.quorum_type,
        comment=asked.comment,
    )
    try:
        call.caller.check_lane(lane)
        new = NewTx(lane=lane, payload=payload)
        taken = await call.desk.submit(new, key, call.caller.id, call.trace())
    except LanewayError as error:
        return reply(BasicResponse(False, FAILED + str(error)))
    except RequestRefused as refused:
        return reply(BasicResponse(False, FAILED + refused.problem.detail))
    return reply(BasicResponse(True, QUEUED, Queued(taken.tx.id)))


async def smart_contract_queue_metrics(call: Call) -> web.Response:
    """Every contract's counters, as the seed names them."""
    queues = await call.desk.part("contract").queues()
    seen = [one for one in queues if call.caller.may_see(f"contract:{one.contract}")]
    return reply([copied(QueueRow, one) for one in seen])


async def settle(call: Call) -> web.Response:
    """Say what became of a contract's execution whose lane is halted, because no call can tell.

    Look at the chain first: `executed` of one that is not there loses it, and `not_executed` of one
    that is there does it twice.
    """
    order = await call.body(SettleOrder)
    return await commanded(call, "settle", order, order.word)


ROUTES = (
    command_route(
        "settle",
        settle,
        "Say what became of an execution that halted its lane",
        SettleOrder,
        scope="lane:operate",
    ),
    Route(
        method="POST",
        path="/api/execute-smart-contract",
        act=execute_smart_contract,
        summary="Queue an execution (seed 004)",
        scope="tx:write",
        body=ExecuteRequest,
        headers=(HEADER, OTHER_HEADER),
        answers={200: GoodAnswer("Queued, or why not.", BasicResponse)},
    ),
    Route(
        method="GET",
        path="/api/smart-contract-queue-metrics",
        act=smart_contract_queue_metrics,
        summary="Counters of every contract (seed 004)",
        scope="metrics:read",
        answers={200: GoodAnswer("One row a contract.", list[QueueRow])},
    ),
)
