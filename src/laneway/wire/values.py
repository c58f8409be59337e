"""The values of the REST API. Names are snake_case, times are RFC 3339 in UTC.

Readers ignore fields they do not know, so that a server may be newer than its client; what a
client sends is read strictly.
"""

from datetime import datetime
from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from laneway.core.limits import LANE_ID_CHARS_MAX, PRIORITY_CLASSES
from laneway.wire.cosmos import CosmosLane, CosmosPayload, CosmosTx, NextSequence
from laneway.wire.evm import EvmLane, EvmPayload, EvmTx, NonceReset
from laneway.wire.limits import NUMBER_MAX, REASON_CHARS_MAX
from laneway.wire.rollup import RollupLane, RollupTx

LaneName = Annotated[
    str,
    Meta(
        min_length=3,
        max_length=LANE_ID_CHARS_MAX,
        pattern=r"^[a-z]+:[!-.0-~]+$",
        description="`KIND:KEY`, for example `contract:QmToken`, `evm:1:0x…`, `cosmos:dev:main` or "
        "`rollup:100`.",
    ),
]
ContractLane = Annotated[
    str,
    Meta(
        max_length=LANE_ID_CHARS_MAX,
        pattern=r"^contract:[!-.0-~]+$",
        description="`contract:TOKEN`.",
    ),
]
AccountLane = Annotated[
    str,
    Meta(
        max_length=LANE_ID_CHARS_MAX,
        pattern=r"^evm:[!-9;-~]+:[!-.0-~]+$",
        description="`evm:CHAIN:ACCOUNT`, each by its name, or by the chain's id and the address.",
    ),
]
CosmosLaneName = Annotated[
    str,
    Meta(
        max_length=LANE_ID_CHARS_MAX,
        pattern=r"^cosmos:[!-.0-9;-~]+(:[!-.0-~]+)?$",
        description="`cosmos:CHAIN:ACCOUNT`, each by its name, or by the chain's id and the "
        "address; `cosmos:CHAIN` where it has one account.",
    ),
]
Count = Annotated[int, Meta(ge=0, le=NUMBER_MAX)]
Reason = Annotated[str, Meta(min_length=1, max_length=REASON_CHARS_MAX)]
Moment = Annotated[datetime, Meta(tz=True)]

StatusWord = Literal[
    "queued",
    "signed",
    "submitted",
    "included",
    "confirmed",
    "reverted",
    "refused",
    "cancelled",
    "expired",
    "dead",
    "indeterminate",
]
"""ARCHITECTURE §10; a test keeps it equal to core's Status."""


