"""The laws of every world, checked on the chain's own history and on the store's rows."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from laneway.core.ids import LaneId, Owner, lane_key
from laneway.core.outcome import Status
from laneway.core.rows import Lease, Table
from laneway.lanes.contract.lane import ContractLane, decode_head, decode_slot, restore
from laneway.lanes.contract.show import queue_metrics
from laneway.lanes.contract.values import AttemptDoubted, Execute, Record
from laneway.sim.contract_world import ContractWorld
from laneway.sim.world import LawBroken

if TYPE_CHECKING:
    from laneway.sim.process import Process

COMPARED_EVERY = 3
"""Loading a lane costs as much as a dozen steps, so every third commit is compared."""


class Laws:
    """Safety at every step, the account at the end."""

    def __init__(self, world: ContractWorld) -> None:
        self._world = world
        self._heights: dict[str, int] = {}
        self._commits = 0
        self._aside: set[tuple[LaneId, int]] = set()
        """Slots whose intents people put aside, because a bug about them stopped their lanes."""
        world.observers.append(self)

    # At every step.

    def leaving(self, _process: "Process", lane: LaneId, effect: Execute) -> None:
        """Nothing leaves before the record that explains it is durable."""
        slot, attempt = effect.slot, effect.attempt
        if not self._is_recorded(lane, slot, attempt):
            raise LawBroken(f"never twice: {lane} executes try {attempt} of slot {slot} unrecorded")
        if (lane, slot) in self._aside:
            raise LawBroken(f"{lane} executes slot {slot} again, which was put aside")

    def told(self, lane: LaneId, records: Sequence[Record]) -> None:
        """What was put aside is never tried again; for the rest the chain shows all."""
        for record in records:
            if isinstance(record, AttemptDoubted) and record.aside:
                self._world.seen["execution put aside"] += 1
                self._aside.add((lane, record.slot))

    def _is_recorded(self, lane: LaneId, slot: int, attempt: int) -> bool:
        view = self._world.book.lane(lane)
        assert view is not None
        rows = self._world.book.load(Lease(lane, view.head.owner or Owner(""), view.head.fence))
        slots = [decode_slot(row.body) for row in rows.open if row.table == Table.SLOT]
        if slots and slots[0].id == slot:
            return attempt < slots[0].attempt_next
        # Settled meanwhile, by an earlier try: this one can only be refused.
        return slot < decode_head(view.head.state).slot_next

    def committed(self, process: "Process", lane: LaneId) -> None:
        """After every commit what the store holds equals what the lane is in memory."""
        self._commits += 1
        view = self._world.book.lane(lane)
        assert view is not None
        if self._commits % COMPARED_EVERY or view.head.owner != process.owner:
            return
        if not process.reactor.is_settled(lane):
            return
        kept = restore(
            self._world.book.load(Lease(lane, process.owner, view.head.fence)),
            self._world.plan.settings,
        )
        memory: ContractLane = process.reactor.lane(lane)
        if (kept.head, kept.slot, kept.attempts) != (memory.head, memory.slot, memory.attempts):
            raise LawBroken(f"{lane}: the store holds {kept.head}, memory {memory.head}")

    def stepped(self) -> None:
        """Every new block is one that was wished for once, in its place."""
        for lane in self._world.lanes:
            contract = lane_key(lane)
            latest = self._world.chain.latest(contract)
            if latest != self._heights.get(contract, 0):
                self._heights[contract] = latest
                self._check_chain(lane)

    def _check_chain(self, lane: LaneId) -> None:
        world = self._world
        data = [
            block.data
            for block in world.chain.history(lane_key(lane))[1:]
            if block.executor == "did:sim"
        ]
        if len(set(data)) != len(data):
            raise LawBroken(f"never twice: {lane} has {data}")
        places = {wish.data: wish for wish in world.client.by_intent.values()}
        order = []
        for datum in data:
            if datum not in places:
                raise LawBroken(f"{lane}: {datum} ran and was never accepted")
            order.append(self._place(places[datum].key))
        for cls in range(4):
            seqs = [seq for priority, seq in order if priority == cls]
            if seqs != sorted(seqs):
                raise LawBroken(f"in order: {lane} ran {data}, in the sequence {seqs}")

    def _place(self, key: str) -> tuple[int, int]:
        index = self._world.book.find("key", f"\x1f{key}")
        if index is None:
            raise LawBroken(f"never lost: {key} ran, and the store does not know it")
        view = self._world.book.intent(index.intent)
        assert view is not None
        return view.intent.priority, view.intent.seq

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
            blocks = [
                b.number for b in world.chain.history(lane_key(wish.lane)) if b.data == wish.data
            ]
            confirmed = view.result.status == Status.CONFIRMED.value
            if confirmed != bool(blocks):
                raise LawBroken(f"{wish.data} is {view.result.status}, on chain at {blocks}")
            if confirmed and view.result.number not in (None, *blocks):
                raise LawBroken(f"{wish.data} is in {blocks}, told {view.result.number}")
            if wish.data.startswith("!") and confirmed:
                raise LawBroken(f"{wish.data} was refused by the contract, yet confirmed")
            world.seen[f"result:{view.result.status}"] += 1
        for lane in world.lanes:
            self._count(lane)

    def _count(self, lane: LaneId) -> None:
        view = self._world.book.lane(lane)
        if view is None:
            return
        shown = queue_metrics(view, self._world.plan.settings)
        if view.depth() or shown.fast_queue_len or shown.slow_queue_len:
            raise LawBroken(f"{lane}: all is settled, yet {shown}")
        if shown.fast_hit_count + shown.slow_hit_count != shown.enqueue_count:
            raise LawBroken(f"{lane}: hits do not add up: {shown}")
