"""The smallest lane kind: it begins intents up to its window, and ends them when told.

And a desk that carries the reactor's orders to a store in memory, one by one, as a test says.
"""

from collections.abc import Sequence
from typing import Any, TypeVar

import msgspec
from msgspec import Struct

from laneway.core.ids import IntentId, LaneId, Owner, intent_id
from laneway.core.intent import Accepted, Arrival, IntentRow
from laneway.core.records import Decision
from laneway.core.rows import (
    START,
    Command,
    Cursors,
    HeadWrite,
    Lease,
    Result,
    RowKey,
    RowPut,
    Rows,
    Touched,
)
from laneway.engine.orders import (
    CommitDone,
    Open,
    Order,
    Perform,
    Prompt,
    ReadBacklog,
    ReadMailbox,
    Release,
    Revived,
    Stopped,
)
from laneway.engine.reactor import Reactor
from laneway.engine.run import Windows
from laneway.lanes.kind import LaneKind, LaneState
from laneway.ports import Commit
from laneway.stores.book import flush
from laneway.stores.memory import MemoryBook

T = TypeVar("T")


class Offered(Struct, frozen=True):
    now_ms: int
    intents: tuple[IntentRow, ...]


class Finished(Struct, frozen=True):
    """The answer to Do."""

    intent: IntentId


class Ignored(Struct, frozen=True):
    """An event that changes nothing."""


class Broke(Struct, frozen=True):
    """An event that meets a bug, after it has changed the lane."""


class CommandReceived(Struct, frozen=True):
    command: Command


class Woken(Struct, frozen=True):
    now_ms: int


class Begun(Struct, frozen=True, tag=True):
    intent: IntentId
    seq: int
    priority: int


class Ended(Struct, frozen=True, tag=True):
    intent: IntentId


class Dropped(Struct, frozen=True, tag=True):
    intent: IntentId


class ModeChanged(Struct, frozen=True, tag=True):
    mode: str
    alarm_ms: int | None = None


Record = Begun | Ended | Dropped | ModeChanged


class Do(Struct, frozen=True):
    intent: IntentId


class State(Struct):
    cursors: Cursors = START
    settled: int = 0
    mode: str = "running"
    alarm_ms: int | None = None


class ToyLane:
    def __init__(self, lane: LaneId) -> None:
        self.id = lane
        self.state = State()
        self.open: dict[IntentId, int] = {}
        self.intents: dict[str, IntentRow] = {}


encode = msgspec.msgpack.encode


def restore(rows: Rows) -> ToyLane:
    lane = ToyLane(rows.head.lane)
    if rows.head.state:
        lane.state = msgspec.msgpack.decode(rows.head.state, type=State)
    for row in rows.open:
        lane.open[IntentId(row.key)] = msgspec.msgpack.decode(row.body, type=int)
    lane.intents = {intent.id: intent for intent in rows.intents}
    return lane


def evolve(lane: ToyLane, record: Record) -> Touched:
    state = lane.state
    match record:
        case Begun(intent=intent, seq=seq, priority=priority):
            cursors = list(state.cursors)
            assert seq > cursors[priority]
            cursors[priority] = seq
            state.cursors = tuple(cursors)
            lane.open[intent] = seq
            return (RowPut("slot", intent, intent, encode(seq)),)
        case Ended(intent=intent):
            del lane.open[intent]
            state.settled += 1
            lane.intents.pop(intent, None)
            return (Result(intent, "confirmed", 0), RowKey("slot", intent))
        case Dropped(intent=intent):
            state.settled += 1
            return (Result(intent, "cancelled", 0),)
        case ModeChanged(mode=mode, alarm_ms=alarm_ms):
            state.mode, state.alarm_ms = mode, alarm_ms
            return ()


def head(lane: ToyLane, wake_ms: int | None) -> HeadWrite:
    state = lane.state
    return HeadWrite(state.cursors, state.settled, 0, wake_ms, encode(state))


def describe(state: bytes) -> LaneState:
    mode = msgspec.msgpack.decode(state, type=State).mode if state else "running"
    return LaneState(mode, "", 0)


def resume(lane: ToyLane) -> tuple[Do, ...]:
    return tuple(Do(intent) for intent in lane.open)


def toy_kind(window: int = 1) -> LaneKind:
    def wants(lane: ToyLane) -> int:
        return window - len(lane.open) if lane.state.mode == "running" else 0

    def decide(lane: ToyLane, event: Any) -> Decision[Record, Do]:
        match event:
            case Offered(intents=intents):
                if any(intent.payload == b"poison" for intent in intents):
                    raise RuntimeError("an invariant is broken")
                if len(intents) > 1 and intents[-1].payload == b"no":
                    intents = intents[:-1]  # It changes its mind about the last one.
                begun = tuple(Begun(i.id, i.seq, i.priority) for i in intents)
                return Decision(begun, tuple(Do(i.id) for i in intents))
            case Finished(intent=intent):
                return Decision((Ended(intent),)) if intent in lane.open else Decision()
            case CommandReceived(command=Command(verb="cancel", intent=intent)):
                assert intent is not None
                return Decision((Dropped(intent),))
            case CommandReceived(command=Command(verb="break")):
                raise RuntimeError("an invariant is broken")
            case CommandReceived(command=command):
                return Decision((ModeChanged(command.verb),))
            case Woken():
                return Decision((ModeChanged("running"),))
            case Broke():
                lane.state.settled += 1_000
                raise RuntimeError("an invariant is broken")
            case _:
                return Decision()

    return LaneKind(
        name="toy",
        empty=ToyLane,
        restore=restore,
        decide=decide,
        evolve=evolve,
        resume=resume,
        wants=wants,
        deadline=lambda lane: lane.state.alarm_ms,
        head=head,
        cursors=lambda lane: lane.state.cursors,
        offered=Offered,
        commanded=lambda _, command: CommandReceived(command),
        woken=Woken,
        encode=encode,
        decode=lambda records: msgspec.msgpack.decode(records, type=tuple[Record, ...]),
        describe=describe,
    )


