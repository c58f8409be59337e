"""What can be asked of a server, each call as steps that either shell can carry out."""

import math
import os
from datetime import datetime
from typing import Any, TypedDict
from urllib.parse import quote, urlencode

import msgspec
from msgspec import Struct

from laneway.client.limits import PAGE, WAIT_PAUSE_S, WAIT_S
from laneway.client.steps import Ask, Pause, Rules, Steps, T, not_found, persist, read
from laneway.core.errors import BadRequest
from laneway.core.ids import idempotency_key, is_account, is_cosmos
from laneway.wire.cosmos_words import Blobs, Messages, cosmos_payload
from laneway.wire.evm import EvmAccess, EvmAuthorization, EvmBlobs, EvmPayload
from laneway.wire.evm_words import evm_payload
from laneway.wire.hex import octets
from laneway.wire.idempotency import HEADER, REPLAYED, quoted
from laneway.wire.limits import PAGE_MAX
from laneway.wire.rollup import (
    BundlePage,
    BundleShown,
    NewRollupTx,
    RollupAccount,
    RollupList,
    RollupReceipt,
    RollupStatus,
)
from laneway.wire.values import (
    Action,
    AuditPage,
    ContractPayload,
    DeadLetterPage,
    DeliveryPage,
    DrainOrder,
    Lane,
    LaneHealth,
    LanePage,
    NewCosmosTx,
    NewEvmTx,
    NewTx,
    Order,
    ReplaceOrder,
    ReviveOrder,
    SequenceOrder,
    SettleOrder,
    SettleWord,
    Tx,
    TxPage,
    WebhookAction,
    WebhookList,
)

encode = msgspec.json.Encoder().encode

BY_KEY = "key:"
"""In front of an idempotency key, where an id is asked for."""
NO_REASON = "no reason given"


class Taken(Struct, frozen=True):
    """A durable transaction; `replayed` when its key and body came before."""

    tx: Tx
    key: str
    replayed: bool


class Words(Struct, frozen=True, kw_only=True):
    """Of an operator: why, and whether only in thought."""

    reason: str = NO_REASON
    dry_run: bool = False


