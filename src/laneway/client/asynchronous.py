"""The client for asynchronous code.

async with AsyncClient() as client:
    tx = await client.send("contract:Qm123", data="transfer 5", executor="did:1", key="order-7")
    print((await tx.wait()).block)

Answers and errors are those of Client.
"""

import math
import os
import random
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import aclosing
from datetime import datetime
from typing import Any, Self, Unpack

from laneway.client.bodies import NO_REASON, EvmOptions, TxOptions, new_request, new_tx, path
from laneway.client.errors import refused
from laneway.client.evm_words import evm_request
from laneway.client.following import Following, StreamedEvent
from laneway.client.limits import PAGE, RETRY_S, TIMEOUT_S, WAIT_PAUSE_S, WAIT_S
from laneway.client.place import ServerPlace, find_place
from laneway.client.retries import CallRules, NoAnswer, ServerAnswer, ServerRequests, Wire, read
from laneway.core.ids import idempotency_key
from laneway.wire.hex import octets
from laneway.wire.idempotency import HEADER, REPLAYED, quoted
from laneway.wire.limits import PAGE_MAX
from laneway.wire.problem import problem
from laneway.wire.rollup import (
    Bundle,
    BundlePage,
    BundleShown,
    Rollup,
    RollupAccount,
    RollupList,
    RollupReceipt,
    RollupStatus,
)
from laneway.wire.values import (
    Action,
    AuditEntry,
    AuditPage,
    DeadLetter,
    DeadLetterPage,
    Delivery,
    DeliveryPage,
    Lane,
    LaneHealth,
    LanePage,
    SettleWord,
    Tx,
    TxPage,
    Webhook,
    WebhookAction,
    WebhookList,
)

BY_KEY = "key:"
"""Comes before an idempotency key where a call takes the id of a transaction."""


class AsyncSentTx:
    """One accepted transaction. It survives any crash until it has a final answer."""

    __slots__ = ("_client", "id", "key", "replayed", "tx")

    def __init__(self, client: "AsyncClient", tx: Tx, key: str, replayed: bool) -> None:
        self._client = client
        self.tx = tx
        """The transaction as it was when the server accepted it."""
        self.id = tx.id
        self.key = key
        """The caller's idempotency key, or the one that was made for it."""
        self.replayed = replayed
        """Whether the same key and body came before: this is the transaction they made then."""

    async def wait(self, timeout_s: float | None = None) -> Tx:
        """Wait until it is final; TimeoutError takes nothing back."""
        return self.tx if self.tx.final else await self._client.wait(self.id, timeout_s)

    async def result(self, timeout_s: float | None = None) -> Tx:
        """The same as `wait`."""
        return await self.wait(timeout_s)

    async def show(self) -> Tx:
        return await self._client.tx(self.id)

    async def cancel(self, *, reason: str = NO_REASON, dry_run: bool = False) -> Action:
        return await self._client.cancel(self.id, reason=reason, dry_run=dry_run)


