"""Views of accounts' lanes and transactions, whatever their chain is."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any, ClassVar, Generic, TypeVar, cast

from msgspec import Struct

from laneway.core.errors import AccountNotFound, IntentNotFound, LaneNotFound
from laneway.core.ids import IntentId, LaneId
from laneway.core.intent import Accepted, Arrival
from laneway.core.outcome import Status
from laneway.core.rows import Head, Index, LaneView, Tail
from laneway.kinds.arrivals import RETRY_SCOPE
from laneway.kinds.common.lanes import AccountLanes
from laneway.kinds.limits import ACCOUNTS_SHOWN_MAX
from laneway.kinds.served import Served
from laneway.lanes.kind import LaneKind, LaneState
from laneway.ports import IntentView
from laneway.wire.hex import octets
from laneway.wire.numbers import read_digits
from laneway.wire.times import to_time
from laneway.wire.values import Lane, LaneHealth, Queue, Tx

A = TypeVar("A")
L = TypeVar("L")
V = TypeVar("V")


class AccountServed(Served, Generic[A, L]):
    """Serves the lanes that a configuration names, and turns rows and lanes in memory into views.
    `A` is an account as its configuration names it, `L` its lane in memory."""

    number_index: ClassVar[str]
    """The name of the index that has `LANE#NUMBER`; empty if its intents have no numbers."""
    named_so: ClassVar[tuple[str, str]]
    """What one of them is called, and the form of its name."""
    history: Callable[[bytes], Any]
    """Reads what a final answer keeps of its attempts."""
    digits: Callable[[bytes], str] = staticmethod(octets)
    """How hashes are written."""
    shows: Any
    """What its machine says of its lanes: its module `show`."""

    def __init__(self, lanes: AccountLanes[Any, A] | None) -> None:
        self.lanes = lanes

    # Its life.

    def is_running(self) -> bool:
        return self.lanes is not None

    def machine(self) -> LaneKind:
        assert self.lanes is not None
        return self.lanes.machine()

    async def open(self) -> None:
        if self.lanes is not None:
            await self.lanes.open()

    async def close(self) -> None:
        if self.lanes is not None:
            await self.lanes.close()

    async def rehearse(self) -> None:
        """Signers are opened, as a start does it."""
        await self.open()
        await self.close()

    def greeting(self, server: str) -> Sequence[str]:  # noqa: ARG002
        return () if self.lanes is None else account_lines(self.name, self.lanes.sections)

    def chains(self) -> Mapping[str, Any]:
        chains = {} if self.lanes is None else self.lanes.chains
        return {f"{self.name} {name}": chain for name, chain in chains.items()}

    def chain(self, lane: LaneId) -> object:
        if self.lanes is None:
            raise LaneNotFound(lane)
        account: Any = self.lanes.account(lane)
        return self.lanes.chains.get(account.chain_name)

    # Its lanes.

    def account(self, lane: LaneId) -> A | None:
        """None where the account is no longer configured."""
        try:
            return None if self.lanes is None else self.lanes.account(lane)
        except LaneNotFound:
            return None

    def lane_name(self, text: str) -> LaneId:
        """The lane's own id for what people write."""
        try:
            if self.lanes is not None:
                return self.lanes.lane(text)
        except LaneNotFound:
            pass
        raise AccountNotFound(text, *self.named_so)

    def held(self, lane: LaneId) -> L | None:
        """The lane as it stands in memory, if it is held here."""
        found: L | None = self.engine.reactor.lane(lane)
        return found

    async def view(self, lane: str) -> LaneView:
        """A configured account has a lane before anything was queued for it."""
        name = self.lane_name(lane)
        return await self.store.lane(name) or empty_view(name)

    def state(self, view: LaneView) -> LaneState:
        fault = self.engine.faults.get(view.tail.lane)
        if fault is not None:
            return LaneState("halted", fault.words(), fault.at_ms)
        found: LaneState = self.shows.describe(view.head.state)
        return found

    def slot(self, lane: LaneId, intent: IntentId) -> Any:
        """Of an intent that has a number, if the lane is held here."""
        held: Any = self.held(lane)
        return None if held is None else held.slot_of(intent)

    def bound_at(self, lane: LaneId, number: int) -> IntentId | None:
        """Whose number it is, while it is bound and the lane is held here."""
        held: Any = self.held(lane)
        slot = None if held is None else held.slot_at(number)
        return None if slot is None else slot.intent

    async def at_number(self, lane: str, digits: str) -> IntentId:
        try:
            number = read_digits(digits)
        except ValueError:
            raise IntentNotFound(f"{lane}#{digits}") from None
        name = self.lane_name(lane)
        bound = self.bound_at(name, number)
        if bound is not None:
            return bound
        index = await self.store.find(self.number_index, f"{name}#{number}")
        if index is None:
            raise IntentNotFound(f"{lane}#{digits}")
        return index.intent

    def sight(self, view: IntentView, state: bytes) -> Any:
        """Where one intent is; `state` is the head of its lane."""
        row, result, shows = view.intent, view.result, self.shows
        if result is not None:
            history = self.history(result.history) if result.history else None
            return shows.Sight(Status(result.status), "", history)
        lane, account = self.held(row.lane), cast(Any, self.account(row.lane))
        fault = self.engine.faults.get(row.lane)
        if fault is not None:
            status = Status.SUBMITTED if view.open else Status.QUEUED
            return shows.Sight(status, fault.words())
        if lane is not None:
            return shows.sight(lane, row.id)
        if view.open:
            # Its rows are with the process that holds the lane; that something is out is known.
            return shows.Sight(Status.SUBMITTED, self._elsewhere(row.lane, state))
        head = shows.read_head(state)
        waits = "" if account is None else shows.waiting(head, account.settings)
        return shows.Sight(Status.QUEUED, waits)

    def _elsewhere(self, lane: LaneId, state: bytes) -> str:
        """Why an intent waits whose lane this process does not hold; of a lane that is halted, the
        reason of that."""
        fault = self.engine.faults.get(lane)
        if fault is not None:
            return fault.words()
        described = self.shows.describe(state)
        return described.reason if described.word == "halted" else "held_elsewhere"

    def pruned(self, left: Index) -> Tx:
        return pruned_tx(left, None if left.hash is None else self.digits(left.hash))


