"""Laws of a lane that a bug stopped: it is given back with its evidence, stays where it is, and
goes on when a person put aside what stopped it; nothing is lost, and nothing is done twice."""

from typing import Any

from msgspec import Struct
from tests.engine.toy import (
    A,
    B,
    Broke,
    Desk,
    Do,
    Finished,
    Ignored,
    Offered,
    ToyLane,
    kinds,
    performed,
    toy_kind,
)

from laneway.core.ids import IntentId, LaneId
from laneway.core.intent import IntentRow
from laneway.core.rows import START, Command, Head, Lease, Rows
from laneway.engine.faults import (
    LOADING,
    REVIVE,
    command_in,
    fault_of,
    may_go_on,
    passed_over,
    suspects,
)
from laneway.engine.limits import CAREFUL_TURNS, FAULT_INTENTS_MAX
from laneway.engine.orders import Release, Revived, Stopped
from laneway.engine.run import CommitDraft, Run
from laneway.ports import Commit

ONE, TWO = IntentId("tx_1"), IntentId("tx_2")


def stopped_in(desk: Desk) -> Stopped:
    (found,) = [order for order in desk.settle() if isinstance(order, Stopped)]
    return found


def revive(desk: Desk, *intents: IntentId) -> list[Any]:
    for intent in intents:
        desk.tell("cancel", intent)
    desk.tell(REVIVE)
    return desk.settle()


# The lane.


def test_a_lane_that_is_stopped_is_given_back() -> None:
    desk = Desk()
    desk.submit(payload=b"poison")
    assert kinds(desk.settle()) == ["Release", "Stopped"]
    view = desk.book.lane(A)
    assert view is not None
    assert view.head.owner is None
    assert A in desk.reactor.stopped


def test_an_intent_that_stops_its_lane_is_named_and_put_aside_and_the_rest_goes_on() -> None:
    desk = Desk()
    cursed = desk.submit(payload=b"poison")
    stopped = stopped_in(desk)
    assert stopped.intents == (cursed,)
    other = desk.submit()
    done = revive(desk, cursed)
    assert kinds(done)[0] == "Revived"
    assert desk.status(cursed) == "cancelled"
    assert performed(done) == [other]
    assert A not in desk.reactor.stopped
    desk.finish(other)
    desk.settle()
    assert desk.status(other) == "confirmed"


def test_of_a_batch_the_offender_is_found_one_step_at_a_time() -> None:
    desk = Desk(window=10)
    good = [desk.accept()[0].id for _ in range(3)]
    cursed = desk.accept(payload=b"poison")[0].id
    late = desk.accept()[0].id
    desk.reactor.woken(A)
    assert stopped_in(desk).intents == (*good, cursed, late), "any of them, so far"
    done = revive(desk)
    assert performed(done) == good
    (again,) = [order for order in done if isinstance(order, Stopped)]
    assert again.intents == (cursed,)
    assert sorted(performed(revive(desk, cursed))) == sorted([*good, late])


def test_what_resume_orders_waits_until_the_revival_is_committed() -> None:
    desk = Desk(window=2)
    intent = desk.submit()
    desk.settle()
    desk.reactor.broken(A, RuntimeError("the performer raised"), Do(intent))
    assert stopped_in(desk).intents == (intent,)
    desk.tell(REVIVE)
    commit = desk.until(Commit)
    assert commit.write.answered, "the revival is answered"
    assert performed(desk.done) == performed(desk.orders()) == []
    desk.answer(commit)
    assert performed(desk.settle()) == [intent], "once, and not by the command and resume both"


def test_what_a_command_orders_and_resume_holds_too_only_once_is_ordered() -> None:
    run = Run(A, toy_kind())
    run.lane = ToyLane(A)
    run.revive()
    run.mail.append(Command(1, A, "pause", 0))
    draft = CommitDraft()
    draft.effects = [Do(ONE)]
    run.drain(draft, 10, 0)
    assert (draft.effects, run.held_back) == ([], True)
    run.lane.open[ONE] = 1
    draft = CommitDraft()
    draft.effects = [Do(ONE)]
    run.drain(draft, 10, 0)
    assert (draft.effects, run.held_back) == ([Do(ONE)], False)


