"""The laws of every world of Cosmos accounts, checked on the chain's own history, on all that is
durable, and on the store's rows."""

from typing import TYPE_CHECKING

import msgspec

from laneway.core.ids import IntentId, LaneId
from laneway.core.outcome import Status
from laneway.core.rows import Result, Rows
from laneway.devnets.cosmos.model.chain import Committed
from laneway.lanes.common.values import IntentDropped
from laneway.lanes.sequence.fold import evolve
from laneway.lanes.sequence.lane import SequenceLane, decode_history, restore
from laneway.lanes.sequence.settings import SequenceSettings
from laneway.lanes.sequence.values import (
    AttemptSigned,
    Effect,
    OfferToNode,
    Record,
    SlotFellOut,
    SlotSettled,
)
from laneway.sim.clients import Wish
from laneway.sim.laws import WorldLaws
from laneway.sim.sequence.calls import FOREIGN, UNSOUND, address_of
from laneway.sim.sequence.liar import SignedBytes
from laneway.sim.sequence.tally import SequenceTally
from laneway.sim.sequence.world import CosmosWorld
from laneway.sim.world import LawBroken

if TYPE_CHECKING:
    from laneway.sim.process import Process

ANSWER_BLOCKS = 20
"""Blocks after the last one that may hold an intent, until it is answered."""

UNDONE = (Status.REFUSED.value, Status.EXPIRED.value, Status.CANCELLED.value)
"""A caller who gets one of these may ask for the same again."""


