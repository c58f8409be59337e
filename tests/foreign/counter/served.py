"""Counter lanes as a process serves them: what comes in, what is shown, what people command."""

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import ValidationError, convert
from tests.foreign.counter.chain import FileCounters
from tests.foreign.counter.feeds import CounterLog, CounterMetrics
from tests.foreign.counter.machine import (
    PLACE_INDEX,
    counter_kind,
    decode_addition,
    decode_slot,
    describe,
    encode,
    read_head,
)
from tests.foreign.counter.performer import CounterPerformer
from tests.foreign.counter.request import AdditionPayload, NewAddition
from tests.foreign.counter.section import CounterSection
from tests.foreign.counter.values import Addition, RetryPlanned, RetryTuned

from laneway.core.errors import BadRequest, IntentNotFound, LaneNotFound
from laneway.core.ids import IntentId, LaneId, lane_id
from laneway.core.intent import Accepted, Arrival, IntentRow
from laneway.core.outcome import Status
from laneway.core.rows import Index, LaneView
from laneway.engine.listeners import Listener
from laneway.engine.system import SystemEntropy
from laneway.kinds.arrivals import RETRY_SCOPE, ArrivalMaker
from laneway.kinds.common.views import (
    empty_view,
    halts,
    pruned_tx,
    shown_lane,
    shown_tx,
    taken_tx,
    when,
)
from laneway.kinds.served import CommandPlan, Served, Verb
from laneway.lanes.kind import LaneKind, LaneState
from laneway.ports import Clock, IntentView
from laneway.wire.times import to_ms
from laneway.wire.values import Check, Lane, LaneHealth, Tx

WHOSE = "only a counter's lane knows it"
PREFIX = "counter:"


