"""What people are shown of accounts' lanes and transactions, whatever their chain is."""

from collections.abc import Callable
from datetime import datetime
from typing import Any, ClassVar, Generic, Protocol, TypeVar

from laneway.core.errors import AccountNotFound, LaneNotFound
from laneway.core.ids import IntentId, LaneId
from laneway.core.intent import Accepted, Arrival
from laneway.core.outcome import Status
from laneway.core.rows import Head, Index, LaneView, Tail
from laneway.engine.shell import Engine
from laneway.lanes.kind import LaneState
from laneway.ports import IntentView
from laneway.wire.times import to_time
from laneway.wire.values import Lane, LaneHealth, Queue, Tx
from laneway.wiring.arrivals import RETRY_SCOPE
from laneway.wiring.shown import age


class Set(Protocol):
    """An account as its configuration names it."""

    @property
    def settings(self) -> Any: ...


class Numbered(Protocol):
    """A lane in memory, whose intents have numbers."""

    def slot_at(self, number: int, /) -> Any: ...
    def slot_of(self, intent: IntentId, /) -> Any: ...


A_co = TypeVar("A_co", bound=Set, covariant=True)
L = TypeVar("L", bound=Numbered)


class Accounts(Protocol[A_co]):
    """The accounts that this process was given."""

    def lane(self, text: str) -> LaneId: ...
    def account(self, lane: LaneId) -> A_co: ...


class Words(Protocol):
    """What a machine says of its lanes: its module `show`."""

    Sight: type[Any]

    def describe(self, state: bytes, /) -> LaneState: ...
    def read_head(self, state: bytes, /) -> Any: ...
    def sight(self, lane: Any, intent: IntentId, /) -> Any: ...
    def waiting(self, head: Any, settings: Any, /) -> str: ...


class AccountTeller(Generic[A_co, L]):
    """Turns rows, and the lanes that this process holds, into what people are shown. `A_co` is an
    account as its configuration names it, `L` its lane in memory."""

    number_index: ClassVar[str]
    """The name of the index that has `LANE#NUMBER`; none has its name where there is none."""

    def __init__(
        self,
        engine: Engine,
        accounts: Accounts[A_co] | None,
        words: Words,
        decode_history: Callable[[bytes], Any],
    ) -> None:
        self._engine = engine
        self._accounts = accounts
        self._words = words
        self._decode = decode_history

    def account(self, lane: LaneId) -> A_co | None:
        """None where the account is no longer configured."""
        try:
            return None if self._accounts is None else self._accounts.account(lane)
        except LaneNotFound:
            return None

    def name(self, text: str) -> LaneId:
        """The lane's own name for what people write."""
        try:
            if self._accounts is not None:
                return self._accounts.lane(text)
        except LaneNotFound:
            pass
        raise AccountNotFound(text)

    def held(self, lane: LaneId) -> L | None:
        """The lane as it stands in memory, if it is held here."""
        found: L | None = self._engine.reactor.lane(lane)
        return found

    def state(self, view: LaneView) -> LaneState:
        fault = self._engine.faults.get(view.tail.lane)
        if fault is not None:
            return LaneState("halted", fault.words(), fault.at_ms)
        return self._words.describe(view.head.state)

    def slot(self, lane: LaneId, intent: IntentId) -> Any:
        """Of an intent that has a number, if the lane is held here."""
        held = self.held(lane)
        return None if held is None else held.slot_of(intent)

    def at_number(self, lane: LaneId, number: int) -> IntentId | None:
        """Whose number it is, while it is bound and the lane is held here."""
        held = self.held(lane)
        slot = None if held is None else held.slot_at(number)
        return None if slot is None else slot.intent

    def sight(self, view: IntentView, state: bytes) -> Any:
        """Where one intent is; `state` is the head of its lane."""
        row, result, words = view.intent, view.result, self._words
        if result is not None:
            history = self._decode(result.history) if result.history else None
            return words.Sight(Status(result.status), "", history)
        lane, account = self.held(row.lane), self.account(row.lane)
        fault = self._engine.faults.get(row.lane)
        if fault is not None:
            status = Status.SUBMITTED if view.open else Status.QUEUED
            return words.Sight(status, fault.words())
        if lane is not None:
            return words.sight(lane, row.id)
        if view.open:
            # Its rows are with the process that holds the lane; that something is out is known.
            return words.Sight(Status.SUBMITTED, self._elsewhere(row.lane, state))
        head = words.read_head(state)
        waits = "" if account is None else words.waiting(head, account.settings)
        return words.Sight(Status.QUEUED, waits)

    def _elsewhere(self, lane: LaneId, state: bytes) -> str:
        """Why an intent waits whose lane this process does not hold; of a lane that is halted, the
        reason of that."""
        fault = self._engine.faults.get(lane)
        if fault is not None:
            return fault.words()
        told = self._words.describe(state)
        return told.reason if told.word == "halted" else "held_elsewhere"

    # What each kind knows for itself.

    def tx(self, view: IntentView, lane: LaneView) -> Tx:
        raise NotImplementedError

    def lane(self, view: LaneView, oldest_ms: int | None, now_ms: int) -> Lane:
        raise NotImplementedError

    def health(self, view: LaneView) -> LaneHealth:
        raise NotImplementedError

    def pruned(self, left: Index) -> Tx:
        """What is left of one that retention removed."""
        raise NotImplementedError


