"""The client for code without asyncio.

from laneway import Client
tx = Client().send("contract:Qm123", data="transfer 5", executor="did:1", key="order-7")
print(tx.wait().block)

Any thread may call, and no thread is started. Answers and errors are those of AsyncClient.
"""

import os
import random
import time
from collections.abc import Iterator
from datetime import datetime
from types import TracebackType
from typing import Self, Unpack

from laneway.client.calls import (
    NO_REASON,
    Calls,
    EvmOptions,
    Taken,
    TxOptions,
    Words,
    filters,
    new_transfer,
    new_tx,
)
from laneway.client.following import Following, StreamedEvent
from laneway.client.http import Connections
from laneway.client.limits import PAGE, RETRY_S, TIMEOUT_S
from laneway.client.place import find_place
from laneway.client.steps import Answer, Heard, Lost, Pause, Rules, Steps, T
from laneway.wire.evm_words import evm_payload
from laneway.wire.rollup import (
    Bundle,
    BundleShown,
    Rollup,
    RollupAccount,
    RollupReceipt,
    RollupStatus,
)
from laneway.wire.values import (
    Action,
    AuditEntry,
    DeadLetter,
    Delivery,
    Lane,
    LaneHealth,
    SettleWord,
    Tx,
    Webhook,
    WebhookAction,
)


class SentTx:
    """One accepted transaction. It survives any crash until it has a final answer."""

    __slots__ = ("_client", "id", "key", "replayed", "tx")

    def __init__(self, client: "Client", taken: Taken) -> None:
        self._client = client
        self.tx = taken.tx
        """As it was when the server took it."""
        self.id = taken.tx.id
        self.key = taken.key
        """The caller's, or the one that was made for it."""
        self.replayed = taken.replayed
        """The key and the body came before: this is the transaction they made then."""

    def wait(self, timeout_s: float | None = None) -> Tx:
        """Wait until it is final; TimeoutError takes nothing back."""
        return self.tx if self.tx.final else self._client.wait(self.id, timeout_s)

    def result(self, timeout_s: float | None = None) -> Tx:
        """The same as `wait`."""
        return self.wait(timeout_s)

    def show(self) -> Tx:
        return self._client.tx(self.id)

    def cancel(self, *, reason: str = NO_REASON, dry_run: bool = False) -> Action:
        return self._client.cancel(self.id, reason=reason, dry_run=dry_run)


