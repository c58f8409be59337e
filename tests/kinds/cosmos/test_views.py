"""Laws of what is shown of a Cosmos account's transactions, whatever became of them."""

from types import SimpleNamespace
from typing import Any, cast

from tests.lanes.sequence.stage import HEIGHT, LANE, Stage, begun, replace

from laneway.core.cosmos import TxSeen, TxStanding
from laneway.core.ids import intent_id
from laneway.core.outcome import Status
from laneway.core.rows import Head, LaneView, Tail
from laneway.kinds.cosmos.views import CosmosViews, cosmos_of, node_of
from laneway.lanes.sequence.rows import Attempt, History, Node, Past, Slot
from laneway.lanes.sequence.show import Sight
from laneway.lanes.sequence.values import LookAtNode
from laneway.ports import CosmosRequest, IntentView

TX = intent_id(1, bytes(10))
ATTEMPT = Attempt(
    2, b"\xab" * 32, "intent", 100, 7, 40, 5, 300, word="silent", code=5, codespace="sdk"
)
SLOT = Slot(
    id=1, intent=TX, seq=1, priority=0, size=9, sequence=6, claimed_ms=1, attempt_next=3,
    attempt=ATTEMPT, past=(Past(b"\xcd" * 32, 30, "not in a block up to 30"),),
)  # fmt: skip
REQUEST = CosmosRequest(messages=(("/a.B", b""),))


def test_an_indeterminate_one_is_shown_with_its_bytes() -> None:
    shown = cosmos_of(REQUEST, Sight(Status.INDETERMINATE, "", History(SLOT, raw=b"bytes")))
    assert (shown.raw, shown.sequence, shown.hash) == (b"bytes", 6, "AB" * 32)
    assert (shown.code, shown.codespace, shown.log) == (5, "sdk", "silent")


def test_the_bytes_of_one_that_is_open_are_not_shown() -> None:
    shown = cosmos_of(
        REQUEST, Sight(Status.SUBMITTED, "not_committed_yet", History(SLOT, raw=b"x"))
    )
    assert (shown.raw, shown.wait_reason, shown.timeout_height) == (None, "not_committed_yet", 40)


def test_every_attempt_is_told_and_which_of_them_may_land() -> None:
    shown = cosmos_of(REQUEST, Sight(Status.SIGNED, "", History(SLOT)))
    assert [(one.number, one.live, one.timeout_height) for one in shown.attempts] == [
        (1, False, 30), (2, True, 40),
    ]  # fmt: skip
    given_up = replace(SLOT, past=(replace(SLOT.past[0], proven=False),))
    shown = cosmos_of(REQUEST, Sight(Status.SIGNED, "", History(given_up)))
    assert [one.live for one in shown.attempts] == [True, True]
    old = TxSeen(b"\xcd" * 32, TxStanding.COMMITTED, 29, signers=("me",))
    landed = cosmos_of(REQUEST, Sight(Status.CONFIRMED, "", History(SLOT, old)))
    assert (landed.hash, landed.height, landed.signers) == ("CD" * 32, 29, ["me"])
    assert landed.attempts[0].live


def test_one_without_a_number_has_its_request_alone() -> None:
    shown = cosmos_of(REQUEST, Sight(Status.QUEUED, "paused"))
    assert (shown.sequence, shown.attempts, shown.wait_reason) == (None, [], "paused")
    made = Slot(id=1, intent=TX, seq=1, priority=0, size=9, sequence=6, claimed_ms=1)
    shown = cosmos_of(REQUEST, Sight(Status.QUEUED, "being_made", History(made)))
    assert (shown.sequence, shown.hash, shown.code) == (6, None, None)


def test_a_node_says_what_happens_next() -> None:
    gated = Node("a", 4, height=9, gate=9, reason="wrong_sequence: x, y", expected=3, ours=4)
    shown = node_of(gated)
    assert (shown.recovering, shown.expected, shown.ours) == (True, 3, 4)
    assert shown.then == "asked again after block 9"
    silent = Node("a", 4, retry_ms=9, failures=2, reason="silent")
    assert node_of(silent).then == "asked again soon, 2 times without an answer"
    back = Node("a", 4, reason="evicted: sequence 4")
    assert node_of(back).then == "offered again from sequence 4 on"
    assert (node_of(Node("a", 4)).then, node_of(Node("a", 4)).recovering) == ("", False)


# A lane that this process does not hold.


def teller(stage: Stage, bug: Any = None) -> CosmosViews:
    account = SimpleNamespace(settings=stage.settings)
    accounts = SimpleNamespace(account=lambda _lane: account)
    engine = SimpleNamespace(
        reactor=SimpleNamespace(lane=lambda _lane: None),
        faults={} if bug is None else {LANE: bug},
    )
    views = CosmosViews(cast(Any, accounts), 1)
    views.home = cast(Any, SimpleNamespace(engine=engine))
    return views


def halted() -> Stage:
    stage = begun(0, nodes=("a",))
    stage.place("a", looking=True)
    stage.post(stage.looked(LookAtNode("a", 0, 0, ()), HEIGHT, 505, {}))
    stage.place("a", looking=True)
    stage.post(stage.looked(LookAtNode("a", 0, 0, ()), HEIGHT + 20, 5, {}))
    return stage


def test_of_a_halted_lane_the_halts_reason_is_told_and_not_who_holds_it() -> None:
    stage = halted()
    stage.accept(1)
    row = next(iter(stage.accepted.values()))
    reason = stage.lane.head.halt
    for is_open in (True, False):
        assert teller(stage).sight(IntentView(row, None, open=is_open), stage.head).waits == reason
    running = begun(0).head
    waits = teller(stage).sight(IntentView(row, None, open=True), running).waits
    assert waits == "held_elsewhere"
    bug = SimpleNamespace(words=lambda: "stopped by a bug: x")
    waits = teller(stage, bug=bug).sight(IntentView(row, None, open=True), running).waits
    assert waits == "stopped by a bug: x"


def test_a_halted_lane_that_nobody_holds_says_where_it_would_go_on() -> None:
    stage = halted()
    view = LaneView(Tail(LANE), Head(LANE, state=stage.head), leased=False)
    plan = teller(stage).sequence_plan(view, None)
    assert plan is not None
    assert (plan.sequence_next, plan.becomes, plan.committed) == (505, 5, 5)