def empty_view(lane: LaneId) -> LaneView:
    """Of an account that was never asked for anything."""
    return LaneView(Tail(lane), Head(lane), leased=False)


def when(at_ms: int | None) -> datetime | None:
    return None if at_ms is None else to_time(at_ms)


def shown_tx(view: IntentView, status: str, waits: str, **more: Any) -> Tx:
    """What every transaction has, and `more`."""
    row, result = view.intent, view.result
    return Tx(
        id=row.id,
        lane=row.lane,
        status=status,  # type: ignore[arg-type]
        final=result is not None,
        reason=waits if result is None else result.reason,
        seq=row.seq,
        accepted_at=to_time(row.accepted_ms),
        idempotency_key=None if row.scope == RETRY_SCOPE else row.key,
        retry_of=row.key if row.scope == RETRY_SCOPE else None,
        priority=row.priority,
        valid_until=when(row.valid_until_ms),
        settled_at=None if result is None else to_time(result.settled_ms),
        **more,
    )


def taken_tx(arrival: Arrival, answer: Accepted, **more: Any) -> Tx:
    """One that became durable just now: nothing needs to be read for it."""
    return Tx(
        id=arrival.id,
        lane=arrival.lane,
        status=Status.QUEUED.value,
        final=False,
        reason="",
        seq=answer.seq,
        accepted_at=to_time(arrival.accepted_ms),
        idempotency_key=None if arrival.scope == RETRY_SCOPE else arrival.key,
        retry_of=arrival.key if arrival.scope == RETRY_SCOPE else None,
        valid_until=when(arrival.valid_until_ms),
        **more,
    )


def pruned_tx(left: Index, hash_: str | None) -> Tx:
    return Tx(
        id=left.intent,
        lane=left.lane,
        status=left.status,  # type: ignore[arg-type]
        final=True,
        reason="retention removed it; only its final word is kept",
        seq=0,
        accepted_at=to_time(0),
        hash=hash_,
    )


def shown_lane(
    view: LaneView, state: LaneState, taken: int, oldest_ms: int | None, now_ms: int, **more: Any
) -> Lane:
    """What every account's lane has, `taken` of whose intents have a number, and `more`."""
    left = view.depth() - taken
    return Lane(
        id=view.tail.lane,
        state="ready" if state.word == "idle" and left else state.word,
        reason=state.reason,
        by=state.by,
        since=when(state.since_ms or None),
        waiting=left,
        running=taken,
        oldest_waiting_ms=None if oldest_ms is None else age(oldest_ms, now_ms),
        running_ms=None,
        failures=0,
        queue=Queue(
            fast=0,
            slow=left,
            enqueued=view.tail.accepted_count,
            executed=view.head.settled_count,
            fast_hits=view.tail.fast_hits,
            slow_hits=view.tail.slow_hits,
            dropped=0,
        ),
        **more,
    )


def halts(state: LaneState, *words: str) -> list[str]:
    """What a person should look at, in a lane's state."""
    if state.word in ("paused", "draining"):
        by = f" by {state.by}" if state.by else ""
        return [f"{state.word}{by}: {state.reason}"]
    return [state.reason] if state.word in ("halted", *words) else []
