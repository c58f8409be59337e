"""The laws of every world of accounts, checked on the chain's own history and the store's rows."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import msgspec

from laneway.core.ids import LaneId
from laneway.core.outcome import Status
from laneway.core.rows import Result, Rows
from laneway.core.units import value
from laneway.evm.keccak import keccak
from laneway.lanes.eoa.fold import evolve
from laneway.lanes.eoa.lane import EoaLane, restore
from laneway.lanes.eoa.settings import EoaSettings
from laneway.lanes.eoa.timers import STOOD_STILL
from laneway.lanes.eoa.values import (
    AccountSeen,
    AttemptSigned,
    BumpOrdered,
    Effect,
    Offered,
    Record,
    SendAttempt,
)
from laneway.sim.clients import Wish
from laneway.sim.eoa.port import POISON
from laneway.sim.eoa.tally import EoaTally
from laneway.sim.eoa.world import EoaWorld
from laneway.sim.laws import WorldLaws
from laneway.sim.world import LawBroken

if TYPE_CHECKING:
    from laneway.sim.process import Process


class EoaLaws(WorldLaws):
    _world: EoaWorld

    def __init__(self, world: EoaWorld) -> None:
        super().__init__(world)
        self._version = 0
        self._tally = EoaTally(world.seen)
        self._offered: dict[tuple[LaneId, int], dict[bytes, int]] = {}
        """For each number the bytes that ever left, with their slots."""
        world.check_sending = self._sending

    # At every step.

    def leaving(self, _process: "Process", lane: LaneId, effect: Effect) -> None:
        """Bytes are durable before a performer gets them."""
        if not isinstance(effect, SendAttempt):
            return
        digest = keccak(effect.raw)
        if not self._is_recorded(lane, effect, digest):
            raise LawBroken(f"never twice: {lane} sends {self._world.made[digest]} unrecorded")

    def _sending(self, digest: bytes) -> None:
        """Bytes never leave for two slots at one number while those of the other can land."""
        made = self._world.made
        bytes_ = made[digest]
        others = self._offered.setdefault((bytes_.lane, bytes_.nonce), {})
        for other, slot in others.items():
            if slot != bytes_.slot and self._can_land(other):
                raise LawBroken(
                    f"never twice: {bytes_.lane} gives number {bytes_.nonce} to {bytes_}, "
                    f"while {made[other]} may land"
                )
        others[digest] = bytes_.slot

    def _is_recorded(self, lane: LaneId, effect: SendAttempt, digest: bytes) -> bool:
        if self._world.book.find("hash", digest.hex()) is not None:
            return True
        kept = self._load(lane)
        # A slot that is settled had its bytes recorded before.
        return digest in kept.hashes or (
            effect.slot not in kept.slots and effect.slot < kept.head.slot_next
        )

    def _can_land(self, digest: bytes) -> bool:
        network = self._world.network
        if network.condemned.get(digest) is not None:
            return False
        is_out = network.travelling[digest] > 0 or network.is_pooled(digest)
        return is_out or digest in network.mined()

    def _load(self, lane: LaneId) -> EoaLane:
        return restore(self.rows(lane), self._world.plan.settings)

    def recorded(self, lane: LaneId, records: Sequence[Record]) -> None:
        self._tally.count(lane, records)
        for record in records:
            if isinstance(record, AttemptSigned):
                self._check_fee(lane, record)
            elif isinstance(record, BumpOrdered) and record.reason == STOOD_STILL:
                self._check_bump(lane, record)

    def _check_bump(self, lane: LaneId, record: BumpOrdered) -> None:
        """Bytes that no node received are not made dearer."""
        tries = self._load(lane).tries(record.slot)
        before = [one.hash for number, one in tries.items() if number < record.number]
        if before and before[-1] not in self._world.network.received:
            raise LawBroken(f"fees: {lane} outbids {before[-1].hex()}, which no node received")

    def _check_fee(self, lane: LaneId, record: AttemptSigned) -> None:
        """Whatever a node says of fees, nothing dearer than the ceiling is signed."""
        bound, cap = self._world.plan.settings.fee_wei_max, record.attempt.fee.cap
        if bound is not None and cap > bound and not self._world.seen["caps raised"]:
            raise LawBroken(f"fees: {lane} signs {cap} wei a unit of gas, above {bound}")

    def restore(self, rows: Rows, settings: EoaSettings) -> EoaLane:
        return restore(rows, settings)

    def shape(self, lane: EoaLane) -> dict[str, object]:
        return {
            "head": msgspec.msgpack.encode(lane.head),
            "slots": dict(lane.slots),
            "nonces": dict(lane.nonces),
            "attempts": lane.attempts,
            "raws": lane.raws,
            "hashes": lane.hashes,
            "unsure": set(lane.unsure),
            "delayed": set(lane.delayed),
            "contents": lane.contents,
            "returned": lane.returned,
            "free": lane.free.rows(),
        }

    def stepped(self) -> None:
        network = self._world.network
        if network.misjudged:
            raise LawBroken(f"gas: {network.misjudged}")
        if network.version != self._version:
            self._version = network.version
            for lane in self._world.lanes:
                self._check_chain(lane)

    def _check_chain(self, lane: LaneId) -> None:
        """On this branch each intent stands once, and a lane's stand in their order.

        Order has two exceptions, which the machine states itself. Someone else's transaction at
        a number of ours takes the number from under its intent, which lands after those above.
        And where the operator lets anyone take a free number, the next intent takes it.
        """
        is_free = self._is_shared(lane) or self._world.plan.settings.recycled == "any"
        self.check_line(lane, [datum for datum, _ in self._of(lane)], is_ordered=not is_free)

    def _of(self, lane: LaneId) -> list[tuple[str, bytes]]:
        """A lane's intents on the chain as it is now, in its order, with their hashes."""
        made = self._world.made
        return [
            (made[digest].data, digest)
            for digest in self._world.network.mined()
            if digest in made and made[digest].lane == lane and made[digest].data
        ]

    def _is_shared(self, lane: LaneId) -> bool:
        network = self._world.network
        return bool(network.foreign[network.accounts[self._world.account(lane)]])

    # At the end.

    def check_result(self, wish: Wish, result: Result) -> None:
        world = self._world
        if wish.data.startswith(POISON):
            world.seen["poison ended"] += 1
            if result.status in MINED:
                raise LawBroken(f"{wish.data}: no node takes it, yet it is {result.status}")
        landed = [digest for datum, digest in self._of(wish.lane) if datum == wish.data]
        mined = world.network.mined()
        expected = ""
        for digest in landed:
            expected = Status.CONFIRMED.value if mined[digest] else Status.REVERTED.value
            if (result.hash, result.number) != (digest, world.made[digest].nonce):
                raise LawBroken(f"{wish.data} is {digest.hex()}, told {result}")
        if expected != (result.status if result.status in MINED else ""):
            raise LawBroken(f"{wish.data} is {result.status}, on the chain {expected or 'nothing'}")

    def check_rest(self, lane: LaneId) -> None:
        """No number is left open, and the feed has all that is in the rows."""
        world = self._world
        kept = self._load(lane)
        count = world.network.chain.count(0, world.network.accounts[world.account(lane)], "latest")
        if kept.head.nonce_next not in (None, count) and not self._is_shared(lane):
            raise LawBroken(f"in order: {lane} goes on at {kept.head.nonce_next}, not at {count}")
        if kept.head.spend:
            raise LawBroken(f"{lane}: nothing is out, yet its attempts cost {kept.head.spend!r}")
        self.check_feed(lane, self._folded(lane), kept)

    def _folded(self, lane: LaneId) -> EoaLane:
        folded = EoaLane(lane, self._world.plan.settings)
        dates = Dates(self._world)
        for record in self.records(lane):
            before = in_flight(folded)
            evolve(folded, record)
            if isinstance(record, AttemptSigned):
                self._check_spending(folded, before)
            dates.judge(folded, record)
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
    """What a lane orders to be offered for the first time, by the times in its records."""

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