class ContractPayload(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One execution of the contract that the lane is named after."""

    data: str
    executor: str = ""
    quorum_type: Count = 2
    comment: str = ""


class NewTx(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What a caller wants done once."""

    lane: ContractLane
    payload: ContractPayload
    priority: Annotated[int, Meta(ge=0, lt=PRIORITY_CLASSES)] = 0
    """0 is the most urgent. Without `contract.priorities` every class waits in one line."""
    valid_until: Moment | None = None
    """Not begun after this moment; then its status is `expired`."""


class NewEvmTx(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What an EVM account is wanted to send once."""

    lane: AccountLane
    payload: EvmPayload
    valid_until: Moment | None = None
    """Offered to no node for the first time after this moment; then its status is `expired`. Once a
    node may hold its bytes this counts no more."""


class NewCosmosTx(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What a Cosmos account is wanted to send once."""

    lane: CosmosLaneName
    payload: CosmosPayload
    valid_until: Moment | None = None
    """Given no sequence after this moment; then its status is `expired`."""


class Tx(Struct, frozen=True, kw_only=True):
    """One accepted transaction: where it is, and why."""

    id: str
    lane: str
    status: StatusWord
    final: bool
    reason: str
    """Why it waits, or why it ended so; about_to_go_on if nothing holds it up. While no node of its
    chain answers it begins with node_unreachable, wrong_chain, node_unreadable or node_busy, and
    names each node."""
    seq: int
    """Its place in the lane, for ever."""
    accepted_at: Moment
    idempotency_key: str | None = None
    retry_of: str | None = None
    """The dead transaction in whose place this one was queued."""
    priority: int = 0
    valid_until: Moment | None = None
    settled_at: Moment | None = None
    block: int | None = None
    """Its position on chain."""
    next_attempt_at: Moment | None = None
    """When its next attempt, or the next look for one in doubt, is due."""
    payload: ContractPayload | None = None
    """A contract's, as it was sent; gone when retention removed it."""
    traceparent: str | None = None
    """The trace it was sent in."""
    hash: str | None = None
    """An account's: of the attempt that was mined, or else of the last one. A rollup's: its own."""
    nonce: int | None = None
    """An EVM account's: its number, once it has one."""
    evm: EvmTx | None = None
    """An EVM account's: what was asked for, and what was tried."""
    cosmos: CosmosTx | None = None
    """A Cosmos account's: what was asked for, and what was tried."""
    rollup: RollupTx | None = None
    """A rollup's: the block that has it, and where that is."""
    details: dict[str, Any] | UnsetType = UNSET
    """Of a kind that another distribution brings: what it shows of it."""


class TxPage(Struct, frozen=True):
    items: list[Tx]
    next_cursor: str | None
    """Give it back as `cursor`; null on the last page."""


class Queue(Struct, frozen=True):
    """The counters of a contract's queue."""

    fast: int
    slow: int
    enqueued: int
    executed: int
    fast_hits: int
    slow_hits: int
    dropped: int
    """Cancelled or expired while they waited."""


class Lane(Struct, frozen=True, kw_only=True):
    """Where a lane is and why, and how old its work is."""

    id: str
    state: str
    """idle, ready, running, backing off, recovering, tripped, halted, paused or draining."""
    reason: str
    by: str
    """Who paused or drained it."""
    since: Moment | None
    """Since when it is so."""
    waiting: int
    running: int
    oldest_waiting_ms: int | None
    running_ms: int | None
    failures: int
    """Doubtful or failed answers in a row."""
    next_attempt_at: Moment | None = None
    """When the next attempt, or the next look for one in doubt, is due."""
    queue: Queue
    evm: EvmLane | None = None
    """Of an EVM account: its health."""
    cosmos: CosmosLane | None = None
    """Of a Cosmos account: its sequences, node by node."""
    rollup: RollupLane | None = None
    """Of a rollup: its blocks in short."""
    details: dict[str, Any] | UnsetType = UNSET
    """Of a kind that another distribution brings: what it shows of it."""


class LaneHealth(Struct, frozen=True, kw_only=True):
    """Whether a lane goes on by itself, and what a person should look at."""

    lane: str
    healthy: bool
    problems: list[str]
    evm: EvmLane | None = None
    cosmos: CosmosLane | None = None
    rollup: RollupLane | None = None
    details: dict[str, Any] | UnsetType = UNSET


class LanePage(Struct, frozen=True):
    items: list[Lane]
    next_cursor: str | None


class Order(Struct, frozen=True, forbid_unknown_fields=True):
    """An operator's command, which always says why."""

    reason: Reason
    dry_run: bool = False
    """Show what would happen and do nothing."""


class DrainOrder(Order, frozen=True, forbid_unknown_fields=True):
    mode: Literal["queue", "running"] = "queue"
    """Finish what waits now, or only what runs."""


class SequenceOrder(Order, frozen=True, forbid_unknown_fields=True):
    """Where a Cosmos account's numbers go on."""

    sequence: Count | None = None
    """Left out: what the chain says."""


class ReviveOrder(Order, frozen=True, forbid_unknown_fields=True):
    """What is put aside of a lane that a bug stopped."""

    tx: str | None = None
    """Left out: the transaction that stopped it, where that is known."""
    keep: bool = False
    """Put no transaction aside; the answer that stopped it is asked for again."""


SettleWord = Literal["executed", "not_executed", "skip"]


class SettleOrder(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What a person who looked at the chain knows of an execution that halted its lane."""

    reason: Reason
    word: SettleWord
    """executed: it is on the chain. not_executed: it is not, and no longer can be. skip: every try
    of it was refused; it is given up."""
    dry_run: bool = False


class ReplaceOrder(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Other content for a transaction, at the same nonce."""

    reason: Reason
    payload: EvmPayload
    dry_run: bool = False


class Action(Struct, frozen=True, kw_only=True):
    """The outcome of an operator's command."""

    action: str
    outcome: Literal["done", "told", "would"]
    """`done`: the lane followed. `told`: it is durable in its mailbox. `would`: a dry run."""
    effect: str
    """What it did, or would do, in words."""
    lane: Lane
    tx: Tx | None = None
    reset: NonceReset | None = None
    """Of `reset-nonce`: the numbers before and after."""
    sequence: NextSequence | None = None
    """Of `set-sequence`: the same."""
    details: dict[str, Any] | UnsetType = UNSET
    """Of a command of a kind that another distribution brings: what it shows of it."""


class AuditEntry(Struct, frozen=True, kw_only=True):
    """One entry of the audit trail: who did what, why, and what came of it."""

    id: str
    seq: int
    """Its place in the trail, without gaps."""
    at: Moment
    actor: str
    """The id of an API key, `loopback` where there are none, `keys_file`, or `laneway` itself."""
    action: str
    """pause, resume, drain, revive, reset-nonce, set-sequence, cancel, bump, replace, retry,
    settle, `lane.stopped` (by a bug), `webhook.` and pause, resume, revive, resend, test, or
    `apikey.` and in_force, changed, removed."""
    outcome: Literal["asked", "done", "told", "refused"]
    """asked: written before anything was done; the entry that answers it says what came of it."""
    reason: str
    detail: str
    """What it did, or why it was refused, in words."""
    lane: str | None = None
    tx: str | None = None
    api_key: str | None = None
    answers: str | None = None
    """The id of the entry this one answers."""


class AuditPage(Struct, frozen=True):
    items: list[AuditEntry]
    next_cursor: str | None


class Webhook(Struct, frozen=True, kw_only=True):
    """One endpoint that events are sent to. Its secrets are never shown."""

    id: str
    url: str
    """Without the password and the query, which may be secret too."""
    events: list[str]
    lanes: list[str]
    allow_private: bool
    state: str
    """idle, ready, running, backing off, paused, or halted: it answered 410 Gone."""
    reason: str
    by: str
    """Who paused it."""
    waiting: int
    """Messages that wait for their first attempt."""
    open: int
    """Messages under way, or waiting for their next attempt."""
    delivered: int
    dead: int
    failures: int
    """Attempts that failed in a row."""


class WebhookList(Struct, frozen=True):
    items: list[Webhook]


class DeliveryAttempt(Struct, frozen=True, kw_only=True):
    """One POST, and what came of it."""

    number: int
    ended_at: Moment
    duration_ms: int
    code: int | None
    """The HTTP status; null when there was no answer."""
    reason: str
    preview: str
    """How the answer's body began."""


class Delivery(Struct, frozen=True, kw_only=True):
    """One message to one endpoint: where it is, and why."""

    id: str
    webhook: str
    message: str
    """Its `webhook-id`: the same however often it is sent."""
    type: str
    status: StatusWord
    """queued, submitted (under way, or waiting for a retry), confirmed (a 2xx answer), refused
    (410 Gone), cancelled or dead."""
    final: bool
    reason: str
    seq: int
    accepted_at: Moment
    settled_at: Moment | None = None
    next_attempt_at: Moment | None = None
    resends: str | None = None
    """The delivery that this one repeats."""
    attempts: list[DeliveryAttempt]
    """While it is open they are known to the process that holds its lane."""
    body: dict[str, Any]


class DeliveryPage(Struct, frozen=True):
    items: list[Delivery]
    next_cursor: str | None


class WebhookAction(Struct, frozen=True, kw_only=True):
    """The outcome of an operator's command to an endpoint."""

    action: str
    outcome: Literal["done", "told", "would"]
    effect: str
    webhook: Webhook
    delivery: Delivery | None = None


class DeadLetter(Struct, frozen=True, kw_only=True):
    """What ended without success and was given up: a transaction or a delivery."""

    id: str
    lane: str
    reason: str
    accepted_at: Moment
    settled_at: Moment


class DeadLetterPage(Struct, frozen=True):
    items: list[DeadLetter]
    next_cursor: str | None


class EventBody(Struct, frozen=True, kw_only=True, omit_defaults=True):
    lane: str
    version: int
    """Of the lane's commits: within a lane it never goes back."""
    tx: str | None = None
    status: StatusWord | None = None
    block: int | None = None
    reason: str = ""
    by: str = ""
    nonce: int | None = None
    hash: str | None = None
    sequence: int | None = None
    expected: int | None = None
    """Of a recovery: the sequence that a node wants, where `sequence` is ours."""
    bundle: str | None = None
    """Of a rollup: the builder's own name of the block, whose number is `block`."""
    package_version: int | None = None
    """Which work package of the block it is; `package` is its hash."""
    package: str | None = None
    count: int | None = None
    """How many transactions the block holds: all of them have this status."""
    details: dict[str, Any] | UnsetType = UNSET
    """Of a kind that another distribution brings: what it shows beside the rest."""


class Event(Struct, frozen=True):
    """`transaction.` and a status word, `lane.` and what happened to it, or `bundle.` and where a
    rollup's block came to."""

    type: str
    timestamp: Moment
    data: EventBody


class Check(Struct, frozen=True):
    """One thing that must be right before traffic may come."""

    name: str
    ok: bool
    what: str


class Readiness(Struct, frozen=True):
    ready: bool
    checks: list[Check]


class Liveness(Struct, frozen=True):
    alive: bool = True
