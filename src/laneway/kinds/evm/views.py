"""Views of an EVM account's lane and of its transactions."""

from msgspec import Struct
from msgspec.structs import replace

from laneway.core.ids import LaneId
from laneway.core.rows import LaneView
from laneway.core.units import amount, value
from laneway.evm.abi.addresses import checksummed
from laneway.kinds.common.views import (
    AccountServed,
    copied,
    halts,
    shown_health,
    shown_lane,
    shown_tx,
    when,
)
from laneway.kinds.evm.request import decode, payload_of
from laneway.kinds.evm.words import call_in_words, decoding
from laneway.lanes.eoa import show
from laneway.lanes.eoa.commands import ResetPlan, plan_reset
from laneway.lanes.eoa.lane import EoaLane, decode_history
from laneway.lanes.eoa.rows import Attempt, EoaHead, History, Purpose, Slot
from laneway.lanes.eoa.settings import EoaSettings
from laneway.lanes.eoa.show import Sight, answers, inflight, read_head
from laneway.ports import EvmAuthorization, EvmRequest, IntentView
from laneway.wire.evm import CleanupReport, EvmAttempt, EvmLane, EvmPayload, EvmTx, NonceReset
from laneway.wire.hex import octets
from laneway.wire.times import to_time
from laneway.wire.values import Lane, LaneHealth, Tx


class ConfiguredEvmAccount(Struct, frozen=True):
    """One account as its configuration names it."""

    lane: LaneId
    name: str
    address: bytes
    chain_id: int
    chain_name: str
    settings: EoaSettings


class EvmViews(AccountServed[ConfiguredEvmAccount, EoaLane]):
    """Views of EVM accounts."""

    number_index = "nonce"
    named_so = ("account", "evm:CHAIN:ACCOUNT")
    shows = show

    history = staticmethod(decode_history)

    # Transactions.

    def tx(self, view: IntentView, lane: LaneView) -> Tx:
        head = read_head(lane.head.state)
        seen: Sight = self.sight(view, lane.head.state)
        history = seen.history
        request = decode(view.intent.payload)
        slot = None if history is None else history.slot
        mined = None if slot is None else slot.seen
        return shown_tx(
            view,
            seen.status.value,
            seen.waits,
            block=None if mined is None else mined.block,
            traceparent=request.trace or None,
            hash=hash_of(history),
            nonce=None if slot is None else slot.nonce,
            evm=evm_of(request, seen, head, view),
        )

    # Lanes.

    def lane(self, view: LaneView, oldest_ms: int | None, now_ms: int) -> Lane:
        head = read_head(view.head.state)
        evm = self._lane(view, head)
        return shown_lane(view, self.state(view), inflight(head), oldest_ms, now_ms, evm=evm)

    def health(self, view: LaneView) -> LaneHealth:
        head, state = read_head(view.head.state), self.state(view)
        problems = halts(state, "backing off")
        if head.crowded:
            problems.append(f"{state.reason}; reset-nonce with dry_run shows what it can do")
        report = head.report
        if report.cross_nonce_violations or report.per_nonce_violations:
            problems.append("the last cleanup found a nonce or an intent that was mined twice")
        return shown_health(view, problems, evm=self._lane(view, head))

    def _lane(self, view: LaneView, head: EoaHead) -> EvmLane | None:
        account = self.account(view.tail.lane)
        return None if account is None else lane_of(view, head, account)

    def reset_plan(self, view: LaneView) -> ResetPlan | None:
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
    return copied(NonceReset, plan, recycled=plan.free, why_not_lower=plan.why())


def hash_of(history: History | None) -> str | None:
    if history is None or not history.attempts:
        return None
    mined = history.slot.seen
    for attempt in history.attempts:
        if mined is not None and attempt.number == mined.attempt:
            return octets(attempt.hash)
    return octets(history.attempts[-1].hash)


def mined_content(
    request: EvmRequest, history: History | None, lane: LaneId
) -> tuple[Attempt, EvmRequest] | None:
    """The mined attempt and what it does; None while there is none, or where its content was not
    kept."""
    mined = None if history is None else history.slot.seen
    if history is None or mined is None:
        return None
    attempt = next((one for one in history.attempts if one.number == mined.attempt), None)
    if attempt is None:
        return None
    content: EvmRequest | None = request
    if attempt.purpose != Purpose.INTENT:
        content = EvmRequest(to=owner_of(lane))
    elif attempt.content == history.slot.content > 0:
        content = decode(history.payload)
    elif attempt.content:
        content = between(attempt.raw)
    return None if content is None else (attempt, content)


