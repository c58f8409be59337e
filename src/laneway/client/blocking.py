"""The client for code without asyncio.

from laneway import Client
tx = Client().send("contract:Qm123", data="transfer 5", executor="did:1", key="order-7")
print(tx.wait().block)

Any thread may call, and no thread is started. Answers and errors are those of AsyncClient.
"""

import os
from collections.abc import Coroutine
from typing import Any, Self, TypeVar

from laneway.client.asynchronous import AsyncClient, AsyncSentTx
from laneway.client.http import BlockingWire
from laneway.client.limits import RETRY_S, TIMEOUT_S
from laneway.client.place import ServerPlace
from laneway.core.errors import Bug
from laneway.core.twins import Twin, iterated, making, waited
from laneway.wire.values import Tx

T = TypeVar("T")


class SentTx(Twin, of=AsyncSentTx):
    """One accepted transaction. It survives any crash until it has a final answer."""

    tx: Tx
    """The transaction as it was when the server accepted it."""
    id: str
    key: str
    """The caller's idempotency key, or the one that was made for it."""
    replayed: bool
    """Whether the same key and body came before: this is the transaction they made then."""

    wait = waited(AsyncSentTx.wait)
    result = waited(AsyncSentTx.result)
    show = waited(AsyncSentTx.show)
    cancel = waited(AsyncSentTx.cancel)


class AtOnce:
    """Runs coroutines that never wait for a loop, in the calling thread."""

    def call(self, work: Coroutine[Any, Any, T]) -> T:
        try:
            work.send(None)
        except StopIteration as done:
            result: T = done.value
            return result
        raise Bug("a blocking client waited for a loop")


class BlockingCalls(AsyncClient):
    """The asynchronous client over a wire that blocks."""

    def _connect(self, place: ServerPlace) -> BlockingWire:
        return BlockingWire(place)


class Client(Twin, of=AsyncClient):
    """Talks to a server. Its address is `url`, LANEWAY_URL or http://127.0.0.1:8547."""

    url: str

    def __init__(
        self,
        url: str | None = None,
        *,
        api_key: str | None = None,
        api_key_file: str | os.PathLike[str] | None = None,
        timeout_s: float = TIMEOUT_S,
        retry_s: float = RETRY_S,
    ) -> None:
        calls = BlockingCalls(
            url, api_key=api_key, api_key_file=api_key_file, timeout_s=timeout_s, retry_s=retry_s
        )
        super().__init__(AtOnce(), calls)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __del__(self) -> None:
        # Three lines in a script need no `with`; a constructor that failed has nothing to close.
        if hasattr(self, "_caller"):
            self.close()

    close = waited(AsyncClient.close)

    # Transactions.

    send = making(SentTx, AsyncClient.send)
    submit = making(SentTx, AsyncClient.submit)
    tx = waited(AsyncClient.tx)
    wait = waited(AsyncClient.wait)
    cancel = waited(AsyncClient.cancel)
    bump = waited(AsyncClient.bump)
    replace = waited(AsyncClient.replace)
    settle = waited(AsyncClient.settle)
    retry = waited(AsyncClient.retry)
    command = waited(AsyncClient.command)
    transactions = iterated(AsyncClient.transactions)

    # Lanes.

    lanes = iterated(AsyncClient.lanes)
    lane = waited(AsyncClient.lane)
    health = waited(AsyncClient.health)
    reset_nonce = waited(AsyncClient.reset_nonce)
    set_sequence = waited(AsyncClient.set_sequence)
    pause = waited(AsyncClient.pause)
    resume = waited(AsyncClient.resume)
    revive = waited(AsyncClient.revive)
    drain = waited(AsyncClient.drain)
    command_lane = waited(AsyncClient.command_lane)
    audit = iterated(AsyncClient.audit)

    # Rollups.

    rollups = waited(AsyncClient.rollups)
    rollup = waited(AsyncClient.rollup)
    bundles = iterated(AsyncClient.bundles)
    bundle = waited(AsyncClient.bundle)
    receipt = waited(AsyncClient.receipt)
    rollup_account = waited(AsyncClient.rollup_account)
    transfer = making(SentTx, AsyncClient.transfer)

    # Webhooks and events.

    webhooks = waited(AsyncClient.webhooks)
    deliveries = iterated(AsyncClient.deliveries)
    resend = waited(AsyncClient.resend)
    operate_webhook = waited(AsyncClient.operate_webhook)
    dead_letters = iterated(AsyncClient.dead_letters)
    events = iterated(AsyncClient.events)
