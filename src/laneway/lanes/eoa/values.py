"""The account lane's three families of values: events, records, effects."""

from typing import TypeAlias

from msgspec import Struct

from laneway.core.ids import IntentId
from laneway.core.intent import IntentRow
from laneway.core.outcome import Outcome
from laneway.core.rows import Command
from laneway.core.units import Amount
from laneway.lanes.eoa.fees import NO_CEILING, NO_FEE, Ceiling, Fee
from laneway.lanes.eoa.rows import Attempt, CleanupReport, Content, Inclusion, Slot

# Events.


class IntentsOffered(Struct, frozen=True):
    now_ms: int
    intents: tuple[IntentRow, ...]


class Made(Struct, frozen=True, gc=False):
    slot: int
    number: int
    raw: bytes
    hash: bytes
    fee: Fee
    gas: int
    cost: int
    """Of its gas, at its cap."""


class NotMade(Struct, frozen=True):
    slot: int
    number: int
    final: bool
    """No other try can succeed: the call reverts, the request is malformed."""
    reason: str
    broke: bool = False
    """The account cannot pay for it."""
    reverts: bool = False
    """Its call fails as the chain stands now. What those before it do may change that."""
    asked_ms: int = 0
    """When the node was asked that says so."""
    needed: int = 0
    """Wei that the account must have for it at least; 0 where that is not known."""


class AttemptsMade(Struct, frozen=True):
    now_ms: int
    made: tuple[Made | NotMade, ...]


class SendResult(Struct, frozen=True, gc=False):
    slot: int
    number: int
    node: str
    outcome: Outcome
    first: bool = True
    """Nothing of it was offered to this node before; else its refusal frees no number."""
    final: bool = False
    """A refusal that the same bytes will always meet there."""
    policy: bool = False
    """A final refusal of sound bytes, by a rule that other nodes need not have."""
    hopeless: bool = False
    """And so will any other bytes for this intent: it is too large, or needs too much gas."""
    broke: bool = False
    cheap: bool = False  # Refused for its price: a dearer one may do better there.
    used: bool = False
    """The node says that the number is used already."""
    reason: str = ""
    asked_ms: int = 0
    """When it was offered."""
    needed: int = 0
    """Wei that the account must have for it; 0 where that is not known."""


class BroadcastReturned(Struct, frozen=True):
    now_ms: int
    results: tuple[SendResult, ...]


class Receipt(Struct, frozen=True, gc=False):
    hash: bytes
    block: int
    block_hash: bytes
    ok: bool
    gas_used: int = 0
    price: int = 0


class ChainRead(Struct, frozen=True):
    """The account as one node sees it, and what of ours is in the blocks behind the one we knew,
    up to the block the account's count is from."""

    now_ms: int
    since: bytes
    """The hash of the block it was asked from: an answer to an older question is not one to this,
    for it does not say which blocks of those known since are gone."""
    latest: int
    preconfirmed: int
    balance: int
    base_fee: int
    tip: int
    block: int
    block_hash: bytes
    receipts: tuple[Receipt, ...] = ()
    fork: int | None = None
    """The last block that still stands of those we knew, if ours does not."""
    agreed: tuple[Receipt, ...] = ()
    """Receipts that a majority of all nodes shows alike, in blocks that are final for each of them;
    with one node alone none is needed."""
    denied: tuple[bytes, ...] = ()
    """Hashes that were seen in a final block, and that a majority of all nodes shows nowhere."""


class HeadSeen(Struct, frozen=True):
    """The chain has a new block; what is in it is not said."""

    now_ms: int


class ReadFailed(Struct, frozen=True):
    """A look at the chain came back with nothing; it proves nothing."""

    now_ms: int


class NonceProven(Struct, frozen=True):
    """Who used a number."""

    now_ms: int
    nonce: int
    receipt: Receipt | None
    """Of our own bytes, or of others that this account signed, which was recovered here; a majority
    of all nodes shows it, in a block that is final for each of them. None proves nothing."""
    evidence: str = ""
    """Why waiting may not help: the number is used, and no node shows by what."""


class TimerFired(Struct, frozen=True):
    now_ms: int


class CommandTold(Struct, frozen=True):
    now_ms: int
    command: Command


Event: TypeAlias = (
    IntentsOffered | AttemptsMade | BroadcastReturned | HeadSeen | ChainRead | ReadFailed
    | NonceProven | TimerFired | CommandTold
)  # fmt: skip

# Records.


class SlotClaimed(
    Struct, frozen=True, tag=True, array_like=True, forbid_unknown_fields=True, gc=False
):
    slot: Slot
    returned: bool


class SlotFellOut(Struct, frozen=True, tag=True, array_like=True, forbid_unknown_fields=True):
    """A final answer before anything of it or above it was offered: those move down by one."""

    slot: int
    status: str
    reason: str
    at_ms: int
    intent: IntentId | None = None


