"""Laws of what is shown of a Cosmos account's transactions, whatever became of them."""

from laneway.core.cosmos import Standing, TxSeen
from laneway.core.ids import intent_id
from laneway.core.outcome import Status
from laneway.lanes.sequence.rows import Attempt, History, Node, Past, Slot
from laneway.lanes.sequence.show import Sight
from laneway.ports import CosmosRequest
from laneway.wiring.cosmos_shown import cosmos_of, node_of

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
    old = TxSeen(b"\xcd" * 32, Standing.COMMITTED, 29, signers=("me",))
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
    assert shown.then == "asked again behind block 9"
    silent = Node("a", 4, retry_ms=9, failures=2, reason="silent")
    assert node_of(silent).then == "asked again soon, 2 times without an answer"
    back = Node("a", 4, reason="evicted: sequence 4")
    assert node_of(back).then == "offered again from sequence 4 on"
    assert (node_of(Node("a", 4)).then, node_of(Node("a", 4)).recovering) == ("", False)