def owner_of(lane: LaneId) -> bytes:
    """The address of the account that a lane sends from."""
    return bytes.fromhex(lane.rpartition("0x")[2])


def mined_of(found: tuple[Attempt, EvmRequest] | None) -> EvmPayload | None:
    """What was mined, with its gas and its fees."""
    if found is None:
        return None
    attempt, content = found
    fee = attempt.fee
    return replace(
        payload_of(content),
        gas=str(attempt.gas),
        max_fee_per_gas=str(fee.cap),
        max_priority_fee_per_gas=None if content.type in (0, 1) else str(fee.tip),
        max_cost=None,
    )


def created(found: tuple[Attempt, EvmRequest] | None, slot: Slot, lane: LaneId) -> str | None:
    """The address of the contract that was created: it follows from the sender and the nonce."""
    mined = slot.seen
    if found is None or found[1].to is not None or mined is None or not mined.ok:
        return None
    # Imported late: its hash is an extra, and lanes that are only shown may do without.
    from laneway.evm.keccak import keccak
    from laneway.evm.rlp import encode as encode_rlp

    return checksummed(keccak(encode_rlp((owner_of(lane), slot.nonce)))[12:])


def between(raw: bytes) -> EvmRequest | None:
    """What signed bytes do; None without the bytes."""
    if not raw:
        return None
    # Imported late: its hash is an extra (`evm`), and contracts need none of it.
    from laneway.evm.envelope import decode as decode_signed
    from laneway.evm.transaction import SetCodeTransaction, access_list

    found = decode_signed(raw)
    signed = found.authorizations if isinstance(found, SetCodeTransaction) else ()
    return EvmRequest(
        to=found.to,
        value_wei=amount(found.value_wei),
        input=found.data,
        type=found.type,
        access_list=tuple((one.address, one.keys) for one in access_list(found)),
        authorizations=tuple(
            EvmAuthorization(
                one.chain_id, one.address, one.nonce, one.y_parity, amount(one.r), amount(one.s)
            )
            for one in signed
        ),
    )


def evm_of(request: EvmRequest, seen: Sight, head: EoaHead, view: IntentView) -> EvmTx:
    history = seen.history
    mined = None if history is None else history.slot.seen
    above = None
    if mined is not None and view.result is None:
        above = max(1, head.block - mined.block + 1)
    replaced = None if history is None or not history.payload else decode(history.payload)
    lane = view.intent.lane
    found = mined_content(request, history, lane)
    content = replaced or request if found is None else found[1]
    return EvmTx(
        payload=payload_of(request),
        blob_hashes=[] if request.blobs is None else [octets(one) for one in request.blobs.hashes],
        replacement=None if replaced is None else payload_of(replaced),
        replaced=0 if history is None else history.slot.content,
        mined=mined_of(found),
        wait_reason=seen.waits,
        confirmations=above,
        block_hash=None if mined is None else octets(mined.block_hash),
        gas_used=None if mined is None else mined.gas_used,
        gas_price=None if mined is None else str(mined.price),
        call=None if mined is not None and found is None else call_in_words(content),
        contract=None if history is None else decoding(lambda: created(found, history.slot, lane)),
        attempts=[]
        if history is None
        else [
            attempt_of(one, mined is not None and mined.attempt == one.number)
            for one in history.attempts
        ],
    )


def attempt_of(attempt: Attempt, mined: bool) -> EvmAttempt:
    return copied(
        EvmAttempt,
        attempt,
        hash=octets(attempt.hash),
        max_fee_per_gas=str(attempt.fee.cap),
        max_priority_fee_per_gas=str(attempt.fee.tip),
        signed_at=to_time(attempt.made_ms),
        nodes=answers(attempt),
        mined=mined,
    )


def lane_of(view: LaneView, head: EoaHead, account: ConfiguredEvmAccount) -> EvmLane:
    health, settings = head.health, account.settings
    return copied(
        EvmLane,
        head,
        chain_id=account.chain_id,
        chain=account.chain_name,
        account=account.name,
        address=checksummed(account.address),
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
        balance_needed=str(value(health.needed)) if health.needed else None,
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
    return copied(CleanupReport, report, at=to_time(report.at_ms))
