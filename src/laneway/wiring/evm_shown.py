"""What people are shown of an account's lane and of its transactions."""

from datetime import datetime
from typing import Protocol

from laneway.core.errors import AccountNotFound, LaneNotFound
from laneway.core.ids import IntentId, LaneId
from laneway.core.outcome import Status
from laneway.core.rows import Head, Index, LaneView, Tail
from laneway.core.units import value
from laneway.engine.shell import Engine
from laneway.lanes.eoa.commands import ResetPlan, plan_reset
from laneway.lanes.eoa.lane import EoaLane, decode_history
from laneway.lanes.eoa.rows import Attempt, EoaHead, History
from laneway.lanes.eoa.settings import EoaSettings
from laneway.lanes.eoa.show import Sight, answers, describe, inflight, read_head, sight, waiting
from laneway.lanes.kind import LaneState
from laneway.ports import EvmRequest, IntentView
from laneway.wire.evm import CleanupReport, EvmAttempt, EvmLane, EvmTx, LaneHealth, NonceReset
from laneway.wire.hex import octets
from laneway.wire.times import to_time
from laneway.wire.values import Lane, Queue, Tx
from laneway.wiring.arrivals import RETRY_SCOPE
from laneway.wiring.evm_request import checksummed, decode, payload_of
from laneway.wiring.shown import IntentShown, age


class Account(Protocol):
    """One account as its configuration names it."""

    @property
    def name(self) -> str: ...
    @property
    def address(self) -> bytes: ...
    @property
    def chain_id(self) -> int: ...
    @property
    def chain_name(self) -> str: ...
    @property
    def settings(self) -> EoaSettings: ...


def empty_view(lane: LaneId) -> LaneView:
    """Of an account that was never asked for anything."""
    return LaneView(Tail(lane), Head(lane), leased=False)


class Accounts(Protocol):
    """The accounts that this process was given."""

    def lane(self, text: str) -> LaneId: ...
    def account(self, lane: LaneId) -> Account: ...
    def lanes(self) -> list[LaneId]: ...


class EvmTeller:
    """Turns rows, and the lanes that this process holds, into what people are shown."""

    def __init__(self, engine: Engine, accounts: Accounts | None) -> None:
        self._engine = engine
        self._accounts = accounts

    def account(self, lane: LaneId) -> Account | None:
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

    def held(self, lane: LaneId) -> EoaLane | None:
        """The lane as it stands in memory, if it is held here."""
        found: EoaLane | None = self._engine.reactor.lane(lane)
        return found

    # Transactions.

    def tx(self, view: IntentView, lane: LaneView) -> Tx:
        row, result = view.intent, view.result
        account = self.account(row.lane)
        head = read_head(lane.head.state)
        seen = self._sight(view, head, account)
        history = seen.history
        request = decode(row.payload)
        slot = None if history is None else history.slot
        mined = None if slot is None else slot.seen
        return Tx(
            id=row.id,
            lane=row.lane,
            status=seen.status.value,
            final=result is not None,
            reason=seen.waits if result is None else result.reason,
            seq=row.seq,
            accepted_at=to_time(row.accepted_ms),
            idempotency_key=None if row.scope == RETRY_SCOPE else row.key,
            retry_of=row.key if row.scope == RETRY_SCOPE else None,
            priority=row.priority,
            valid_until=when(row.valid_until_ms),
            settled_at=None if result is None else to_time(result.settled_ms),
            block=None if mined is None else mined.block,
            traceparent=request.trace or None,
            hash=hash_of(history),
            nonce=None if slot is None else slot.nonce,
            evm=evm_of(request, seen, head, final=result is not None),
        )

    def _sight(self, view: IntentView, head: EoaHead, account: Account | None) -> Sight:
        row, result = view.intent, view.result
        if result is not None:
            history = decode_history(result.history) if result.history else None
            return Sight(Status(result.status), "", history)
        lane = self.held(row.lane)
        if lane is not None:
            return sight(lane, row.id)
        if view.open:
            # Its rows are with the process that holds the lane; that something is out is known.
            return Sight(Status.SUBMITTED, "held_elsewhere")
        return Sight(Status.QUEUED, "" if account is None else waiting(head, account.settings))

    def intent(self, view: IntentView, lane: LaneView) -> IntentShown:
        """As the library shows it."""
        tx = self.tx(view, lane)
        row = view.intent
        return IntentShown(
            row.id, row.lane, tx.status, tx.reason, row.key, row.seq, row.accepted_ms, tx.block
        )

    def at_nonce(self, lane: LaneId, nonce: int) -> IntentId | None:
        """Whose number it is, while it is bound and the lane is held here."""
        held = self.held(lane)
        slot = None if held is None else held.slot_at(nonce)
        return None if slot is None else slot.intent

    # Lanes.

    def lane(self, view: LaneView, oldest_ms: int | None, now_ms: int) -> Lane:
        account = self.account(view.tail.lane)
        state, head = self.state(view), read_head(view.head.state)
        taken = inflight(head)
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
                executed=head.settled_count,
                fast_hits=view.tail.fast_hits,
                slow_hits=view.tail.slow_hits,
                dropped=0,
            ),
            evm=None if account is None else lane_of(view, head, account),
        )

    def state(self, view: LaneView) -> LaneState:
        fault = self._engine.faults.get(view.tail.lane)
        if fault is not None:
            return LaneState("halted", f"stopped by a bug: {fault!r}", 0)
        return describe(view.head.state)

    def health(self, view: LaneView) -> LaneHealth:
        account = self.account(view.tail.lane)
        head, state = read_head(view.head.state), self.state(view)
        problems: list[str] = []
        if state.word == "halted":
            problems.append(state.reason)
        if state.word in ("paused", "draining"):
            by = f" by {state.by}" if state.by else ""
            problems.append(f"{state.word}{by}: {state.reason}")
        if head.crowded:
            problems.append(f"{state.reason}; reset-nonce with dry_run shows what it can do")
        report = head.report
        if report.cross_nonce_violations or report.per_nonce_violations:
            problems.append("the last cleanup found a nonce or an intent that was mined twice")
        return LaneHealth(
            lane=view.tail.lane,
            healthy=not problems,
            problems=problems,
            evm=None if account is None else lane_of(view, head, account),
        )

    def plan(self, view: LaneView) -> ResetPlan | None:
        """What a reset would do; None where that is known to another process alone, or not yet."""
        lane = self.held(view.tail.lane)
        if lane is not None:
            return plan_reset(lane)
        head = read_head(view.head.state)
        if head.nonce_next is None or head.open_count:
            return None
        free = head.free_count
        return ResetPlan(head.nonce_next, head.latest, 0, None, free, head.latest, free)


