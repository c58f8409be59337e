"""Rollups as a process serves them: their transactions, and what is asked of their blocks."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from laneway.core.errors import BadRequest, LaneNotFound
from laneway.core.ids import LaneId
from laneway.core.intent import Accepted, Answer, Arrival, IntentRow, Replayed
from laneway.core.rows import Result
from laneway.engine.bundle.rollup import BlockCallback
from laneway.engine.listeners import Listener
from laneway.kinds.arrivals import RETRY_SCOPE, converted, nothing_else
from laneway.kinds.common.views import taken_tx
from laneway.kinds.handle import Handle, Settled, taken
from laneway.kinds.rollup.desk import RollupsDesk
from laneway.kinds.rollup.log import BundleLog
from laneway.kinds.rollup.metrics import reading_of
from laneway.kinds.rollup.transfers import Transfers
from laneway.kinds.rollup.views import RollupViews
from laneway.kinds.served import Home, Operator, raised
from laneway.ports import Clock, IntentView
from laneway.wire.hex import octets
from laneway.wire.rollup import NewLaneTx, RollupPayload, RollupTx
from laneway.wire.times import to_ms
from laneway.wire.values import Check, Tx

if TYPE_CHECKING:
    # The curve is an extra (`rollup`); lanes that are only shown need none of it.
    from laneway.kinds.rollup.lanes import RollupLanes


class RollupServed(RollupViews):
    name = "rollup"
    lanes: "RollupLanes | None"

    def __init__(self, lanes: "RollupLanes | None", clock: Clock) -> None:
        super().__init__(lanes)
        self.performer = None if lanes is None else lanes.performer
        self.blocks = RollupsDesk(self)
        self._clock = clock
        self._log = BundleLog()
        self.transfers: Transfers

    # Its life.

    def listeners(self) -> Sequence[Listener]:
        return () if self.lanes is None else (self._log,)

    def attach(self, home: Home) -> None:
        super().attach(home)
        self.transfers = Transfers(self.lanes, home.store, self._clock)
        self._log.find = self.held
        if self.lanes is not None:
            self.lanes.store = home.store

    async def started(self) -> None:
        if self.lanes is not None:
            self.lanes.open_late(self.engine.wake)

    # What comes in.

    async def take(
        self,
        new: NewLaneTx,
        key: str | None,
        scope: str,
        trace: str,  # noqa: ARG002 - a rollup's transaction is its signed bytes alone.
    ) -> tuple[Arrival, Answer]:
        until_ms = None if new.valid_until is None else max(0, to_ms(new.valid_until))
        arrival, answer = await self.transfers.submit(
            new.lane,
            new.payload.raw,
            self.engine.submit,
            key=key,
            scope=scope,
            valid_until_ms=until_ms,
        )
        if isinstance(answer, Accepted | Replayed):
            await self.blocks.note(arrival, answer.id)
        return arrival, answer

    async def submit(
        self,
        lane: str,
        request: bytes | str | Mapping[str, Any],
        *,
        key: str | None = None,
        valid_until_ms: int | None = None,
        **more: Any,
    ) -> Handle:
        nothing_else(more)
        raw = request
        if isinstance(raw, Mapping):
            raw = converted(raw, RollupPayload).raw
        arrival, answer = await self.transfers.submit(
            lane, raw, self.engine.submit, key=key, valid_until_ms=valid_until_ms
        )
        return raised(self._followed(arrival, answer))

    async def submit_many(
        self,
        lane: str,
        raws: Sequence[bytes | str],
        *,
        keys: Sequence[str | None] | None = None,
        valid_until_ms: int | None = None,
    ) -> list[Handle]:
        """Queue a batch of a rollup's transactions in one write, in this order."""
        answers = await self.transfers.submit_many(
            lane, raws, self.engine.submit_many, keys=keys, valid_until_ms=valid_until_ms
        )
        return [self._followed(arrival, answer) for arrival, answer in answers]

    def _followed(self, arrival: Arrival, answer: Answer) -> Handle:
        """Several handles may be of one such intent, and none of them is notified of its answer."""
        handle = Handle(self.home, arrival.id, arrival.lane, asks=True)
        return taken(self.home, arrival, answer, handle)

    async def retry(self, view: IntentView) -> tuple[Arrival, Answer]:
        """What came to nothing once more: the same bytes, under a key of their own."""
        row = view.intent
        return await self.transfers.submit(
            row.lane, row.payload, self.engine.submit, key=row.id, scope=RETRY_SCOPE
        )

    def on_block(self, callback: BlockCallback) -> None:
        if self.lanes is None:
            raise BadRequest("on_block", "no rollup is configured here")
        self.lanes.on_block(callback)

    # Views.

    def accepted(self, arrival: Arrival, answer: Accepted, new: Any = None) -> Tx:  # noqa: ARG002
        return taken_tx(arrival, answer, rollup=RollupTx(raw=octets(arrival.payload)))

    def settled(self, result: Result) -> Settled:
        if result.hash is None:
            return super().settled(result)
        status, block = result.status, result.number
        return Settled(result.intent, status, block, result.reason, hash=octets(result.hash))

    # Commands.

    async def effect(self, verb: str, view: IntentView, argument: Any = None) -> str:  # noqa: ARG002
        if self.slot(view.intent.lane, view.intent.id) is not None:
            return "refused: it is in a block, which never changes"
        return "it would never be in a block"

    def followed(self, verb: str, row: IntentRow, *, final: bool, argument: Any = None) -> str:  # noqa: ARG002
        return "it will never be in a block" if final else "the lane has followed"

    # Nodes and readiness.

    def chains(self) -> Mapping[str, Any]:
        return {} if self.lanes is None else self.lanes.chains

    def chain(self, lane: LaneId) -> object:
        if self.lanes is None:
            raise LaneNotFound(lane)
        return self.lanes.account(lane).chain

    async def checks(self) -> Sequence[Check]:
        return () if self.lanes is None else await self.lanes.checks(self.store)

    def metered(self, meter: Any) -> None:
        meter.find = self.engine.reactor.lane

    async def measure(self, meter: Any) -> None:
        held = await self.blocks.held()
        meter.readings = [reading_of(lane, view.depth()) for lane, view in held]

    async def rehearse(self) -> None:
        if self.lanes is not None:
            await self.lanes.rehearse()

    def files(self) -> Sequence[str]:
        sections = () if self.lanes is None else self.lanes.sections
        return [section.builder for section in sections if section.builder is not None]

    def greeting(self, server: str) -> Sequence[str]:
        return () if self.lanes is None else self.lanes.lines(server)

    def part(self, operator: Operator) -> RollupsDesk:  # noqa: ARG002
        return self.blocks
