"""The laws of every world of Cosmos accounts, checked on the chain's own history, on all that is
durable, and on the store's rows."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import msgspec

from laneway.core.ids import IntentId, LaneId, Owner
from laneway.core.outcome import Status
from laneway.core.rows import FeedEntry, Lease, Result
from laneway.devnets.cosmos.model import Committed
from laneway.lanes.sequence.fold import evolve
from laneway.lanes.sequence.lane import SequenceLane, decode_history, restore
from laneway.lanes.sequence.settings import SequenceSettings
from laneway.lanes.sequence.values import (
    AttemptSigned,
    IntentDropped,
    OfferToNode,
    Record,
    SlotFellOut,
    SlotSettled,
)
from laneway.sim.clients import Wish
from laneway.sim.sequence.calls import FOREIGN
from laneway.sim.sequence.tally import Tally
from laneway.sim.sequence.world import KIND, CosmosWorld
from laneway.sim.world import LawBroken
from laneway.stores.memory import MemoryBook

if TYPE_CHECKING:
    from laneway.sim.process import Process

COMPARED_EVERY = 3
"""Loading a lane costs as much as a dozen steps, so every third commit is compared."""

FEED_PAGE = 1_000

ANSWER_BLOCKS = 20
"""An intent is answered so many blocks behind the last one that may hold it."""

UNDONE = (Status.REFUSED.value, Status.EXPIRED.value, Status.CANCELLED.value)
"""Whoever is told so may ask for the same again."""


class SequenceLaws:
    """Safety at every step, the account at the end."""

    def __init__(self, world: CosmosWorld) -> None:
        self._world = world
        self._commits = 0
        self._place = 0
        self._cursor = ""
        self._height = 0
        self._tally = Tally(world.seen)
        self._durable: dict[bytes, IntentId | None] = {}
        """Whose bytes the store holds."""
        self._tries: dict[IntentId, list[bytes]] = {}
        """All bytes of an intent that were ever durable, in their order."""
        self._undone: dict[IntentId, str] = {}
        self._checked = 0
        self._on_chain: dict[str, None] = {}
        self._last: dict[tuple[LaneId, int], int] = {}
        """The place of the last intent of a lane and class that is in a block."""
        self._late: dict[tuple[LaneId, bytes], int] = {}
        """Blocks in which someone could have answered what can land no more."""
        self._first: dict[tuple[str, LaneId, IntentId], int] = {}
        """Blocks in which an intent was the first of its lane, of those that have a number."""
        world.observers.append(self)

    # What is durable.

    def _read(self) -> None:
        """All that was committed since, in its order; a process may have died before it knew."""
        if not self._world.is_written:
            return
        self._world.is_written = False
        for entry in self._entries():
            records = self._world.kinds[KIND].decode(entry.records)
            self._tally.count(entry.lane, records)
            for record in records:
                self._judge(entry.lane, record)

    def _entries(self) -> Sequence[FeedEntry]:
        book = self._world.book
        if isinstance(book, MemoryBook):
            found = book.entries[self._place :]
            self._place += len(found)
            return found
        page = book.feed(self._cursor, FEED_PAGE)
        if page:
            self._cursor = page[-1].cursor
        return page

    def _judge(self, lane: LaneId, record: Record) -> None:
        if isinstance(record, AttemptSigned):
            slot = record.slot
            assert slot.attempt is not None
            self._durable[slot.attempt.hash] = slot.intent
            if slot.intent is not None:
                self._signed(lane, slot.intent, slot.attempt.hash)
        if isinstance(record, SlotSettled | SlotFellOut | IntentDropped):
            intent, status = record.intent, record.status
            if intent is not None and status in UNDONE:
                self._undone[intent] = status
                self._none_lands(intent, f"{lane}: {intent[-6:]} is told to be {status}")

    def _signed(self, lane: LaneId, intent: IntentId, hash_: bytes) -> None:
        """An intent is signed again only when nothing of it can land any more, or at the same
        number: of bytes for one number one lands at most."""
        number = self._world.host.made[hash_].sequence
        self._none_lands(intent, f"{lane}: {intent[-6:]} is signed again", number)
        self._tries.setdefault(intent, []).append(hash_)

    def _none_lands(self, intent: IntentId, what: str, number: int | None = None) -> None:
        for earlier in self._tries.get(intent, ()):
            made = self._world.host.made[earlier]
            if made.sequence != number and self._can_land(earlier):
                raise LawBroken(f"never twice: {what}, while {made} may land")

    def _can_land(self, hash_: bytes) -> bool:
        world = self._world
        made = world.host.made[hash_]
        found = world.chain.committed(hash_)
        if found is not None and found.is_used:
            return True
        account = world.chain.account(world.sky.accounts[world.account(made.lane)])
        is_over = made.timeout_height <= world.chain.height
        if not made.is_sound or is_over or (account and account.sequence > made.sequence):
            return False
        return world.host.travelling[hash_] > 0 or world.sky.is_held(hash_)

    # At every step.

    def leaving(self, process: "Process", lane: LaneId, effect: OfferToNode) -> None:
        """Bytes are durable before a node hears of them; a node hears of one order at a time, and
        of its numbers in their order."""
        self._read()
        host = self._world.host
        for place, hash_ in enumerate(effect.hashes):
            made = host.made[hash_]
            if hash_ not in self._durable:
                raise LawBroken(f"never twice: {lane} offers {made} unrecorded")
            if (made.lane, made.sequence) != (lane, effect.first + place):
                raise LawBroken(f"in order: {lane} offers {made} as {effect.first + place}")
        fence = self._world.fence(lane)
        if (process.owner, lane, effect.node, fence) in host.under_way:
            raise LawBroken(f"in order: {lane} makes two offers to {effect.node} at once")

    def told(self, lane: LaneId, records: Sequence[Record]) -> None:
        """What is durable is read from the store's own feed."""

    def committed(self, process: "Process", lane: LaneId) -> None:
        """After every commit what the store holds equals what the lane is in memory."""
        self._commits += 1
        view = self._world.book.lane(lane)
        assert view is not None
        if self._commits % COMPARED_EVERY or view.head.owner != process.owner:
            return
        if not process.reactor.is_settled(lane):
            return
        memory: SequenceLane = process.reactor.lane(lane)
        kept = self._load(lane, memory.settings)
        if apart := parted(kept, memory):
            raise LawBroken(f"{lane}: in the store and in memory {apart}")
        self._world.seen["node remembered"] += any(node.gone for node in memory.nodes.values())

    def _load(self, lane: LaneId, settings: SequenceSettings) -> SequenceLane:
        view = self._world.book.lane(lane)
        assert view is not None
        lease = Lease(lane, view.head.owner or Owner(""), view.head.fence)
        return restore(self._world.book.load(lease), settings)

    def stepped(self) -> None:
        world = self._world
        self._read()
        if world.chain.height == self._height:
            return
        self._height = world.chain.height
        landed = world.sky.landed
        for found in landed[self._checked :]:
            self._check_landed(found)
        self._checked = len(landed)
        self._check_time()

    def _check_landed(self, found: Committed) -> None:
        """Each intent stands on the chain once, at its last number, and behind those before it."""
        data, hash_ = found.tx.body.memo, found.tx.hash
        if not data or data.startswith(FOREIGN):
            return
        if data in self._on_chain:
            raise LawBroken(f"never twice: {data} is in a block again")
        self._on_chain[data] = None
        intent = self._durable.get(hash_)
        if intent is None:
            raise LawBroken(f"never lost: {data} is in a block, and the store does not know it")
        made = self._world.host.made
        if made[self._tries[intent][-1]].sequence != made[hash_].sequence:
            raise LawBroken(f"never twice: {data} was signed again, and is in a block as before")
        if intent in self._undone:
            raise LawBroken(f"never twice: {data} is in a block, told {self._undone[intent]}")
        view = self._world.book.intent(intent)
        assert view is not None
        row = view.intent
        place = (row.lane, row.priority)
        if self._last.get(place, 0) > row.seq:
            raise LawBroken(f"in order: {data} is in a block behind a later one")
        self._last[place] = row.seq

    def _check_time(self) -> None:
        """In calm weather nobody waits long for what can land no more."""
        world = self._world
        if world.faults and not world.plan.is_calm:
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
        """Every accepted wish has one final answer, and it is true."""
        world = self._world
        self._read()
        for wish in world.client.wishes:
            assert wish.acked is not None
            view = world.book.intent(wish.acked)
            if view is None or view.result is None:
                raise LawBroken(f"never lost: {wish.data} has no answer")
            told = world.client.results.get(wish.acked)
            if told is not None and told != view.result:
                raise LawBroken(f"{wish.data} was told {told}, the store says {view.result}")
            self._check_word(wish, view.result)
            world.seen[f"result:{view.result.status}"] += 1
        for lane in world.lanes:
            self._check_rest(lane)

    def _check_word(self, wish: Wish, result: Result) -> None:
        world = self._world
        found = next((one for one in world.sky.landed if one.tx.body.memo == wish.data), None)
        if result.status == Status.INDETERMINATE.value:
            place = (wish.lane, result.number)
            if place not in world.host.withheld:
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

    def _check_rest(self, lane: LaneId) -> None:
        """No number is left open, the feed tells all that the rows say, and the counts add up."""
        world = self._world
        view = world.book.lane(lane)
        if view is None:
            return
        if view.depth():
            raise LawBroken(f"{lane}: all is settled, yet its depth is {view.depth()}")
        kept = self._load(lane, world.settings)
        address = world.sky.accounts[world.account(lane)]
        account = world.chain.account(address)
        free = None if account is None else account.sequence
        is_own = not (world.sky.foreign[address] or kept.head.floor)
        if is_own and kept.head.sequence_next not in (None, free):
            raise LawBroken(f"in order: {lane} goes on at {kept.head.sequence_next}, not at {free}")
        if kept.head.signed_bytes:
            raise LawBroken(f"{lane}: nothing is out, yet it holds {kept.head.signed_bytes} bytes")
        folded = self._folded(lane)
        # Records name large bytes by their hash alone.
        folded.raws = {slot: kept.raws.get(slot, b"") for slot in folded.raws}
        if world.plan.rewired:
            folded.nodes = kept.nodes  # Nodes that come and go are a setting, and no record.
        if apart := parted(folded, kept):
            raise LawBroken(f"{lane}: by the feed and by the rows {apart}")

    def _folded(self, lane: LaneId) -> SequenceLane:
        folded = SequenceLane(lane, self._world.settings)
        cursor = ""
        while entries := self._world.book.feed(cursor, FEED_PAGE):
            for entry in entries:
                if entry.lane == lane:
                    for record in self._world.kinds[KIND].decode(entry.records):
                        evolve(folded, record)
            cursor = entries[-1].cursor
        return folded


def shape(lane: SequenceLane) -> dict[str, object]:
    """All that a lane is, its caches of intents aside."""
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


def parted(one: SequenceLane, other: SequenceLane) -> str:
    """In what two lanes differ; empty: in nothing."""
    first, second = shape(one), shape(other)
    return "; ".join(
        f"{name} are {first[name]}, and {second[name]}"
        for name in first
        if first[name] != second[name]
    )
