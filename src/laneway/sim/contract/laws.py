"""The laws of every world of contracts, on the chain's own history and on the store's rows."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from laneway.core.ids import LaneId, lane_key
from laneway.core.outcome import Status
from laneway.core.rows import Result, Rows, Table
from laneway.lanes.contract.lane import ContractLane, decode_head, decode_slot, restore
from laneway.lanes.contract.settings import ContractSettings
from laneway.lanes.contract.show import queue_metrics
from laneway.lanes.contract.values import AttemptDoubted, Effect, Execute, Record
from laneway.sim.clients import Wish
from laneway.sim.contract.world import ContractWorld
from laneway.sim.laws import WorldLaws
from laneway.sim.world import LawBroken

if TYPE_CHECKING:
    from laneway.sim.process import Process


class ContractLaws(WorldLaws):
    _world: ContractWorld

    def __init__(self, world: ContractWorld) -> None:
        super().__init__(world)
        self._version = 0
        self._heights: dict[str, int] = {}
        self._aside: set[tuple[LaneId, int]] = set()
        """Slots whose intents people put aside, because a bug about them stopped their lanes."""

    # At every step.

    def leaving(self, _process: "Process", lane: LaneId, effect: Effect) -> None:
        """Nothing leaves before the record that explains it is durable."""
        if not isinstance(effect, Execute):
            return
        slot, attempt = effect.slot, effect.attempt
        self._world.seen["second try"] += attempt > 1
        if not self._is_recorded(lane, slot, attempt):
            raise LawBroken(f"never twice: {lane} executes try {attempt} of slot {slot} unrecorded")
        if (lane, slot) in self._aside:
            raise LawBroken(f"{lane} executes slot {slot} again, which was put aside")

    def recorded(self, lane: LaneId, records: Sequence[Record]) -> None:
        """What was put aside is never tried again; for the rest the chain shows all."""
        for record in records:
            if isinstance(record, AttemptDoubted) and record.aside:
                self._world.seen["execution put aside"] += 1
                self._aside.add((lane, record.slot))

    def _is_recorded(self, lane: LaneId, slot: int, attempt: int) -> bool:
        rows = self.rows(lane)
        slots = [decode_slot(row.body) for row in rows.open if row.table == Table.SLOT]
        if slots and slots[0].id == slot:
            return attempt < slots[0].attempt_next
        # Settled meanwhile, by an earlier try: this one can only be refused.
        return slot < decode_head(rows.head.state).slot_next

    def restore(self, rows: Rows, settings: ContractSettings) -> ContractLane:
        return restore(rows, settings)

    def shape(self, lane: ContractLane) -> dict[str, object]:
        return {"head": lane.head, "slot": lane.slot, "attempts": lane.attempts}

    def stepped(self) -> None:
        """Every new block is one that was wished for once, in its place."""
        if self._version == self._world.rounds.version:
            return
        self._version = self._world.rounds.version
        for lane in self._world.lanes:
            contract = lane_key(lane)
            latest = self._world.chain.latest(contract)
            if latest != self._heights.get(contract, 0):
                self._heights[contract] = latest
                self._check_chain(lane)

    def _check_chain(self, lane: LaneId) -> None:
        data = [
            block.data
            for block in self._world.chain.history(lane_key(lane))[1:]
            if block.executor == "did:sim"
        ]
        self.check_line(lane, data)

    # At the end.

    def check_result(self, wish: Wish, result: Result) -> None:
        blocks = [
            b.number for b in self._world.chain.history(lane_key(wish.lane)) if b.data == wish.data
        ]
        confirmed = result.status == Status.CONFIRMED.value
        if confirmed != bool(blocks):
            raise LawBroken(f"{wish.data} is {result.status}, on chain at {blocks}")
        if confirmed and result.number not in (None, *blocks):
            raise LawBroken(f"{wish.data} is in {blocks}, told {result.number}")
        if wish.data.startswith("!") and confirmed:
            raise LawBroken(f"{wish.data} was refused by the contract, yet confirmed")

    def check_rest(self, lane: LaneId) -> None:
        view = self._world.book.lane(lane)
        assert view is not None
        shown = queue_metrics(view, self._world.plan.settings)
        if shown.fast_queue_len or shown.slow_queue_len:
            raise LawBroken(f"{lane}: all is settled, yet {shown}")
        if shown.fast_hit_count + shown.slow_hit_count != shown.enqueue_count:
            raise LawBroken(f"{lane}: hits do not add up: {shown}")
