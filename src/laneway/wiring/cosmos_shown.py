"""What people are shown of a Cosmos account's lane and of its transactions."""

from typing import Protocol

from laneway.core.ids import LaneId
from laneway.core.outcome import Status
from laneway.core.rows import Index, LaneView
from laneway.engine.shell import Engine
from laneway.feeds.recoveries import what_next
from laneway.feeds.sequence_events import digits
from laneway.lanes.sequence import show
from laneway.lanes.sequence.commands import SequencePlan, plan_sequence
from laneway.lanes.sequence.lane import SequenceLane, decode_history
from laneway.lanes.sequence.rows import Attempt, History, Node, SequenceHead
from laneway.lanes.sequence.settings import SequenceSettings
from laneway.lanes.sequence.show import RECOVERING, Sight, read_head, recovery
from laneway.ports import CosmosRequest, IntentView
from laneway.wire.cosmos import CosmosAttempt, CosmosLane, CosmosNode, CosmosTx, NextSequence
from laneway.wire.times import to_time
from laneway.wire.values import Lane, LaneHealth, Tx
from laneway.wiring.account_shown import (
    Accounts,
    AccountTeller,
    halts,
    pruned_tx,
    shown_lane,
    shown_tx,
    when,
)
from laneway.wiring.cosmos_request import Payer, decode, said_of
from laneway.wiring.limits import TX_OVERHEAD_BYTES


class Account(Payer, Protocol):
    """One account as its configuration names it."""

    @property
    def name(self) -> str: ...
    @property
    def chain_id(self) -> str: ...
    @property
    def chain_name(self) -> str: ...
    @property
    def settings(self) -> SequenceSettings: ...
    @property
    def worker_of(self) -> LaneId | None: ...


class CosmosTeller(AccountTeller[Account, SequenceLane]):
    """Of Cosmos accounts."""

    number_index = "sequence"

    def __init__(
        self, engine: Engine, accounts: Accounts[Account] | None, account_bytes_max: int
    ) -> None:
        super().__init__(engine, accounts, show, decode_history)
        self._bytes_max = account_bytes_max

    def payer(self, lane: LaneId) -> Account:
        """The account of a lane that is configured here."""
        assert self._accounts is not None
        return self._accounts.account(lane)

    # Transactions.

    def tx(self, view: IntentView, lane: LaneView) -> Tx:
        seen: Sight = self.sight(view, lane.head.state)
        request = decode(view.intent.payload)
        told = cosmos_of(request, seen)
        return shown_tx(
            view,
            seen.status.value,
            seen.waits,
            block=told.height,
            traceparent=request.trace or None,
            hash=told.hash,
            cosmos=told,
        )

    def pruned(self, left: Index) -> Tx:
        return pruned_tx(left, None if left.hash is None else digits(left.hash))

    # Lanes.

    def lane(self, view: LaneView, oldest_ms: int | None, now_ms: int) -> Lane:
        head, state = read_head(view.head.state), self.state(view)
        cosmos = self._lane(view, head)
        return shown_lane(view, state, head.open_count, oldest_ms, now_ms, cosmos=cosmos)

    def health(self, view: LaneView) -> LaneHealth:
        head = read_head(view.head.state)
        problems = halts(self.state(view), RECOVERING)
        if head.watched_count:
            problems.append(
                f"{head.watched_count} are indeterminate: nobody knows who used their sequences"
            )
        return LaneHealth(
            lane=view.tail.lane,
            healthy=not problems,
            problems=problems,
            cosmos=self._lane(view, head),
        )

    def _lane(self, view: LaneView, head: SequenceHead) -> CosmosLane | None:
        account = self.account(view.tail.lane)
        if account is None:
            return None
        live = [node for node in head.nodes if not node.gone]
        stopped = [node for node in live if node.reason]
        return CosmosLane(
            chain_id=account.chain_id,
            chain=account.chain_name,
            account=account.name,
            address=account.address,
            worker_of=account.worker_of,
            sequence_next=head.sequence_next,
            committed=head.committed,
            account_number=head.account_number,
            account_missing=head.is_missing,
            height=head.height,
            recovering=bool(live) and len(stopped) == len(live),
            reason="; ".join(recovery(node) for node in stopped),
            nodes=[node_of(node) for node in head.nodes],
            pending=view.depth() - head.open_count,
            bound=head.open_count,
            fillers=head.filler_count,
            watched=head.watched_count,
            window=account.settings.inflight,
            signed_bytes=head.signed_bytes,
            # As the door counts: each payload stands for what is signed of it as well.
            held_bytes=2 * view.depth_bytes() + view.depth() * TX_OVERHEAD_BYTES,
            held_bytes_max=self._bytes_max,
            last_confirmation_at=when(head.confirmed_ms or None),
            read_at=when(head.read_ms or None),
        )

    def plan(self, view: LaneView, wanted: int | None) -> SequencePlan | None:
        """What setting the sequence would do; None where that is known to another process alone,
        or not yet."""
        lane = self.held(view.tail.lane)
        if lane is not None:
            return plan_sequence(lane, wanted)
        head = read_head(view.head.state)
        if head.sequence_next is None or head.open_count or head.filler_count:
            return None
        account = self.account(view.tail.lane)
        if head.halt and account is not None:
            # Nothing is bound, so the head says all.
            idle = SequenceLane(view.tail.lane, account.settings)
            idle.head, idle.nodes = head, {node.name: node for node in head.nodes}
            return plan_sequence(idle, wanted)
        becomes = head.committed if wanted is None else max(head.committed, wanted)
        return SequencePlan(wanted, head.sequence_next, head.committed, 0, None, becomes)


