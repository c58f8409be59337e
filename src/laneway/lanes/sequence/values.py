"""The sequence lane's three families of values: events, records, effects."""

from typing import TypeAlias

from msgspec import Struct

from laneway.core.cosmos import CosmosLook, Offered, TxSeen
from laneway.core.ids import IntentId
from laneway.core.intent import IntentRow
from laneway.core.rows import Command
from laneway.lanes.sequence.rows import Node, Slot

# Events.


class IntentsOffered(Struct, frozen=True):
    now_ms: int
    intents: tuple[IntentRow, ...]


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
    """What one node says of transactions offered one behind the other."""

    now_ms: int
    node: str
    serial: int
    epoch: int
    first: int
    """The sequence of the first one."""
    hashes: tuple[bytes, ...]
    answers: tuple[Offered, ...]
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
    """What each node that tells it names; none proves nothing."""


class TimerFired(Struct, frozen=True):
    now_ms: int


class CommandTold(Struct, frozen=True):
    now_ms: int
    command: Command


Event: TypeAlias = (
    IntentsOffered | AttemptsMade | OfferReturned | NodeLooked | LookFailed | SequenceProven
    | TimerFired | CommandTold
)  # fmt: skip

# Records.


class SlotClaimed(Struct, frozen=True, tag=True, array_like=True, forbid_unknown_fields=True):
    slot: Slot


class AttemptSigned(Struct, frozen=True, tag=True, array_like=True, forbid_unknown_fields=True):
    """The bytes are durable, and only now may they be offered."""

    slot: Slot
    """With the attempt."""
    raw: bytes
    """What the slot's own row does not hold."""


class SlotChanged(Struct, frozen=True, tag=True, array_like=True, forbid_unknown_fields=True):
    slot: Slot
    what: str
    """delayed, refused (a node did), unsure (it may have taken what it refused before), dead, over
    (bytes that were given up before), shown (a node does, in a block), proving, doubted (nobody
    shows who used its number) or taken."""


class MakingDelayed(Struct, frozen=True, tag=True, array_like=True, forbid_unknown_fields=True):
    make_ms: int


class MakingResumed(Struct, frozen=True, tag=True, array_like=True, forbid_unknown_fields=True):
    """The bytes of all delayed slots are being made again."""


class NodeChanged(Struct, frozen=True, tag=True, array_like=True, forbid_unknown_fields=True):
    """How far a node is, and why no further."""

    node: Node


class Submitted(Struct, frozen=True, tag=True, array_like=True, forbid_unknown_fields=True):
    """Some node took these first attempts, all below `next`."""

    next: int
    node: str
    intents: tuple[IntentId | None, ...]
    hashes: tuple[bytes, ...]


class AccountSeen(Struct, frozen=True, tag=True, array_like=True, forbid_unknown_fields=True):
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


class LaneHalted(Struct, frozen=True, tag=True, array_like=True, forbid_unknown_fields=True):
    """What was believed is taken back: nothing is signed until an operator decides, or the nodes
    show it again."""

    reason: str
    """With what each node shows."""
    at_ms: int


class AccountMissing(Struct, frozen=True, tag=True, array_like=True, forbid_unknown_fields=True):
    at_ms: int


class SlotFellOut(Struct, frozen=True, tag=True, array_like=True, forbid_unknown_fields=True):
    """A final answer, and nothing of it or above it can land: those move down by one, and no number
    stays empty."""

    slot: int
    status: str
    reason: str
    at_ms: int
    intent: IntentId | None = None


class SlotsRenumbered(Struct, frozen=True, tag=True, array_like=True, forbid_unknown_fields=True):
    """Others used the numbers that slots had, and no node ever had anything of these: all of them
    are given the next numbers, in their order."""

    start: int
    reason: str
    at_ms: int


class SlotSettled(Struct, frozen=True, tag=True, array_like=True, forbid_unknown_fields=True):
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


class SlotCorrected(Struct, frozen=True, tag=True, array_like=True, forbid_unknown_fields=True):
    """What was told to be indeterminate turned out to be in a block; None: it is not looked for
    any longer."""

    slot: int
    intent: IntentId | None
    seen: TxSeen | None = None


class IntentDropped(Struct, frozen=True, tag=True, array_like=True, forbid_unknown_fields=True):
    """It never had a number, and never will."""

    intent: IntentId
    seq: int
    priority: int
    size: int
    status: str
    reason: str
    at_ms: int
    passes: bool = True
    """The cursor passes it; otherwise it is behind the cursor."""


class SequenceSet(Struct, frozen=True, tag=True, array_like=True, forbid_unknown_fields=True):
    floor: int
    sequence_next: int
    at_ms: int
    reason: str = ""
    by: str = ""
    seen: AccountSeen | None = None
    """What the nodes show, where the lane was halted and goes on from there."""


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
    SlotClaimed | AttemptSigned | SlotChanged | MakingDelayed | MakingResumed | NodeChanged
    | Submitted | AccountSeen | LaneHalted | AccountMissing | SlotFellOut | SlotsRenumbered
    | SlotSettled | SlotCorrected | IntentDropped | SequenceSet | ModeChanged | CommandRefused
)  # fmt: skip

# Effects.


class MakeAttempt(Struct, frozen=True):
    """Fill in what the caller left open, and sign it. Changes nothing anywhere."""

    slot: int
    number: int
    sequence: int
    account_number: int
    height: int
    """The newest block known: bytes are valid for so many behind it."""
    purpose: str
    payload: bytes


class OfferToNode(Struct, frozen=True):
    """Offer these bytes to one node, one behind the other, until it does not take one."""

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
