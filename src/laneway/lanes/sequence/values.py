"""The sequence lane's three families of values: events, records, effects."""

from typing import TypeAlias

from msgspec import Struct

from laneway.core.cosmos import CosmosLook, OfferAnswer, TxSeen
from laneway.core.ids import IntentId
from laneway.lanes.common.values import (
    CommandReceived,
    CommandRefused,
    IntentDropped,
    IntentsOffered,
    LaneRecord,
    ModeChanged,
    TimerFired,
)
from laneway.lanes.sequence.rows import InclusionVote, Node, Slot

# Events.


class Made(Struct, frozen=True):
    slot: int
    number: int
    raw: bytes
    hash: bytes
    gas: int
    fee: int
    timeout_height: int


class NotMade(Struct, frozen=True):
    slot: int
    number: int
    final: bool
    """No other try can succeed: the request is malformed, the signer refuses."""
    reason: str
    fails: bool = False
    """It would fail as the chain stands now; what those before it do may change that."""
    expired: bool = False
    """The last block that its caller wants it in is over."""


class AttemptsMade(Struct, frozen=True):
    now_ms: int
    made: tuple[Made | NotMade, ...]


class OfferReturned(Struct, frozen=True):
    """What one node says of transactions offered one after the other."""

    now_ms: int
    node: str
    serial: int
    epoch: int
    first: int
    """The sequence of the first one."""
    hashes: tuple[bytes, ...]
    answers: tuple[OfferAnswer, ...]
    again: int = 0
    """As it was ordered."""


class NodeLooked(Struct, frozen=True):
    now_ms: int
    epoch: int
    until: int
    """What is below it the node had taken when the look was ordered."""
    look: CosmosLook


class LookFailed(Struct, frozen=True):
    """A look at a node came back with nothing; it proves nothing."""

    now_ms: int
    node: str


class SequenceProven(Struct, frozen=True):
    """Who used a number."""

    now_ms: int
    sequence: int
    shown: tuple[TxSeen, ...]
    """The transaction that each node shows there; an empty tuple proves nothing."""


Event: TypeAlias = (
    IntentsOffered | AttemptsMade | OfferReturned | NodeLooked | LookFailed | SequenceProven
    | TimerFired | CommandReceived
)  # fmt: skip

# Records.


class SlotClaimed(LaneRecord, frozen=True):
    slot: Slot


class AttemptSigned(LaneRecord, frozen=True):
    """The bytes are durable, and only now may they be offered."""

    slot: Slot
    """With the attempt."""
    raw: bytes
    """What the slot's own row does not hold."""


class SlotRecord(LaneRecord, frozen=True):
    """What became of one slot. Whose it is stands beside it, for those who join in the middle."""

    slot: int
    reason: str
    intent: IntentId | None
    sequence: int


class AttemptDelayed(SlotRecord, frozen=True):
    """Its bytes were not made; that is tried again with the lane's next `make_ms`."""

    tries: int
    """How often in a row they were not."""


class AttemptRefused(SlotRecord, frozen=True):
    """A node refused it."""

    refused: tuple[str, ...]
    """Nodes that refused it as often as they were offered it, and so never had it."""
    final: tuple[str, ...]
    """Those of them that called the bytes themselves wrong."""
    code: int
    codespace: str


class RefusalDoubted(SlotRecord, frozen=True):
    """A node that had refused it as often as it was offered it may have taken it now."""

    refused: tuple[str, ...]
    final: tuple[str, ...]
    """As of a refusal, without that node."""


class AttemptTaken(SlotRecord, frozen=True):
    """Some node took it, which `Submitted` does not say: it is no first attempt, or that node had
    refused it before."""

    refused: tuple[str, ...]
    final: tuple[str, ...]
    """As of a refusal, without that node."""
    number: int
    hash: bytes


class AttemptEnded(SlotRecord, frozen=True):
    """It can land no more, and others are made at the same number."""

    hash: bytes
    proven: bool
    """Whether a majority of the nodes showed that. Otherwise all that were offered it refused it,
    and one of them may have lied."""


class PastProven(SlotRecord, frozen=True):
    """The last block is over for bytes that were given up before it."""

    proven: tuple[bool, ...]
    """Of each attempt that ended, whether it is proven by now that it cannot land."""


class InclusionShown(SlotRecord, frozen=True):
    """A node shows bytes of it in a block, or does not any more; too few do to be believed."""

    shown: tuple[InclusionVote, ...]


class ProofOrdered(SlotRecord, frozen=True):
    """Its number is used, and the chain is asked by whom."""

    doubt_height: int
    """From this block on nobody shows it."""
    asked_height: int | None = None
    """The newest block now; None in records of earlier releases."""


class ProofFailed(SlotRecord, frozen=True):
    """Too few nodes show who used its number."""


