"""What a lane has made durable, read from the store's own feed, and the laws that it is under.

A process may have died before it knew of its last commit; the feed knows. Each record is judged by
the chain's own history before it is folded into the lane as the feed publishes it.
"""

from collections import Counter
from collections.abc import Sequence
from copy import copy, deepcopy

from laneway.core.ids import IntentId, LaneId
from laneway.core.outcome import Status
from laneway.devnets.jam.model.values import (
    BlockUnavailable,
    PackageFailed,
    PackageReady,
    PackageReportable,
)
from laneway.jam.service.commitment import ServiceStanding, Stand, standing_of
from laneway.jam.spec import TINY
from laneway.lanes.bundle.fold import evolve
from laneway.lanes.bundle.lane import BundleLane
from laneway.lanes.bundle.records import (
    BlockDropped,
    BlockFinalised,
    BlockSealed,
    BlockUnmade,
    Record,
    VersionOffered,
    VersionSealed,
)
from laneway.lanes.bundle.rows import ExecutionVerdict, Member
from laneway.lanes.bundle.settings import BundleSettings
from laneway.lanes.bundle.standing import parent_of
from laneway.lanes.bundle.tells import brought
from laneway.lanes.bundle.values import BuildBlock
from laneway.lanes.common.values import IntentDropped
from laneway.sim.bundle.maker import (
    GENESIS_BLOCK,
    SERVICE,
    MadeVersion,
    Maker,
    decode_body,
    transaction_hash,
)
from laneway.sim.bundle.network import JamNetwork
from laneway.sim.bundle.node_view import Storage
from laneway.sim.bundle.tally import BundleTally
from laneway.sim.world import LawBroken