class AsyncClient:
    """Talks to a server. Its address is `url`, LANEWAY_URL or http://127.0.0.1:8547."""

    def __init__(
        self,
        url: str | None = None,
        *,
        api_key: str | None = None,
        api_key_file: str | os.PathLike[str] | None = None,
        timeout_s: float = TIMEOUT_S,
        retry_s: float = RETRY_S,
    ) -> None:
        place = find_place(url, api_key, api_key_file)
        self.url = place.url
        rules = CallRules(
            url=self.url,
            retry_s=retry_s,
            timeout_s=timeout_s,
            now=time.monotonic,
            chance=random.random,
        )
        self._requests = ServerRequests(self._connect(place), rules)

    def _connect(self, place: ServerPlace) -> Wire:
        from laneway.client.aio import AioWire

        return AioWire(place)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Let the connections go; the next call opens a new one."""
        await self._requests.wire.close()

    # Transactions.

    async def send(
        self,
        lane: str,
        data: str | bytes | None = None,
        *,
        key: str | None = None,
        valid_until: datetime | None = None,
        **options: Unpack[TxOptions],
    ) -> AsyncSentTx:
        """Queue one; returns when it is durable. Safe to call twice with one key.

        A contract takes `data`, executor, quorum_type, comment and priority; an EVM account's lane,
        `evm:CHAIN:ACCOUNT`, takes to, value, `data` or a call in words (call, args and abi, or
        deploy), gas, type, max_fee_per_gas, max_priority_fee_per_gas, max_cost, access_list,
        authorization_list and blobs; a Cosmos
        account's, `cosmos:CHAIN:ACCOUNT`, takes to, amount and denom, messages, blobs (or `data`
        and namespace), memo, gas, fee, gas_price, fee_granter and timeout_height.
        """
        return await self._send(path("transactions"), new_tx(lane, data, valid_until, options), key)

    async def submit(
        self,
        /,
        lane: str,
        request: Mapping[str, Any],
        *,
        key: str | None = None,
        valid_until: datetime | None = None,
        **more: Any,
    ) -> AsyncSentTx:
        """Queue a request of any kind of lane: `request` is the payload that the API takes, `more`
        what it takes beside it. Returns when it is durable; safe to call twice with one key."""
        new = new_request(lane, request, valid_until, **more)
        return await self._send(path("transactions"), new, key)

    async def tx(self, intent: str) -> Tx:
        """The transaction as it stands, and why. `intent` is an id, `key:` and an idempotency key,
        the hash of an attempt, or `LANE#NONCE` and `LANE#SEQUENCE`."""
        if not intent.startswith(BY_KEY):
            return await self._requests.get(path("transactions", intent), Tx)
        query = {"key": intent.removeprefix(BY_KEY)}
        page = await self._requests.get(path("transactions"), TxPage, query)
        if not page.items:
            detail = f"there is no transaction {intent}"
            raise refused(problem(404, "intent_not_found", detail, tx=intent))
        return page.items[0]

    async def wait(self, intent: str, timeout_s: float | None = None) -> Tx:
        """Wait until it is final, no matter who sent it, across restarts of the server;
        TimeoutError takes nothing back."""
        now = self._requests.rules.now
        until = math.inf if timeout_s is None else now() + timeout_s
        intent = await self._id(intent)
        while True:
            begun = now()
            wait_s = int(min(WAIT_S, max(0.0, until - begun)))
            query = {"wait": "confirmed", "timeout": str(wait_s)} if wait_s else {}
            tx = await self._requests.get(
                path("transactions", intent), Tx, query, wait_s, until - begun
            )
            if tx.final:
                return tx
            if now() >= until:
                detail = f"{intent} is not final after {timeout_s:g} s: {tx.status} {tx.reason}"
                raise TimeoutError(detail.strip())
            if now() - begun < min(1.0, wait_s or 1.0):
                await self._requests.wire.pause(min(WAIT_PAUSE_S, until - now()))

    async def cancel(
        self, intent: str, *, reason: str = NO_REASON, dry_run: bool = False
    ) -> Action:
        """Take back one that waits; one that runs cannot be called back."""
        return await self.command(intent, "cancel", reason=reason, dry_run=dry_run)

    async def bump(self, intent: str, *, reason: str = NO_REASON, dry_run: bool = False) -> Action:
        """Offer more for an EVM account's transaction, at the same nonce."""
        return await self.command(intent, "bump", reason=reason, dry_run=dry_run)

    async def replace(
        self,
        intent: str,
        data: str | bytes | None = None,
        *,
        reason: str = NO_REASON,
        dry_run: bool = False,
        **options: Unpack[EvmOptions],
    ) -> Action:
        """Other content for an EVM account's transaction, at the same nonce; the one that lands
        decides, and the answer's `reason` says which."""
        payload = evm_request(data, options)
        return await self.command(
            intent, "replace", reason=reason, dry_run=dry_run, payload=payload
        )

    async def settle(
        self, intent: str, word: SettleWord, *, reason: str = NO_REASON, dry_run: bool = False
    ) -> Action:
        """Say what became of an execution that halted its lane: executed, not_executed or skip.
        Look at the chain first: a wrong answer loses the execution, or does it twice."""
        return await self.command(intent, "settle", reason=reason, dry_run=dry_run, word=word)

    async def retry(self, intent: str, *, reason: str = NO_REASON, dry_run: bool = False) -> Action:
        """Queue the content of one again, as a new transaction that names it in `retry_of`.

        Only where every try of the old one is proven dead. Safe to call twice: the second answer
        has the transaction of the first.
        """
        return await self.command(intent, "retry", reason=reason, dry_run=dry_run)

    async def command(
        self,
        /,
        intent: str,
        verb: str,
        *,
        reason: str = NO_REASON,
        dry_run: bool = False,
        **more: Any,
    ) -> Action:
        """A command about one transaction, also one of the lane's own kind; `more` is what its
        body has beside the reason."""
        where = path("transactions", await self._id(intent), verb)
        return await self._requests.post(
            where, {"reason": reason, "dry_run": dry_run, **more}, Action
        )

    def transactions(
        self, lane: str | None = None, status: str | None = None, *, page: int = PAGE
    ) -> AsyncIterator[Tx]:
        """All of a lane in its order, or of a status; read a page at a time."""
        limit = str(max(1, min(page, PAGE_MAX)))
        return self._requests.pages(
            path("transactions"), TxPage, lane=lane, status=status, limit=limit
        )

    # Lanes.

    def lanes(self) -> AsyncIterator[Lane]:
        """All lanes that ever had work, by name; read a page at a time."""
        return self._requests.pages(path("lanes"), LanePage)

    async def lane(self, lane: str) -> Lane:
        return await self._requests.get(path("lanes", lane), Lane)

    async def health(self, lane: str) -> LaneHealth:
        """Whether it goes on by itself; of an account its numbers too."""
        return await self._requests.get(path("lanes", lane, "health"), LaneHealth)

    async def reset_nonce(
        self, lane: str, *, reason: str = NO_REASON, dry_run: bool = False
    ) -> Action:
        """Set an account's next nonce back to what the chain says, never below one that is bound.
        A dry run shows the numbers."""
        return await self.command_lane(lane, "reset-nonce", reason=reason, dry_run=dry_run)

    async def set_sequence(
        self,
        lane: str,
        sequence: int | None = None,
        *,
        reason: str = NO_REASON,
        dry_run: bool = False,
    ) -> Action:
        """Set where a Cosmos account's sequences go on; None: what the chain says. Never at one
        that is used or may be. A dry run shows the numbers."""
        return await self.command_lane(
            lane, "set-sequence", reason=reason, dry_run=dry_run, sequence=sequence
        )

    async def pause(self, lane: str, *, reason: str = NO_REASON, dry_run: bool = False) -> Action:
        """Start nothing more; what runs is finished."""
        return await self.command_lane(lane, "pause", reason=reason, dry_run=dry_run)

    async def resume(self, lane: str, *, reason: str = NO_REASON, dry_run: bool = False) -> Action:
        """Go on after a pause, a drain or a halt."""
        return await self.command_lane(lane, "resume", reason=reason, dry_run=dry_run)

    async def revive(
        self,
        lane: str,
        *,
        tx: str | None = None,
        keep: bool = False,
        reason: str = NO_REASON,
        dry_run: bool = False,
    ) -> Action:
        """Go on with a lane that a bug stopped, without what stopped it; a dry run shows the
        evidence. `tx` names the transaction that is put aside, `keep` puts none aside."""
        named = None if tx is None else await self._id(tx)
        return await self.command_lane(
            lane, "revive", reason=reason, dry_run=dry_run, tx=named, keep=keep
        )

    async def drain(
        self, lane: str, mode: str = "queue", *, reason: str = NO_REASON, dry_run: bool = False
    ) -> Action:
        """Finish what waits now (queue), or only what runs (running); then pause."""
        return await self.command_lane(lane, "drain", reason=reason, dry_run=dry_run, mode=mode)

    async def command_lane(
        self,
        /,
        lane: str,
        verb: str,
        *,
        reason: str = NO_REASON,
        dry_run: bool = False,
        **more: Any,
    ) -> Action:
        """A command to one lane, also one of its own kind; `more` is what its body has beside the
        reason."""
        order = {"reason": reason, "dry_run": dry_run, **more}
        return await self._requests.post(path("lanes", lane, verb), order, Action)

    def audit(self, lane: str | None = None) -> AsyncIterator[AuditEntry]:
        """Who did what and why, oldest first; read a page at a time."""
        return self._requests.pages(path("audit"), AuditPage, lane=lane)

    # Rollups.

    async def rollups(self) -> list[Rollup]:
        """The rollups that the server is configured for."""
        return (await self._requests.get(path("rollup"), RollupList)).items

    async def rollup(self, rollup: str) -> RollupStatus:
        """One rollup, by its name or its service: blocks by their state, and why it waits."""
        return await self._requests.get(path("rollup", rollup), RollupStatus)

    def bundles(self, rollup: str, state: str | None = None) -> AsyncIterator[Bundle]:
        """A rollup's blocks: open ones, then the newest final ones; read a page at a time."""
        return self._requests.pages(path("rollup", rollup, "bundles"), BundlePage, state=state)

    async def bundle(self, rollup: str, name: str | int) -> BundleShown:
        """One block, by its number or by `B-` and its id, with its versions and transactions."""
        return await self._requests.get(path("rollup", rollup, "bundles", str(name)), BundleShown)

    async def receipt(self, rollup: str, hash_: str) -> RollupReceipt:
        """What became of a rollup's transaction, by its hash."""
        return await self._requests.get(path("rollup", rollup, "receipts", hash_), RollupReceipt)

    async def rollup_account(self, rollup: str, account: str) -> RollupAccount:
        """An account as the newest block leaves it, and the nonce to sign with."""
        return await self._requests.get(path("rollup", rollup, "accounts", account), RollupAccount)

    async def transfer(
        self,
        rollup: str,
        raw: str | bytes,
        *,
        key: str | None = None,
        valid_until: datetime | None = None,
    ) -> AsyncSentTx:
        """Queue a rollup's signed transaction; returns when it is durable. The same bytes are one
        transaction, however often and under whatever key."""
        new = {"raw": octets(raw) if isinstance(raw, bytes) else raw, "valid_until": valid_until}
        return await self._send(path("rollup", rollup, "transactions"), new, key)

    # Webhooks.

    async def webhooks(self) -> list[Webhook]:
        """The endpoints that are notified of events."""
        return (await self._requests.get(path("webhooks"), WebhookList)).items

    def deliveries(self, webhook: str) -> AsyncIterator[Delivery]:
        """An endpoint's messages, oldest first; read a page at a time."""
        return self._requests.pages(path("webhooks", webhook, "deliveries"), DeliveryPage)

    async def resend(
        self, webhook: str, delivery: str, *, reason: str = NO_REASON, dry_run: bool = False
    ) -> WebhookAction:
        """The same message once more, as a new delivery."""
        verb = f"deliveries/{delivery}/resend"
        return await self.operate_webhook(webhook, verb, reason=reason, dry_run=dry_run)

    async def operate_webhook(
        self, webhook: str, verb: str, *, reason: str = NO_REASON, dry_run: bool = False
    ) -> WebhookAction:
        """Pause, resume, or test: a message without meaning, to see that it arrives."""
        order = {"reason": reason, "dry_run": dry_run}
        return await self._requests.post(
            f"{path('webhooks', webhook)}/{verb}", order, WebhookAction
        )

    def dead_letters(self) -> AsyncIterator[DeadLetter]:
        """Transactions and deliveries that were given up; read a page at a time."""
        return self._requests.pages(path("dead-letters"), DeadLetterPage)

    # Events.

    async def events(
        self, lane: str | None = None, after: str | None = None
    ) -> AsyncIterator[StreamedEvent]:
        """Events as they happen: each once, in the order of its lane.

        It never ends by itself; a lost connection is opened again after the last event. `after`
        is the cursor of an event seen before, "" the beginning, None what happens next.
        """
        following = Following(self._requests.rules, lane, after)
        while True:
            lost: ServerAnswer | NoAnswer | None = None
            async with aclosing(self._requests.wire.stream(following.ask())) as parts:
                async for part in parts:
                    if isinstance(part, bytes):
                        for event in following.take(part):
                            yield event
                    else:
                        lost = part
            await self._requests.wire.pause(following.pause_s(lost))

    # Requests.

    async def _id(self, intent: str) -> str:
        return (await self.tx(intent)).id if intent.startswith(BY_KEY) else intent

    async def _send(self, where: str, new: Mapping[str, Any], key: str | None) -> AsyncSentTx:
        # Made once for all tries, so that a lost answer cannot make two of one.
        key = f"auto-{os.urandom(16).hex()}" if key is None else idempotency_key(key)
        answer = await self._requests.answer_to(where, new, {HEADER: quoted(key)}, key)
        tx = read(self._requests.rules, answer, Tx)
        return AsyncSentTx(self, tx, key, answer.headers.get(REPLAYED.lower()) == "true")
