"""Views of a Cosmos account's lane and of its transactions."""

from typing import Any

from msgspec import Struct

from laneway.core.ids import LaneId
from laneway.core.outcome import Status
from laneway.core.rows import LaneView
from laneway.kinds.common.lanes import AccountLanes
from laneway.kinds.common.views import (
    AccountServed,
    copied,
    halts,
    shown_health,
    shown_lane,
    shown_tx,
    when,
)
from laneway.kinds.cosmos.events import digits
from laneway.kinds.cosmos.request import decode, payload_of
from laneway.kinds.limits import TX_OVERHEAD_BYTES
from laneway.lanes.sequence import show
from laneway.lanes.sequence.commands import SequencePlan, plan_sequence
from laneway.lanes.sequence.lane import SequenceLane, decode_history
from laneway.lanes.sequence.recovery import what_next
from laneway.lanes.sequence.rows import Attempt, History, Node, SequenceHead
from laneway.lanes.sequence.settings import SequenceSettings
from laneway.lanes.sequence.show import RECOVERING, Sight, read_head, recovery
from laneway.ports import CosmosRequest, IntentView
from laneway.wire.cosmos import CosmosAttempt, CosmosLane, CosmosNode, CosmosTx, NextSequence
from laneway.wire.times import to_time
from laneway.wire.values import Lane, LaneHealth, Tx


class ConfiguredCosmosAccount(Struct, frozen=True):
    """One account as its configuration names it."""

    lane: LaneId
    name: str
    address: str
    chain_id: str
    chain_name: str
    settings: SequenceSettings
    prefix: str = ""
    denom: str = ""
    worker_of: LaneId | None = None
    """Of a worker account: the lane whose account pays its fees."""


class CosmosViews(AccountServed[ConfiguredCosmosAccount, SequenceLane]):
    """Views of Cosmos accounts."""

    number_index = "sequence"
    named_so = ("account", "cosmos:CHAIN:ACCOUNT")
    shows = show

    history = staticmethod(decode_history)
    digits = staticmethod(digits)

    def __init__(self, lanes: AccountLanes[Any, Any] | None, account_bytes_max: int) -> None:
        super().__init__(lanes)
        self._bytes_max = account_bytes_max

    # Transactions.

    def tx(self, view: IntentView, lane: LaneView) -> Tx:
        seen: Sight = self.sight(view, lane.head.state)
        request = decode(view.intent.payload)
        cosmos = cosmos_of(request, seen)
        return shown_tx(
            view,
            seen.status.value,
            seen.waits,
            block=cosmos.height,
            traceparent=request.trace or None,
            hash=cosmos.hash,
            cosmos=cosmos,
        )

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
        return shown_health(view, problems, cosmos=self._lane(view, head))

    def _lane(self, view: LaneView, head: SequenceHead) -> CosmosLane | None:
        account = self.account(view.tail.lane)
        if account is None:
            return None
        live = [node for node in head.nodes if not node.gone]
        stopped = [node for node in live if node.reason]
        return copied(
            CosmosLane,
            head,
            chain_id=account.chain_id,
            chain=account.chain_name,
            account=account.name,
            address=account.address,
            worker_of=account.worker_of,
            account_missing=head.is_missing,
            recovering=bool(live) and len(stopped) == len(live),
            reason="; ".join(recovery(node) for node in stopped),
            nodes=[node_of(node) for node in head.nodes],
            pending=view.depth() - head.open_count,
            bound=head.open_count,
            fillers=head.filler_count,
            watched=head.watched_count,
            window=account.settings.inflight,
            # As the door counts: each payload stands for what is signed of it as well.
            held_bytes=2 * view.depth_bytes() + view.depth() * TX_OVERHEAD_BYTES,
            held_bytes_max=self._bytes_max,
            last_confirmation_at=when(head.confirmed_ms or None),
            read_at=when(head.read_ms or None),
        )

    def sequence_plan(self, view: LaneView, wanted: int | None) -> SequencePlan | None:
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
    return copied(NextSequence, plan, why=plan.why())


def node_of(node: Node) -> CosmosNode:
    then = what_next(node) if node.reason else ""
    return copied(CosmosNode, node, recovering=bool(node.reason), then=then)


def cosmos_of(request: CosmosRequest, seen: Sight) -> CosmosTx:
    """What was asked for, and what became of it so far."""
    payload, history = payload_of(request), seen.history
    if history is None:
        return CosmosTx(payload=payload, wait_reason=seen.waits)
    slot, landed = history.slot, history.seen
    attempt = slot.attempt
    tried = attempts_of(history)
    if landed is not None:
        return copied(
            CosmosTx,
            landed,
            payload=payload,
            sequence=slot.sequence,
            hash=digits(landed.hash),
            timeout_height=None if attempt is None else attempt.timeout_height,
            attempts=tried,
        )
    return CosmosTx(
        payload=payload,
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
    return copied(
        CosmosAttempt,
        attempt,
        number=number,
        hash=digits(attempt.hash),
        live=True,
        reason=attempt.word,
        signed_at=to_time(attempt.made_ms),
        refused_by=list(attempt.refused),
    )