class AccountSeen(Struct, frozen=True, tag=True, array_like=True, forbid_unknown_fields=True):
    latest: int
    preconfirmed: int
    balance: Amount
    base_fee: int
    tip: int
    at_ms: int
    filled: bool = False
    """The balance has risen: what nodes said of it before counts no longer."""


class AttemptSigned(
    Struct, frozen=True, tag=True, array_like=True, forbid_unknown_fields=True, gc=False
):
    """Borrowed: the bytes are durable, and only now may they be sent."""

    attempt: Attempt
    raw: bytes
    """What the attempt's own row does not hold."""
    cost: Amount
    intent: IntentId | None = None
    nonce: int = 0


class Offered(Struct, frozen=True, tag=True, array_like=True, forbid_unknown_fields=True):
    """Every number below this one is offered with this commit."""

    next: int


class MakingDelayed(Struct, frozen=True, tag=True, array_like=True, forbid_unknown_fields=True):
    slot: int
    make_ms: int
    reason: str


class MakingResumed(Struct, frozen=True, tag=True, array_like=True, forbid_unknown_fields=True):
    """The bytes of all delayed slots are being made again."""


class AttemptAnswered(Struct, frozen=True, tag=True, array_like=True, forbid_unknown_fields=True):
    slot: int
    number: int
    node: str
    word: str
    """taken, refused, denied (refused, but it may have been taken before), cheap (refused for its
    price), or silent (its answer proves nothing)."""
    reason: str
    intent: IntentId | None = None
    """Whose it is, if this is the first node that has any of it."""
    hash: bytes = b""
    at_ms: int = 0
    """When, if a node has what no node had before."""


class AttemptsTaken(Struct, frozen=True, tag=True, array_like=True, forbid_unknown_fields=True):
    """Every node took the first attempts of several slots. The head says so of all of them."""

    first: int
    intents: tuple[IntentId | None, ...]
    hashes: tuple[bytes, ...]


class ResendPlanned(Struct, frozen=True, tag=True, array_like=True, forbid_unknown_fields=True):
    """When silent nodes are offered their bytes again; None: that is under way."""

    at_ms: int | None


class AttemptReoffered(Struct, frozen=True, tag=True, array_like=True, forbid_unknown_fields=True):
    """It was mined, or known, and may not be any more: the same bytes go to every node again."""

    slot: int
    number: int
    intent: IntentId | None = None
    hash: bytes = b""
    at_ms: int = 0
    """When, where time and not a block is the reason."""
    reason: str = ""
    """Why nothing dearer is made in its place."""
    reorg: bool = False
    """Whether a reorg took back the block that held it; False where pools may have forgotten it,
    and in records that were written before this was recorded."""


class SlotFreed(Struct, frozen=True, tag=True, array_like=True, forbid_unknown_fields=True):
    """Nack: no node has any of its bytes. Its intent keeps its order and is given a number anew."""

    slot: int
    retake_ms: int
    reason: str
    recycle: bool = True  # False where its number was used by someone else for good.
    intent: IntentId | None = None
    nonce: int = 0


class SlotDropped(Struct, frozen=True, tag=True, array_like=True, forbid_unknown_fields=True):
    """Fail: a final answer without anything on chain; its number is free again."""

    slot: int
    status: str
    reason: str
    at_ms: int
    retake_ms: int | None = None
    """When its number is looked after."""
    recycle: bool = True  # False where its number was used by someone else.
    intent: IntentId | None = None
    nonce: int = 0
    proven: bool = False
    """Whether a majority showed the transaction that used its number for good."""


class BumpOrdered(Struct, frozen=True, tag=True, array_like=True, forbid_unknown_fields=True):
    slot: int
    purpose: str
    floor: Fee
    reason: str
    number: int = 0
    """Of the attempt that is made now; 0: the next one. One that is being made already is passed,
    so that its bytes are not taken for the new ones."""
    content: int = 0
    intent: IntentId | None = None


class ContentReplaced(Struct, frozen=True, tag=True, array_like=True, forbid_unknown_fields=True):
    """The caller wants something else done at this intent's number. What was signed before may
    still land: whichever does decides."""

    content: Content
    reason: str
    by: str


class LookBegun(Struct, frozen=True, tag=True, array_like=True, forbid_unknown_fields=True):
    """The chain is being looked at."""


class LookEnded(Struct, frozen=True, tag=True, array_like=True, forbid_unknown_fields=True):
    poll_ms: int | None


class HeadMoved(Struct, frozen=True, tag=True, array_like=True, forbid_unknown_fields=True):
    """The chain was read up to here. What was included above `fork` is not any more."""

    block: int
    block_hash: bytes
    fork: int | None = None


class SlotIncluded(Struct, frozen=True, tag=True, array_like=True, forbid_unknown_fields=True):
    slot: int
    inclusion: Inclusion
    intent: IntentId | None = None
    nonce: int = 0
    hash: bytes = b""


class ProofOrdered(Struct, frozen=True, tag=True, array_like=True, forbid_unknown_fields=True):
    slot: int
    proving: bool