class Calls:
    """Under one set of rules. Nothing here waits, sends or remembers."""

    def __init__(self, rules: Rules) -> None:
        self.rules = rules

    # Transactions.

    def send(self, new: "New", key: str | None) -> Steps[Taken]:
        return (yield from self._send("/v1/transactions", new, key))

    def _send(self, path: str, new: Struct, key: str | None) -> Steps[Taken]:
        # Made once for all tries, so that a lost answer cannot make two of one.
        key = f"auto-{os.urandom(16).hex()}" if key is None else idempotency_key(key)
        ask = self._post(path, new, headers={HEADER: quoted(key)}, key=key)
        answer = yield from persist(self.rules, ask)
        tx = read(self.rules, answer, Tx)
        return Taken(tx, key, answer.headers.get(REPLAYED.lower()) == "true")

    def tx(self, intent: str) -> Steps[Tx]:
        if not intent.startswith(BY_KEY):
            return (yield from self._get(tx_path(intent), Tx))
        page = yield from self.tx_page({"key": intent.removeprefix(BY_KEY)})
        if not page.items:
            raise not_found(intent)
        return page.items[0]

    def wait(self, intent: str, timeout_s: float | None = None) -> Steps[Tx]:
        """Until it is final. It rides over restarts of the server."""
        now = self.rules.now
        until = math.inf if timeout_s is None else now() + timeout_s
        intent = yield from self._id(intent)
        while True:
            begun = now()
            wait_s = int(min(WAIT_S, max(0.0, until - begun)))
            asked = {"wait": "confirmed", "timeout": str(wait_s)} if wait_s else {}
            tx = yield from self._get(tx_path(intent), Tx, asked, wait_s, until - begun)
            if tx.final:
                return tx
            if now() >= until:
                words = f"{intent} is not final after {timeout_s:g} s: {tx.status} {tx.reason}"
                raise TimeoutError(words.strip())
            if now() - begun < min(1.0, wait_s or 1.0):
                yield Pause(min(WAIT_PAUSE_S, until - now()))

    def cancel(self, intent: str, words: Words) -> Steps[Action]:
        return (yield from self._act_on(intent, "cancel", words))

    def bump(self, intent: str, words: Words) -> Steps[Action]:
        return (yield from self._act_on(intent, "bump", words))

    def replace(self, intent: str, payload: EvmPayload, words: Words) -> Steps[Action]:
        intent = yield from self._id(intent)
        order = ReplaceOrder(reason=words.reason, payload=payload, dry_run=words.dry_run)
        return (yield from self._act(f"{tx_path(intent)}/replace", order))

    def settle(self, intent: str, word: SettleWord, words: Words) -> Steps[Action]:
        intent = yield from self._id(intent)
        order = SettleOrder(reason=words.reason, word=word, dry_run=words.dry_run)
        return (yield from self._act(f"{tx_path(intent)}/settle", order))

    def retry(self, intent: str, words: Words) -> Steps[Action]:
        return (yield from self._act_on(intent, "retry", words))

    def tx_page(self, query: dict[str, str | None], cursor: str | None = None) -> Steps[TxPage]:
        return (yield from self._get("/v1/transactions", TxPage, {**query, "cursor": cursor}))

    def _act_on(self, intent: str, verb: str, words: Words) -> Steps[Action]:
        intent = yield from self._id(intent)
        order = Order(words.reason, words.dry_run)
        return (yield from self._act(f"{tx_path(intent)}/{verb}", order))

    def _id(self, intent: str) -> Steps[str]:
        if not intent.startswith(BY_KEY):
            return intent
        return (yield from self.tx(intent)).id

    # Lanes.

    def lane(self, lane: str) -> Steps[Lane]:
        return (yield from self._get(lane_path(lane), Lane))

    def health(self, lane: str) -> Steps[LaneHealth]:
        return (yield from self._get(f"{lane_path(lane)}/health", LaneHealth))

    def lane_page(self, cursor: str | None = None) -> Steps[LanePage]:
        return (yield from self._get("/v1/lanes", LanePage, {"limit": str(PAGE), "cursor": cursor}))

    def operate(self, lane: str, verb: str, words: Words) -> Steps[Action]:
        order = Order(words.reason, words.dry_run)
        return (yield from self._act(f"{lane_path(lane)}/{verb}", order))

    def drain(self, lane: str, mode: str, words: Words) -> Steps[Action]:
        order = DrainOrder(words.reason, words.dry_run, mode)  # type: ignore[arg-type]
        return (yield from self._act(f"{lane_path(lane)}/drain", order))

    def set_sequence(self, lane: str, sequence: int | None, words: Words) -> Steps[Action]:
        order = SequenceOrder(words.reason, words.dry_run, sequence)
        return (yield from self._act(f"{lane_path(lane)}/set-sequence", order))

    def revive(self, lane: str, tx: str | None, keep: bool, words: Words) -> Steps[Action]:
        intent = None if tx is None else (yield from self._id(tx))
        order = ReviveOrder(words.reason, words.dry_run, intent, keep)
        return (yield from self._act(f"{lane_path(lane)}/revive", order))

    # Rollups.

    def rollups(self) -> Steps[RollupList]:
        return (yield from self._get("/v1/rollup", RollupList))

    def rollup(self, rollup: str) -> Steps[RollupStatus]:
        return (yield from self._get(rollup_path(rollup), RollupStatus))

    def bundle_page(
        self, rollup: str, state: str | None, cursor: str | None = None
    ) -> Steps[BundlePage]:
        query = {"state": state, "limit": str(PAGE), "cursor": cursor}
        return (yield from self._get(rollup_path(rollup, "bundles"), BundlePage, query))

    def bundle(self, rollup: str, name: str) -> Steps[BundleShown]:
        return (yield from self._get(rollup_path(rollup, "bundles", name), BundleShown))

    def receipt(self, rollup: str, hash_: str) -> Steps[RollupReceipt]:
        return (yield from self._get(rollup_path(rollup, "receipts", hash_), RollupReceipt))

    def rollup_account(self, rollup: str, account: str) -> Steps[RollupAccount]:
        return (yield from self._get(rollup_path(rollup, "accounts", account), RollupAccount))

    def transfer(self, rollup: str, new: NewRollupTx, key: str | None) -> Steps[Taken]:
        return (yield from self._send(rollup_path(rollup, "transactions"), new, key))

    # The audit trail.

    def audit_page(self, lane: str | None, cursor: str | None = None) -> Steps[AuditPage]:
        query = {"lane": lane, "limit": str(PAGE), "cursor": cursor}
        return (yield from self._get("/v1/audit", AuditPage, query))

    # Webhooks.

    def webhooks(self) -> Steps[WebhookList]:
        return (yield from self._get("/v1/webhooks", WebhookList))

    def delivery_page(self, webhook: str, cursor: str | None = None) -> Steps[DeliveryPage]:
        query = {"limit": str(PAGE), "cursor": cursor}
        return (yield from self._get(hook_path(webhook, "deliveries"), DeliveryPage, query))

    def webhook_act(self, webhook: str, verb: str, words: Words) -> Steps[WebhookAction]:
        """pause, resume, test, or `deliveries/ID/resend`."""
        body = Order(words.reason, words.dry_run)
        answer = yield from persist(self.rules, self._post(hook_path(webhook, verb), body))
        return read(self.rules, answer, WebhookAction)

    def dead_page(self, cursor: str | None = None) -> Steps[DeadLetterPage]:
        query = {"limit": str(PAGE), "cursor": cursor}
        return (yield from self._get("/v1/dead-letters", DeadLetterPage, query))

    # All of them.

    def _get(
        self,
        path: str,
        kind: type[T],
        query: dict[str, str | None] | dict[str, str] | None = None,
        wait_s: float = 0.0,
        retry_s: float | None = None,
    ) -> Steps[T]:
        ask = Ask(target=target(path, query or {}), timeout_s=self.rules.timeout_s + wait_s)
        answer = yield from persist(self.rules, ask, retry_s)
        return read(self.rules, answer, kind)

    def _act(self, path: str, order: Struct) -> Steps[Action]:
        answer = yield from persist(self.rules, self._post(path, order))
        return read(self.rules, answer, Action)

    def _post(
        self,
        path: str,
        body: Struct,
        headers: dict[str, str] | None = None,
        key: str | None = None,
    ) -> Ask:
        return Ask(
            method="POST",
            target=path,
            timeout_s=self.rules.timeout_s,
            body=encode(body),
            headers={"Content-Type": "application/json", **(headers or {})},
            key=key,
        )


