"""The account lane's rows and its three families of values: events, records, effects."""

from typing import Final, TypeAlias

from msgspec import Struct

from laneway.core.ids import IntentId
from laneway.core.intent import IntentRow
from laneway.core.outcome import Outcome
from laneway.core.rows import START, Command, Cursors
from laneway.core.units import Amount
from laneway.lanes.eoa.fees import NO_FEE, Fee

# Rows.


class Purpose:
    """What a slot's next bytes do. Plain words: an Enum hashes ten times slower."""

    INTENT: Final = "intent"
    NOOP: Final = "noop"
    """Fills a number that nobody wants, so that those above it can land."""
    CANCEL: Final = "cancel"
    """A no-op over an intent's own attempts: whichever lands decides."""


class Health(Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    """Seed 002's health of an account."""

    balance: Amount | None = None
    balance_ms: int = 0
    threshold: Amount = b""
    """At or below it the account is out of funds; learned from a node's refusal."""
    confirmed_ms: int = 0
    moved_ms: int = 0
    """When the account's count last rose."""
    resets_ms: tuple[int, ...] = ()
    """The last five manual resets."""


class EoaHead(Struct, array_like=True, forbid_unknown_fields=True):
    """The lane's own head, changed in place by `evolve` alone."""

    cursors: Cursors = START
    settled_count: int = 0
    settled_bytes: int = 0
    slot_next: int = 1
    nonce_next: int | None = None
    """The optimistic nonce: the first that no slot ever had. None until the count was read."""
    offered_next: int = 0
    """Every number below it was offered to a node; those from it on never were."""
    latest: int = 0
    """The account's count, as the chain last said: the lowest number not yet mined."""
    preconfirmed: int = 0
    block: int = 0
    block_hash: bytes = b""
    """The block up to which the chain was read."""
    base_fee: int = 0
    tip: int = 0
    read_ms: int = 0
    """When the account was last read."""
    health: Health = Health()
    mode: str = "running"
    reason: str = ""
    by: str = ""
    mode_ms: int = 0
    broke: bool = False
    """Out of funds: nothing new is signed until the balance is above the threshold."""
    low: int = 0
    """Every number below it is settled, or was never ours."""
    poll_ms: int | None = None
    """When the chain is looked at next; None while nothing is out, or it is being looked at."""
    looking: bool = False
    make_ms: int | None = None
    """When the bytes of delayed slots are made again."""
    resend_ms: int | None = None
    """When bytes are offered again to the nodes that did not say."""
    retake_ms: int | None = None
    """When returned intents are given numbers again."""
    spend: Amount = b""
    """Of the gas of all attempts in flight, the dearest of each slot."""
    drain_seq: int = 0


class Inclusion(Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    """A fact: where one attempt was mined."""

    attempt: int
    block: int
    block_hash: bytes
    ok: bool
    gas_used: int = 0
    price: int = 0


class Slot(Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    """One nonce, bound to one intent, or to nothing but filling it."""

    id: int
    intent: IntentId | None
    seq: int
    priority: int
    size: int
    nonce: int
    claimed_ms: int
    purpose: str = Purpose.INTENT
    """Of the attempt that is being made, or was made last."""
    making: bool = True
    """The bytes of the next attempt are being made."""
    delayed: bool = False
    """Making did not succeed; it is tried again with the lane's next `make_ms`."""
    make_tries: int = 0
    attempt_next: int = 1
    floor: Fee = NO_FEE
    """What the next attempt must offer at least, to take the place of the last."""
    cost: Amount = b""
    """Of the dearest attempt's gas."""
    tried_ms: int = 0
    seen: Inclusion | None = None
    proving: bool = False
    """The chain is being asked who used this number."""
    wait_reason: str = ""


class Attempt(Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    """Signed bytes. Durable before any node hears of them."""

    slot: int
    number: int
    hash: bytes
    purpose: str
    fee: Fee
    gas: int
    made_ms: int
    silent: tuple[str, ...]
    """Nodes that have not answered, or whose answer proves nothing."""
    refused: tuple[str, ...] = ()
    """Nodes that refused it for good."""
    taken: tuple[str, ...] = ()
    """Nodes that have it, or had it."""
    reason: str = ""
    doubted: bool = False
    """It was offered more than once: a refusal may answer one offer while another was taken."""
    raw: bytes = b""
    """The bytes, if they are few; otherwise they have a row of their own, written once."""
    denied: tuple[str, ...] = ()
    """Silent nodes that refused it for good, but may have taken it before."""

    def key(self) -> str:
        return f"{self.slot}/{self.number}"

    def asked(self) -> tuple[str, ...]:
        """Nodes that it is worth offering to again."""
        return tuple(node for node in self.silent if node not in self.denied)

    def is_dead(self) -> bool:
        """Whether every node it was offered to refused it for good."""
        return not self.silent and not self.taken

    def is_denied(self) -> bool:
        """Whether every node refuses it for good by now, whatever became of an earlier offer."""
        return not self.taken and not self.asked()


# Events.


class IntentsOffered(Struct, frozen=True):
    now_ms: int
    intents: tuple[IntentRow, ...]


class Made(Struct, frozen=True):
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


class AttemptsMade(Struct, frozen=True):
    now_ms: int
    made: tuple[Made | NotMade, ...]


class SendResult(Struct, frozen=True):
    slot: int
    number: int
    node: str
    outcome: Outcome
    first: bool = True
    """Nothing of it was offered to this node before. Otherwise it may have taken the bytes then,
    passed them on and forgotten them: its refusal frees no number."""
    final: bool = False
    """A refusal that the same bytes will always meet there."""
    hopeless: bool = False
    """And so will any other bytes for this intent: it is too large, or needs too much gas."""
    broke: bool = False
    used: bool = False
    """The node says that the number is used already."""
    reason: str = ""


class BroadcastReturned(Struct, frozen=True):
    now_ms: int
    results: tuple[SendResult, ...]


class Receipt(Struct, frozen=True):
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
    fork_hash: bytes = b""


class HeadSeen(Struct, frozen=True):
    """The chain has a new block; what is in it is not said."""

    now_ms: int


class ReadFailed(Struct, frozen=True):
    """A look at the chain came back with nothing; it proves nothing."""

    now_ms: int


class NonceProven(Struct, frozen=True):
    """Who used a number, from a node at or above the block that gave the count."""

    now_ms: int
    nonce: int
    receipt: Receipt | None
    """None proves nothing."""
    head: int = 0
    """The newest block of the node that showed it, read before it was shown."""


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


class SlotClaimed(Struct, frozen=True, tag=True, array_like=True, forbid_unknown_fields=True):
    slot: Slot
    returned: bool


class SlotFellOut(Struct, frozen=True, tag=True, array_like=True, forbid_unknown_fields=True):
    """A final answer before anything of it was offered. Nothing above it was offered either, so
    those move down by one, and no number stays empty."""

    slot: int
    status: str
    reason: str
    at_ms: int


class AccountSeen(Struct, frozen=True, tag=True, array_like=True, forbid_unknown_fields=True):
    latest: int
    preconfirmed: int
    balance: Amount
    base_fee: int
    tip: int
    at_ms: int


class AttemptSigned(Struct, frozen=True, tag=True, array_like=True, forbid_unknown_fields=True):
    """Borrowed: the bytes are durable, and only now may they be sent."""

    attempt: Attempt
    raw: bytes
    """What the attempt's own row does not hold."""
    cost: Amount


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
    """taken, refused, denied (refused, but it may have been taken before), or silent (its answer
    proves nothing)."""
    reason: str


class ResendPlanned(Struct, frozen=True, tag=True, array_like=True, forbid_unknown_fields=True):
    """When silent nodes are offered their bytes again; None: that is under way."""

    at_ms: int | None


class AttemptReoffered(Struct, frozen=True, tag=True, array_like=True, forbid_unknown_fields=True):
    """It was mined, or known, and may not be any more: the same bytes go to every node again."""

    slot: int
    number: int
    at_ms: int = 0
    """When, where time and not a block is the reason."""
    reason: str = ""
    """Why nothing dearer is made in its place."""


class SlotFreed(Struct, frozen=True, tag=True, array_like=True, forbid_unknown_fields=True):
    """Nack: no node has any of its bytes. Its intent keeps its order and is given a number anew."""

    slot: int
    retake_ms: int
    reason: str
    recycle: bool = True
    """False where its number was used by someone else."""


class SlotDropped(Struct, frozen=True, tag=True, array_like=True, forbid_unknown_fields=True):
    """Fail: a final answer without anything on chain; its number is free again."""

    slot: int
    status: str
    reason: str
    at_ms: int
    retake_ms: int | None = None
    """When its number is looked after."""
    recycle: bool = True
    """False where its number was used by someone else."""


class BumpOrdered(Struct, frozen=True, tag=True, array_like=True, forbid_unknown_fields=True):
    slot: int
    purpose: str
    floor: Fee
    reason: str


class LookBegun(Struct, frozen=True, tag=True, array_like=True, forbid_unknown_fields=True):
    """The chain is being looked at."""


class LookEnded(Struct, frozen=True, tag=True, array_like=True, forbid_unknown_fields=True):
    poll_ms: int | None


class HeadMoved(Struct, frozen=True, tag=True, array_like=True, forbid_unknown_fields=True):
    """The chain was read up to here. One record also where a reorg took blocks back: whatever was
    included above `fork` is not any more."""

    block: int
    block_hash: bytes
    fork: int | None = None


class SlotIncluded(Struct, frozen=True, tag=True, array_like=True, forbid_unknown_fields=True):
    slot: int
    inclusion: Inclusion


class ProofOrdered(Struct, frozen=True, tag=True, array_like=True, forbid_unknown_fields=True):
    slot: int
    proving: bool


class SlotSettled(Struct, frozen=True, tag=True, array_like=True, forbid_unknown_fields=True):
    """Final: mined with enough blocks above it."""

    slot: int
    status: str
    at_ms: int
    reason: str = ""


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
    broke: bool
    threshold: Amount


class NoncesReset(Struct, frozen=True, tag=True, array_like=True, forbid_unknown_fields=True):
    nonce_next: int
    at_ms: int


class ModeChanged(Struct, frozen=True, tag=True, array_like=True, forbid_unknown_fields=True):
    mode: str
    reason: str
    by: str
    at_ms: int
    drain_seq: int = 0


class CommandRefused(Struct, frozen=True, tag=True, array_like=True, forbid_unknown_fields=True):
    verb: str
    reason: str
    intent: IntentId | None = None


Record: TypeAlias = (
    SlotClaimed | SlotFellOut | AccountSeen | AttemptSigned | Offered | MakingDelayed
    | MakingResumed | AttemptAnswered | ResendPlanned | AttemptReoffered | SlotFreed
    | SlotDropped | BumpOrdered | LookBegun
    | LookEnded | HeadMoved | SlotIncluded | ProofOrdered | SlotSettled | IntentDropped
    | FundsJudged | NoncesReset | ModeChanged | CommandRefused
)  # fmt: skip

# Effects.


class MakeAttempt(Struct, frozen=True):
    """Fill in what the caller left open, and sign it. Changes nothing anywhere."""

    slot: int
    number: int
    nonce: int
    purpose: str
    payload: bytes
    market: Fee
    floor: Fee


class SendAttempt(Struct, frozen=True):
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


class ProveNonce(Struct, frozen=True):
    nonce: int
    block: int


Effect: TypeAlias = LookAtChain | MakeAttempt | SendAttempt | ProveNonce
