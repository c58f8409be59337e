"""Every state of a small scope keeps the laws, and a machine that breaks one is found."""

from collections.abc import Callable
from typing import Any

import msgspec
import pytest
from tests.small_scope.copies import copied, exact
from tests.small_scope.search import SCOPES, SearchResult, SearchTerms, explore, search
from tests.small_scope.state import State

from laneway.core.outcome import Outcome
from laneway.core.records import Decision
from laneway.engine.ahead import Ahead
from laneway.engine.reactor import Reactor
from laneway.engine.run import Run
from laneway.lanes.contract import answers, machine
from laneway.lanes.contract.values import ExecutionReturned, RetryPlanned

replace = msgspec.structs.replace

Patch = pytest.MonkeyPatch


def story(found: SearchResult) -> str:
    return "\n".join(found.broken or ())


@pytest.mark.slow
@pytest.mark.parametrize("terms", SCOPES, ids=str)
def test_every_state_of_a_small_scope_keeps_the_laws(terms: SearchTerms) -> None:
    found = explore(terms)
    print(f"{terms}: {found.states} states, {found.transitions} transitions, {found.ends} ends")
    assert found.broken is None, story(found)
    assert found.ends > 0


def test_without_trouble_every_order_of_steps_comes_to_the_same_end() -> None:
    found = search(True, 0, 0, 0, 0, 2)
    assert found.broken is None, story(found)
    assert found.ends == 1
    assert found.transitions > found.states > 100


def test_a_search_is_the_same_every_time() -> None:
    assert search(False, 1, 0, 0, 0, 1) == search(False, 1, 0, 0, 0, 1)


def test_a_scope_that_has_no_end_is_given_up() -> None:
    found = explore(SearchTerms(True), states_max=50)
    assert found.broken is not None
    assert found.broken[-1] == "BROKEN  no end: more than 50 states"


# What counts as one state.


@pytest.mark.slow
@pytest.mark.parametrize(
    "terms",
    [
        SearchTerms(True, crashes=1, early=1, intents=1),
        SearchTerms(True, lost=1, faults=1, intents=2),
        SearchTerms(False, crashes=1, lost=1, intents=2),
        SearchTerms(True, crashes=1, faults=1, intents=2, tiny=True, refused=True),
        SearchTerms(False, crashes=1, intents=2, lazy=True),
    ],
    ids=str,
)
def test_states_that_are_written_alike_act_alike(terms: SearchTerms) -> None:
    """Else the search would pass over states that it never entered."""
    behind: dict[bytes, list[Any]] = {}
    met: set[Any] = set()
    twins = 0
    ahead = [terms.start()]
    while ahead:
        state = ahead.pop()
        if identity(state) in met:
            continue
        met.add(identity(state))
        next_, key = steps(state), state.key()
        if key in behind:
            twins += 1
            assert [step[:3] for step in next_] == behind[key]
        else:
            behind[key] = [step[:3] for step in next_]
            ahead += [step[3] for step in next_]
    assert twins > 0


def steps(state: State) -> list[Any]:
    taken = [(choice, state.take(choice)) for choice in state.choices()]
    named = [(c.word.name, c.fault.name, s.key(), s) for c, s in taken]
    return sorted(named, key=lambda step: step[:3])


def identity(state: State) -> Any:
    mail = tuple(sorted(map(id, state.mail)))
    parts = (id(state.reactor), id(state.ledger), id(state.chain), mail)
    return (parts, state.now_ms, state.submitted, state.untold, state.budget)


def test_a_copy_changes_alone() -> None:
    run: Any = {"rows": [[1], (2, [3])], "names": {"a"}}
    run["again"] = run["rows"]
    twin = copied(run)
    assert twin == run
    assert twin["again"] is twin["rows"]
    twin["rows"][1][1].append(4)
    twin["names"].add("b")
    assert run["rows"] == [[1], (2, [3])]
    assert run["names"] == {"a"}
    assert exact(twin) != exact(run)


def test_what_nobody_thought_of_is_not_copied() -> None:
    with pytest.raises(TypeError, match="nobody said how a tuple_iterator is copied"):
        copied([iter(())])


# The search can fail: machines that break a law are found, each by the law it breaks.


