"""A sequence lane's rows, and what stays of them when an intent is final."""

from typing import Final

from msgspec import Struct

from laneway.core.cosmos import TxSeen
from laneway.core.ids import IntentId
from laneway.core.rows import START, Cursors
from laneway.lanes.common.values import LaneRow


class Purpose:
    """What a slot's bytes do. Plain words: an Enum hashes ten times slower."""

    INTENT: Final = "intent"
    FILLER: Final = "filler"
    """Nothing but using a number, so that those above it can land."""


class Node(LaneRow, frozen=True):
    """How far one node was offered the account's transactions."""

    name: str
    next: int = 0
    """The sequence it is offered next: it took all below, as far as is known."""
    top: int = 0
    """The first one that it was never offered."""
    until: int = 0
    """It is being offered what is below this one; 0: nothing."""
    serial: int = 0
    """Of the last offer: the answer to an older one says nothing about it."""
    epoch: int = 0
    """Grows whenever `next` is set back: older answers say nothing about it."""
    height: int = 0
    """Of its newest block, as it showed it last."""
    gate: int | None = None
    """It is offered nothing before it has a block above this one."""
    retry_ms: int | None = None
    """When it is offered something again."""
    failures: int = 0
    """How often in a row it did not answer."""
    looking: bool = False
    look_ms: int | None = None
    """When it is looked at next; None while nothing is out, or it is being looked at."""
    looks: int = 0
    """How often it was looked at: those not asked for before have their turn."""
    reason: str = ""
    """Why it is being recovered; empty: it is not."""
    expected: int | None = None
    """Of a mismatch: what it wants."""
    ours: int | None = None
    """And what it was offered."""
    since_height: int = 0
    """Where its recovery began."""
    gone: bool = False
    """It is no node of this lane any more, but may hold something of it."""
    seen_ms: int = 0
    """When it was last looked at; 0: never."""
    sequence: int | None = None
    """The account's sequence, as it showed it then; None: it knows no such account."""
    number: int = 0
    """The account's number, as it showed it then."""
    origin_height: int = 0
    """The first block that it has; 0: it did not say."""
    origin: bytes = b""
    """The beginning of that block's hash."""
    blind: bool = False
    """It did not answer when it was last looked at."""

    def offered_until(self) -> int:
        """Nothing from here on can have reached it."""
        return max(self.top, self.until)

    def is_unseen(self) -> bool:
        """Whether it is neither looked at nor going to be, though it is a node of this lane."""
        return not (self.gone or self.looking) and self.look_ms is None

    def is_free(self) -> bool:
        """Whether it may be offered something now."""
        waits = self.gate is not None or self.retry_ms is not None
        return not (self.gone or self.until or waits)


class SequenceHead(Struct, array_like=True, forbid_unknown_fields=True):
    """The lane's own head, changed in place by `evolve` alone."""

    cursors: Cursors = START
    settled_count: int = 0
    settled_bytes: int = 0
    slot_next: int = 1
    sequence_next: int | None = None
    """The first that no slot has. None until the account was read."""
    committed: int = 0
    """The account's sequence, as a majority of the nodes showed it: the first that no block
    holds."""
    account_number: int = 0
    is_missing: bool = False
    """The account does not exist yet."""
    floor: int = 0
    """Numbers begin no lower, by an operator's word."""
    height: int = 0
    """The newest block, as far as it is believed."""
    taken_next: int = 0
    """First attempts below it were taken by some node."""
    read_ms: int = 0
    confirmed_ms: int = 0
    mode: str = "running"
    reason: str = ""
    by: str = ""
    mode_ms: int = 0
    make_ms: int | None = None
    """When the bytes of delayed slots are made again."""
    drain_seq: int = 0
    """While it drains: intents after this place of the backlog stay there."""
    drain_left: int = 0
    """While it drains: how many of the backlog are still to be given numbers."""
    dropped_seq: int = 0
    """The highest place of an intent that was taken back while it waited."""
    nodes: tuple[Node, ...] = ()
    is_rewired: bool = False
    """They differ from those of the last record, so a new record is due."""
    open_count: int = 0
    """Intents that have a number."""
    filler_count: int = 0
    watched_count: int = 0
    signed_bytes: int = 0
    """Of all open slots: with the payloads, what the lane holds."""
    landed_next: int = 0
    """Above all sequences at which an intent is in a block. An intent that had a lower one and
    is in no block gets no other, or it would stand after those that came later."""
    used_count: int = 0
    """Slots whose numbers are used, and nobody knows by whom."""
    pace_height: int = 0
    """A block that a majority showed: heights are believed as far above it as time allows."""
    pace_ms: int = 0
    """When that was; 0: never."""
    committed_height: int = 0
    """The highest block of the nodes that showed `committed` last."""
    origin_height: int = 0
    origin: bytes = b""
    """The first block that a majority has, and the beginning of its hash: another one at this
    height is of another chain."""
    halt: str = ""
    """Why nothing is signed until an operator decides: what was believed is taken back. Empty: the
    lane is not halted."""
    halt_ms: int = 0