A = LaneId("toy:A")
B = LaneId("toy:B")


class Desk:
    """A reactor and its store, with the test in between."""

    def __init__(
        self, window: int = 1, windows: Windows | None = None, prompt: Prompt | None = None
    ) -> None:
        self.book = MemoryBook()
        prompts = {} if prompt is None else {"toy": prompt}
        self.reactor = Reactor({"toy": toy_kind(window)}, Owner("me"), windows, prompts=prompts)
        self.now_ms = 1_000
        self.born = 0
        self.done: list[Order] = []
        """What was told, performed, released and stopped, in order."""
        self.beat()

    def beat(self) -> None:
        self.book.beat(Owner("me"), 1 << 40, self.now_ms)

    def group(self, answer: T) -> T:
        flush(self.book)
        return answer

    # The door.

    def accept(
        self, lane: LaneId = A, *, priority: int = 0, payload: bytes = b"x"
    ) -> tuple[Arrival, int]:
        """Durable, and nobody knows of it yet."""
        self.born += 1
        arrival = Arrival(
            id=intent_id(self.born, bytes(10)),
            lane=lane,
            payload=payload,
            digest=b"",
            accepted_ms=self.now_ms,
            priority=priority,
        )
        self.book.begin()
        (answer,) = self.group(self.book.accept([arrival]))
        assert isinstance(answer, Accepted)
        return arrival, answer.seq

    def submit(self, lane: LaneId = A, *, priority: int = 0, payload: bytes = b"x") -> IntentId:
        arrival, seq = self.accept(lane, priority=priority, payload=payload)
        if not self.reactor.handed(arrival, seq):
            self.reactor.woken(lane, priority)
        return arrival.id

    def tell(self, verb: str, intent: IntentId | None = None, lane: LaneId = A) -> None:
        self.book.begin()
        self.group(self.book.tell(Command(0, lane, verb, self.now_ms, intent=intent)))
        self.reactor.called(lane)

    # Orders.

    def orders(self) -> list[Order]:
        return self.reactor.orders(self.now_ms)

    def answer(self, order: Order) -> None:
        """Carry an order out, all of it and at once."""
        match order:
            case Open(lane=lane):
                lease = self.claim(lane)
                self.reactor.opened(lease, self.book.load(lease))
            case ReadBacklog(lease=lease, after=after, limit=limit):
                self.reactor.backlog_read(lease, self.book.backlog(lease, after, limit))
            case ReadMailbox(lease=lease):
                self.reactor.mailbox_read(lease, self.book.mailbox(lease))
            case Commit(lease=lease):
                self.reactor.committed(lease, self.commit(order))
            case Release(lease=lease):
                self.book.begin()
                self.book.release(lease)
                flush(self.book)
                self.done.append(order)
            case Perform() | CommitDone() | Stopped() | Revived():
                self.done.append(order)

    def claim(self, lane: LaneId) -> Lease:
        self.book.begin()
        lease = self.group(self.book.claim(lane, Owner("me"), self.now_ms))
        assert lease is not None
        return lease

    def commit(self, order: Commit) -> int:
        self.book.begin()
        return self.group(self.book.commit(order.lease, order.version, order.write))

    def settle(self) -> list[Order]:
        """Answer everything until nothing is left to do; what was done since the last time."""
        while (orders := self.orders()) or self.reactor.has_work():
            for order in orders:
                self.answer(order)
        done, self.done = self.done, []
        return done

    def until(self, kind: type[T]) -> T:
        """Answer everything up to the first order of this kind, which is left to the test."""
        for _ in range(100):
            orders = self.orders()
            found: list[T] = []
            for order in orders:
                if isinstance(order, kind):
                    found.append(order)
                else:
                    self.answer(order)
            if found:
                assert len(found) == 1
                return found[0]
        raise AssertionError(f"no {kind.__name__} was ordered")

    def finish(self, intent: IntentId, lane: LaneId = A) -> None:
        self.reactor.answered(lane, Finished(intent))

    def status(self, intent: IntentId) -> str | None:
        view = self.book.intent(intent)
        assert view is not None
        return None if view.result is None else view.result.status


def performed(orders: Sequence[Order]) -> list[IntentId]:
    return [order.effect.intent for order in orders if isinstance(order, Perform)]


def kinds(orders: Sequence[Order]) -> list[str]:
    return [type(order).__name__ for order in orders]
