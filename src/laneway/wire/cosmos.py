"""The values of the REST API that speak of Cosmos accounts.

Bytes are base64, hashes are upper-case hexadecimal digits, as Cosmos chains write both. Amounts are
decimal strings.
"""

from datetime import datetime
from typing import Annotated

from msgspec import Meta, Struct

from laneway.wire.limits import (
    LIST_MAX,
    MEMO_CHARS_MAX,
    NAMESPACE_CHARS_MAX,
    NUMBER_MAX,
    URL_CHARS_MAX,
)

Moment = Annotated[datetime, Meta(tz=True)]
Number = Annotated[int, Meta(ge=0, le=NUMBER_MAX)]
Amount = Annotated[
    str,
    Meta(
        pattern=r"^[0-9]{1,78}([a-zA-Z][a-zA-Z0-9/:._-]{2,127})?$",
        description="Decimal digits, and the coin where `denom` does not say it: `5utia`.",
    ),
]
Denom = Annotated[str, Meta(pattern=r"^[a-zA-Z][a-zA-Z0-9/:._-]{2,127}$")]
Price = Annotated[
    str,
    Meta(
        pattern=r"^[0-9]{1,9}(\.[0-9]{1,6})?$",
        description="Of a unit of gas, in the chain's coin: `0.004`.",
    ),
]
Account = Annotated[
    str,
    Meta(pattern=r"^[!-~]{1,90}$", description="Bech32, with the chain's own prefix."),
]
TypeUrl = Annotated[
    str, Meta(pattern=r"^/[!-~]+$", max_length=URL_CHARS_MAX, description="Of a message's kind.")
]
Namespace = Annotated[
    str,
    Meta(
        pattern=r"^[A-Za-z0-9+/=]+$",
        max_length=NAMESPACE_CHARS_MAX,
        description="Hexadecimal digits or base64: all 29 bytes, or up to ten of the user's own.",
    ),
]


class CosmosMessage(Struct, frozen=True, forbid_unknown_fields=True):
    """A message of any kind, as protobuf writes it."""

    type_url: TypeUrl
    value: bytes
    """In base64."""


class CosmosBlob(Struct, frozen=True, forbid_unknown_fields=True):
    """Data for Celestia, in a namespace of its own."""

    namespace: Namespace
    data: bytes
    """In base64."""
    share_version: Annotated[int, Meta(ge=0, le=1)] = 0
    """1 names the account that pays for it in its shares."""


