"""The final answers of a rollup's transactions, as rows."""

from laneway.core.jam import JamBlockRef
from laneway.core.outcome import Status
from laneway.core.rows import Index, Result, RowKey, Table, Touch
from laneway.lanes.bundle.lane import MEMBER, BundleLane, put_returned
from laneway.lanes.bundle.rows import ExecutionVerdict, Finished, History, LineReceipt, Member
from laneway.lanes.common import heads
from laneway.lanes.common.heads import encode

RESULT_STATUSES = {
    ExecutionVerdict.INCLUDED: Status.CONFIRMED.value,
    ExecutionVerdict.REVERTED: Status.REVERTED.value,
}
"""The final status of a transaction by its verdict, once its block is final."""


ENDS = {
    ExecutionVerdict.REFUSED: Status.REFUSED.value,
    ExecutionVerdict.EXPIRED: Status.EXPIRED.value,
}
"""The final status of a transaction that is in no block and never will be."""


def is_inside(member: Member) -> bool:
    """Whether a transaction is in the block that it was given to."""
    return member.verdict in RESULT_STATUSES


def settled(lane: BundleLane, finished: Finished, at_ms: int) -> list[Touch]:
    """The answers of all transactions of a block that is final."""
    touched: list[Touch] = []
    for index, member in enumerate(lane.members[finished.slot]):
        word = RESULT_STATUSES[member.verdict]
        touched += answered(lane, member, word, History(finished, index), at_ms)
    return touched


def leave(lane: BundleLane, members: tuple[Member, ...], at_ms: int) -> list[Touch]:
    """Transactions that are in no block of this lane: refused for good, expired, executed in a
    block that others brought, or back in the pool."""
    touched: list[Touch] = []
    for member in members:
        if member.verdict in ENDS:
            heads.settle(lane.head, member.size)
            word = ENDS[member.verdict]
            touched.append(RowKey(Table.AUX, MEMBER + member.intent))
            touched.append(Result(member.intent, word, at_ms, reason=member.reason))
        elif member.receipt is not None:
            history = History(finished_elsewhere(member.receipt, at_ms), member.receipt.index)
            word = RESULT_STATUSES[verdict_of(member.receipt)]
            touched.append(indexed(lane, member))
            touched += answered(lane, member, word, history, at_ms)
        else:
            touched += put_returned(lane, member)
    return touched


def answered(
    lane: BundleLane, member: Member, status: str, history: History, at_ms: int
) -> list[Touch]:
    heads.settle(lane.head, member.size)
    number, kept = history.finished.number, encode(history)
    return [
        RowKey(Table.AUX, MEMBER + member.intent),
        Result(member.intent, status, at_ms, number, member.hash, member.reason, kept),
    ]


def verdict_of(receipt: LineReceipt) -> str:
    return ExecutionVerdict.INCLUDED if receipt.is_ok else ExecutionVerdict.REVERTED


def finished_elsewhere(receipt: LineReceipt, at_ms: int) -> Finished:
    """The block of a receipt, of which this lane knows no more."""
    return Finished(
        0, receipt.number, 0, receipt.package_hash, receipt.block, b"", JamBlockRef(b"", 0), 0,
        at_ms, at_ms,
    )  # fmt: skip


def indexed(lane: BundleLane, member: Member) -> Index:
    """The row by which a transaction is found by its hash."""
    return Index("hash", member.hash.hex(), member.intent, lane.id)