class SequenceLaws(WorldLaws):
    _world: CosmosWorld

    def __init__(self, world: CosmosWorld) -> None:
        super().__init__(world)
        self._height = 0
        self._tally = SequenceTally(world.seen)
        self._durable: dict[bytes, IntentId | None] = {}
        """Whose bytes the store holds."""
        self._tries: dict[IntentId, dict[bytes, int]] = {}
        """All bytes of an intent that were ever durable, in their order, with their numbers."""
        self._undone: dict[IntentId, str] = {}
        self._checked = 0
        self._on_chain: dict[str, None] = {}
        self._last: dict[tuple[LaneId, int], int] = {}
        """The place of the last intent of a lane and class that is in a block."""
        self._late: dict[tuple[LaneId, bytes], int] = {}
        """Blocks in which someone could have answered what can land no more."""
        self._first: dict[tuple[str, LaneId, IntentId], int] = {}
        """Blocks in which an intent was the first of its lane, of those that have a number."""

    # What is durable.

    def _read(self) -> None:
        """All that was committed since, in its order; a process may have died before it knew."""
        for lane, records in self.unread():
            self._tally.count(lane, records)
            for record in records:
                self._judge(lane, record)

    def _judge(self, lane: LaneId, record: Record) -> None:
        if isinstance(record, AttemptSigned):
            slot, wishes = record.slot, self._world.client.by_intent
            assert slot.attempt is not None
            data = "" if slot.intent is None else wishes[slot.intent].data
            made = SignedBytes(lane, slot.sequence, data, slot.attempt.timeout_height)
            self._world.made[slot.attempt.hash] = made
            self._durable[slot.attempt.hash] = slot.intent
            if slot.intent is not None:
                self._signed(lane, slot.intent, slot.attempt.hash, slot.sequence)
        if isinstance(record, SlotSettled | SlotFellOut | IntentDropped):
            intent, status = record.intent, record.status
            if intent is not None and status in UNDONE:
                self._undone[intent] = status
                self._none_lands(intent, f"{lane}: {intent[-6:]} is told to be {status}")

    def _signed(self, lane: LaneId, intent: IntentId, hash_: bytes, number: int) -> None:
        """An intent is signed again only when nothing of it can land any more, or at the same
        number: of bytes for one number one lands at most."""
        self._none_lands(intent, f"{lane}: {intent[-6:]} is signed again", number)
        tries = self._tries.setdefault(intent, {})
        # The same bytes may be signed again after others: then they are the last.
        tries.pop(hash_, None)
        tries[hash_] = number

    def _none_lands(self, intent: IntentId, what: str, number: int | None = None) -> None:
        for earlier in self._tries.get(intent, ()):
            made = self._world.made[earlier]
            if made.sequence != number and self._can_land(earlier, made):
                raise LawBroken(f"never twice: {what}, while {made} may land")

    def _can_land(self, hash_: bytes, made: SignedBytes) -> bool:
        world = self._world
        found = world.chain.committed(hash_)
        if found is not None and found.is_used:
            return True
        account = world.chain.account(world.network.accounts[world.account(made.lane)])
        is_over = made.timeout_height <= world.chain.height
        is_sound = not made.data.startswith(UNSOUND)
        if not is_sound or is_over or (account and account.sequence > made.sequence):
            return False
        return world.network.travelling[hash_] > 0 or world.network.is_held(hash_)

    # At every step.

    def leaving(self, _process: "Process", lane: LaneId, effect: Effect) -> None:
        """Bytes are durable before a node receives them, and offered in the order of their
        numbers."""
        if not isinstance(effect, OfferToNode):
            return
        self._read()
        for place, hash_ in enumerate(effect.hashes):
            made = self._world.made.get(hash_)
            if made is None:
                raise LawBroken(f"never twice: {lane} offers {hash_.hex()} unrecorded")
            if (made.lane, made.sequence) != (lane, effect.first + place):
                raise LawBroken(f"in order: {lane} offers {made} as {effect.first + place}")

    def committed(self, process: "Process", lane: LaneId) -> None:
        super().committed(process, lane)
        memory: SequenceLane | None = process.reactor.lane(lane)
        is_gone = memory is not None and any(node.gone for node in memory.nodes.values())
        self._world.seen["node remembered"] += is_gone

    def restore(self, rows: Rows, settings: SequenceSettings) -> SequenceLane:
        return restore(rows, settings)

    def shape(self, lane: SequenceLane) -> dict[str, object]:
        head = msgspec.structs.replace(
            lane.head, nodes=(), open_count=0, filler_count=0, watched_count=0, is_rewired=False
        )
        return {
            "head": head,
            "slots": dict(lane.slots),
            "numbers": dict(lane.numbers),
            "nodes": dict(lane.nodes),
            "hashes": dict(lane.hashes),
            "raws": dict(lane.raws),
            "bound": dict(lane.bound),
            "delayed": set(lane.delayed),
            "watched": set(lane.watched),
        }

    def stepped(self) -> None:
        world = self._world
        self._read()
        if world.chain.height == self._height:
            return
        self._height = world.chain.height
        landed = world.network.landed
        for found in landed[self._checked :]:
            self._check_landed(found)
        self._checked = len(landed)
        self._check_time()

    def _check_landed(self, found: Committed) -> None:
        """Each intent stands on the chain once, at its last number, and after those before it."""
        data, hash_ = found.tx.body.memo, found.tx.hash
        if not data or data.startswith(FOREIGN):
            return
        if data in self._on_chain:
            raise LawBroken(f"never twice: {data} is in a block again")
        self._on_chain[data] = None
        intent = self._durable.get(hash_)
        if intent is None:
            raise LawBroken(f"never lost: {data} is in a block, and the store does not know it")
        tries = self._tries[intent]
        if tries[hash_] != list(tries.values())[-1]:
            raise LawBroken(f"never twice: {data} was signed again, and is in a block as before")
        if intent in self._undone:
            raise LawBroken(f"never twice: {data} is in a block, told {self._undone[intent]}")
        view = self._world.book.intent(intent)
        assert view is not None
        row = view.intent
        place = (row.lane, row.priority)
        if self._last.get(place, 0) > row.seq:
            raise LawBroken(f"in order: {data} is in a block after a later one")
        self._last[place] = row.seq

    def _check_time(self) -> None:
        """In calm weather nobody waits long for what can land no more."""
        world = self._world
        if world.is_faulty and not world.plan.is_calm:
            return
        allowed = ANSWER_BLOCKS + self._slack()
        for process in world.processes:
            if not process.alive or process.frozen_until_ms > world.now_ms:
                continue
            for lane in world.lanes:
                memory: SequenceLane | None = process.reactor.lane(lane)
                self._check_first(process.owner, lane, memory, allowed)
                if memory is None or not process.reactor.is_settled(lane):
                    continue  # A store that was busy again and again is asked again seconds later.
                for slot in memory.in_order():
                    attempt = slot.attempt
                    if attempt is None or self._height <= attempt.timeout_height:
                        continue
                    key = (lane, attempt.hash)
                    self._late[key] = self._late.get(key, 0) + 1
                    if self._late[key] > allowed:
                        raise LawBroken(f"never lost: {lane} does not end {slot}")

    def _check_first(
        self, owner: str, lane: LaneId, memory: SequenceLane | None, allowed: int
    ) -> None:
        """An intent is not tried for ever: nothing stands before it but itself."""
        first = None if memory is None else next(iter(memory.in_order()), None)
        if first is None or first.intent is None:
            return
        settings = self._world.plan.settings
        key = (owner, lane, first.intent)
        self._first[key] = self._first.get(key, 0) + 1
        if self._first[key] > settings.attempts_max * (settings.timeout_blocks + allowed):
            raise LawBroken(f"never lost: {lane} does not answer {first}")

    def _slack(self) -> int:
        """Blocks that a few looks take, each with its messages; more of them where one look asks
        for a few transactions alone."""
        plan, settings = self._world.plan, self._world.plan.settings
        looks = 3 + 2 * settings.inflight // settings.statuses
        return looks * (settings.poll_ms + 5 * plan.delay_ms) // plan.block_ms + 1

    # At the end.

    def account(self) -> None:
        self._read()
        super().account()

    def check_result(self, wish: Wish, result: Result) -> None:
        world = self._world
        found = next((one for one in world.network.landed if one.tx.body.memo == wish.data), None)
        if result.status == Status.INDETERMINATE.value:
            place = (address_of(world.account(wish.lane)), result.number)
            if place not in world.network.withheld:
                raise LawBroken(f"{wish.data} is indeterminate, and all was told of {place}")
            return
        if found is None:
            if result.status not in UNDONE and not self._has_failed(result):
                raise LawBroken(f"{wish.data} is {result.status}, and in no block")
            return
        code = found.delivered.verdict.code
        expected = Status.REVERTED.value if code else Status.CONFIRMED.value
        seen = decode_history(result.history).seen
        shown = (result.status, result.number, result.hash, seen and (seen.height, seen.code))
        true = (expected, found.tx.sequence(), found.tx.hash, (found.height, code))
        if shown != true:
            raise LawBroken(f"{wish.data} is {true}, told {shown}")

    def _has_failed(self, result: Result) -> bool:
        """In a block, without its number: someone else used that."""
        found = None if result.hash is None else self._world.chain.committed(result.hash)
        return result.status == Status.REVERTED.value and found is not None and not found.is_used

    def check_rest(self, lane: LaneId) -> None:
        """No number is left open, and the feed has all that is in the rows."""
        world = self._world
        kept = self.load(lane, world.settings)
        address = world.network.accounts[world.account(lane)]
        account = world.chain.account(address)
        free = None if account is None else account.sequence
        is_own = not (world.network.foreign[address] or kept.head.floor)
        if is_own and kept.head.sequence_next not in (None, free):
            raise LawBroken(f"in order: {lane} goes on at {kept.head.sequence_next}, not at {free}")
        if kept.head.signed_bytes:
            raise LawBroken(f"{lane}: nothing is out, yet it holds {kept.head.signed_bytes} bytes")
        folded = SequenceLane(lane, world.settings)
        for record in self.records(lane):
            evolve(folded, record)
        # Records name large bytes by their hash alone.
        folded.raws = {slot: kept.raws.get(slot, b"") for slot in folded.raws}
        if world.plan.rewired:
            folded.nodes = kept.nodes  # Nodes that come and go are a setting, and no record.
        self.check_feed(lane, folded, kept)
