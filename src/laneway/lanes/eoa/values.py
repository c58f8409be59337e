"""The account lane's three families of values: events, records, effects."""

from typing import TypeAlias

from msgspec import Struct

from laneway.core.ids import IntentId
from laneway.core.outcome import Outcome
from laneway.core.units import Amount
from laneway.lanes.common.released import OldCommandRefused, records_reader, refused
from laneway.lanes.common.values import (
    CommandReceived,
    CommandRefused,
    IntentDropped,
    IntentsOffered,
    LaneRecord,
    ModeChanged,
    TimerFired,
)
from laneway.lanes.eoa.fees import NO_CEILING, NO_FEE, Ceiling, EvmFee
from laneway.lanes.eoa.rows import Attempt, Cleanup, Content, Inclusion, Slot

# Events.


class Made(Struct, frozen=True, gc=False):
    slot: int
    number: int
    raw: bytes
    hash: bytes
    fee: EvmFee
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
    """The account as one node sees it, and what of ours is in the blocks after the one we knew,
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
    """The chain has a new block; what is in it is not known yet."""

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


Event: TypeAlias = (
    IntentsOffered | AttemptsMade | BroadcastReturned | HeadSeen | ChainRead | ReadFailed
    | NonceProven | TimerFired | CommandReceived
)  # fmt: skip

# Records.


class SlotClaimed(LaneRecord, frozen=True, gc=False):
    slot: Slot
    returned: bool


class SlotFellOut(LaneRecord, frozen=True):
    """A final answer before anything of it or above it was offered: those move down by one."""

    slot: int
    status: str
    reason: str
    at_ms: int
    intent: IntentId | None = None


class AccountSeen(LaneRecord, frozen=True):
    latest: int
    preconfirmed: int
    balance: Amount
    base_fee: int
    tip: int
    at_ms: int
    filled: bool = False
    """The balance has risen: what nodes reported of it before counts no longer."""


class AttemptSigned(LaneRecord, frozen=True, gc=False):
    """Borrowed: the bytes are durable, and only now may they be sent."""

    attempt: Attempt
    raw: bytes
    """What the attempt's own row does not hold."""
    cost: Amount
    intent: IntentId | None = None
    nonce: int = 0


class Offered(LaneRecord, frozen=True):
    """Every number below this one is offered with this commit."""

    next: int


class MakingDelayed(LaneRecord, frozen=True):
    slot: int
    make_ms: int
    reason: str


class MakingResumed(LaneRecord, frozen=True):
    """The bytes of all delayed slots are being made again."""


class AttemptAnswered(LaneRecord, frozen=True):
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


class AttemptsTaken(LaneRecord, frozen=True):
    """Every node took the first attempts of several slots. The head says so of all of them."""

    first: int
    intents: tuple[IntentId | None, ...]
    hashes: tuple[bytes, ...]


class ResendPlanned(LaneRecord, frozen=True):
    """When silent nodes are offered their bytes again; None: that is under way."""

    at_ms: int | None


class AttemptReoffered(LaneRecord, frozen=True):
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


class SlotFreed(LaneRecord, frozen=True):
    """Nack: no node has any of its bytes. Its intent keeps its order and gets another number."""

    slot: int
    retake_ms: int
    reason: str
    recycle: bool = True  # False where its number was used by someone else for good.
    intent: IntentId | None = None
    nonce: int = 0


class SlotDropped(LaneRecord, frozen=True):
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


class BumpOrdered(LaneRecord, frozen=True):
    slot: int
    purpose: str
    floor: EvmFee
    reason: str
    number: int = 0
    """Of the attempt that is made now; 0: the next one. One that is being made already is passed,
    so that its bytes are not taken for the new ones."""
    content: int = 0
    intent: IntentId | None = None


class ContentReplaced(LaneRecord, frozen=True):
    """The caller wants something else done at this intent's number. What was signed before may
    still land: whichever does decides."""

    content: Content
    reason: str
    by: str


class LookBegun(LaneRecord, frozen=True):
    """The chain is being looked at."""


