"""What was seen of an EVM chain, each thing with the block or the node it was seen at.

A fact claims no more than it shows: a count is true of its block, a refusal of its node, and what
was not seen is not said to be absent.
"""

from enum import Enum

from msgspec import Struct

from laneway.core.outcome import Outcome


class BlockRef(Struct, frozen=True, array_like=True):
    """One block of one branch: a number alone names nothing on a chain that can reorganise."""

    number: int
    hash: bytes


class AccountAtBlock(Struct, frozen=True):
    """An account as one node had it at one block."""

    count: int
    """Nonces used up to and with `block`: the first one that is not mined there."""
    preconfirmed_count: int
    """The same with what a flashblock promises; equal to `count` on chains without them."""
    balance_wei: int
    block: BlockRef
    node: str


class FeesSeen(Struct, frozen=True):
    """What a place in the next block costs, as one node says."""

    base_fee_wei: int
    """Of the newest block; 0 where there is none."""
    priority_fee_wei: int
    gas_price_wei: int
    blob_base_fee_wei: int | None
    """None where blobs do not exist."""
    supports_1559: bool
    block: BlockRef
    node: str


class SendKind(Enum):
    """Why a node took a transaction or did not."""

    TAKEN = "taken"
    ALREADY_KNOWN = "already_known"
    NONCE_TOO_LOW = "nonce_too_low"
    NONCE_TOO_HIGH = "nonce_too_high"
    REPLACEMENT_UNDERPRICED = "replacement_underpriced"
    UNDERPRICED = "underpriced"
    """Below what the pool takes from anyone."""
    FEE_CAP_TOO_LOW = "fee_cap_too_low"
    """Below the base fee of the next block."""
    INSUFFICIENT_FUNDS = "insufficient_funds"
    POOL_FULL = "pool_full"
    ACCOUNT_LIMIT = "account_limit"
    """Too many of this sender wait already; a delegated account (EIP-7702) may have one."""
    RATE_LIMITED = "rate_limited"
    UNREACHABLE = "unreachable"
    """The node was never asked."""
    NOT_SERVED = "not_served"
    """The node takes no transactions at all."""
    UNSUPPORTED = "unsupported"
    """The chain knows no transactions of this type."""
    NODE_FEE_CAP = "node_fee_cap"
    """The node's own ceiling for a fee, against typing errors."""
    INTRINSIC_GAS = "intrinsic_gas"
    GAS_LIMIT = "gas_limit"
    """More gas than a block, or one transaction, may use."""
    TIP_ABOVE_CAP = "tip_above_cap"
    WRONG_CHAIN = "wrong_chain"
    MALFORMED = "malformed"
    OVERSIZED = "oversized"
    BAD_SIGNATURE = "bad_signature"
    REVERTED = "reverted"
    """The node runs a transaction before it takes it, and this one fails."""
    SILENT = "silent"
    """It was handed to the network, and no answer came back."""
    UNKNOWN = "unknown"
    """The node's error message is in no table."""

    def outcome(self) -> Outcome:
        if self in TAKEN_KINDS:
            return Outcome.ACCEPTED
        return Outcome.UNKNOWN if self in DOUBTFUL_KINDS else Outcome.REFUSED

    def is_final(self) -> bool:
        """Whether no later try of the same bytes at this node can do better."""
        return self in FINAL_KINDS

    def is_policy(self) -> bool:
        """Whether the node refuses by a rule of its own, or by the chain as it is now. The bytes
        are sound: another node may take them, or have passed them on."""
        return self in POLICY_KINDS


TAKEN_KINDS = (SendKind.TAKEN, SendKind.ALREADY_KNOWN)

DOUBTFUL_KINDS = (
    # The nonce is used, perhaps by these very bytes: they may have arrived twice.
    SendKind.NONCE_TOO_LOW,
    # A gateway may say so after it passed the request on.
    SendKind.RATE_LIMITED,
    SendKind.SILENT,
    SendKind.UNKNOWN,
)

