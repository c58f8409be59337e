"""Blocks that leave out what a final block has executed: its receipt is the answer."""

from collections.abc import Callable
from typing import Any, cast

import pytest
from msgspec.structs import replace
from tests.builder.stage import FIRST, SECOND, build_order, ledger, transfer
from tests.rollups.log_kind import GENESIS, LogBlock, LogRules, LogState

from laneway.builder.execution import PastUnknown, answered, executed, replayed
from laneway.builder.final import final_block
from laneway.builder.shelf import FinalBlock, Shelf
from laneway.builder.snapshots import Snapshot
from laneway.core.errors import BuildFailed
from laneway.lanes.bundle.rows import ExecutionVerdict, LineReceipt
from laneway.lanes.bundle.values import BuildBlock
from laneway.lanes.common.commands import LATE
from laneway.rollups.domain import Domain
from laneway.rollups.rules import BlockExecution, TransactionOutcome

PACKAGE = b"p" * 32


class Wrong(LogRules):
    """A log whose answer to an order is changed before it is given."""

    def __init__(self, change: Callable[[BlockExecution[Any, Any]], Any]) -> None:
        super().__init__(Domain(bytes(32), 1))
        self.change = change

    def execute(self, *given: Any) -> Any:
        return self.change(super().execute(*given))


def built(rules: LogRules, *raws: bytes) -> BuildFailed:
    """Why the rules' answer to these transactions is no block."""
    shelf = Shelf(None)
    shelf.begin(final_block(rules, genesis(rules)), ())
    with pytest.raises(BuildFailed) as failed:
        executed(rules, shelf, build_order(raws), genesis(rules))
    assert failed.value.final
    assert not failed.value.needs_help
    return failed.value


class Repeating(LogRules):
    """A log that takes each line as often as it comes."""

    def __init__(self) -> None:
        super().__init__(Domain(bytes(32), 1))
        self.count = 0

    def stale(self, raw: bytes, state: LogState) -> str:
        return ""

    def execute(self, *given: Any) -> Any:
        self.count += 1
        return super().execute(*given)


@pytest.fixture
def rules() -> Repeating:
    return Repeating()


@pytest.fixture
def shelf(rules: Repeating) -> Shelf:
    shelf = Shelf(None)
    shelf.begin(final_block(rules, genesis(rules)), ())
    return shelf


def finalise(
    rules: Any, shelf: Shelf, parent: Snapshot[Any, Any], *raws: bytes
) -> Snapshot[Any, Any]:
    """A final block of these transactions."""
    done = rules.execute(parent.state, parent.block, raws, 0)
    sealed = rules.sealed(done.block)
    shelf.finalise(
        [
            FinalBlock(
                sealed=sealed,
                payload=rules.encode(done.block),
                outcomes=rules.outcomes(done.block),
                changes=rules.changes(done.state, done.block),
                package_hash=PACKAGE,
            )
        ]
    )
    return Snapshot(sealed, done.block, done.state)


def genesis(rules: LogRules) -> Snapshot[LogState, LogBlock]:
    return Snapshot(rules.sealed(GENESIS), GENESIS, LogState())


def order(*raws: bytes) -> BuildBlock:
    return build_order(raws, number=2)


def verdicts(judged: Any) -> list[tuple[str, str]]:
    return [(one.intent, one.verdict) for one in judged]


def test_what_a_final_block_executed_is_answered_with_its_receipt_and_not_executed_again(
    rules: Repeating, shelf: Shelf
) -> None:
    base = finalise(rules, shelf, genesis(rules), b"one", b"two")
    done, judged = executed(rules, shelf, order(b"three", b"two", b"four"), base)
    assert done.state.lines == (b"one", b"two", b"three", b"four")
    assert verdicts(judged) == [("i0", "included"), ("i1", "applied"), ("i2", "included")]
    assert judged[1].receipt == LineReceipt(
        number=1, block=base.sealed.hash, index=1, package_hash=PACKAGE, is_ok=True
    )
    assert judged[0].receipt is None