class InclusionDenied(Struct, frozen=True, tag=True, array_like=True, forbid_unknown_fields=True):
    """It was seen in a block that is final by now, and a majority of all nodes shows it nowhere."""

    slot: int
    intent: IntentId | None = None
    nonce: int = 0
    hash: bytes = b""


class ProofsPaced(Struct, frozen=True, tag=True, array_like=True, forbid_unknown_fields=True):
    """When it may be asked again who used numbers, and how often in a row that was to no avail."""

    next_ms: int
    tries: int


class HaltJudged(Struct, frozen=True, tag=True, array_like=True, forbid_unknown_fields=True):
    """A number is used and nothing proves by what: no new ones are given out. No reason: over."""

    reason: str
    at_ms: int
    nonce: int = 0


class SlotSettled(
    Struct, frozen=True, tag=True, array_like=True, forbid_unknown_fields=True, gc=False
):
    """Final: mined with enough blocks above it. What is final where it is first seen is told at
    once, without a word that it was included."""

    slot: int
    status: str
    at_ms: int
    reason: str = ""
    intent: IntentId | None = None
    nonce: int = 0
    block: int | None = None
    hash: bytes = b""
    seen: Inclusion | None = None


class IntentDropped(Struct, frozen=True, tag=True, array_like=True, forbid_unknown_fields=True):
    """It never had a number, and never will."""

    intent: IntentId
    seq: int
    priority: int
    size: int
    status: str
    reason: str
    at_ms: int
    returned: bool = False
    """It had one before; otherwise the cursor passes it, or it is behind the cursor."""
    passes: bool = True


class FundsJudged(Struct, frozen=True, tag=True, array_like=True, forbid_unknown_fields=True):
    """The account cannot pay for a slot, or it is worth another try."""

    broke: bool
    threshold: Amount
    """What it had when that was said."""
    needed: Amount = b""
    """What it needs for that slot, where that is known."""
    slot: int = 0
    at_ms: int = 0
    """Since when it is out of funds."""


class CleanupDone(Struct, frozen=True, tag=True, array_like=True, forbid_unknown_fields=True):
    report: CleanupReport


class NoncesCrowded(Struct, frozen=True, tag=True, array_like=True, forbid_unknown_fields=True):
    """So many numbers are free that no new ones are given out: someone should look."""

    free: int
    bound: int


class NoncesReset(Struct, frozen=True, tag=True, array_like=True, forbid_unknown_fields=True):
    nonce_next: int
    at_ms: int
    reason: str = ""
    by: str = ""


class ModeChanged(Struct, frozen=True, tag=True, array_like=True, forbid_unknown_fields=True):
    mode: str
    reason: str
    by: str
    at_ms: int
    drain_seq: int = 0
    drain_left: int = 0


class CommandRefused(Struct, frozen=True, tag=True, array_like=True, forbid_unknown_fields=True):
    verb: str
    reason: str
    intent: IntentId | None = None


Record: TypeAlias = (
    SlotClaimed | SlotFellOut | AccountSeen | AttemptSigned | Offered | MakingDelayed
    | MakingResumed | AttemptsTaken | AttemptAnswered | ResendPlanned | AttemptReoffered | SlotFreed
    | SlotDropped | BumpOrdered | ContentReplaced | LookBegun
    | LookEnded | HeadMoved | SlotIncluded | ProofOrdered | InclusionDenied | ProofsPaced
    | HaltJudged | SlotSettled | IntentDropped
    | FundsJudged | CleanupDone | NoncesCrowded | NoncesReset | ModeChanged | CommandRefused
)  # fmt: skip

# Effects.


class MakeAttempt(Struct, frozen=True, gc=False):
    """Fill in what the caller left open, and sign it. Changes nothing anywhere."""

    slot: int
    number: int
    nonce: int
    purpose: str
    payload: bytes
    market: Fee
    floor: Fee
    least: Fee = NO_FEE
    """What it should offer, and what it must: less does not take the place of the last."""
    ceiling: Ceiling = NO_CEILING


class SendAttempt(Struct, frozen=True, gc=False):
    """Offer these bytes to the nodes that have not answered. Those of one turn go in one batch,
    in the order of their numbers."""

    slot: int
    number: int
    raw: bytes
    nodes: tuple[str, ...]
    again: bool = False
    """They may have had it before: what they refuse now proves nothing about then."""


class LookAtChain(Struct, frozen=True):
    """Read the account, and what of ours was mined behind this block; without a hash there is
    none yet, and reading begins at the head."""

    block: int
    block_hash: bytes
    hashes: tuple[bytes, ...]
    depth: int = 0
    """With this many blocks on top of it a block is final."""
    due: tuple[tuple[bytes, int], ...] = ()
    """Hashes that a majority of several nodes must show, and the blocks where they were seen."""


class ProveNonce(Struct, frozen=True):
    """Find out who used a number: our own hashes first, then what nodes name."""

    nonce: int
    hashes: tuple[bytes, ...]
    depth: int


Effect: TypeAlias = LookAtChain | MakeAttempt | SendAttempt | ProveNonce