class LookEnded(LaneRecord, frozen=True):
    poll_ms: int | None


class HeadMoved(LaneRecord, frozen=True):
    """The chain was read up to here. What was included above `fork` is not any more."""

    block: int
    block_hash: bytes
    fork: int | None = None


class SlotIncluded(LaneRecord, frozen=True):
    slot: int
    inclusion: Inclusion
    intent: IntentId | None = None
    nonce: int = 0
    hash: bytes = b""


class ProofOrdered(LaneRecord, frozen=True):
    slot: int
    proving: bool


class InclusionDenied(LaneRecord, frozen=True):
    """It was seen in a block that is final by now, and a majority of all nodes shows it nowhere."""

    slot: int
    intent: IntentId | None = None
    nonce: int = 0
    hash: bytes = b""


class ProofsPaced(LaneRecord, frozen=True):
    """When it may be asked again who used numbers, and how often in a row that was to no avail."""

    next_ms: int
    tries: int


class HaltJudged(LaneRecord, frozen=True):
    """A number is used and nothing proves by what: no new ones are given out. No reason: over."""

    reason: str
    at_ms: int
    nonce: int = 0


class SlotSettled(LaneRecord, frozen=True, gc=False):
    """Final: mined with enough blocks above it. What is final where it is first seen is settled at
    once, without having been included before."""

    slot: int
    status: str
    at_ms: int
    reason: str = ""
    intent: IntentId | None = None
    nonce: int = 0
    block: int | None = None
    hash: bytes = b""
    seen: Inclusion | None = None


class FundsJudged(LaneRecord, frozen=True):
    """The account cannot pay for a slot, or it is worth another try."""

    broke: bool
    threshold: Amount
    """What it had when that was said."""
    needed: Amount = b""
    """What it needs for that slot, where that is known."""
    slot: int = 0
    at_ms: int = 0
    """Since when it is out of funds."""


class CleanupDone(LaneRecord, frozen=True):
    report: Cleanup


class NoncesCrowded(LaneRecord, frozen=True):
    """Too many numbers are free, and no new ones are given out: someone should look."""

    free: int
    bound: int


class NoncesReset(LaneRecord, frozen=True):
    nonce_next: int
    at_ms: int
    reason: str = ""
    by: str = ""


Record: TypeAlias = (
    SlotClaimed | SlotFellOut | AccountSeen | AttemptSigned | Offered | MakingDelayed
    | MakingResumed | AttemptsTaken | AttemptAnswered | ResendPlanned | AttemptReoffered | SlotFreed
    | SlotDropped | BumpOrdered | ContentReplaced | LookBegun
    | LookEnded | HeadMoved | SlotIncluded | ProofOrdered | InclusionDenied | ProofsPaced
    | HaltJudged | SlotSettled | IntentDropped
    | FundsJudged | CleanupDone | NoncesCrowded | NoncesReset | ModeChanged | CommandRefused
)  # fmt: skip


class DroppedReturned(LaneRecord, frozen=True, tag="IntentDropped"):
    """As earlier releases had it, who also wrote what the lane knows: that it had a number."""

    intent: IntentId
    seq: int
    priority: int
    size: int
    status: str
    reason: str
    at_ms: int
    returned: bool = False
    passes: bool = True


def dropped_returned(old: DroppedReturned) -> IntentDropped:
    return IntentDropped(
        old.intent, old.seq, old.priority, old.size, old.status, old.reason, old.at_ms, old.passes
    )


decode_records = records_reader(
    Record, {OldCommandRefused: refused, DroppedReturned: dropped_returned}
)

# Effects.


class MakeAttempt(Struct, frozen=True, gc=False):
    """Fill in what the caller left open, and sign it. Changes nothing anywhere."""

    slot: int
    number: int
    nonce: int
    purpose: str
    payload: bytes
    market: EvmFee
    floor: EvmFee
    least: EvmFee = NO_FEE
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
    """Read the account, and what of ours was mined after this block; without a hash there is
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