def test_a_block_of_nothing_but_what_was_executed_is_none(rules: Repeating, shelf: Shelf) -> None:
    base = finalise(rules, shelf, genesis(rules), b"one")
    done, judged = executed(rules, shelf, order(b"one"), base)
    assert (done.block, done.state) == (None, base.state)
    assert verdicts(judged) == [("i0", "applied")]


def test_what_an_unknown_final_block_executed_is_not_even_tried(
    rules: Repeating, shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Here it may raise, or take too long, and its caller would be refused."""
    base = finalise(rules, shelf, genesis(rules), b"one")
    real, tried = rules.execute, []

    def execute(state: Any, block: Any, raws: Any, made_ms: int) -> Any:
        tried.extend(raws)
        return real(state, block, raws, made_ms)

    monkeypatch.setattr(rules, "execute", execute)
    _, judged = executed(rules, shelf, order(b"one", b"two"), base)
    assert verdicts(judged) == [("i0", "applied"), ("i1", "included")]
    assert tried == [b"two"]
    executed(rules, shelf, replace(order(b"two"), known=1), base)
    assert tried == [b"two", b"two"], "the lane knows what became of its own there"


def test_what_a_known_final_block_executed_is_taken_out_of_the_block_again(
    rules: Repeating, shelf: Shelf
) -> None:
    """The lane knows that block, and sends the same bytes once more."""
    base = finalise(rules, shelf, genesis(rules), b"one")
    rules.count = 0
    done, judged = executed(rules, shelf, replace(order(b"two", b"one"), known=1), base)
    assert done.state.lines == (b"one", b"two")
    assert verdicts(judged) == [("i0", "included"), ("i1", "applied")]
    assert rules.count == 2


def test_what_nobody_executed_before_is_executed_once(rules: Repeating, shelf: Shelf) -> None:
    executed(rules, shelf, order(b"one", b"two"), genesis(rules))
    assert rules.count == 1


def test_a_block_that_is_not_final_answers_for_nothing(rules: Repeating, shelf: Shelf) -> None:
    """It may never land. In this rollup the same bytes may be two transactions."""
    base = genesis(rules)
    done, _ = executed(rules, shelf, order(b"one"), base)
    assert done.block is not None
    shelf.put(rules.sealed(done.block), b"", rules.outcomes(done.block))
    done, judged = executed(rules, shelf, order(b"one"), base)
    assert verdicts(judged) == [("i0", "included")]


def test_with_nonces_the_receipt_is_the_answer_to_what_the_rules_refuse() -> None:
    rollup, block, state = ledger()
    shelf = Shelf(None)
    base: Snapshot[Any, Any] = Snapshot(rollup.sealed(block), block, state)
    shelf.begin(final_block(rollup, base), rollup.entries(state))
    reverted = transfer(0, payer=SECOND, payee=FIRST, amount=0)
    base = finalise(rollup, shelf, base, transfer(0), reverted)
    raws = (transfer(0), transfer(1), reverted, transfer(0, amount=6), b"nothing")
    done, judged = executed(rollup, shelf, order(*raws), base)
    assert verdicts(judged) == [
        ("i0", "applied"),
        ("i1", "included"),
        ("i2", "applied"),
        ("i3", "refused"),
        ("i4", "refused"),
    ]
    assert done.block is not None
    assert len(done.block.transfers) == 1
    assert judged[2].receipt is not None
    assert (judged[2].receipt.is_ok, judged[2].reason) == (False, "nothing_sent")
    assert judged[0].verdict == ExecutionVerdict.APPLIED


# Where nobody knows what some final blocks executed.


def lost(rules: Any, base: Snapshot[Any, Any]) -> Shelf:
    """A file that began with the state after this block."""
    shelf = Shelf(None)
    shelf.begin(final_block(rules, base), rules.entries(base.state))
    return shelf


def doubt(rules: Any, shelf: Shelf, order: BuildBlock, base: Snapshot[Any, Any]) -> PastUnknown:
    with pytest.raises(PastUnknown) as unknown:
        executed(rules, shelf, order, base)
    assert unknown.value.needs_help
    assert not unknown.value.final
    return unknown.value


def paid(shelf: Shelf | None = None) -> tuple[Any, Snapshot[Any, Any]]:
    """A ledger with three final blocks of one transfer each."""
    rollup, block, state = ledger()
    base: Snapshot[Any, Any] = Snapshot(rollup.sealed(block), block, state)
    shelf = shelf or lost(rollup, base)
    for nonce in range(3):
        base = finalise(rollup, shelf, base, transfer(nonce))
    return rollup, base


def judged_reason(expired: tuple[Any, ...]) -> str:
    return LATE if expired else "its nonce 1 was used"


@pytest.mark.parametrize("expired", [(), ("i0",)])
def test_a_used_nonce_is_no_refusal_while_the_block_that_used_it_may_be_unknown(
    expired: tuple[Any, ...],
) -> None:
    """Its caller would pay again."""
    rollup, base = paid()
    shelf = lost(rollup, base)
    late = build_order([transfer(1)], number=4, known=1, expired=expired)
    unknown = doubt(rollup, shelf, late, base)
    assert (unknown.first, unknown.last) == (2, 2)
    assert unknown.transaction == rollup.checked(transfer(1))
    said = str(unknown)
    assert "may have been executed in blocks 2 to 2, whose receipts are gone" in said
    assert f"(i0: {judged_reason(expired)}" in said
    assert "; put back the builder's file or a state, name a node" in said


@pytest.mark.parametrize("known", [2, 3, 9])
def test_a_used_nonce_is_refused_where_the_lane_knows_the_blocks_that_the_builder_does_not(
    known: int,
) -> None:
    rollup, base = paid()
    order = build_order([transfer(1, amount=6)], number=4, known=known)
    _, judged = executed(rollup, lost(rollup, base), order, base)
    assert verdicts(judged) == [("i0", "refused")]


def test_what_has_a_fresh_nonce_or_is_no_transaction_is_judged_whatever_is_unknown() -> None:
    rollup, base = paid()
    shelf = lost(rollup, base)
    raws = (transfer(3), b"nothing", transfer(3, amount=9), transfer(7))
    _, judged = executed(rollup, shelf, build_order(raws, number=4), base)
    assert [one.verdict for one in judged] == ["included", "refused", "refused", "deferred"]
    late = build_order([transfer(3)], number=4, expired=("i0",))
    assert verdicts(executed(rollup, shelf, late, base)[1]) == [("i0", "expired")]


def test_a_nonce_that_an_open_block_used_is_no_doubt() -> None:
    rollup, base = paid()
    shelf = lost(rollup, base)
    done, _ = executed(rollup, shelf, build_order([transfer(3)], number=4), base)
    parent = Snapshot(rollup.sealed(done.block), done.block, done.state)
    order = build_order([transfer(3, amount=9)], number=5)
    _, judged = executed(rollup, shelf, order, parent, base.state)
    assert verdicts(judged) == [("i0", "refused")]


def test_without_nonces_nothing_is_executed_that_an_unknown_block_may_have(
    rules: Repeating,
) -> None:
    base = finalise(rules, lost(rules, genesis(rules)), genesis(rules), b"one")
    base = finalise(rules, lost(rules, base), base, b"two")
    shelf = lost(rules, base)
    doubt(rules, shelf, build_order([b"one"], number=3), base)
    _, judged = executed(rules, shelf, build_order([b"one"], number=3, known=1), base)
    assert verdicts(judged) == [("i0", "included")]
    _, judged = executed(rules, shelf, build_order([b"two"], number=3, known=1), base)
    assert verdicts(judged) == [("i0", "applied")]


def test_what_was_executed_long_ago_is_not_executed_again(rules: Repeating) -> None:
    """Its block is not kept any more."""
    shelf = Shelf(None, 2)
    shelf.begin(final_block(rules, genesis(rules)), ())
    base = genesis(rules)
    for number in range(6):
        base = finalise(rules, shelf, base, b"line %d" % number)
    assert shelf.by_number(1) is None
    done, judged = executed(rules, shelf, order(b"line 0"), base)
    assert (done.block, verdicts(judged)) == (None, [("i0", "applied")])
    assert judged[0].receipt is not None
    assert (judged[0].receipt.number, judged[0].receipt.package_hash) == (1, PACKAGE)


# Rules that are not believed.


def with_verdict(**fields: Any) -> Wrong:
    """Rules that say something else of the first transaction."""

    def change(done: BlockExecution[Any, Any]) -> Any:
        return replace(done, judged=(replace(done.judged[0], **fields), *done.judged[1:]))

    return Wrong(change)


@pytest.mark.parametrize("word", ["funny", "", "applied", "expired", None, "x" * 10_000])
def test_a_verdict_that_rules_do_not_give_builds_no_block(word: Any) -> None:
    """A lane that acted on it asked again without an end."""
    said = str(built(with_verdict(verdict=word), b"one", b"two"))
    assert f"the rollup's rules judged a transaction {repr(word)[:80]}, and verdicts are " in said
    assert said.endswith("included, reverted, refused, deferred, full")
    assert len(said) < 300


@pytest.mark.parametrize("fields", [{"hash": "one"}, {"hash": None}, {"reason": None}])
def test_a_verdict_with_anything_but_a_hash_and_a_text_builds_no_block(
    fields: dict[str, Any],
) -> None:
    assert "is no hash or text" in str(built(with_verdict(**fields), b"one"))


@pytest.mark.parametrize(("times", "count"), [(0, 0), (2, 4)])
def test_rules_judge_each_transaction_once(times: int, count: int) -> None:
    rules = Wrong(lambda done: replace(done, judged=done.judged * times))
    said = str(built(rules, b"one", b"two"))
    assert said == f"the rollup's rules judged {count} transactions, and were given 2"


def unlike(block: Any, **fields: Any) -> Any:
    """What rules change in their answer: its block, and what they say of the first transaction."""

    def change(done: BlockExecution[Any, Any]) -> Any:
        judged = (replace(done.judged[0], **fields), *done.judged[1:])
        return replace(done, block=block(done.block), judged=judged)

    return change


def as_it_is(block: LogBlock) -> LogBlock:
    return block


def without_first(block: LogBlock) -> LogBlock:
    return replace(block, lines=block.lines[1:])


def with_first_twice(block: LogBlock) -> LogBlock:
    return replace(block, lines=(block.lines[0], *block.lines))


def none(block: LogBlock) -> None:
    return None


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (unlike(without_first), "included 1 times, and by their block 0"),
        (unlike(none), "included 1 times, and by their block 0"),
        (unlike(none, verdict="reverted"), "reverted 1 times, and by their block 0"),
        (unlike(with_first_twice), "included 1 times, and by their block 2"),
        (unlike(as_it_is, verdict="refused"), "included 0 times, and by their block 1"),
        (unlike(as_it_is, verdict="deferred"), "included 0 times, and by their block 1"),
        (unlike(as_it_is, verdict="full"), "included 0 times, and by their block 1"),
        (unlike(as_it_is, verdict="reverted"), "reverted 1 times, and by their block 0"),
    ],
)
def test_a_block_has_what_its_verdicts_say_and_nothing_else(change: Any, problem: str) -> None:
    """A caller who is told otherwise believes that he paid, or pays again."""
    said = str(built(Wrong(change), b"one", b"two"))
    assert said.startswith("the rollup's rules contradict themselves: by their verdicts")
    assert problem in said


def test_a_hash_that_is_in_no_outcome_is_a_contradiction_too() -> None:
    said = str(built(with_verdict(hash=b"h" * 32), b"one"))
    assert f"transaction {(b'h' * 32).hex()} is included 1 times, and by their block 0" in said


@pytest.mark.parametrize("outcome", [TransactionOutcome(b"h", None), TransactionOutcome("h", "ok")])  # type: ignore[arg-type]
def test_an_outcome_without_hash_or_status_builds_no_block(
    outcome: TransactionOutcome, monkeypatch: pytest.MonkeyPatch
) -> None:
    rules = LogRules(Domain(bytes(32), 1))
    shelf = Shelf(None)
    shelf.begin(final_block(rules, genesis(rules)), ())
    monkeypatch.setattr(rules, "outcomes", lambda _: (outcome,))
    with pytest.raises(BuildFailed, match="an outcome in their block has no hash or no status"):
        executed(rules, shelf, build_order([b"one"]), genesis(rules))


def test_the_same_bytes_twice_are_two_outcomes_and_two_places(
    rules: Repeating, shelf: Shelf
) -> None:
    _, judged = executed(rules, shelf, build_order([b"one", b"two", b"one"]), genesis(rules))
    assert [(one.verdict, one.place) for one in judged] == [
        ("included", 0),
        ("included", 1),
        ("included", 2),
    ]


# Blocks and states that do not belong together.


def grown(block: LogBlock, state: LogState | None, parent: Snapshot[Any, Any]) -> Any:
    """The answer of a builder whose rules made this block and state."""
    rules = LogRules(Domain(bytes(32), 1))
    return answered(rules, BlockExecution(block, cast("LogState", state), ()), (), parent)


def log_block(rules: LogRules) -> tuple[LogBlock, LogState]:
    start = genesis(rules)
    done = rules.execute(start.state, start.block, (b"one",), 0)
    assert done.block is not None
    return done.block, done.state


@pytest.mark.parametrize("state", [LogState(), LogState((b"junk",)), None])
def test_a_block_with_another_state_than_it_names_is_none(
    rules: Repeating, state: LogState | None
) -> None:
    """Innocent transactions would be refused on it."""
    block, right = log_block(rules)
    with pytest.raises(BuildFailed, match="the state after block 1 is not the one") as failed:
        grown(block, state, genesis(rules))
    assert failed.value.final
    assert grown(block, right, genesis(rules))[1] == Snapshot(rules.sealed(block), block, right)


@pytest.mark.parametrize("fields", [{"number": 2}, {"parent": b"p" * 32}, {"pre_root": b"r" * 32}])
def test_a_block_that_is_not_on_the_one_that_was_ordered_is_none(
    rules: Repeating, fields: dict[str, Any]
) -> None:
    block, state = log_block(rules)
    with pytest.raises(BuildFailed, match="was executed on block 0, and does not name") as failed:
        grown(replace(block, **fields), state, genesis(rules))
    assert failed.value.final


@pytest.mark.parametrize("final", [True, False])
@pytest.mark.parametrize("state", [LogState((b"junk",)), None])
def test_a_known_block_that_leaves_another_state_now_is_for_who_mends_the_rules(
    rules: Repeating, monkeypatch: pytest.MonkeyPatch, state: LogState | None, final: bool
) -> None:
    block, right = log_block(rules)
    assert replayed(rules, genesis(rules), block).state == right
    monkeypatch.setattr(rules, "replay", lambda *_: state)
    with pytest.raises(BuildFailed, match="the rollup's rules contradict themselves") as failed:
        replayed(rules, genesis(rules), block, final=final)
    assert str(failed.value).endswith("; fix the rollup's rules, and start this process again")
    assert (failed.value.final, failed.value.needs_help) == (final, not final)