def test_while_its_effects_are_held_back_a_revived_lane_takes_no_work() -> None:
    """Also when its commands are more than the turns that it is careful for."""
    run = Run(A, toy_kind())
    run.lane = ToyLane(A)
    run.revive()
    run.careful = 0
    run.ahead.rows.append(IntentRow(ONE, A, 1, 0, 1, None, None, "", b"", b"work"))
    draft = CommitDraft()
    assert run.pull(draft, 0) > 0
    assert (draft.records, draft.doing) == ([], None)


def test_an_event_that_breaks_a_lane_is_gone_with_its_memory() -> None:
    desk = Desk()
    intent = desk.submit()
    desk.settle()
    desk.reactor.answered(A, Broke())
    assert stopped_in(desk).doing == Broke()
    assert performed(revive(desk)) == [intent], "its answer is asked for anew"


def test_a_command_that_breaks_a_lane_is_passed_over() -> None:
    desk = Desk()
    intent = desk.submit()
    desk.settle()
    desk.tell("break")
    stopped = stopped_in(desk)
    broken = command_in(stopped.doing)
    assert broken > 0
    assert stopped_in_again(desk), "a revival alone hears it again"
    desk.book.begin()
    desk.group(desk.book.tell(Command(0, A, REVIVE, desk.now_ms, word=str(broken))))
    desk.reactor.called(A)
    assert performed(desk.settle()) == [intent]
    assert desk.book.mailbox(Lease(A, desk.reactor.owner, fence_of(desk))) == ()


def stopped_in_again(desk: Desk) -> bool:
    return any(isinstance(order, Stopped) for order in revive(desk))


def fence_of(desk: Desk) -> int:
    view = desk.book.lane(A)
    assert view is not None
    return view.head.fence


def test_nothing_but_a_revival_opens_a_stopped_lane_again() -> None:
    desk = Desk()
    desk.submit(payload=b"poison")
    desk.settle()
    desk.submit()
    desk.reactor.woken(A)
    assert desk.settle() == []
    for verb in ("resume", "pause"):
        desk.tell(verb)
        assert kinds(desk.settle()) == ["Release"], verb
    assert A in desk.reactor.stopped


def test_a_release_that_failed_is_made_again_and_runs_nothing() -> None:
    desk = Desk()
    desk.submit(payload=b"poison")
    release = desk.until(Release)
    desk.reactor.release_failed(release.lease, desk.now_ms)
    desk.settle()
    desk.now_ms += 60_000
    assert kinds(desk.settle()) == ["Release"]
    assert not desk.reactor.holds(A)


def test_where_another_process_got_beyond_it_a_stopped_lane_goes_on_without_a_word() -> None:
    desk = Desk()
    cursed = desk.submit(payload=b"poison")
    desk.settle()
    other = Desk()
    other.book = desk.book
    other.tell("cancel", cursed)
    other.settle()
    other.reactor.leave()
    desk.book.begin()
    desk.book.release(Lease(A, other.reactor.owner, fence_of(desk)))
    desk.group(None)
    next_ = desk.submit()
    desk.reactor.called(A)
    done = desk.settle()
    assert Revived(A) in done
    assert performed(done) == [next_]


def test_a_lane_is_careful_only_for_a_while() -> None:
    desk = Desk(window=2 * CAREFUL_TURNS)
    cursed = desk.submit(payload=b"poison")
    desk.settle()
    revive(desk, cursed)
    intents = [desk.submit() for _ in range(CAREFUL_TURNS + 10)]
    assert performed(desk.settle()) == intents
    for intent in intents:
        desk.finish(intent)
    commit = desk.until(Commit)
    assert len(commit.write.results()) > 1


def test_other_lanes_go_on_beside_a_stopped_one() -> None:
    desk = Desk()
    desk.submit(A, payload=b"poison")
    other = desk.submit(B)
    assert performed(desk.settle()) == [other]
    desk.finish(other, B)
    desk.settle()
    assert desk.status(other) == "confirmed"