def effects_leave_before_their_commit(patch: Patch) -> None:
    turn = Reactor._turn

    def hasty(self: Reactor, run: Run, now_ms: int) -> None:
        turn(self, run, now_ms)
        if run.draft is not None:
            effects, run.draft.effects = run.draft.effects, []
            self._perform(run, effects)

    patch.setattr(Reactor, "_turn", hasty)


def resume_forgets(patch: Patch) -> None:
    patch.setattr(machine, "resume", lambda _: ())


def answers_are_taken_for(
    patch: Patch, change: Callable[[ExecutionReturned], ExecutionReturned]
) -> None:
    judge = answers.judge_answer
    patch.setattr(machine, "judge_answer", lambda lane, event: judge(lane, change(event)))


def unknown_counts_as_refused(patch: Patch) -> None:
    def change(event: ExecutionReturned) -> ExecutionReturned:
        refused = event.outcome is Outcome.UNKNOWN
        return replace(event, outcome=Outcome.REFUSED) if refused else event

    answers_are_taken_for(patch, change)


def a_stale_parent_is_taken_at_its_word(patch: Patch) -> None:
    answers_are_taken_for(patch, lambda event: replace(event, stale=False))


def a_retry_takes_a_new_parent(patch: Patch) -> None:
    def anew(_lane: Any, slot: Any, open_: Any, now_ms: int) -> Any:
        again = RetryPlanned(slot.id, now_ms, "", failed=False)
        return Decision((*answers.given_up(slot, open_, now_ms), again))

    patch.setattr(answers, "try_again", anew)


def absence_counts_as_never(patch: Patch) -> None:
    patch.setattr(answers, "absence_row", lambda **_: "A")


def absence_is_waited_for_for_ever(patch: Patch) -> None:
    patch.setattr(answers, "absence_row", lambda **_: "E")


def a_wake_is_lost_while_a_page_is_read(patch: Patch) -> None:
    wake = Ahead.wake
    patch.setattr(Ahead, "wake", lambda self, p: None if self.reading else wake(self, p))


def the_door_hands_over_out_of_turn(patch: Patch) -> None:
    hand = Ahead.hand

    def pushy(self: Ahead, arrival: Any, seq: int, limit: int) -> bool:
        self.seq_seen = seq - 1
        return hand(self, arrival, seq, limit)

    patch.setattr(Ahead, "hand", pushy)


Mutant = tuple[Callable[[Patch], None], SearchTerms, str]

MUTANTS: tuple[Mutant, ...] = (
    (effects_leave_before_their_commit, SearchTerms(True), "nothing leaves unrecorded"),
    (effects_leave_before_their_commit, SearchTerms(False), "nothing leaves unrecorded"),
    (resume_forgets, SearchTerms(True, crashes=1), "never lost"),
    (resume_forgets, SearchTerms(False, crashes=1), "never lost"),
    (unknown_counts_as_refused, SearchTerms(True, faults=1, early=1), "never twice"),
    (unknown_counts_as_refused, SearchTerms(False, early=1), "never twice"),
    (a_stale_parent_is_taken_at_its_word, SearchTerms(True, faults=1), "never twice"),
    (a_retry_takes_a_new_parent, SearchTerms(True, crashes=1), "never twice"),
    (absence_counts_as_never, SearchTerms(False, crashes=1), "never twice"),
    (absence_is_waited_for_for_ever, SearchTerms(True, faults=1), "no spinning"),
    (a_wake_is_lost_while_a_page_is_read, SearchTerms(True), "never lost"),
    (the_door_hands_over_out_of_turn, SearchTerms(True), "in order"),
)


@pytest.mark.parametrize(
    ("mutate", "terms", "law"), MUTANTS, ids=lambda m: getattr(m, "__name__", str(m))
)
def test_a_machine_that_breaks_a_law_is_found(
    mutate: Callable[[Patch], None], terms: SearchTerms, law: str, monkeypatch: Patch
) -> None:
    mutate(monkeypatch)
    found = explore(terms)
    assert found.broken is not None
    assert found.broken[-1].startswith(f"BROKEN  {law}"), story(found)
    assert "the next submission is accepted" in found.broken
