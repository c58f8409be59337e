"""The values of the REST API that speak of EVM accounts.

Amounts and 256-bit numbers are decimal strings, bytes are 0x and hexadecimal digits. What a caller
sends may have numbers as decimal or hexadecimal strings, or as JSON numbers where they are small.
"""

from datetime import datetime
from typing import Annotated, Any

from msgspec import Meta, Struct

from laneway.wire.limits import (
    ARGUMENTS_MAX,
    BLOBS_MAX,
    CALL_CHARS_MAX,
    HEX_CHARS_MAX,
    LIST_MAX,
    NUMBER_MAX,
    QUANTITY_CHARS_MAX,
)

Moment = Annotated[datetime, Meta(tz=True)]
Number = Annotated[int, Meta(ge=0, le=NUMBER_MAX)]
NumberText = Annotated[
    str,
    Meta(
        pattern=r"^(0x[0-9a-fA-F]{1,64}|[0-9]{1,78})$",
        max_length=QUANTITY_CHARS_MAX,
        description="Decimal, or 0x and hexadecimal digits.",
    ),
]
Quantity = NumberText | Number
Address = Annotated[
    str,
    Meta(
        pattern=r"^0x[0-9a-fA-F]{40}$",
        description="20 bytes. Letters of both cases are a checksum (EIP-55), and checked.",
    ),
]
Word = Annotated[str, Meta(pattern=r"^0x[0-9a-fA-F]{64}$", description="32 bytes.")]
Octets = Annotated[
    str,
    Meta(
        pattern=r"^0x([0-9a-fA-F]{2})*$",
        max_length=HEX_CHARS_MAX,
        description="0x and pairs of hexadecimal digits.",
    ),
]


CallText = Annotated[
    str,
    Meta(
        min_length=1,
        max_length=CALL_CHARS_MAX,
        description="For example `transfer(address,uint256)`, or with names "
        "`function transfer(address to, uint256 amount) returns (bool)`.",
    ),
]
Arguments = Annotated[list[Any], Meta(max_length=ARGUMENTS_MAX)]
AbiEntries = Annotated[list[dict[str, Any] | str], Meta(max_length=LIST_MAX)]


class EvmAccess(Struct, frozen=True, forbid_unknown_fields=True):
    """Storage that is warm from the beginning (EIP-2930)."""

    address: Address
    storage_keys: Annotated[list[Word], Meta(max_length=LIST_MAX)] = []