def test_a_commit_that_was_under_way_does_not_pass_for_anothers() -> None:
    desk = Desk(window=2)
    first = desk.submit()
    desk.settle()
    desk.submit()
    commit = desk.until(Commit)
    desk.reactor.broken(A, RuntimeError(), Do(first))
    desk.answer(commit)
    desk.settle()
    desk.reactor.called(A)
    assert kinds(desk.settle()) == ["Release"]


# The evidence.


class Slot(Struct):
    id: int
    intent: IntentId | None


class Many:
    def __init__(self) -> None:
        self.slots = {1: Slot(1, ONE), 2: Slot(2, TWO), 3: Slot(3, None)}


class Single:
    slot = Slot(7, ONE)


class Answer(Struct):
    slot: int
    rest: Any = None


def test_whose_intents_an_event_is_about_is_read_from_its_slots() -> None:
    assert suspects(Many(), Answer(2)) == (TWO,)
    assert suspects(Many(), [Answer(2), Answer(1, (Finished(TWO),))]) == (TWO, ONE)
    assert suspects(Many(), Answer(3)) == suspects(Many(), Answer(9)) == ()
    assert suspects(Single(), Answer(7)) == (ONE,)
    assert suspects(None, None) == suspects(None, Ignored()) == ()


class Other:
    """A lane of another distribution, whose slots are as it likes."""

    slots = {"a": "anything"}
    slot = Finished(ONE)


def test_a_lanes_slots_may_have_no_ids() -> None:
    assert suspects(Other(), Answer(1)) == ()
    assert suspects(Other(), Finished(TWO)) == (TWO,)


def test_only_so_many_intents_are_named_and_only_so_deep() -> None:
    many = [Finished(IntentId(f"tx_{number}")) for number in range(100)]
    assert len(suspects(None, many)) == FAULT_INTENTS_MAX
    deep: Any = Finished(ONE)
    for _ in range(50):
        deep = (deep,)
    assert suspects(None, deep) == ()


def test_a_fault_says_what_where_and_about_what() -> None:
    try:
        raise ValueError("x" * 10_000)
    except ValueError as error:
        fault = fault_of(A, error, Finished(ONE), (ONE,), 7)
    assert fault.error.startswith("ValueError('xxx")
    assert fault.doing == "Finished Finished(intent='tx_1')"
    assert "test_faults.py:" in fault.where
    assert "test_a_fault_says_what_where_and_about_what" in fault.where
    assert (fault.intents, fault.command, fault.at_ms) == ((ONE,), 0, 7)
    assert "laneway lane revive toy:A" in fault.words()
    assert fault.where in fault.evidence()
    assert len(fault.evidence()) < 1_000
    assert fault_of(A, ValueError(), None, (), 7).doing == LOADING
    told = Command(9, A, "break", 0)
    assert fault_of(A, ValueError(), Told(told), (), 7).command == 9


class Told(Struct):
    command: Command


def test_a_stopped_lane_goes_on_by_a_word_or_by_anothers_progress() -> None:
    def rows(version: int, *verbs: str) -> Rows:
        mail = tuple(Command(1, A, verb, 0) for verb in verbs)
        return Rows(Head(LaneId(A), version=version, cursors=START), (), (), mail)

    assert not may_go_on(rows(5), 5)
    assert not may_go_on(rows(5, "resume", "pause"), 5)
    assert may_go_on(rows(5, "resume", REVIVE), 5)
    assert may_go_on(rows(6), 5)


def test_the_commands_that_are_passed_over_are_named_by_numbers() -> None:
    mail = [
        Command(3, A, "break", 0),
        Command(4, A, REVIVE, 0, word="3"),
        Command(5, A, REVIVE, 0),
        Command(6, A, "cancel", 0, word="4"),
    ]
    assert passed_over(mail) == (3,)


def test_an_offer_names_all_that_it_holds() -> None:
    desk = Desk()
    arrival, seq = desk.accept()
    view = desk.book.intent(arrival.id)
    assert view is not None
    assert suspects(None, Offered(0, (view.intent,))) == (arrival.id,)
    assert seq == 1
