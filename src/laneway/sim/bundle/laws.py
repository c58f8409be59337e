"""The laws of every world of rollups, checked on the chain's own history, on all that is durable,
and on the store's rows."""

from itertools import pairwise
from typing import TYPE_CHECKING, assert_never

import msgspec

from laneway.core.ids import LaneId, Owner
from laneway.core.outcome import Status
from laneway.core.rows import Result, Rows
from laneway.jam.service.commitment import HEAD_KEY
from laneway.jam.service.values import AppliedBlock
from laneway.lanes.bundle.lane import BundleLane, decode_history, restore
from laneway.lanes.bundle.settings import BundleSettings
from laneway.lanes.bundle.tells import ON_THE_WAY
from laneway.lanes.bundle.values import BuildBlock, BuildVersion, Effect, SubmitPackage
from laneway.sim.bundle.builder import NO_VERSION, TOO_LONG
from laneway.sim.bundle.copies import Undo
from laneway.sim.bundle.durable import Durable
from laneway.sim.bundle.liveness import TimerLaw, WaitLaw, WindowLaw
from laneway.sim.bundle.maker import TellLog, decode_body, transaction_hash
from laneway.sim.bundle.world import RollupWorld
from laneway.sim.clients import Wish
from laneway.sim.laws import WorldLaws
from laneway.sim.world import LawBroken

if TYPE_CHECKING:
    from laneway.sim.process import Process

UNDONE = (Status.REFUSED.value, Status.EXPIRED.value, Status.CANCELLED.value)

STATUSES = (Status.CONFIRMED.value, Status.REVERTED.value)