def next_of(plan: SequencePlan) -> NextSequence:
    return NextSequence(
        wanted=plan.wanted,
        sequence_next=plan.sequence_next,
        committed=plan.committed,
        bound=plan.bound,
        bound_highest=plan.bound_highest,
        becomes=plan.becomes,
        why=plan.why(),
    )


def node_of(node: Node) -> CosmosNode:
    return CosmosNode(
        name=node.name,
        next=node.next,
        height=node.height,
        recovering=bool(node.reason),
        reason=node.reason,
        expected=node.expected,
        ours=node.ours,
        then=what_next(node) if node.reason else "",
        failures=node.failures,
        gone=node.gone,
    )


def cosmos_of(request: CosmosRequest, seen: Sight) -> CosmosTx:
    """What was asked for, and what became of it so far."""
    said, history = said_of(request), seen.history
    if history is None:
        return CosmosTx(payload=said, wait_reason=seen.waits)
    slot, landed = history.slot, history.seen
    attempt = slot.attempt
    tried = attempts_of(history)
    if landed is not None:
        return CosmosTx(
            payload=said,
            sequence=slot.sequence,
            hash=digits(landed.hash),
            height=landed.height,
            code=landed.code,
            codespace=landed.codespace,
            log=landed.log,
            gas_wanted=landed.gas_wanted,
            gas_used=landed.gas_used,
            signers=list(landed.signers),
            timeout_height=None if attempt is None else attempt.timeout_height,
            attempts=tried,
        )
    return CosmosTx(
        payload=said,
        sequence=slot.sequence,
        wait_reason=seen.waits,
        hash=tried[-1].hash if tried else None,
        code=None if attempt is None or not attempt.code else attempt.code,
        codespace="" if attempt is None else attempt.codespace,
        log="" if attempt is None else attempt.word,
        timeout_height=None if attempt is None else attempt.timeout_height,
        attempts=tried,
        raw=history.raw if history.raw and seen.status is Status.INDETERMINATE else None,
    )


def attempts_of(history: History) -> list[CosmosAttempt]:
    slot, landed = history.slot, history.seen
    found = [
        CosmosAttempt(
            number=number,
            hash=digits(past.hash),
            timeout_height=past.timeout_height,
            live=not past.proven if landed is None else landed.hash == past.hash,
            reason=past.reason,
        )
        for number, past in enumerate(slot.past, 1)
    ]
    if slot.attempt is None:
        return found
    return [*found, attempt_of(slot.attempt, len(found) + 1)]


def attempt_of(attempt: Attempt, number: int) -> CosmosAttempt:
    return CosmosAttempt(
        number=number,
        hash=digits(attempt.hash),
        timeout_height=attempt.timeout_height,
        live=True,
        reason=attempt.word,
        gas=attempt.gas,
        fee=attempt.fee,
        size=attempt.size,
        signed_at=to_time(attempt.made_ms),
        refused_by=list(attempt.refused),
    )