class CosmosPayload(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What an account is asked to send once: coins to someone and other messages, or blobs, which
    travel alone. It has no sequence: the lane gives it one."""

    to: Account | None = None
    """Who gets `amount`: a MsgSend from the lane's account."""
    amount: Amount | Number | None = None
    denom: Denom | None = None
    """Left out: the coin that the chain's fees are paid in."""
    messages: Annotated[list[CosmosMessage], Meta(max_length=LIST_MAX)] = []
    blobs: Annotated[list[CosmosBlob], Meta(max_length=LIST_MAX)] = []
    memo: Annotated[str, Meta(max_length=MEMO_CHARS_MAX)] = ""
    gas: Number | None = None
    """Left out: by a formula for blobs, else simulated when it is signed."""
    fee: Number | None = None
    """In all, in the chain's coin. Left out: gas times its price."""
    gas_price: Price | None = None
    """Left out: what the chain asks when it is signed."""
    fee_granter: Account | None = None
    """Whose allowance pays the fee. Left out: what the account's settings say."""
    timeout_height: Number | None = None
    """The last block that may hold it. Left out, or farther away than the settings allow: its bytes
    are valid for `timeout_blocks` and then signed anew, `attempts_max` times in all."""


class CosmosMessageSaid(Struct, frozen=True, kw_only=True):
    type_url: str
    size: int
    value: bytes | None
    """Left out where it is long."""


class CosmosBlobSaid(Struct, frozen=True, kw_only=True):
    namespace: str
    """All 29 bytes, in hexadecimal digits."""
    size: int
    share_version: int


class CosmosSaid(Struct, frozen=True, kw_only=True):
    """What was asked for, without what is long."""

    to: str | None
    amount: str | None
    denom: str | None
    messages: list[CosmosMessageSaid]
    """Those beside `to`."""
    blobs: list[CosmosBlobSaid]
    memo: str
    gas: int | None
    fee: int | None
    gas_price: str | None
    fee_granter: str | None
    timeout_height: int | None


class CosmosAttempt(Struct, frozen=True, kw_only=True):
    """Signed bytes. Others are made only when these can land no more."""

    number: int
    hash: str
    timeout_height: int
    """The last block that may hold it."""
    live: bool
    """Whether it may land, or has landed."""
    reason: str
    """Why it can land no more, or what a node said last against it."""
    gas: int | None = None
    fee: int | None = None
    size: int | None = None
    signed_at: Moment | None = None
    refused_by: list[str] = []
    """Nodes that refused it as often as they were offered it."""


class CosmosTx(Struct, frozen=True, kw_only=True):
    """What an account's lane knows of a transaction beside its status."""

    payload: CosmosSaid | None
    sequence: int | None = None
    """Its number, once it has one; until its bytes are out it may still change."""
    wait_reason: str = ""
    """being_made, parked_by_cap, gap_before, window_closed, recovering, paused, not_committed_yet,
    sequence_used, account_not_read (and what each node shows), account_does_not_exist,
    too_few_nodes (and how many answer), node_unreachable, wrong_chain, node_unreadable or
    node_busy while no node of the chain is of use, or a node's or a signer's own message. Empty: it
    is about to go on, or it is final."""
    hash: str | None = None
    height: int | None = None
    code: int | None = None
    """Of its execution; of one that is in no block, what a node said last."""
    codespace: str = ""
    log: str = ""
    gas_wanted: int | None = None
    gas_used: int | None = None
    signers: list[str] = []
    timeout_height: int | None = None
    """The last block that may hold the bytes it has now."""
    attempts: list[CosmosAttempt] = []
    """While it is open they are known to the process that holds its lane."""
    raw: bytes | None = None
    """Of an indeterminate one: the bytes that may or may not be on the chain."""


class CosmosNode(Struct, frozen=True, kw_only=True):
    """How far one node was offered the account's transactions."""

    name: str
    next: int
    """The sequence it is offered next: it took all below, as far as is known."""
    height: int
    recovering: bool
    reason: str
    """Why it is given something again before anything new."""
    expected: int | None
    """Of a mismatch: the sequence it wants."""
    ours: int | None
    """And the one it was offered."""
    then: str
    """What happens next."""
    failures: int
    """How often in a row it did not answer."""
    gone: bool
    """It is configured no more, but may hold something."""


class CosmosLane(Struct, frozen=True, kw_only=True):
    """An account and its numbers."""

    chain_id: str
    chain: str
    account: str
    address: str
    worker_of: str | None
    """Of a worker account: the lane whose account pays its fees."""
    sequence_next: int | None
    """The local sequence: the first that nothing ever had. Null until the account was read."""
    committed: int
    """The account's sequence, as the chain last answered."""
    account_number: int
    account_missing: bool
    """It does not exist on the chain yet."""
    height: int
    """The newest block that some node showed."""
    recovering: bool
    """No node takes what is new."""
    reason: str
    """Of the recovery: why, expected and ours, and what happens next."""
    nodes: list[CosmosNode]
    pending: int
    """Intents without a number."""
    bound: int
    """Intents with one."""
    fillers: int
    """Numbers that only use themselves up, so that those above can land."""
    watched: int
    """Reported as indeterminate, and still looked for."""
    window: int
    """Numbers that may be in flight at once."""
    signed_bytes: int
    held_bytes: int
    """Payloads, and what is signed of them, that are not settled."""
    held_bytes_max: int
    last_confirmation_at: Moment | None
    read_at: Moment | None


class NextSequence(Struct, frozen=True, kw_only=True):
    """What setting an account's next sequence does, and why no more."""

    wanted: int | None
    """Null: what the chain says."""
    sequence_next: int
    """The local sequence before it."""
    committed: int
    """The account's sequence, as the chain last answered."""
    bound: int
    """Numbers that something has."""
    bound_highest: int | None
    becomes: int
    """The local sequence after it."""
    why: str