class RollupLaws(WorldLaws):
    _world: RollupWorld

    def __init__(self, world: RollupWorld) -> None:
        super().__init__(world)
        self._blocks = 0
        self._head: bytes | None = None
        self._windows = WindowLaw(world)
        self._timers = TimerLaw(world)
        self._waits = WaitLaw(world)
        self._senders: dict[bytes, Owner] = {}
        """Who submitted a package first."""
        settings = world.plan.settings
        self._durable = {
            lane: Durable(lane, settings, world.network, world.maker, world.seen)
            for lane in world.lanes
        }

        world.copies.keepers.append(self._keep)

    # What is durable.

    def _keep(self) -> Undo:
        self._read()
        place, durable = self._place, {lane: one.copied() for lane, one in self._durable.items()}

        def undo() -> None:
            self._place, self._durable = place, durable
            for one in durable.values():
                one.put_back()

        return undo

    def _read(self) -> None:
        """All that was committed since, in its order."""
        for lane, records in self.unread():
            self._durable[lane].take(records)
            self._windows.excuse(lane, records)
            self._waits.take(lane, records)

    # At every step.

    def leaving(self, process: "Process", lane: LaneId, effect: Effect) -> None:
        if not isinstance(effect, BuildBlock | BuildVersion | SubmitPackage):
            return
        self._read()
        durable = self._durable[lane]
        match effect:
            case BuildBlock(parent=parent, below=below):
                durable.check_order(effect)
                durable.check_ground(parent, below)
            case BuildVersion(payload=payload, below=below):
                durable.check_ground(decode_body(payload).parent, below)
            case SubmitPackage(slot=slot, package_hash=package, serial=serial):
                self._windows.left(lane, slot)
                durable.check_submission(package, serial)
                by = self._senders.setdefault(package, process.owner)
                self._world.seen["taken over in flight"] += by != process.owner
            case _:
                assert_never(effect)

    def restore(self, rows: Rows, settings: BundleSettings) -> BundleLane:
        return restore(rows, settings)

    def shape(self, lane: BundleLane) -> dict[str, object]:
        """Large bytes by their names alone: a feed does not carry them."""
        head = msgspec.structs.replace(
            lane.head, open_count=0, queued_count=0, returned_count=0, build_tries=0, waits=""
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

    def stepped(self) -> None:
        network = self._world.network
        self._read()
        self._windows.stepped()
        self._timers.stepped()
        self._waits.stepped()
        problem = self._world.user_log.problem or self._world.builder_log.problem
        if problem:
            raise LawBroken(problem)
        if network.blocks == self._blocks:
            return
        self._blocks = network.blocks
        best = network.best().header_hash
        head = network.stored(best, HEAD_KEY)
        if head != self._head:
            self._head = head
            for durable in self._durable.values():
                durable.check_line(best)

    # At the end.

    def account(self) -> None:
        self._read()
        for durable in self._durable.values():
            durable.check_line(self._world.network.final().header_hash)
        self._count_line()
        super().account()

    def _count_line(self) -> None:
        """Whose blocks are final."""
        world, foreign = self._world, self._world.maker.foreign
        line = [one.block for one in world.network.line(world.network.final().header_hash)]
        world.seen["foreign block final"] += any(one in foreign for one in line)
        world.seen["second deployment's block final"] += any(
            one in world.maker.second for one in line
        )
        world.seen["own block final below a foreign one"] += any(
            below not in foreign and above in foreign for below, above in pairwise(line)
        )
        world.seen["own block final above a foreign one"] += any(
            below in foreign and above not in foreign for below, above in pairwise(line)
        )

    def check_result(self, wish: Wish, result: Result) -> None:
        """Final answers are true of the final chain, and of nothing else."""
        network, maker = self._world.network, self._world.maker
        for number, record in enumerate(network.line(network.final().header_hash), 1):
            for index, request in enumerate(maker.blocks[record.block].inside):
                if request.data != wish.data:
                    continue
                if record.block in maker.foreign and self._is_taken_back(wish, result, record):
                    return  # Others executed what its caller, or its time, had taken back here.
                name = transaction_hash(request)
                word = STATUSES[request.way == "revert"]
                shown = (result.status, result.number, result.hash)
                if shown != (word, number, name):
                    raise LawBroken(f"{wish.data} is {word} in block {number}, told {shown}")
                is_foreign = record.block in maker.foreign
                self._world.seen["settled by a foreign block's receipt"] += is_foreign
                told = decode_history(result.history)
                if told.finished.block != record.block:
                    raise LawBroken(f"{wish.data} is in another block than it is told")
                if (told.index, told.finished.package_hash) != (index, record.package_hash):
                    raise LawBroken(f"{wish.data} is told another place or package")
                return
        if result.status not in UNDONE:
            raise LawBroken(f"{wish.data} is {result.status}, and in no block")

    def _is_taken_back(self, wish: Wish, result: Result, record: AppliedBlock) -> bool:
        """Whether its caller took it back here, which no builder is asked about; or it was called
        expired when the service did not have that block; or no builder here could build it in time,
        or make a package of it, then too."""
        is_unable = any(one in result.reason for one in (TOO_LONG, NO_VERSION))
        if result.status == Status.REFUSED.value and not is_unable:
            return False
        if result.status not in (Status.EXPIRED.value, Status.REFUSED.value):
            return result.status == Status.CANCELLED.value
        answers = self._world.maker.expiries[wish.payload]
        return any(record.block not in applied for applied in answers)

    def check_rest(self, lane: LaneId) -> None:
        """Nothing is left open, and the feed has all that is in the rows."""
        world = self._world
        kept = self.load(lane, world.plan.settings)
        if kept.slots or kept.returned or kept.tells or kept.bound:
            raise LawBroken(f"{lane}: all is settled, yet it holds {kept.slots} {kept.tells}")
        self.check_feed(lane, self._durable[lane].lane, kept)
        check_tells(world.user_log, kept)
        check_tells(world.builder_log, kept)


def check_tells(ear: TellLog, kept: BundleLane) -> None:
    """All notifications were received, and those of each block make sense together."""
    if len(ear.tells) != kept.head.tell_next - 1:
        raise LawBroken(f"{len(ear.tells)} of {kept.head.tell_next - 1} callbacks were made")
    words: dict[int, list[str]] = {}
    for tell in ear.tells.values():
        words.setdefault(tell.slot, []).append(tell.word)
    finals = 0
    for slot, said in words.items():
        pairs = ["accumulated", "restored"] * said.count("restored")
        finals += said[-1] == "finalised"
        ends = [one for one in said if one not in ON_THE_WAY]
        if ends not in ([*pairs, "accumulated", "finalised"], [*pairs, "failed"]):
            raise LawBroken(f"of block {slot} is told {said}")
        if said[-1] != ends[-1] or "guaranteed" in said[:1]:
            raise LawBroken(f"of block {slot} is told {said}, in another order than it became so")
    if finals != kept.head.finished_count:
        raise LawBroken(f"{finals} of {kept.head.finished_count} blocks were told to be final")
