"""A block's transactions executed on its parent, but for those that a final block has executed.

Such a transaction comes when others brought its block, or when the lane's store was restored from a
copy that is older than its block. The receipt of that block is its answer: a rollup whose
transactions have no nonce would execute it twice, and a caller who is refused pays again.

So where neither the lane nor the builder knows what some final blocks executed, nothing is decided
about a transaction that one of them may have: that is for an operator.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from msgspec.structs import replace

from laneway.builder.limits import VERDICT_CHARS_SHOWN
from laneway.builder.shelf import Shelf
from laneway.builder.snapshots import Snapshot, Snapshots
from laneway.core.errors import BadRequest, BuildFailed
from laneway.core.ids import IntentId
from laneway.jam.hashing import blake2b
from laneway.jam.service.values import ServiceHead
from laneway.lanes.bundle.rows import ExecutionVerdict, LineReceipt
from laneway.lanes.bundle.values import BuildBlock, JudgedTransaction
from laneway.lanes.common.commands import LATE
from laneway.ports import ExecutedBlock
from laneway.rollups.receipts import OK, BlockStage
from laneway.rollups.rules import (
    B,
    BlockExecution,
    RollupRules,
    S,
    SealedBlock,
    TransactionOutcome,
    TransactionVerdict,
)

INSIDE = (ExecutionVerdict.INCLUDED, ExecutionVerdict.REVERTED)
ENDS = (*INSIDE, ExecutionVerdict.REFUSED, ExecutionVerdict.EXPIRED)
"""Verdicts that are final for a transaction."""
GIVEN = (*INSIDE, ExecutionVerdict.REFUSED, ExecutionVerdict.DEFERRED, ExecutionVerdict.FULL)
"""Verdicts of rules. Whose time is over and what a final block has, the builder says itself."""
FIX_RULES: Final = "fix the rollup's rules, and start this process again"


class PastUnknown(BuildFailed):
    """A transaction may have been executed in final blocks of which nobody knows the transactions.
    Refused, its caller pays again, and executed it is executed twice."""

    def __init__(self, judged: JudgedTransaction, first: int, last: int) -> None:
        self.transaction = judged.hash
        self.first = first
        self.last = last
        super().__init__(
            f"a transaction may have been executed in blocks {first} to {last}, whose receipts are "
            f"gone ({judged.intent}: {judged.reason or judged.verdict}); put back the builder's "
            "file or a state, name a node that kept them, or cancel it",
            needs_help=True,
        )


def executed(
    rollup: RollupRules[S, B],
    shelf: Shelf,
    order: BuildBlock,
    parent: Snapshot[S, B],
    final: S | None = None,
) -> tuple[BlockExecution[S, B], tuple[JudgedTransaction, ...]]:
    """The block, and what became of each transaction in the order of the arguments. `final` is the
    state after the newest final block, or else the parent's; PastUnknown if more would have to be
    known of what final blocks executed."""
    done, judged = executed_once(rollup, shelf, order, parent)
    first, last = order.known + 1, shelf.past_lowest() - 1
    if first <= last:
        state = parent.state if final is None else final
        for raw, one in zip(order.payloads, judged, strict=True):
            if is_doubtful(rollup, one, raw, state):
                raise PastUnknown(one, first, last)
    return done, judged


def is_doubtful(rollup: RollupRules[S, B], judged: JudgedTransaction, raw: bytes, final: S) -> bool:
    """Whether a block that nobody knows may have executed a transaction, and its verdict would say
    otherwise. What has a nonce that is not used up was executed in no final block."""
    if judged.verdict not in ENDS or not judged.hash:
        return False
    has_nonce = rollup.spent(raw) is not None
    return not has_nonce or bool(rollup.stale(raw, final))


def executed_once(
    rollup: RollupRules[S, B], shelf: Shelf, order: BuildBlock, parent: Snapshot[S, B]
) -> tuple[BlockExecution[S, B], tuple[JudgedTransaction, ...]]:
    """Execute the block, leaving out transactions that final blocks in the file executed."""
    left = dict(zip(order.intents, order.payloads, strict=True))
    known = {intent: looked_up(rollup, shelf, intent, left.pop(intent)) for intent in order.expired}
    if order.known < shelf.past_highest():
        # Before anything is executed, which may take too long or raise here.
        earlier = {intent: looked_up(rollup, shelf, intent, raw) for intent, raw in left.items()}
        known |= {intent: one for intent, one in earlier.items() if one.receipt is not None}
        left = {intent: raw for intent, raw in left.items() if intent not in known}
    while True:
        # At most twice: those that are known are taken out together.
        done, fresh = judged_by(rollup, parent, left, order.made_ms)
        applied = [found for one in fresh.values() if (found := applied_before(shelf, one))]
        known |= {one.intent: one for one in applied}
        if not any(fresh[one.intent].verdict in INSIDE for one in applied):
            judged = fresh | known
            return done, tuple([judged[intent] for intent in order.intents])
        left = {intent: raw for intent, raw in left.items() if intent not in known}


def judged_by(
    rollup: RollupRules[S, B], parent: Snapshot[S, B], raws: Mapping[IntentId, bytes], made_ms: int
) -> tuple[BlockExecution[S, B], dict[IntentId, JudgedTransaction]]:
    """The block that the rules make of these transactions, and what they say of each."""
    done = rollup.execute(parent.state, parent.block, tuple(raws.values()), made_ms)
    check_verdicts(done.judged, len(raws))
    outcomes = () if done.block is None else rollup.outcomes(done.block)
    check_outcomes(done.judged, outcomes)
    judged = {
        intent: JudgedTransaction(intent, one.verdict, one.hash, one.reason)
        for intent, one in zip(raws, done.judged, strict=True)
    }
    return done, placed(outcomes, judged)


def check_verdicts(judged: Sequence[TransactionVerdict], count: int) -> None:
    """BuildFailed unless rules gave each transaction a verdict that a lane can act on."""
    if len(judged) != count:
        problem = f"the rollup's rules judged {len(judged)} transactions, and were given {count}"
        raise BuildFailed(problem, final=True)
    for one in judged:
        if one.verdict not in GIVEN:
            shown = repr(one.verdict)[:VERDICT_CHARS_SHOWN]
            known = ", ".join(GIVEN)
            problem = f"the rollup's rules judged a transaction {shown}, and verdicts are {known}"
            raise BuildFailed(problem, final=True)
        if (type(one.hash), type(one.reason)) != (bytes, str):
            problem = "the rollup's rules gave a verdict whose hash or reason is no hash or text"
            raise BuildFailed(problem, final=True)


def check_outcomes(
    judged: Sequence[TransactionVerdict], outcomes: Sequence[TransactionOutcome]
) -> None:
    """BuildFailed unless the block has just what was judged to be in it, and as it was judged: the
    verdict is what a caller is answered with, and the block is what happens."""
    if any((type(one.hash), type(one.status)) != (bytes, str) for one in outcomes):
        raise contradiction("an outcome in their block has no hash or no status")
    said = Counter(
        (one.hash, one.verdict == ExecutionVerdict.INCLUDED)
        for one in judged
        if one.verdict in INSIDE
    )
    found = Counter((one.hash, one.status == OK) for one in outcomes)
    for name in said | found:
        if said[name] != found[name]:
            hashed, is_ok = name
            verdict = ExecutionVerdict.INCLUDED if is_ok else ExecutionVerdict.REVERTED
            raise contradiction(
                f"by their verdicts transaction {hashed.hex()} is {verdict} {said[name]} times, "
                f"and by their block {found[name]} times"
            )


def contradiction(problem: str) -> BuildFailed:
    """An answer of rules that cannot be true, whatever they are."""
    return BuildFailed(f"the rollup's rules contradict themselves: {problem}", final=True)


def answered(
    rollup: RollupRules[S, B],
    done: BlockExecution[S, B],
    judged: tuple[JudgedTransaction, ...],
    parent: Snapshot[S, B],
) -> tuple[ExecutedBlock, Snapshot[S, B] | None]:
    """The answer to an order, and the block with its state; None if nothing is in it."""
    pre_root = parent.sealed.post_root
    if done.block is None:
        return ExecutedBlock(
            payload=b"",
            digest=b"",
            block=b"",
            pre_root=pre_root,
            post_root=pre_root,
            judged=judged,
        ), None
    payload, sealed = rollup.encode(done.block), rollup.sealed(done.block)
    problem = misfit(rollup, parent, sealed, done.state)
    if problem:
        raise contradiction(problem)
    answer = ExecutedBlock(
        payload=payload,
        digest=blake2b(payload),
        block=sealed.hash,
        pre_root=pre_root,
        post_root=sealed.post_root,
        judged=judged,
    )
    return answer, Snapshot(sealed, done.block, done.state)


def replayed(
    rollup: RollupRules[S, B], parent: Snapshot[S, B], block: B, *, final: bool = False
) -> Snapshot[S, B]:
    """A block that was made before, executed once more. `final`: whether the order is at fault if
    that leaves another state, because it can be left."""
    state, sealed = rollup.replay(parent.state, parent.block, block), rollup.sealed(block)
    problem = misfit(rollup, parent, sealed, state)
    if problem:
        said = str(contradiction(problem))
        raise BuildFailed(f"{said}; {FIX_RULES}", final=final, needs_help=not final)
    return Snapshot(sealed, block, state)


def misfit(rollup: RollupRules[S, B], parent: Snapshot[S, B], sealed: SealedBlock, state: S) -> str:
    """Why a block and the state after it do not belong on this parent; empty if they do. What is
    written down of another state is damaged, and innocent transactions are refused on it."""
    number, below = sealed.number, parent.sealed
    if (number, sealed.parent, sealed.pre_root) != (below.number + 1, below.hash, below.post_root):
        return f"block {number} was executed on block {below.number}, and does not name it so"
    if state is None or rollup.root(state) != sealed.post_root:
        return f"the state after block {number} is not the one that the block names"
    return ""


def looked_up(
    rollup: RollupRules[S, B], shelf: Shelf, intent: IntentId, raw: bytes
) -> JudgedTransaction:
    """What became of a transaction whose time is over."""
    try:
        hashed = rollup.checked(raw)
    except BadRequest:
        hashed = b""
    late = JudgedTransaction(intent, ExecutionVerdict.EXPIRED, hashed, LATE)
    return applied_before(shelf, late) or late


def check_others(snapshots: Snapshots[S, B], parent: Snapshot[S, B], best: ServiceHead) -> None:
    """BuildFailed while the service has a block which is neither final here nor below the one that
    is ordered: it may hold a transaction that would end here without a block, as expired, refused
    or one that no block can be built with, and become final."""
    below = [one.sealed.hash for one in snapshots.way(parent.sealed.hash)]
    if best.number > snapshots.base.sealed.number and best.block not in below:
        raise BuildFailed(
            f"the service has block {best.number}, which others brought and is not final; what "
            "would end here without a block may be in it"
        )


def refuses(judged: Iterable[JudgedTransaction]) -> bool:
    """Whether a transaction was refused that a block of another deployment may hold: its nonce is
    used up on a state that is not final. Bytes that are no transaction are in no block."""
    return any(one.verdict == ExecutionVerdict.REFUSED and one.hash for one in judged)


def placed(
    outcomes: Sequence[TransactionOutcome], judged: Mapping[IntentId, JudgedTransaction]
) -> dict[IntentId, JudgedTransaction]:
    """Each with its place in the block: rules may order transactions as their nonces ask for."""
    places: dict[bytes, list[int]] = {}
    for place, outcome in reversed(list(enumerate(outcomes))):
        places.setdefault(outcome.hash, []).append(place)
    return {
        intent: replace(one, place=places[one.hash].pop()) if one.verdict in INSIDE else one
        for intent, one in judged.items()
    }


def applied_before(shelf: Shelf, judged: JudgedTransaction) -> JudgedTransaction | None:
    """What became of a transaction in a final block; None if none is known to have it."""
    found = shelf.receipt(judged.hash) if judged.hash else None
    if found is None or found.block.stage != BlockStage.FINAL:
        return None
    is_ok = found.status == OK
    receipt = LineReceipt(
        number=found.block.number,
        block=found.block.hash,
        index=found.place,
        package_hash=found.block.package_hash,
        is_ok=is_ok,
    )
    reason = "" if is_ok else found.status
    return JudgedTransaction(judged.intent, ExecutionVerdict.APPLIED, judged.hash, reason, receipt)
