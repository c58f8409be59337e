"""The laws of every world of accounts, checked on the chain's own history and the store's rows."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import msgspec

from laneway.core.ids import LaneId, Owner
from laneway.core.outcome import Status
from laneway.core.rows import Lease, Result
from laneway.core.units import value
from laneway.evm.keccak import keccak
from laneway.lanes.eoa.fold import evolve
from laneway.lanes.eoa.lane import EoaLane, restore
from laneway.lanes.eoa.timers import STOOD_STILL
from laneway.lanes.eoa.values import (
    AccountSeen,
    AttemptSigned,
    BumpOrdered,
    Offered,
    Record,
    SendAttempt,
)
from laneway.sim.clients import Wish
from laneway.sim.eoa.nodes import POISON
from laneway.sim.eoa.tally import Tally
from laneway.sim.eoa.world import EoaWorld
from laneway.sim.world import LawBroken

if TYPE_CHECKING:
    from laneway.sim.process import Process

COMPARED_EVERY = 3
"""Loading a lane costs as much as a dozen steps, so every third commit is compared."""

FEED_PAGE = 1_000


class EoaLaws:
    """Safety at every step, the account at the end."""

    def __init__(self, world: EoaWorld) -> None:
        self._world = world
        self._version = 0
        self._commits = 0
        self._tally = Tally(world.seen)
        self._offered: dict[tuple[LaneId, int], dict[bytes, int]] = {}
        """For each number the bytes that ever left, with their slots."""
        world.observers.append(self)

    # At every step.

    def leaving(self, _process: "Process", lane: LaneId, effect: SendAttempt) -> None:
        """Bytes are durable before a node hears of them, and never of two slots at one number
        while those of the other can still land."""
        digest = keccak(effect.raw)
        bytes_ = self._world.host.made[digest]
        if not self._is_recorded(lane, effect, digest):
            raise LawBroken(f"never twice: {lane} sends {bytes_} unrecorded")
        others = self._offered.setdefault((lane, bytes_.nonce), {})
        for other, slot in others.items():
            if slot != effect.slot and self._can_land(other):
                raise LawBroken(
                    f"never twice: {lane} gives number {bytes_.nonce} to {bytes_}, "
                    f"while {self._world.host.made[other]} may land"
                )
        others[digest] = effect.slot

    def _is_recorded(self, lane: LaneId, effect: SendAttempt, digest: bytes) -> bool:
        if self._world.book.find("hash", digest.hex()) is not None:
            return True
        kept = self._load(lane)
        # A slot that is settled had its bytes recorded before.
        return digest in kept.hashes or (
            effect.slot not in kept.slots and effect.slot < kept.head.slot_next
        )

    def _can_land(self, digest: bytes) -> bool:
        world = self._world
        if not world.host.made[digest].sound:
            return False
        if world.host.travelling[digest] > 0 or world.sky.is_pooled(digest):
            return True
        return digest in world.sky.mined()

    def _load(self, lane: LaneId) -> EoaLane:
        view = self._world.book.lane(lane)
        assert view is not None
        lease = Lease(lane, view.head.owner or Owner(""), view.head.fence)
        return restore(self._world.book.load(lease), self._world.plan.settings)

    def told(self, lane: LaneId, records: Sequence[Record]) -> None:
        self._tally.count(lane, records)
        for record in records:
            if isinstance(record, AttemptSigned):
                self._check_fee(lane, record)
            elif isinstance(record, BumpOrdered) and record.reason == STOOD_STILL:
                self._check_bump(lane, record)

    def _check_bump(self, lane: LaneId, record: BumpOrdered) -> None:
        """Bytes that no node received are not made dearer."""
        host, tries = self._world.host, self._load(lane).tries(record.slot)
        before = [one.hash for number, one in tries.items() if number < record.number]
        if before and before[-1] not in host.received:
            raise LawBroken(f"fees: {lane} outbids {host.made[before[-1]]}, which no node received")

    def _check_fee(self, lane: LaneId, record: AttemptSigned) -> None:
        """Whatever a node says of fees, nothing dearer than the ceiling is signed."""
        bound, cap = self._world.plan.settings.fee_wei_max, record.attempt.fee.cap
        if bound is not None and cap > bound and not self._world.seen["caps raised"]:
            raise LawBroken(f"fees: {lane} signs {cap} wei a unit of gas, above {bound}")

    def committed(self, process: "Process", lane: LaneId) -> None:
        """After every commit what the store holds equals what the lane is in memory."""
        self._commits += 1
        view = self._world.book.lane(lane)
        assert view is not None
        if self._commits % COMPARED_EVERY or view.head.owner != process.owner:
            return
        if not process.reactor.is_settled(lane):
            return
        kept, memory = shape(self._load(lane)), shape(process.reactor.lane(lane))
        if kept != memory:
            raise LawBroken(f"{lane}: the store holds {kept}, memory {memory}")

    def stepped(self) -> None:
        sky = self._world.sky
        if sky.version != self._version:
            self._version = sky.version
            for lane in self._world.lanes:
                self._check_chain(lane)

    def _check_chain(self, lane: LaneId) -> None:
        """On this branch each intent stands once, and a lane's stand in their order.

        Order has two exceptions, which the machine states itself. Someone else's transaction at
        a number of ours takes the number from under its intent, which lands behind those above.
        And where the operator lets anyone take a free number, whoever comes next takes it.
        """
        world = self._world
        data = [datum for datum, _ in self._of(lane)]
        if len(set(data)) != len(data):
            raise LawBroken(f"never twice: {lane} has {data}")
        places = {wish.data: wish.key for wish in world.client.by_intent.values()}
        for datum in data:
            if datum not in places:
                raise LawBroken(f"{lane}: {datum} was mined and never accepted")
        if self._is_shared(lane) or world.plan.settings.recycled == "any":
            return
        seqs = [self._seq(places[datum]) for datum in data]
        if seqs != sorted(seqs):
            raise LawBroken(f"in order: {lane} has {data}, in the sequence {seqs}")

    def _of(self, lane: LaneId) -> list[tuple[str, bytes]]:
        """A lane's intents on the chain as it is now, in its order, with their hashes."""
        made = self._world.host.made
        return [
            (made[digest].data, digest)
            for digest in self._world.sky.mined()
            if digest in made and made[digest].lane == lane and made[digest].data
        ]

    def _is_shared(self, lane: LaneId) -> bool:
        sky = self._world.sky
        return bool(sky.foreign[sky.accounts[self._world.account(lane)]])

    def _seq(self, key: str) -> int:
        index = self._world.book.find("key", f"\x1f{key}")
        if index is None:
            raise LawBroken(f"never lost: {key} was mined, and the store does not know it")
        view = self._world.book.intent(index.intent)
        assert view is not None
        return view.intent.seq

    # At the end.

    def account(self) -> None:
        """Every accepted wish has one final answer, and it is true."""
        world = self._world
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
        if wish.data.startswith(POISON.decode()):
            world.seen["poison ended"] += 1
            if result.status in MINED:
                raise LawBroken(f"{wish.data}: no node takes it, yet it is {result.status}")
        landed = [digest for datum, digest in self._of(wish.lane) if datum == wish.data]
        mined = world.sky.mined()
        expected = ""
        for digest in landed:
            expected = Status.CONFIRMED.value if mined[digest] else Status.REVERTED.value
            if (result.hash, result.number) != (digest, world.host.made[digest].nonce):
                raise LawBroken(f"{wish.data} is {digest.hex()}, told {result}")
        if expected != (result.status if result.status in MINED else ""):
            raise LawBroken(f"{wish.data} is {result.status}, on the chain {expected or 'nothing'}")

    def _check_rest(self, lane: LaneId) -> None:
        """No number is left open, the feed tells all that the rows say, and the counts add up."""
        world = self._world
        view = world.book.lane(lane)
        if view is None:
            return
        if view.depth():
            raise LawBroken(f"{lane}: all is settled, yet its depth is {view.depth()}")
        kept = self._load(lane)
        count = world.chain.count(0, world.sky.accounts[world.account(lane)], "latest")
        if kept.head.nonce_next not in (None, count) and not self._is_shared(lane):
            raise LawBroken(f"in order: {lane} goes on at {kept.head.nonce_next}, not at {count}")
        if kept.head.spend:
            raise LawBroken(f"{lane}: nothing is out, yet its attempts cost {kept.head.spend!r}")
        told = shape(self._folded(lane))
        if told != shape(kept):
            raise LawBroken(f"{lane}: the feed tells {told}, the rows say {shape(kept)}")

    def _folded(self, lane: LaneId) -> EoaLane:
        folded = EoaLane(lane, self._world.plan.settings)
        dates = Dates(self._world)
        cursor = ""
        while entries := self._world.book.feed(cursor, FEED_PAGE):
            for entry in entries:
                if entry.lane == lane:
                    for record in self._world.kinds["evm"].decode(entry.records):
                        before = in_flight(folded)
                        evolve(folded, record)
                        if isinstance(record, AttemptSigned):
                            self._check_spending(folded, before)
                        dates.judge(folded, record)
            cursor = entries[-1].cursor
        return folded

    def _check_spending(self, lane: EoaLane, before: int) -> None:
        """No signature brings the gas in flight above its cap. What a reorg takes back counts
        again, and may do so without one."""
        wei_max = lane.settings.spend_wei_max
        if wei_max is None or self._world.seen["caps raised"]:
            return
        self._world.seen["signed under a cap on spending"] += 1
        if in_flight(lane) > max(before, wei_max):
            raise LawBroken(f"{lane.id}: {in_flight(lane)} wei are in flight, {wei_max} may be")