class CounterServed(Served):
    name = "counter"
    intent_verbs = (Verb("hurry", WHOSE),)
    lane_verbs = (Verb("tune", WHOSE),)

    def __init__(self, section: CounterSection, clock: Clock) -> None:
        self._section = section
        self._maker = ArrivalMaker(clock, SystemEntropy())
        self.counters = FileCounters(section.folder or "")
        self.performer = CounterPerformer(self.counters, clock, section.answer_ms)

    # Its life.

    def is_running(self) -> bool:
        return self._section.folder is not None

    def machine(self) -> LaneKind:
        return counter_kind(self._section.settings())

    def listeners(self) -> Sequence[Listener]:
        return (CounterLog(),)

    # What comes in.

    def lane_name(self, text: str) -> LaneId:
        if not self.is_running():
            raise LaneNotFound(text)
        return lane_id("counter", text.removeprefix(PREFIX))

    def _arrival(
        self,
        lane: LaneId,
        wanted: AdditionPayload,
        key: str | None,
        scope: str = "",
        valid_until_ms: int | None = None,
    ) -> Arrival:
        payload = encode(Addition(wanted.add, wanted.note))
        return self._maker.arrival(lane, payload, payload, key, scope, valid_until_ms)

    def arrival(self, new: NewAddition, key: str | None, scope: str, trace: str) -> Arrival:
        until_ms = None if new.valid_until is None else max(0, to_ms(new.valid_until))
        return self._arrival(self.lane_name(new.lane), new.payload, key, scope, until_ms)

    def requested(
        self,
        lane: LaneId,
        request: AdditionPayload | Mapping[str, Any],
        key: str | None,
        valid_until_ms: int | None,
        **more: Any,
    ) -> Arrival:
        asked = {**request, **more} if isinstance(request, Mapping) else request
        try:
            wanted = convert(asked, AdditionPayload, from_attributes=True)
        except ValidationError as error:
            raise BadRequest("request", str(error)) from None
        return self._arrival(lane, wanted, key, "", valid_until_ms)

    def again(self, view: IntentView) -> Arrival:
        said = decode_addition(view.intent.payload)
        wanted = AdditionPayload(add=said.amount, note=said.note)
        return self._arrival(view.intent.lane, wanted, view.intent.id, RETRY_SCOPE)

    # What is shown.

    def accepted(self, arrival: Arrival, answer: Accepted, new: Any = None) -> Tx:
        return taken_tx(arrival, answer, details=shown(arrival.payload))

    async def view(self, lane: str) -> LaneView:
        """A lane is there before anything was queued for it."""
        name = self.lane_name(lane)
        return await self.store.lane(name) or empty_view(name)

    def state(self, view: LaneView) -> LaneState:
        fault = self.engine.faults.get(view.tail.lane)
        if fault is not None:
            return LaneState("halted", fault.words(), fault.at_ms)
        return describe(view.head.state)

    def tx(self, view: IntentView, lane: LaneView) -> Tx:
        details, result = shown(view.intent.payload), view.result
        if result is not None:
            if result.history:
                details["attempts"] = decode_slot(result.history).attempt
            return shown_tx(view, result.status, "", block=result.number, details=details)
        state = self.state(lane)
        status = Status.SUBMITTED if view.open else Status.QUEUED
        due = when(state.next_ms) if view.open else None
        reason = state.reason and f"{state.word}: {state.reason}"
        return shown_tx(view, status.value, reason, next_attempt_at=due, details=details)

    def lane(self, view: LaneView, oldest_ms: int | None, now_ms: int) -> Lane:
        state = self.state(view)
        return shown_lane(
            view, state, state.running, oldest_ms, now_ms, details=self._details(view)
        )

    def health(self, view: LaneView) -> LaneHealth:
        problems = halts(self.state(view), "backing off")
        return LaneHealth(
            lane=view.tail.lane,
            healthy=not problems,
            problems=problems,
            details=self._details(view),
        )

    def _details(self, view: LaneView) -> dict[str, Any]:
        head = read_head(view.head.state)
        retry_ms = head.retry_ms or self._section.retry_ms
        return {"total": head.total, "retry_ms": retry_ms}

    def pruned(self, left: Index) -> Tx:
        return pruned_tx(left, None)

    async def at_number(self, lane: str, digits: str) -> IntentId:
        """The intent that is meant by `counter:NAME#PLACE`."""
        index = await self.store.find(PLACE_INDEX, f"{lane}#{digits}")
        if index is None:
            raise IntentNotFound(f"{lane}#{digits}")
        return index.intent

    # Commands.

    async def effect(self, verb: str, view: IntentView, argument: Any = None) -> str:
        if verb == "hurry":
            return "the counter would be read now" if view.open else "refused: it has not begun"
        return "refused: it may have been added" if view.open else "it would never be added"

    def followed(self, verb: str, row: IntentRow, *, final: bool, argument: Any = None) -> str:
        return "the counter is read now" if verb == "hurry" else "it will never be added"

    async def plan(self, verb: str, view: LaneView, argument: int) -> CommandPlan:
        before = self._details(view)["retry_ms"]
        effect = f"waits {argument} ms between two tries, where it waited {before} ms"
        return CommandPlan(effect, {"details": {"before": before, "after": argument}})

    def lane_word(self, verb: str, argument: int) -> str:
        return str(argument)

    def command_answer(self, verb: str, intent: IntentId | None, record: Any) -> str | None:
        """Which of its own records say that its own commands were followed."""
        if verb == "hurry" and isinstance(record, RetryPlanned) and record.hurried:
            return "" if record.intent == intent else None
        if verb == "tune" and isinstance(record, RetryTuned):
            return ""
        return super().command_answer(verb, intent, record)

    # Readiness, metrics and the first lines of a server.

    async def checks(self) -> Sequence[Check]:
        problem = self.counters.problem() if self.is_running() else ""
        return [Check("counters", not problem, problem or "can be written")]

    async def measure(self, meter: CounterMetrics) -> None:
        """The totals of a page of lanes, read for one scrape."""
        for view in await self.store.lanes(LaneId(PREFIX), 100):
            if view.tail.lane.startswith(PREFIX):
                meter.total.labels(view.tail.lane).set(read_head(view.head.state).total)

    def greeting(self, server: str) -> Sequence[str]:
        return [f"counters    {self.counters.folder}"] if self.is_running() else ()


def shown(payload: bytes) -> dict[str, Any]:
    said = decode_addition(payload)
    return {"add": said.amount, "note": said.note}
