"""The laws of every world of rollups, checked on the chain's own history, on all that is durable,
and on the store's rows."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, assert_never

import msgspec

from laneway.core.ids import LaneId, Owner
from laneway.core.outcome import Status
from laneway.core.rows import FeedEntry, Lease, Result
from laneway.engine.bundle.rollup import KIND
from laneway.jam.service.commitment import HEAD_KEY
from laneway.lanes.bundle.lane import BundleLane, decode_history, restore
from laneway.lanes.bundle.rows import Verdict
from laneway.lanes.bundle.values import BuildBlock, BuildVersion, Record, SubmitPackage
from laneway.sim.bundle.durable import Durable
from laneway.sim.bundle.maker import Ear, decode_body, transaction_hash
from laneway.sim.bundle.promptness import Promptness
from laneway.sim.bundle.world import RollupWorld
from laneway.sim.clients import Wish
from laneway.sim.world import LawBroken
from laneway.stores.memory import MemoryBook

if TYPE_CHECKING:
    from laneway.sim.process import Process

COMPARED_EVERY = 3
"""Loading a lane costs as much as a dozen steps, so every third commit is compared."""

FEED_PAGE = 1_000

UNDONE = (Status.REFUSED.value, Status.EXPIRED.value, Status.CANCELLED.value)

WORDS = {Verdict.INCLUDED: Status.CONFIRMED.value, Verdict.REVERTED: Status.REVERTED.value}


class RollupLaws:
    """Safety at every step, the account at the end."""

    def __init__(self, world: RollupWorld) -> None:
        self._world = world
        self._commits = 0
        self._place = 0
        self._cursor = ""
        self._blocks = 0
        self._head: bytes | None = None
        self._promptness = Promptness(world)
        self._senders: dict[bytes, Owner] = {}
        """Who submitted a package first."""
        host, settings = world.host, world.plan.settings
        self._durable = {
            lane: Durable(lane, settings, world.sky, host.maker, host.is_out, world.seen)
            for lane in world.lanes
        }
        world.observers.append(self)

    # What is durable.

    def _read(self) -> None:
        """All that was committed since, in its order."""
        if not self._world.is_written:
            return
        self._world.is_written = False
        for entry in self._entries():
            records = self._world.kinds[KIND].decode(entry.records)
            self._durable[entry.lane].take(records)
            self._promptness.heard(entry.lane, records)

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

    # At every step.

    def leaving(
        self, process: "Process", lane: LaneId, effect: BuildBlock | BuildVersion | SubmitPackage
    ) -> None:
        self._read()
        durable = self._durable[lane]
        match effect:
            case BuildBlock(parent=parent, behind=behind):
                durable.check_ground(parent, behind)
            case BuildVersion(payload=payload, behind=behind):
                durable.check_ground(decode_body(payload).parent, behind)
            case SubmitPackage(slot=slot, package_hash=package, serial=serial):
                self._promptness.left(lane, slot)
                durable.check_submission(package, serial)
                by = self._senders.setdefault(package, process.owner)
                self._world.seen["taken over in flight"] += by != process.owner
            case _:
                assert_never(effect)

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
        memory: BundleLane = process.reactor.lane(lane)
        if apart := parted(self._load(lane), memory):
            raise LawBroken(f"{lane}: in the store and in memory {apart}")

    def _load(self, lane: LaneId) -> BundleLane:
        view = self._world.book.lane(lane)
        assert view is not None
        lease = Lease(lane, view.head.owner or Owner(""), view.head.fence)
        return restore(self._world.book.load(lease), self._world.plan.settings)

    def stepped(self) -> None:
        sky = self._world.sky
        self._read()
        self._promptness.stepped()
        host = self._world.host
        for lane, ear in host.ears.items():
            builder = host.builder_ears[lane]
            if ear.problem or builder.problem:
                raise LawBroken(f"{lane}: {ear.problem or builder.problem}")
            if len(ear.tells) > len(builder.tells):
                raise LawBroken(f"{lane}: a callback came before the builder heard")
        if sky.blocks == self._blocks:
            return
        self._blocks = sky.blocks
        best = sky.best().header_hash
        head = sky.stored(best, HEAD_KEY)
        if head != self._head:
            self._head = head
            for durable in self._durable.values():
                durable.check_line(best)

    # At the end.

    def account(self) -> None:
        """Every accepted wish has one final answer, and it is true."""
        world = self._world
        self._read()
        for durable in self._durable.values():
            durable.check_line(world.sky.final().header_hash)
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
        """Final words are true of the final chain, and of nothing else."""
        sky, maker = self._world.sky, self._world.host.maker
        members = self._durable[wish.lane].members
        for number, record in enumerate(sky.line(sky.final().header_hash), 1):
            for request in maker.blocks[record.block].inside:
                if request.data != wish.data:
                    continue
                name = transaction_hash(request)
                word = WORDS[members[name].verdict]
                shown = (result.status, result.number, result.hash)
                if shown != (word, number, name):
                    raise LawBroken(f"{wish.data} is {word} in block {number}, told {shown}")
                if decode_history(result.history).finished.block != record.block:
                    raise LawBroken(f"{wish.data} is in another block than it is told")
                return
        if result.status not in UNDONE:
            raise LawBroken(f"{wish.data} is {result.status}, and in no block")

    def _check_rest(self, lane: LaneId) -> None:
        """Nothing is left open, the feed tells all that the rows say, and the counts add up."""
        world = self._world
        view = world.book.lane(lane)
        if view is None:
            return
        if view.depth():
            raise LawBroken(f"{lane}: all is settled, yet its depth is {view.depth()}")
        kept = self._load(lane)
        if kept.slots or kept.returned or kept.tells or kept.bound:
            raise LawBroken(f"{lane}: all is settled, yet it holds {kept.slots} {kept.tells}")
        if apart := parted(self._durable[lane].lane, kept):
            raise LawBroken(f"{lane}: by the feed and by the rows {apart}")
        check_tells(world.host.ears.get(lane, Ear()), kept)
        check_tells(world.host.builder_ears.get(lane, Ear()), kept)


def check_tells(ear: Ear, kept: BundleLane) -> None:
    """All of them were heard, and those of each block make sense together."""
    if len(ear.tells) != kept.head.tell_next - 1:
        raise LawBroken(f"{len(ear.tells)} of {kept.head.tell_next - 1} callbacks were made")
    words: dict[int, list[str]] = {}
    for tell in ear.tells.values():
        words.setdefault(tell.slot, []).append(tell.word)
    finals = 0
    for slot, said in words.items():
        pairs = ["accumulated", "restored"] * said.count("restored")
        finals += said[-1] == "finalised"
        if said not in ([*pairs, "accumulated", "finalised"], [*pairs, "failed"]):
            raise LawBroken(f"of block {slot} is told {said}")
    if finals != kept.head.finished_count:
        raise LawBroken(f"{finals} of {kept.head.finished_count} blocks were told to be final")


def shape(lane: BundleLane) -> dict[str, object]:
    """All that a lane is, its caches of intents aside, and large bytes by their names alone: a feed
    does not tell them."""
    head = msgspec.structs.replace(
        lane.head, open_count=0, queued_count=0, returned_count=0, waits=""
    )
    return {
        "head": head,
        "slots": lane.slots,
        "numbers": lane.numbers,
        "versions": lane.versions,
        "hashes": lane.hashes,
        "members": lane.members,
        "payloads": sorted(lane.payloads),
        "packages": sorted(lane.packages),
        "returned": lane.returned,
        "tells": list(lane.tells.items()),
        "chain": list(lane.chain.items()),
        "bound": lane.bound,
        "finished": list(lane.finished.items()),
    }


def parted(one: BundleLane, other: BundleLane) -> str:
    """In what two lanes differ; empty: in nothing."""
    first, second = shape(one), shape(other)
    return "; ".join(
        f"{name} are {first[name]}, and {second[name]}"
        for name in first
        if first[name] != second[name]
    )