class Durable:
    def __init__(
        self,
        lane: LaneId,
        settings: BundleSettings,
        network: JamNetwork,
        maker: Maker,
        seen: Counter[str],
    ) -> None:
        self.lane = BundleLane(lane, settings)
        """The lane, folded from the feed."""
        self.members: dict[bytes, Member] = {}
        """Whose transaction a hash is, as its block was sealed last."""
        self._network = network
        self._maker = maker
        self._truth = Truth(network, maker)
        self._tally = BundleTally(seen)
        self._sealed: dict[bytes, None] = {}
        """Blocks whose payload is durable."""
        self._serials: dict[bytes, int] = {}
        """Packages whose bytes are durable, with the last submission that is."""
        self._deferred: dict[bytes, None] = {}
        """Transactions that a block left out: others may overtake them."""
        self._undone: dict[IntentId, str] = {}
        """Statuses after which a caller may ask for the same again."""

    def copied(self) -> "Durable":
        """What a copy of the store holds."""
        twin = copy(self)
        twin.lane = deepcopy(self.lane)
        twin.members, twin._sealed = dict(self.members), dict(self._sealed)
        twin._serials, twin._deferred = dict(self._serials), dict(self._deferred)
        twin._undone = dict(self._undone)
        return twin

    def put_back(self) -> None:
        """All that was made and is not in this copy is as if others had made it; so is a package
        that was made, but not yet offered, when the copy was made."""
        maker, serials = self._maker, self._serials
        maker.foreign |= {one: None for one in maker.blocks if one not in self._sealed}
        maker.lost |= {one: None for one in maker.packages if one not in serials}
        maker.lost |= {one: None for one in maker.offered if not serials.get(one)}

    def take(self, records: Sequence[Record]) -> None:
        self._tally.count(self.lane, records)
        for record in records:
            self._judge(record)
            evolve(self.lane, record)

    def _judge(self, record: Record) -> None:
        if isinstance(record, BlockSealed):
            self._sealed[record.slot.block] = None
            self._take_members(record.members)
        elif isinstance(record, BlockUnmade):
            self._take_members(record.members)
        elif isinstance(record, VersionSealed):
            self._serials[record.version.package_hash] = 0
        elif isinstance(record, VersionOffered):
            self._offered(record)
        elif isinstance(record, BlockDropped) and record.is_cause:
            self._dropped(record)
        elif isinstance(record, BlockFinalised):
            self._finalised(record)
        elif isinstance(record, IntentDropped):
            self._undone[record.intent] = record.status

    def _take_members(self, members: Sequence[Member]) -> None:
        for member in members:
            self.members[member.hash] = member
            if member.verdict == ExecutionVerdict.DEFERRED:
                self._deferred[member.hash] = None
            if member.verdict == ExecutionVerdict.REFUSED:
                self._undone[member.intent] = Status.REFUSED.value
            if member.verdict == ExecutionVerdict.EXPIRED:
                self._undone[member.intent] = Status.EXPIRED.value

    def _offered(self, version: VersionOffered) -> None:
        """A block's package gets another hash only when no other can land any more, on the fork
        that the lane has seen."""
        name, best = version.package_hash, self.lane.head.best
        self._serials[name] = version.serial
        self._maker.offered[name] = None
        if version.serial > 1:
            return
        self._maker.lost.pop(name, None)  # From now on the lane knows it.
        if best is None:
            return
        for other in self._maker.versions[self._maker.packages[name].block]:
            is_known = other != name and not self._is_lost(other)
            if is_known and self._may_land(other, best.header_hash):
                what = f"version {version.version} of block {version.slot} goes out"
                raise LawBroken(
                    f"never twice: {what}, while {self._maker.packages[other]} may land"
                )

    def _is_lost(self, package: bytes) -> bool:
        """Whether the lane cannot know that this package may land: it or one that it stands on was
        forgotten with the store, or called failed by a node that lied alone."""
        asked = [package]
        while asked:
            one = asked.pop()
            if one in self._maker.lost:
                return True
            made = self._maker.packages.get(one)
            asked += made.prerequisites if made is not None else ()
        return False

    def _may_land(self, package: bytes, at: bytes) -> bool:
        try:
            return self._truth.may_land(package, at)
        except BlockUnavailable:
            return False  # A block that everybody has forgotten.

    def _dropped(self, record: BlockDropped) -> None:
        """A block is given up only when no fork can bring it back."""
        slot = self.lane.slots[record.slot]
        final = self._network.final().header_hash
        for other in self._maker.versions.get(slot.block, ()):
            if not self._is_lost(other) and self._may_land(other, final):
                made = self._maker.packages[other]
                raise LawBroken(f"never twice: block {slot.number} is dropped, and {made} may land")

    def _finalised(self, record: BlockFinalised) -> None:
        """What is reported as final is final, with the package that brought it."""
        slot = self.lane.slots[record.slot]
        package = brought(slot, self.lane.version(record.slot, record.version))
        line = self._network.line(self._network.final().header_hash)
        found = line[slot.number - 1] if slot.number <= len(line) else None
        if found is None or found.block != slot.block:
            raise LawBroken(f"block {slot.number} is told to be final, and is not")
        if package != found.package_hash:
            raise LawBroken(f"block {slot.number} is final, and came by another package")

    # What leaves, and what happens on the chain.

    def check_submission(self, package: bytes, serial: int = 0) -> None:
        """Bytes are durable before any node receives them, and so is the order to send them."""
        if self._serials.get(package, -1) < max(serial, 1):
            raise LawBroken(f"never twice: {self._maker.packages[package]} leaves unrecorded")

    def check_order(self, order: BuildBlock) -> None:
        """What is ordered is what would be ordered again after a crash."""
        slot = self.lane.slots.get(order.slot)
        if slot is None or not slot.building or slot.order != order.order:
            return  # Its answer counts no more.
        again = parent_of(self.lane, slot)
        if (order.parent, order.parent_root) != (again.block, again.root):
            raise LawBroken(f"block {order.number} is ordered on another one than after a crash")

    def check_ground(self, parent: bytes, below: tuple[bytes, ...]) -> None:
        """A builder with the state after the newest final block can make the state of this one."""
        wanted = parent or GENESIS_BLOCK  # Or on whatever the service has, which is final.
        for payload in reversed(below):
            body = decode_body(payload)
            if self._maker.blocks.get(wanted) != body:
                raise LawBroken(f"block {body.number} is not what the next one stands on")
            wanted = body.parent
        line = self._network.line(self._network.final().header_hash)
        if wanted not in [GENESIS_BLOCK, *(record.block for record in line)]:
            raise LawBroken("a block stands on what is not final, and was not given it")

    def check_line(self, at: bytes) -> None:
        """Each transaction has its effect once, in the order in which they were accepted, and all
        of it was durable before."""
        seen: dict[bytes, int] = {}
        last: dict[int, int] = {}
        for number, record in enumerate(self._network.line(at), 1):
            is_foreign = record.block in self._maker.foreign
            is_ours = (
                record.package_hash in self._serials or record.package_hash in self._maker.lost
            )
            if not is_foreign and not (record.block in self._sealed and is_ours):
                raise LawBroken(f"never lost: block {number} was applied, and nobody knows it")
            for request in self._maker.blocks[record.block].inside:
                name = transaction_hash(request)
                if name in seen:
                    where = f"in the blocks {seen[name]} and {number}"
                    raise LawBroken(f"never twice: {request.data} is {where}")
                seen[name] = number
                if is_foreign:
                    continue  # Others ask nobody whether it was taken back, nor for its order.
                member = self.members[name]
                told = self._undone.get(member.intent)
                if told is not None:
                    raise LawBroken(f"never twice: {request.data} was applied, and is told {told}")
                if name in self._deferred:
                    continue
                if last.get(member.priority, 0) > member.seq:
                    raise LawBroken(f"in order: {request.data} was applied after a later one")
                last[member.priority] = member.seq