class Client:
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
        self._connections = Connections(place)
        self._rules = Rules(
            url=place.url,
            retry_s=retry_s,
            timeout_s=timeout_s,
            now=time.monotonic,
            chance=random.random,
        )
        self._calls = Calls(self._rules)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def __del__(self) -> None:
        # Three lines in a script need no `with`; a constructor that failed has nothing to close.
        if hasattr(self, "_connections"):
            self.close()

    def close(self) -> None:
        """Let the idle connections go; the next call opens a new one."""
        self._connections.close()

    # Transactions.

    def send(
        self,
        lane: str,
        data: str | bytes | None = None,
        *,
        key: str | None = None,
        valid_until: datetime | None = None,
        **options: Unpack[TxOptions],
    ) -> SentTx:
        """Queue one; returns when it is durable. Safe to call twice with one key.

        A contract takes `data`, executor, quorum_type, comment and priority; an EVM account's lane,
        `evm:CHAIN:ACCOUNT`, takes to, value, `data`, gas, type, max_fee_per_gas,
        max_priority_fee_per_gas, max_cost, access_list, authorization_list and blobs; a Cosmos
        account's, `cosmos:CHAIN:ACCOUNT`, takes to, amount and denom, messages, blobs (or `data`
        and namespace), memo, gas, fee, gas_price, fee_granter and timeout_height.
        """
        new = new_tx(lane, data, valid_until, options)
        return SentTx(self, self._run(self._calls.send(new, key)))

    def tx(self, intent: str) -> Tx:
        """Where one is, and why. `intent` is an id, `key:` and an idempotency key, the
        hash of an attempt, or `LANE#NONCE` and `LANE#SEQUENCE`."""
        return self._run(self._calls.tx(intent))

    def wait(self, intent: str, timeout_s: float | None = None) -> Tx:
        """Wait until it is final, whoever sent it; TimeoutError takes nothing back."""
        return self._run(self._calls.wait(intent, timeout_s))

    def cancel(self, intent: str, *, reason: str = NO_REASON, dry_run: bool = False) -> Action:
        """Take back one that waits; one that runs cannot be called back."""
        return self._run(self._calls.cancel(intent, Words(reason=reason, dry_run=dry_run)))

    def bump(self, intent: str, *, reason: str = NO_REASON, dry_run: bool = False) -> Action:
        """Offer more for an EVM account's transaction, at the same nonce."""
        return self._run(self._calls.bump(intent, Words(reason=reason, dry_run=dry_run)))

    def replace(
        self,
        intent: str,
        data: str | bytes | None = None,
        *,
        reason: str = NO_REASON,
        dry_run: bool = False,
        **options: Unpack[EvmOptions],
    ) -> Action:
        """Other content for an EVM account's transaction, at the same nonce; whichever lands
        decides, and the answer's `reason` says which."""
        payload, words = evm_payload(data, options), Words(reason=reason, dry_run=dry_run)
        return self._run(self._calls.replace(intent, payload, words))

    def settle(
        self, intent: str, word: SettleWord, *, reason: str = NO_REASON, dry_run: bool = False
    ) -> Action:
        """Say what became of an execution that halted its lane: executed, not_executed or skip.
        Look at the chain first: a wrong word loses it, or does it twice."""
        words = Words(reason=reason, dry_run=dry_run)
        return self._run(self._calls.settle(intent, word, words))

    def retry(self, intent: str, *, reason: str = NO_REASON, dry_run: bool = False) -> Action:
        """Queue what one said again, as a new one that names it in `retry_of`.

        Only where every try of the old one is proven dead. Safe to call twice: the second answer
        has the transaction of the first.
        """
        return self._run(self._calls.retry(intent, Words(reason=reason, dry_run=dry_run)))

    def transactions(
        self, lane: str | None = None, status: str | None = None, *, page: int = PAGE
    ) -> Iterator[Tx]:
        """All of a lane in its order, or of a status; read a page at a time."""
        query, cursor = filters(lane, status, page), None
        while True:
            found = self._run(self._calls.tx_page(query, cursor))
            yield from found.items
            cursor = found.next_cursor
            if cursor is None:
                return

    # Lanes.

    def lanes(self) -> Iterator[Lane]:
        """All lanes that ever had work, by name; read a page at a time."""
        cursor = None
        while True:
            found = self._run(self._calls.lane_page(cursor))
            yield from found.items
            cursor = found.next_cursor
            if cursor is None:
                return

    def lane(self, lane: str) -> Lane:
        return self._run(self._calls.lane(lane))

    def health(self, lane: str) -> LaneHealth:
        """Whether it goes on by itself; of an account its numbers too."""
        return self._run(self._calls.health(lane))

    def reset_nonce(self, lane: str, *, reason: str = NO_REASON, dry_run: bool = False) -> Action:
        """Set an account's next nonce back to what the chain says, never below one that is bound.
        A dry run shows the numbers."""
        return self._operate(lane, "reset-nonce", reason, dry_run)

    def set_sequence(
        self,
        lane: str,
        sequence: int | None = None,
        *,
        reason: str = NO_REASON,
        dry_run: bool = False,
    ) -> Action:
        """Set where a Cosmos account's sequences go on; None: what the chain says. Never at one
        that is used or may be. A dry run shows the numbers."""
        words = Words(reason=reason, dry_run=dry_run)
        return self._run(self._calls.set_sequence(lane, sequence, words))

    def pause(self, lane: str, *, reason: str = NO_REASON, dry_run: bool = False) -> Action:
        """Start nothing more; what runs is finished."""
        return self._operate(lane, "pause", reason, dry_run)

    def resume(self, lane: str, *, reason: str = NO_REASON, dry_run: bool = False) -> Action:
        """Go on after a pause, a drain or a halt."""
        return self._operate(lane, "resume", reason, dry_run)

    def revive(
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
        words = Words(reason=reason, dry_run=dry_run)
        return self._run(self._calls.revive(lane, tx, keep, words))

    def drain(
        self, lane: str, mode: str = "queue", *, reason: str = NO_REASON, dry_run: bool = False
    ) -> Action:
        """Finish what waits now (queue), or only what runs (running); then pause."""
        return self._run(self._calls.drain(lane, mode, Words(reason=reason, dry_run=dry_run)))

    def audit(self, lane: str | None = None) -> Iterator[AuditEntry]:
        """Who did what and why, oldest first; read a page at a time."""
        cursor = None
        while True:
            found = self._run(self._calls.audit_page(lane, cursor))
            yield from found.items
            cursor = found.next_cursor
            if cursor is None:
                return

    # Rollups.

    def rollups(self) -> list[Rollup]:
        """The rollups that the server was given."""
        return (self._run(self._calls.rollups())).items

    def rollup(self, rollup: str) -> RollupStatus:
        """One rollup, by its name or its service: blocks by their state, and why it waits."""
        return self._run(self._calls.rollup(rollup))

    def bundles(self, rollup: str, state: str | None = None) -> Iterator[Bundle]:
        """A rollup's blocks: open ones, then the newest final ones; read a page at a time."""
        cursor = None
        while True:
            found = self._run(self._calls.bundle_page(rollup, state, cursor))
            yield from found.items
            cursor = found.next_cursor
            if cursor is None:
                return

    def bundle(self, rollup: str, name: str | int) -> BundleShown:
        """One block, by its number or by `B-` and its id, with its versions and transactions."""
        return self._run(self._calls.bundle(rollup, str(name)))

    def receipt(self, rollup: str, hash_: str) -> RollupReceipt:
        """What became of a rollup's transaction, by its hash."""
        return self._run(self._calls.receipt(rollup, hash_))

    def rollup_account(self, rollup: str, account: str) -> RollupAccount:
        """An account as the newest block leaves it, and the nonce to sign with."""
        return self._run(self._calls.rollup_account(rollup, account))

    def transfer(
        self,
        rollup: str,
        raw: str | bytes,
        *,
        key: str | None = None,
        valid_until: datetime | None = None,
    ) -> SentTx:
        """Queue a rollup's signed transaction; returns when it is durable. The same bytes are one
        transaction, however often and under whatever key."""
        new = new_transfer(raw, valid_until)
        return SentTx(self, self._run(self._calls.transfer(rollup, new, key)))

    # Webhooks.

    def webhooks(self) -> list[Webhook]:
        """The endpoints that are told what happens."""
        return (self._run(self._calls.webhooks())).items

    def deliveries(self, webhook: str) -> Iterator[Delivery]:
        """An endpoint's messages, oldest first; read a page at a time."""
        cursor = None
        while True:
            found = self._run(self._calls.delivery_page(webhook, cursor))
            yield from found.items
            cursor = found.next_cursor
            if cursor is None:
                return

    def resend(
        self, webhook: str, delivery: str, *, reason: str = NO_REASON, dry_run: bool = False
    ) -> WebhookAction:
        """The same message once more, as a new delivery."""
        words = Words(reason=reason, dry_run=dry_run)
        verb = f"deliveries/{delivery}/resend"
        return self._run(self._calls.webhook_act(webhook, verb, words))

    def operate_webhook(
        self, webhook: str, verb: str, *, reason: str = NO_REASON, dry_run: bool = False
    ) -> WebhookAction:
        """pause, resume, or test: a message of no meaning, to see that it arrives."""
        words = Words(reason=reason, dry_run=dry_run)
        return self._run(self._calls.webhook_act(webhook, verb, words))

    def dead_letters(self) -> Iterator[DeadLetter]:
        """What was given up; read a page at a time."""
        cursor = None
        while True:
            found = self._run(self._calls.dead_page(cursor))
            yield from found.items
            cursor = found.next_cursor
            if cursor is None:
                return

    # Events.

    def events(self, lane: str | None = None, after: str | None = None) -> Iterator[StreamedEvent]:
        """What becomes true, as it does: each event once, in the order of its lane.

        It never ends by itself; a lost connection is opened again behind the last event. `after`
        is the cursor of an event seen before, "" the beginning, None what happens next.
        """
        following = Following(self._rules, lane, after)
        while True:
            lost: Answer | Lost | None = None
            for part in self._connections.stream(following.ask()):
                if isinstance(part, bytes):
                    yield from following.take(part)
                else:
                    lost = part
            time.sleep(following.pause_s(lost))

    # The wire.

    def _operate(self, lane: str, verb: str, reason: str, dry_run: bool) -> Action:
        words = Words(reason=reason, dry_run=dry_run)
        return self._run(self._calls.operate(lane, verb, words))

    def _run(self, steps: Steps[T]) -> T:
        heard: Heard = None
        while True:
            try:
                step = steps.send(heard)
            except StopIteration as done:
                result: T = done.value
                return result
            if isinstance(step, Pause):
                time.sleep(step.seconds)
                heard = None
            else:
                heard = self._connections.exchange(step)