class Attempt(LaneRow, frozen=True):
    """Signed bytes. Durable before any node receives them."""

    number: int
    hash: bytes
    purpose: str
    gas: int
    fee: int
    timeout_height: int
    """The last block that may hold it."""
    made_ms: int
    size: int
    raw: bytes = b""
    """The bytes, if they are few; otherwise they have a row of their own."""
    refused: tuple[str, ...] = ()
    """Nodes that refused it as often as they were offered it, and so never had it."""
    taken: bool = False
    """Some node took it. Of a slot's first attempt the head may say it instead."""
    word: str = ""
    """What a node said last against it."""
    code: int = 0
    codespace: str = ""
    final: tuple[str, ...] = ()
    """Of those that refused it: who said that these bytes are wrong at any time."""
    made_height: int = 0
    """A block that the chain had when they were signed; 0: an earlier release did not keep it."""


class Past(LaneRow, frozen=True):
    """Bytes that can land no more."""

    hash: bytes
    timeout_height: int
    reason: str
    proven: bool = True
    """Whether a majority of the nodes showed that. Otherwise all that were offered them refused
    them, and one may have lied: the others know of their end by their timeout height."""
    made_ms: int = 0
    made_height: int = 0
    """As of the attempt."""


class InclusionVote(LaneRow, frozen=True):
    """What one node says of bytes in a block."""

    node: str
    hash: bytes
    """The beginning of it."""
    height: int
    code: int
    unused: bool = False
    """It failed there without using its number, as this node's account showed after that block:
    if anyone used the number later, it was not by this."""
    gas_wanted: int = 0
    gas_used: int = 0


class Slot(LaneRow, frozen=True):
    """One sequence, bound to one intent, or to nothing but filling it."""

    id: int
    intent: IntentId | None
    seq: int
    priority: int
    size: int
    sequence: int
    claimed_ms: int
    purpose: str = Purpose.INTENT
    making: bool = True
    """Its bytes are being made."""
    delayed: bool = False
    """Making did not succeed; it is tried again with the lane's next `make_ms`."""
    make_tries: int = 0
    attempt_next: int = 1
    attempt: Attempt | None = None
    """The only bytes of it that may land."""
    past: tuple[Past, ...] = ()
    """Those that may not any more."""
    doubt_height: int | None = None
    """Its number is used, and from this block on nobody shows by whom."""
    proving: bool = False
    """The chain is being asked who used its number."""
    told: bool = False
    """Its caller was answered `indeterminate`; it is watched."""
    wait_reason: str = ""
    accepted_ms: int = 0
    """When its intent was accepted; 0 if it has none, or was claimed by an earlier release."""
    shown: tuple[InclusionVote, ...] = ()
    """Nodes that show bytes of it in a block, while they are too few to be believed."""
    asked_height: int | None = None
    """The newest block when the chain was asked last who used its number."""

    def is_unproven(self) -> bool:
        """Whether bytes of it may land that were given up before their last block."""
        return any(not one.proven for one in self.past)


class History(LaneRow, frozen=True):
    """A finished slot, kept in the result."""

    slot: Slot
    """Without its bytes: what was committed is on chain."""
    seen: TxSeen | None = None
    raw: bytes = b""
    """The bytes, where nobody knows what became of them."""