FINAL_KINDS = (
    SendKind.INTRINSIC_GAS,
    SendKind.GAS_LIMIT,
    SendKind.TIP_ABOVE_CAP,
    SendKind.WRONG_CHAIN,
    SendKind.MALFORMED,
    SendKind.OVERSIZED,
    SendKind.BAD_SIGNATURE,
    SendKind.UNSUPPORTED,
    SendKind.NODE_FEE_CAP,
)
"""Everything else that is refused may be taken later: funds come, fees fall, pools empty."""

POLICY_KINDS = (SendKind.GAS_LIMIT, SendKind.OVERSIZED, SendKind.UNSUPPORTED, SendKind.NODE_FEE_CAP)
"""Final kinds that say nothing of the bytes themselves: all others can be mined by nobody."""


class SendAnswer(Struct, frozen=True):
    """What one node's answer proves about one transaction offered to it."""

    node: str
    outcome: Outcome
    final: bool
    """A refusal that no later try of the same bytes can change."""
    kind: SendKind
    reason: str = ""


def sent(node: str, kind: SendKind, reason: str = "") -> SendAnswer:
    return SendAnswer(node, kind.outcome(), kind.is_final(), kind, reason)


class BlockSeen(Struct, frozen=True):
    """A block with the hashes of what is in it."""

    block: BlockRef
    parent: bytes
    hashes: tuple[bytes, ...]


class BlocksSeen(Struct, frozen=True):
    """The chain after the newest known block that still belongs to it."""

    after: BlockRef | None
    """The newest of the known blocks that nothing contradicts. Known blocks above it are gone: the
    node has others in their place. None when all are gone, or none was known."""
    blocks: tuple[BlockSeen, ...]
    """Consecutive, the first one a child of `after`; the newest block alone when that is None."""
    head: BlockRef
    """The node's newest block, or the last of `blocks` where as many were asked for; it may be
    below `after` on a node that lags."""
    node: str


class ReceiptSeen(Struct, frozen=True, gc=False):
    """One transaction as it was mined, in this branch of the chain."""

    hash: bytes
    succeeded: bool
    block: BlockRef
    gas_used: int
    effective_gas_price_wei: int
    node: str


class LogSeen(Struct, frozen=True):
    """A log of a mined transaction, as one node shows it."""

    address: bytes
    topics: tuple[bytes, ...]
    data: bytes


class LogsSeen(Struct, frozen=True):
    """The logs of one mined transaction, in their order."""

    logs: tuple[LogSeen, ...]
    left_out: int = 0
    """Those after them, which were too many to be kept."""


class RevertSeen(Struct, frozen=True):
    """Why a mined transaction failed, as one node says. Nothing that decides reads it."""

    output: bytes
    """What the call returned."""
    message: str
    """What the node calls it."""
    source: str
    """How it is known, in words."""


class NodeReceipts(Struct, frozen=True):
    """What one node shows of several hashes."""

    node: str
    head: int
    """Its newest block, read before."""
    receipts: tuple[ReceiptSeen | None, ...]
    """In the order of the hashes; None where it shows no receipt."""


class NonceClaim(Struct, frozen=True):
    """What one node says of a nonce of an account."""

    node: str
    count: int
    """How many nonces of the account are used, as it says."""
    hash: bytes = b""
    """The hash of the transaction that it names; empty where it names none."""
    raw: bytes = b""
    """That transaction's canonical bytes, as it shows its fields. Nothing of this is proof before
    the bytes are hashed and their signature is recovered."""


class Estimated(Struct, frozen=True):
    gas: int


class Reverted(Struct, frozen=True):
    """The call fails as the chain stands now."""

    reason: str
    output: bytes = b""


class NotEstimated(Struct, frozen=True):
    """The node could not run the call, for a reason that is not the call's own code."""

    kind: SendKind
    reason: str