class Truth:
    """What can still become of a package on a fork, by the chain's own rules and the service's
    records. It knows nothing of lanes: what it calls dead can never have an effect after that
    block."""

    def __init__(self, network: JamNetwork, maker: Maker) -> None:
        self._network = network
        self._maker = maker

    def may_land(self, package: bytes, at: bytes) -> bool:
        """Whether its block had its effect by it up to this block, or may have it later."""
        if not self._network.is_out(package):
            return False
        stand = self._standing(package, at).stand
        if stand is Stand.UNKNOWN:
            return self._may_accumulate(package, at)
        return stand is not Stand.REFUSED

    def _standing(self, package: bytes, at: bytes) -> ServiceStanding:
        model, node = self._network.model, self._network.eye(at)
        number = self._maker.blocks[self._maker.packages[package].block].number
        slot = model.made(node, at).slot
        return standing_of(Storage(model, node, at, SERVICE), package, number=number, slot=slot)

    def _may_accumulate(self, package: bytes, at: bytes) -> bool:
        """Whether the service was given it up to this block, or may be later."""
        if self._standing(package, at).stand is not Stand.UNKNOWN:
            return True
        model, node = self._network.model, self._network.eye(at)
        if model.is_accumulated(node, at, package):
            return True
        packed = self._maker.packages[package]
        if not self._network.is_out(package) or not self._is_on_its_way(package, packed, at):
            return False
        return all(self._may_accumulate(one, at) for one in packed.prerequisites)

    def _is_on_its_way(self, package: bytes, packed: MadeVersion, at: bytes) -> bool:
        model, node = self._network.model, self._network.eye(at)
        made = model.made(node, at)
        try:
            status = model.status(node, at, package, packed.anchor.header_hash)
        except BlockUnavailable:
            return False  # Its anchor is on no fork of this block, or long forgotten.
        if isinstance(status, PackageReportable):
            age = made.slot + 1 - packed.lookup_anchor.slot
            return age <= TINY.lookup_anchor_slots_max
        if isinstance(status, PackageReady):
            return package in made.queued  # Or it vanished without a word.
        return not isinstance(status, PackageFailed)
