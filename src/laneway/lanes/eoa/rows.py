"""An account lane's rows, and what stays of them when an intent is final."""

from typing import Final

from msgspec import Struct

from laneway.core.ids import IntentId
from laneway.core.majority import final_quorum
from laneway.core.rows import START, Cursors
from laneway.core.units import Amount
from laneway.lanes.common.values import LaneRow
from laneway.lanes.eoa.fees import NO_FEE, EvmFee


class Purpose:
    """What a slot's next bytes do. Plain strings: an Enum hashes ten times slower."""

    INTENT: Final = "intent"
    NOOP: Final = "noop"
    """Fills a number that nobody wants, so that those above it can land."""
    CANCEL: Final = "cancel"
    """A no-op over an intent's own attempts: whichever lands decides."""


class Health(LaneRow, frozen=True):
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
    filled_ms: int = 0
    """When the balance was seen to have risen; not each time, where it rises all the time."""
    needed: Amount = b""
    """While it is out of funds: what the slot costs that could not be paid, where that is known."""
    poor_slot: int = 0
    """That slot; 0 where it is not known, or the account is not out of funds."""
    broke_ms: int = 0
    """Since when the account is out of funds."""


class Cleanup(LaneRow, frozen=True):
    """What one look at the chain cleared away (seed 002, box F27)."""

    at_ms: int = 0
    moved_to_success: int = 0
    moved_to_pending: int = 0
    noop_count: int = 0
    cross_nonce_violations: int = 0
    """Intents that were mined at two numbers. Anything but 0 is a bug, or another user's doing."""
    per_nonce_violations: int = 0
    """Numbers at which a second of our hashes was mined. A chain cannot do that; a node can lie."""
    nonces_without_receipts: int = 0
    """Numbers that are used, and none of our bytes was seen there yet."""


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
    """The account's count, as the chain last showed it: the lowest number not yet mined."""
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
    """Out of funds: nothing new is signed until it is worth another try (`has_funds`)."""
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
    """While it drains: intents after this place of the backlog stay there."""
    drain_left: int = 0
    """While it drains: how many of the backlog are still to be given numbers."""
    dropped_seq: int = 0
    """The highest place of an intent that was taken back while it waited."""
    open_count: int = 0
    """Numbers that are bound."""
    noop_count: int = 0
    """Those of them that no intent has."""
    submitted_count: int = 0
    """Those of them of which some node has an attempt."""
    returned_count: int = 0
    free_count: int = 0
    crowded: bool = False
    """More numbers are free than the settings allow: no new ones are given out."""
    report: Cleanup = Cleanup()
    """The last one that had something to say."""
    resends: int = 0
    """How often in a row bytes were offered again that had been offered again before."""
    taken_next: int = 0
    """First attempts of slots below it were taken by every node, also where their rows were not
    written again to say so: that is the rule, and would be a third of all that is written."""
    prove_ms: int = 0
    """Until then it is not asked again who used numbers."""
    prove_tries: int = 0
    """How often in a row that was asked to no avail."""
    halted: str = ""
    """Why nothing new is given a number: one is used, and nothing proves by what."""
    halted_nonce: int = 0
    halted_ms: int = 0
    final_next: int = 0
    """Every number of ours below it was mined for good: no count of a chain is lower."""
    noop_refusals: int = 0
    """How often in a row every node refused a no-op for a free number."""
    noop_reason: str = ""
    """Why they refused the last one."""


class Inclusion(LaneRow, frozen=True, gc=False):
    """A fact: where one attempt was mined."""

    attempt: int
    block: int
    block_hash: bytes
    ok: bool
    gas_used: int = 0
    price: int = 0


class Slot(LaneRow, frozen=True, gc=False):
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
    floor: EvmFee = NO_FEE
    """What the next attempt must offer at least, to take the place of the last."""
    cost: Amount = b""
    """Of the dearest attempt's gas."""
    tried_ms: int = 0
    seen: Inclusion | None = None
    proving: bool = False
    """The chain is being asked who used this number."""
    wait_reason: str = ""
    content: int = 0
    """Of its next attempt: how often the caller put something else in its place."""
    accepted_ms: int = 0
    """When its intent was accepted; 0 if it has none, or was claimed by an earlier release."""
    refusals: int = 0
    """How often every node refused bytes of its intent for good, at this number and before."""


class Attempt(LaneRow, frozen=True, gc=False):
    """Signed bytes. Durable before any node is offered them."""

    slot: int
    number: int
    hash: bytes
    purpose: str
    fee: EvmFee
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
    content: int = 0
    """Which of the intent's contents it carries; 0 is the first."""
    denied: tuple[str, ...] = ()
    """Silent nodes that refused it for good, but may have taken it before."""
    cheap: bool = False
    """A node looked at it and called it too cheap."""
    block: int = 0
    """The newest block that was known when a node last had it; until then, when it was signed."""

    def key(self) -> str:
        return f"{self.slot}/{self.number}"

    def asked(self) -> tuple[str, ...]:
        """Nodes that it is worth offering to again."""
        if not self.denied:
            return self.silent
        return tuple([node for node in self.silent if node not in self.denied])

    def is_new(self) -> bool:
        """Whether it was offered once, as the first of its slot, and no node refused it."""
        return self.number == FIRST and not (self.doubted or self.refused or self.denied)

    def was_had(self) -> bool:
        """Whether a node had these bytes since they were last offered to all: it took them, knew
        them, or judged their price."""
        return bool(self.taken) or self.cheap

    def is_dead(self) -> bool:
        """Whether every node it was offered to refused it for good."""
        return not self.silent and not self.taken

    def is_denied(self) -> bool:
        """Whether every node refuses it for good by now, whatever became of an earlier offer."""
        return not self.taken and not self.asked()

    def is_outvoted(self) -> bool:
        """Whether every node refuses it for good by now, or a majority does against some that say
        they took it: what no other node takes they may have thrown away."""
        if not self.taken:
            return self.is_denied()
        count = len(self.silent) + len(self.refused) + len(self.taken)
        return len(self.denied) + len(self.refused) >= final_quorum(count)


FIRST: Final = 1
"""The number of an attempt that is kept in its slot's row: most slots never need another, and a
row less is written and dropped for each of them."""


class KeptSlot(LaneRow, frozen=True):
    """A slot's row."""

    slot: Slot
    first: Attempt | None = None


class Content(LaneRow, frozen=True):
    """What an intent's caller put in the place of its first content."""

    intent: IntentId
    seq: int
    priority: int
    count: int
    """How often that was done."""
    payload: bytes


class History(LaneRow, frozen=True, gc=False):
    """A finished slot with its attempts, kept in the result."""

    slot: Slot
    attempts: tuple[Attempt, ...]
    """Without their bytes: what was mined is on chain."""
    payload: bytes = b""
    """The last content, if it is not the first."""