class Amounts(TypedDict, total=False):
    """What transactions of EVM accounts may say, but for blobs. Amounts are wei, or words like
    "0.5 ether"."""

    to: str | bytes | None
    value: int | str
    gas: int | None
    type: int | None
    max_fee_per_gas: int | str | None
    max_priority_fee_per_gas: int | str | None
    max_cost: int | str | None
    access_list: list[EvmAccess]
    authorization_list: list[EvmAuthorization]


class EvmOptions(Amounts, total=False):
    """What an EVM account's transaction may say."""

    blobs: EvmBlobs | None


class Coins(TypedDict, total=False):
    """What transactions of Cosmos accounts may say, but for what EVM accounts say too."""

    amount: int | str | None
    denom: str | None
    messages: Messages
    namespace: str | bytes | None
    share_version: int | None
    memo: str
    fee: int | None
    gas_price: str | None
    fee_granter: str | None
    timeout_height: int | None


class ContractOptions(TypedDict, total=False):
    """What an execution of a contract may say."""

    executor: str
    quorum_type: int
    comment: str
    priority: int


class TxOptions(Amounts, Coins, ContractOptions, total=False):
    """Of any kind of lane; those of the others are refused."""

    blobs: EvmBlobs | Blobs | None


CONTRACT_WORDS = frozenset(ContractOptions.__annotations__)
EVM_WORDS = frozenset(EvmOptions.__annotations__)
COSMOS_WORDS = frozenset(Coins.__annotations__) | {"to", "gas", "blobs"}

New = NewTx | NewEvmTx | NewCosmosTx


def new_tx(
    lane: str,
    data: str | bytes | None,
    valid_until: datetime | None = None,
    options: TxOptions | None = None,
) -> New:
    given: dict[str, Any] = {
        name: said for name, said in (options or {}).items() if said is not None
    }
    if is_account(lane):
        check_words(lane, given, "an EVM account", EVM_WORDS)
        return NewEvmTx(lane=lane, payload=evm_payload(data, given), valid_until=valid_until)
    if is_cosmos(lane):
        check_words(lane, given, "a Cosmos account", COSMOS_WORDS)
        return NewCosmosTx(lane=lane, payload=cosmos_payload(data, given), valid_until=valid_until)
    check_words(lane, given, "a contract", CONTRACT_WORDS)
    if not isinstance(data, str):
        raise BadRequest("data", "say what the contract is given, as text")
    priority = given.pop("priority", 0)
    payload = ContractPayload(data=data, **given)
    return NewTx(lane=lane, payload=payload, priority=priority, valid_until=valid_until)


def check_words(lane: str, given: dict[str, Any], kind: str, known: frozenset[str]) -> None:
    strange = given.keys() - known
    if strange:
        raise BadRequest(min(strange), f"{kind} has no such option; {lane} is its lane")


def filters(lane: str | None, status: str | None, page: int) -> dict[str, str | None]:
    return {"lane": lane, "status": status, "limit": str(max(1, min(page, PAGE_MAX)))}


def tx_path(intent: str) -> str:
    return "/v1/transactions/" + segment(intent)


def lane_path(lane: str) -> str:
    return "/v1/lanes/" + segment(lane)


def rollup_path(rollup: str, *rest: str) -> str:
    return "/".join(["/v1/rollup", segment(rollup.removeprefix("rollup:")), *map(segment, rest)])


def new_transfer(raw: str | bytes, valid_until: datetime | None = None) -> NewRollupTx:
    return NewRollupTx(raw=octets(raw) if isinstance(raw, bytes) else raw, valid_until=valid_until)


def hook_path(webhook: str, rest: str) -> str:
    return f"/v1/webhooks/{segment(webhook)}/{rest}"


def segment(text: str) -> str:
    """One part of a path, whatever it holds."""
    return quote(text, safe=":")


def target(path: str, query: dict[str, str | None] | dict[str, str]) -> str:
    given = {name: value for name, value in query.items() if value is not None}
    return f"{path}?{urlencode(given)}" if given else path
