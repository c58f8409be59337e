"""Queueing inside the caller's own PostgreSQL transaction: its rows and the execution, or neither.

async with connection.transaction():
    await connection.execute("UPDATE orders SET paid = true WHERE id = 7")
    await submit_within(connection, "Qm123", "transfer 5", executor="did:1", key="order-7")
"""

from typing import TYPE_CHECKING, Any

from laneway.core.ids import IntentId
from laneway.core.intent import Answer, Arrival, Conflict, Full
from laneway.engine.system import SystemClock, SystemEntropy
from laneway.kinds.contract.arrivals import ContractArrivals
from laneway.kinds.handle import refusal_of
from laneway.lanes.contract import ContractSettings
from laneway.ports import ContractCall

if TYPE_CHECKING:
    from psycopg import AsyncConnection, Connection


async def submit_within(
    connection: "AsyncConnection[Any]",
    contract: str,
    data: str,
    *,
    executor: str = "",
    key: str | None = None,
    schema: str = "laneway",
    settings: ContractSettings | None = None,
) -> IntentId:
    """Queue one execution in the transaction of `connection`; it exists when that is committed.

    Safe to call twice with one key. The contract's lane waits until then, so commit soon.
    """
    from laneway.stores.postgres import accept_within

    arrival = arrived(ContractCall(contract, executor, data), key, settings)
    (answer,) = await accept_within(connection, [arrival], schema=schema)
    return taken(arrival, answer)


def submit_within_sync(
    connection: "Connection[Any]",
    contract: str,
    data: str,
    *,
    executor: str = "",
    key: str | None = None,
    schema: str = "laneway",
    settings: ContractSettings | None = None,
) -> IntentId:
    """`submit_within` on a connection that blocks."""
    from laneway.stores.postgres import accept_within_sync

    arrival = arrived(ContractCall(contract, executor, data), key, settings)
    (answer,) = accept_within_sync(connection, [arrival], schema=schema)
    return taken(arrival, answer)


def arrived(call: ContractCall, key: str | None, settings: ContractSettings | None) -> Arrival:
    arrivals = ContractArrivals(settings or ContractSettings(), SystemClock(), SystemEntropy())
    return arrivals.make(call, key, 0, None)


def taken(arrival: Arrival, answer: Answer) -> IntentId:
    if isinstance(answer, Conflict | Full):
        raise refusal_of(arrival, answer)
    return answer.id