class EvmAuthorization(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A signed EIP-7702 authorization."""

    chain_id: Quantity
    address: Address
    nonce: Quantity
    y_parity: Annotated[int, Meta(ge=0, le=1)]
    r: Quantity
    s: Quantity


class EvmBlobs(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What a type 3 transaction carries beside itself; its hashes follow from the commitments."""

    blobs: Annotated[list[Octets], Meta(min_length=1, max_length=BLOBS_MAX)]
    commitments: Annotated[list[Octets], Meta(min_length=1, max_length=BLOBS_MAX)]
    proofs: Annotated[list[Octets], Meta(min_length=1, max_length=BLOBS_MAX * 128)]
    version: Annotated[int, Meta(ge=0, le=1)] = 0
    """0: a proof for each blob (EIP-4844); 1: 128 cell proofs for each (EIP-7594)."""
    max_fee_per_blob_gas: Quantity | None = None


class EvmPayload(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What an account is asked to send once. It has no nonce: the lane gives it one."""

    to: Address | None = None
    """Left out, `data` or `deploy` creates a contract."""
    value: Quantity = "0"
    """Of wei."""
    data: Octets = "0x"
    """Calldata; with `deploy` the constructor's arguments, encoded. Either this, or `args`."""
    call: CallText | None = None
    """Instead of `data`: the function, by its signature or, where `abi` has it once, its name; with
    `deploy` the constructor's signature."""
    args: Arguments | None = None
    """Of `call`, in their order. Whole numbers as texts in decimal or hexadecimal digits or with a
    unit (`1.5 ether`), or as JSON numbers; bytes as 0x and digits; tuples as lists, or as objects
    by the names of their members."""
    abi: AbiEntries | None = None
    """Of the contract: entries as a compiler writes them, or signatures. Its errors and events show
    later what came of it in words; what is kept of it has 4 KB at most, and no node gets it."""
    deploy: Octets | None = None
    """Code that creates a contract, without the constructor's arguments."""
    gas: Quantity | None = None
    """Left out, it is estimated when it is signed."""
    type: Annotated[int, Meta(ge=0, le=4)] | None = None
    """Left out: 4 with authorizations, 3 with blobs, else 2, or 0 where there is no base fee."""
    max_fee_per_gas: Quantity | None = None
    """Never more, however long it waits; for types 0 and 1 the gas price."""
    max_priority_fee_per_gas: Quantity | None = None
    """What its first attempt offers to the block's builder."""
    max_cost: Quantity | None = None
    """Of all its gas."""
    access_list: Annotated[list[EvmAccess], Meta(max_length=LIST_MAX)] = []
    authorization_list: Annotated[list[EvmAuthorization], Meta(max_length=LIST_MAX)] = []
    blobs: EvmBlobs | None = None


class EvmAttempt(Struct, frozen=True, kw_only=True):
    """Signed bytes at one nonce, and what each node said of them."""

    number: int
    hash: str
    purpose: str
    """intent, cancel (a no-op over it), or noop."""
    content: int
    """Which of its contents it carries: 0 is the first, n the n-th replacement."""
    max_fee_per_gas: str
    max_priority_fee_per_gas: str
    gas: int
    signed_at: Moment
    nodes: dict[str, str]
    """Each node: taken, refused for good, denied (it does not have it, though it may have had it),
    or silent (what it said proves nothing)."""
    reason: str
    """The last message of a node."""
    mined: bool
    """Whether it is the one that was mined."""


class EvmArgument(Struct, frozen=True, kw_only=True):
    """One value of a call, an event or an error in words."""

    name: str = ""
    type: str
    value: Any
    """As `args` takes it: whole numbers as decimal texts, bytes as 0x and digits, tuples as
    lists."""
    hashed: bool = False
    """Of an event: a log has only the hash of this value."""


class EvmInWords(Struct, frozen=True, kw_only=True):
    """A call, an event or an error as its ABI says it."""

    signature: str
    args: list[EvmArgument]


class EvmLogShown(Struct, frozen=True, kw_only=True):
    """A log of a mined transaction, as one node shows it."""

    address: str
    topics: list[str]
    data: str
    event: EvmInWords | None = None
    """Where what is kept of its ABI has it."""


class EvmRevertShown(Struct, frozen=True, kw_only=True):
    """Why a mined transaction failed, as one node says."""

    reason: str
    """In words: the text of Error(string), the meaning of a Panic, an error by its ABI, or what
    stopped it."""
    data: str
    """What the call returned."""
    error: EvmInWords | None = None
    """The contract's own error, where what is kept of its ABI has it."""
    source: str
    """How it is known: by a trace, or by a call on the state around its block, which may differ
    from the state that it met."""


class EvmTx(Struct, frozen=True, kw_only=True):
    """What an account's lane knows of a transaction beside its status."""

    payload: EvmPayload | None
    """As it was sent, without blobs."""
    blob_hashes: list[str] = []
    replacement: EvmPayload | None = None
    """What its caller put in the place of it last."""
    replaced: int = 0
    """How often that was done."""
    mined: EvmPayload | None = None
    """What was mined, with the gas and the fees of the mined attempt: the content of `payload`, of
    `replacement` or of one between them, or a transfer of nothing to the account itself. Null until
    a block has it."""
    wait_reason: str = ""
    """being_made, parked_by_cap, out_of_funds, gap_before, window_closed, returned, paused,
    recycled_above_max, account_not_read, no_node_has_it, not_mined_yet, not_final_yet,
    no_majority_yet, nonce_used_unproven, why the lane is halted, node_unreachable, wrong_chain,
    node_unreadable or node_busy while no node of the chain is of use, or a node's or a signer's
    own message. Empty: it is about to go on, or it is final."""
    confirmations: int | None = None
    """Blocks from the one it is in to the last one that was read."""
    block_hash: str | None = None
    gas_used: int | None = None
    gas_price: str | None = None
    """What it paid for each unit of gas, in wei."""
    call: EvmInWords | None = None
    """What was mined, or is to be, in words, where what is kept of its ABI has it."""
    contract: str | None = None
    """The address of the contract that it created."""
    logs: list[EvmLogShown] | None = None
    """Of a mined call whose events are known; asked of a node when the transaction is shown by
    itself. Null: nobody was asked, or nobody knows."""
    revert: EvmRevertShown | None = None
    """Of a mined transaction that failed; asked in the same way."""
    unexplained: str = ""
    """Why `logs` or `revert` is not known: what nodes said."""
    attempts: list[EvmAttempt] = []
    """While it is open they are known to the process that holds its lane."""


class CleanupReport(Struct, frozen=True, kw_only=True):
    """What the last look at the chain that cleared something away did (seed 002)."""

    at: Moment
    moved_to_success: int
    moved_to_pending: int
    noop_count: int
    cross_nonce_violations: int
    per_nonce_violations: int
    nonces_without_receipts: int


class EvmLane(Struct, frozen=True, kw_only=True):
    """The health of an account, and its numbers."""

    chain_id: int
    chain: str
    account: str
    address: str
    """With its checksum."""
    nonce_next: int | None
    """The optimistic nonce: the first that nothing ever had. Null until the account was read."""
    latest: int
    """The account's count, as the chain last answered."""
    preconfirmed: int
    block: int
    pending: int
    """Intents without a number."""
    borrowed: int
    """Numbers whose bytes no node is known to have."""
    submitted: int
    """Numbers of which some node has an attempt."""
    recycled: int
    """Free numbers below the optimistic one."""
    max_recycled_nonces: int
    paused_by_recycled: bool
    """More are free than allowed: no new ones are given out. `reset-nonce` shows what it can do."""
    inflight: int
    window: int
    """Numbers that may be in flight at once."""
    balance: str | None
    """Of wei."""
    balance_at: Moment | None
    balance_threshold: str
    """At or below it the account is out of funds; learned from a refusal."""
    out_of_funds: bool
    balance_needed: str | None
    """While it is out of funds: what the transaction costs that it cannot pay, in wei, where that
    is known."""
    inflight_cost: str
    """What the gas of all attempts in flight may cost, in wei."""
    last_confirmation_at: Moment | None
    last_nonce_movement_at: Moment | None
    nonce_resets: list[Moment]
    """The last five."""
    cleanup: CleanupReport | None


class NonceReset(Struct, frozen=True, kw_only=True):
    """What a reset of an account's numbers does, and why no more."""

    nonce_next: int
    """The optimistic nonce before it."""
    latest: int
    """The account's count, as the chain last answered."""
    bound: int
    """Numbers that something has."""
    bound_highest: int | None
    recycled: int
    """Free numbers."""
    becomes: int
    """The optimistic nonce after it."""
    forgotten: int
    """Free numbers that are nobody's afterwards."""
    why_not_lower: str