OfSlot: TypeAlias = (
    AttemptDelayed | AttemptRefused | RefusalDoubted | AttemptTaken | AttemptEnded | PastProven
    | InclusionShown | ProofOrdered | ProofFailed
)  # fmt: skip
"""Records that change one slot's own row and nothing else."""


class MakingDelayed(LaneRecord, frozen=True):
    make_ms: int


class MakingResumed(LaneRecord, frozen=True):
    """The bytes of all delayed slots are being made again."""


class NodeChanged(LaneRecord, frozen=True):
    """How far a node is, and why no further."""

    node: Node


class RecoveryBegan(LaneRecord, frozen=True):
    """A node has to be given something again before anything new."""

    node: str
    reason: str
    next: int
    """The sequence that it is offered next."""
    height: int
    """Of its newest block."""
    expected: int | None
    ours: int | None
    """Of a mismatch: what it wants, and what it was offered."""
    then: str
    """What happens next."""


class RecoveryEnded(LaneRecord, frozen=True):
    """A node has all that it was ever offered, or nothing of that is left."""

    node: str
    reason: str
    """Why it was in recovery, as it was known last."""


class Submitted(LaneRecord, frozen=True):
    """Some node took these first attempts, all below `next`."""

    next: int
    node: str
    intents: tuple[IntentId | None, ...]
    hashes: tuple[bytes, ...]


class AccountSeen(LaneRecord, frozen=True):
    sequence: int
    number: int
    height: int
    at_ms: int
    """A majority was read since then."""
    pace_height: int = 0
    pace_ms: int = 0
    sequence_height: int = 0
    origin_height: int = 0
    origin: bytes = b""


class LaneHalted(LaneRecord, frozen=True):
    """What was believed is taken back: nothing is signed until an operator decides, or the nodes
    show it again."""

    reason: str
    """With what each node shows."""
    at_ms: int


class AccountMissing(LaneRecord, frozen=True):
    at_ms: int


class SlotFellOut(LaneRecord, frozen=True):
    """A final answer, and nothing of it or above it can land: those move down by one, and no number
    stays empty."""

    slot: int
    status: str
    reason: str
    at_ms: int
    intent: IntentId | None = None


class SlotsRenumbered(LaneRecord, frozen=True):
    """Others used the numbers that slots had, and no node ever had anything of these: all of them
    are given the next numbers, in their order."""

    start: int
    reason: str
    at_ms: int


class SlotSettled(LaneRecord, frozen=True):
    """A final answer."""

    slot: int
    status: str
    at_ms: int
    sequence: int
    reason: str = ""
    intent: IntentId | None = None
    seen: TxSeen | None = None
    stays: Slot | None = None
    """What is left of it: its number is filled, or it is watched."""


class SlotCorrected(LaneRecord, frozen=True):
    """A slot answered as indeterminate is in a block after all; without `seen` it is no longer
    looked for."""

    slot: int
    intent: IntentId | None
    seen: TxSeen | None = None


class SequenceSet(LaneRecord, frozen=True):
    floor: int
    sequence_next: int
    at_ms: int
    reason: str = ""
    by: str = ""
    seen: AccountSeen | None = None
    """What the nodes show, where the lane was halted and goes on from there."""


Record: TypeAlias = (
    SlotClaimed | AttemptSigned | AttemptDelayed | AttemptRefused | RefusalDoubted | AttemptTaken
    | AttemptEnded | PastProven | InclusionShown | ProofOrdered | ProofFailed | MakingDelayed
    | MakingResumed | NodeChanged | RecoveryBegan | RecoveryEnded | Submitted | AccountSeen
    | LaneHalted | AccountMissing | SlotFellOut | SlotsRenumbered | SlotSettled | SlotCorrected
    | IntentDropped | SequenceSet | ModeChanged | CommandRefused
)  # fmt: skip

# Effects.


class MakeAttempt(Struct, frozen=True):
    """Fill in what the caller left open, and sign it. Changes nothing anywhere."""

    slot: int
    number: int
    sequence: int
    account_number: int
    height: int
    """The newest block known: bytes are valid for a number of blocks after it."""
    purpose: str
    payload: bytes


class OfferToNode(Struct, frozen=True):
    """Offer these bytes to one node, one after the other, until it does not take one."""

    node: str
    serial: int
    epoch: int
    first: int
    hashes: tuple[bytes, ...]
    raws: tuple[bytes, ...]
    again: int = 0
    """0: for the first time. Otherwise it was being offered when the lane was stood up, and may
    have been taken then; the number says in which of its lives it is offered again, for an answer
    to an earlier one says nothing about this one."""


class LookAtNode(Struct, frozen=True):
    node: str
    epoch: int
    until: int
    hashes: tuple[bytes, ...]


class ProveSequence(Struct, frozen=True):
    sequence: int


Effect: TypeAlias = MakeAttempt | OfferToNode | LookAtNode | ProveSequence