def reset_of(plan: ResetPlan) -> NonceReset:
    return NonceReset(
        nonce_next=plan.nonce_next,
        latest=plan.latest,
        bound=plan.bound,
        bound_highest=plan.bound_highest,
        recycled=plan.free,
        becomes=plan.becomes,
        forgotten=plan.forgotten,
        why_not_lower=plan.why(),
    )


def when(at_ms: int | None) -> datetime | None:
    return None if at_ms is None else to_time(at_ms)


def hash_of(history: History | None) -> str | None:
    if history is None or not history.attempts:
        return None
    mined = history.slot.seen
    for attempt in history.attempts:
        if mined is not None and attempt.number == mined.attempt:
            return octets(attempt.hash)
    return octets(history.attempts[-1].hash)


def evm_of(request: EvmRequest, seen: Sight, head: EoaHead, *, final: bool) -> EvmTx:
    history = seen.history
    mined = None if history is None else history.slot.seen
    above = None
    if mined is not None and not final:
        above = max(1, head.block - mined.block + 1)
    replaced = None if history is None or not history.payload else decode(history.payload)
    return EvmTx(
        payload=payload_of(request),
        blob_hashes=[] if request.blobs is None else [octets(one) for one in request.blobs.hashes],
        replacement=None if replaced is None else payload_of(replaced),
        replaced=0 if history is None else history.slot.content,
        wait_reason=seen.waits,
        confirmations=above,
        block_hash=None if mined is None else octets(mined.block_hash),
        gas_used=None if mined is None else mined.gas_used,
        gas_price=None if mined is None else str(mined.price),
        attempts=[]
        if history is None
        else [
            attempt_of(one, mined is not None and mined.attempt == one.number)
            for one in history.attempts
        ],
    )


def attempt_of(attempt: Attempt, mined: bool) -> EvmAttempt:
    return EvmAttempt(
        number=attempt.number,
        hash=octets(attempt.hash),
        purpose=attempt.purpose,
        content=attempt.content,
        max_fee_per_gas=str(attempt.fee.cap),
        max_priority_fee_per_gas=str(attempt.fee.tip),
        gas=attempt.gas,
        signed_at=to_time(attempt.made_ms),
        nodes=answers(attempt),
        reason=attempt.reason,
        mined=mined,
    )


def lane_of(view: LaneView, head: EoaHead, account: Account) -> EvmLane:
    health, settings = head.health, account.settings
    return EvmLane(
        chain_id=account.chain_id,
        chain=account.chain_name,
        account=account.name,
        address=checksummed(account.address),
        nonce_next=head.nonce_next,
        latest=head.latest,
        preconfirmed=head.preconfirmed,
        block=head.block,
        pending=view.depth() - inflight(head),
        borrowed=head.open_count - head.submitted_count,
        submitted=head.submitted_count,
        recycled=head.free_count,
        max_recycled_nonces=settings.recycled_max,
        paused_by_recycled=head.crowded,
        inflight=0 if head.nonce_next is None else max(0, head.nonce_next - head.latest),
        window=settings.inflight_max(),
        balance=None if health.balance is None else str(value(health.balance)),
        balance_at=when(health.balance_ms or None),
        balance_threshold=str(value(health.threshold)),
        out_of_funds=head.broke,
        inflight_cost=str(value(head.spend)),
        last_confirmation_at=when(health.confirmed_ms or None),
        last_nonce_movement_at=when(health.moved_ms or None),
        nonce_resets=[to_time(at_ms) for at_ms in health.resets_ms],
        cleanup=cleanup_of(head),
    )


def cleanup_of(head: EoaHead) -> CleanupReport | None:
    report = head.report
    if not report.at_ms:
        return None
    return CleanupReport(
        at=to_time(report.at_ms),
        moved_to_success=report.moved_to_success,
        moved_to_pending=report.moved_to_pending,
        noop_count=report.noop_count,
        cross_nonce_violations=report.cross_nonce_violations,
        per_nonce_violations=report.per_nonce_violations,
        nonces_without_receipts=report.nonces_without_receipts,
    )


def pruned_tx(left: Index) -> Tx:
    """What is left of one that retention removed."""
    return Tx(
        id=left.intent,
        lane=left.lane,
        status=left.status,  # type: ignore[arg-type]
        final=True,
        reason="retention removed it; only its final word is kept",
        seq=0,
        accepted_at=to_time(0),
        hash=None if left.hash is None else octets(left.hash),
    )