class Dates:
    """What a lane orders to be offered for the first time, by the times that its records tell."""

    def __init__(self, world: EoaWorld) -> None:
        self._world = world
        self._now_ms = 0
        self._begun: set[int] = set()

    def judge(self, lane: EoaLane, record: Record) -> None:
        """Nothing is offered for the first time after its intent's `valid_until`."""
        if isinstance(record, AttemptSigned):
            self._now_ms = record.attempt.made_ms
        elif isinstance(record, AccountSeen):
            self._now_ms = record.at_ms
        elif not isinstance(record, Offered):
            return
        for slot in lane.slots.values():
            is_out = slot.nonce < lane.head.offered_next and lane.tries(slot.id)
            if not is_out or slot.id in self._begun:
                continue
            self._begun.add(slot.id)
            view = None if slot.intent is None else self._world.book.intent(slot.intent)
            until_ms = None if view is None else view.intent.valid_until_ms
            if until_ms is not None:
                self._world.seen["offered before its time was over"] += 1
                if until_ms < self._now_ms:
                    late_ms = self._now_ms - until_ms
                    raise LawBroken(f"{lane.id}: {slot.intent} is offered {late_ms} ms too late")


def in_flight(lane: EoaLane) -> int:
    """The cost of the gas of every slot that is not mined, by its dearest attempt."""
    return sum(value(slot.cost) for slot in lane.slots.values() if slot.seen is None)


MINED = (Status.CONFIRMED.value, Status.REVERTED.value)


def shape(lane: EoaLane) -> object:
    """All that a lane is, its caches of intents aside."""
    return (
        msgspec.msgpack.encode(lane.head),
        dict(lane.slots),
        dict(lane.nonces),
        lane.attempts,
        lane.raws,
        lane.hashes,
        set(lane.unsure),
        set(lane.delayed),
        lane.contents,
        lane.returned,
        lane.free.rows(),
    )