def copied(view: Callable[..., V], source: Struct, **more: Any) -> V:
    """A view with the fields that a row has under the same names, and `more`."""
    names = view.__struct_fields__  # type: ignore[attr-defined]
    for name in names:
        if name not in more and hasattr(source, name):
            value = getattr(source, name)
            more[name] = list(value) if isinstance(value, tuple) else value
    return view(**more)


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
        reason="retention removed it; only its final status is kept",
        seq=0,
        accepted_at=to_time(0),
        hash=hash_,
    )


def shown_lane(
    view: LaneView, state: LaneState, taken: int, oldest_ms: int | None, now_ms: int, **more: Any
) -> Lane:
    """What every lane has, `taken` of whose intents have a number or execute, and `more`. Its queue
    is that of an account unless `more` has one."""
    left = view.depth() - taken
    since_ms = state.running_since_ms
    more.setdefault("queue", account_queue(view, left))
    return Lane(
        id=view.tail.lane,
        state="ready" if state.word == "idle" and left else state.word,
        reason=state.reason,
        by=state.by,
        since=when(state.since_ms or None),
        waiting=left,
        running=taken,
        oldest_waiting_ms=None if oldest_ms is None else age(oldest_ms, now_ms),
        running_ms=None if since_ms is None else age(since_ms, now_ms),
        failures=state.failures,
        **more,
    )


def account_queue(view: LaneView, waiting: int) -> Queue:
    return Queue(
        fast=0,
        slow=waiting,
        enqueued=view.tail.accepted_count,
        executed=view.head.settled_count,
        fast_hits=view.tail.fast_hits,
        slow_hits=view.tail.slow_hits,
        dropped=0,
    )


def shown_health(view: LaneView, problems: list[str], **more: Any) -> LaneHealth:
    lane = view.tail.lane
    return LaneHealth(lane=lane, healthy=not problems, problems=problems, **more)


def halts(state: LaneState, *states: str) -> list[str]:
    """What a person should look at, in a lane's state."""
    if state.word in ("paused", "draining"):
        by = f" by {state.by}" if state.by else ""
        return [f"{state.word}{by}: {state.reason}"]
    return [state.reason] if state.word in ("halted", *states) else []


def age(since_ms: int, now_ms: int) -> int:
    """Never below zero: a wall clock may be set back."""
    return max(0, now_ms - since_ms)


def account_lines(kind: str, chains: Sequence[Any]) -> list[str]:
    """The lanes that can be sent to, chain by chain; of many accounts the first ones."""
    lines = []
    for chain in chains:
        names = [f"{kind}:{chain.name}:{account.name}" for account in chain.accounts]
        rest = len(names) - ACCOUNTS_SHOWN_MAX
        more = f" and {rest} more" if rest > 0 else ""
        listed = " ".join(names[:ACCOUNTS_SHOWN_MAX]) or f"none of {kind}:{chain.name}"
        lines.append(f"accounts    {listed}{more} (chain {chain.chain_id})")
    return lines
