"""Laws of what is shown of a rollup's lane, on the lane's own stage."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, cast

import pytest
from tests.lanes.bundle.stage import LANE, Stage, queued, replace, submitted

from laneway.core.errors import LaneNotFound
from laneway.core.intent import IntentRow
from laneway.core.jam import SlotClock
from laneway.core.outcome import Status
from laneway.core.rows import Head, Index, LaneView, Tail
from laneway.engine.shell import Engine
from laneway.kinds.common.views import empty_view
from laneway.kinds.rollup.doctor import blocks
from laneway.kinds.rollup.views import ConfiguredRollup, RollupViews, clock_of, waits_of
from laneway.lanes.bundle import lane as bundle_lane
from laneway.lanes.bundle import show
from laneway.lanes.bundle.limits import OVERTAKEN_MIN, STUCK_TRIES_MIN, UNSEEN_LOOKS_MIN
from laneway.lanes.bundle.rows import BundleHead
from laneway.lanes.common.values import ModeChanged
from laneway.ports import IntentView


class Held:
    """An engine that holds one lane, or none."""

    def __init__(self, stage: Stage | None) -> None:
        self.faults: dict[str, Exception] = {}
        self.reactor = self
        self._stage = stage

    def lane(self, _lane: str) -> Any:
        return None if self._stage is None else self._stage.lane


class Place:
    lane, name, kind, service, closed = LANE, "dev", "ledger", 7, None
    skew = ConfiguredRollup.skew

    def __init__(self, stage: Stage) -> None:
        self.settings = stage.settings
        self.watch: Any = None

    def lag(self) -> str:
        return ""

    def unwell(self, head: BundleHead) -> str:
        return show.stuck(head)


class Places:
    def __init__(self, stage: Stage) -> None:
        self._place = Place(stage)

    def lanes(self) -> list[Any]:
        return [LANE]

    def lane(self, text: str) -> Any:
        if text not in (LANE, "rollup:dev"):
            raise LaneNotFound(text)
        return LANE

    def account(self, lane: str) -> Any:
        if lane != LANE:
            raise LaneNotFound(lane)
        return self._place


def teller(stage: Stage, *, held: bool = True) -> RollupViews:
    engine = cast(Engine, Held(stage if held else None))
    views = RollupViews(cast(Any, Places(stage)))
    views.home = cast(Any, SimpleNamespace(engine=engine))
    return views


def view_of(stage: Stage, **more: Any) -> LaneView:
    """As the store has it."""
    tail = Tail(LANE, len(stage.accepted) + 1, len(stage.accepted))
    head = Head(
        LANE,
        state=stage.head,
        cursors=stage.cursors,
        settled_count=stage.lane.head.settled_count,
    )
    return LaneView(tail, head, **{"leased": True, **more})


def row_of(stage: Stage) -> IntentRow:
    return next(iter(stage.accepted.values()))


def test_a_transaction_in_the_pool_says_why_it_waits() -> None:
    stage = queued(2, max_queue_depth=2)
    third = stage.accept(1)[0]
    view = IntentView(stage.accepted[third], None, open=False)
    assert teller(stage).tx(view, view_of(stage)).reason == "queue_full"
    assert teller(stage, held=False).tx(view, view_of(stage)).reason == "queue_full"
    roomy = queued(1)
    waits = IntentView(roomy.accepted[roomy.accept(1)[0]], None, open=False)
    for holds in (True, False):
        tx = teller(roomy, held=holds).tx(waits, view_of(roomy))
        assert (tx.status, tx.reason) == ("queued", "in_pool")
        assert tx.rollup is not None
        assert tx.rollup.bundle is None
    roomy.tell("drain", word="running")
    for holds in (True, False):
        assert teller(roomy, held=holds).tx(waits, view_of(roomy)).reason == "draining"
    roomy.tell("pause")
    for holds in (True, False):
        assert teller(roomy, held=holds).tx(waits, view_of(roomy)).reason == "paused"
    roomy.apply([ModeChanged("halted", "three drops", "", roomy.now_ms)])
    for holds in (True, False):
        tx = teller(roomy, held=holds).tx(waits, view_of(roomy))
        assert tx.reason == "halted: three drops"
    gone = RollupViews(None)
    gone.home = cast(Any, SimpleNamespace(engine=Held(None)))
    assert gone.tx(waits, empty_view(LANE)).reason == "in_pool"


def test_a_transaction_in_a_block_is_where_its_block_is() -> None:
    stage = submitted()
    view = IntentView(row_of(stage), None, open=True)
    tx = teller(stage).tx(view, view_of(stage))
    assert (tx.status, tx.block, tx.reason) == ("submitted", 1, "not_guaranteed_yet")
    told = tx.rollup
    assert told is not None
    assert (told.bundle, told.number, told.state, told.verdict) == (
        "B-1", 1, "submitted", "included",
    )  # fmt: skip
    assert told.package == "0x" + stage.hash_of(1).hex()
    assert tx.hash is not None
    elsewhere = teller(stage, held=False).tx(view, view_of(stage))
    assert (elsewhere.status, elsewhere.reason) == ("submitted", "held_elsewhere")
    assert teller(stage).slot(LANE, row_of(stage).id) == stage.named(1)
    assert teller(stage, held=False).slot(LANE, row_of(stage).id) is None


def test_a_lane_counts_what_is_in_blocks_also_where_it_is_not_held() -> None:
    stage = queued(3)
    stage.accept(2)
    for holds in (True, False):
        lane = teller(stage, held=holds).lane(view_of(stage), None, stage.now_ms)
        assert (lane.running, lane.waiting) == (3, 2)
        assert lane.rollup is not None
        assert (lane.rollup.open, lane.rollup.queued, lane.rollup.held) == (3, 3, holds)
    strange = teller(stage).lane(
        LaneView(Tail(LANE_OF_NOBODY), Head(LANE_OF_NOBODY), leased=False), None, 0
    )
    assert strange.rollup is None


LANE_OF_NOBODY = cast(Any, "rollup:9")


def test_a_clock_that_is_off_drops_and_a_pause_are_what_a_person_should_see() -> None:
    stage = submitted()
    assert teller(stage).health(view_of(stage)).healthy
    stage.skew_ms = 1_500
    stage.look()
    stage.lane.head.drops = 2
    stage.apply([])
    stage.tell("pause")
    health = teller(stage).health(view_of(stage))
    assert health.problems == [
        "paused by ann: why",
        "the clock is off by 1500 ms: nothing is submitted; set this machine's clock",
        "2 blocks were dropped since one was accumulated",
    ]
    clock = clock_of(stage.lane.head, stage.settings)
    assert clock is not None
    assert (clock.is_held_up, clock.skew_ms_max) == (True, 1_000)


@pytest.mark.parametrize("held", [True, False])
def test_a_clock_that_is_set_while_nothing_is_open_is_seen_by_all_and_its_end_too(
    held: bool,
) -> None:
    """Readiness said so, and nobody else; or everybody said so for ever."""
    stage, off = Stage(), "the clock is off by -9000 ms: nothing is submitted; set this machine's"
    views = teller(stage, held=held)
    place = views.account(LANE)
    assert place is not None
    watch = SimpleNamespace(skew_ms=-9_000)
    place.watch = cast(Any, watch)  # type: ignore[misc]
    (problem,) = views.health(view_of(stage)).problems
    assert problem == views.status(view_of(stage), None).waits == f"{off} clock"
    stage.lane.head.clock = SlotClock(slot_ms=6_000, slot=1, heard_ms=0, begin_ms=0, skew_ms=-9_000)
    stage.apply([])
    watch.skew_ms = 20
    assert views.health(view_of(stage)).healthy, "the lane knows what was then"
    assert views.status(view_of(stage), None).waits == ""


def test_a_chain_that_is_not_seen_and_callbacks_that_fail_are_what_a_person_should_see() -> None:
    stage = submitted()
    stage.slot(stage.hash_of(1))
    stage.to_slot()
    stage.chain.produce()
    stage.look()
    stage.hear(is_done=False)
    assert waits_of(stage.lane) == "callbacks fail: busy"
    stage.tick(1_000)
    stage.blind()
    blind = "the chain cannot be looked at: nobody answers"
    health = teller(stage).health(view_of(stage))
    assert (health.healthy, health.problems) == (False, [blind, "callbacks fail: busy"])
    assert waits_of(stage.lane) == blind
    assert teller(stage, held=False).status(view_of(stage), None).waits == blind


def test_what_keeps_a_lane_back_for_long_is_one_problem_and_the_same_wherever_one_looks() -> None:
    stage = submitted()
    for _ in range(UNSEEN_LOOKS_MIN):
        stage.tick(60_000)
        stage.blind()
    blind = "the chain cannot be looked at: nobody answers"
    shown = teller(stage)
    assert shown.health(view_of(stage)).problems == [blind]
    assert shown.status(view_of(stage), None).waits == blind
    overtaken = queued(2)
    overtaken.lane.head.overtaken = OVERTAKEN_MIN
    overtaken.apply([])
    starved = show.stuck(overtaken.lane.head)
    assert starved.startswith("others brought blocks 8 times in a row")
    for held in (True, False):
        shown = teller(overtaken, held=held)
        assert shown.health(view_of(overtaken)).problems == [starved]
        assert shown.status(view_of(overtaken), None).waits == starved
        assert shown.rollup(view_of(overtaken)).reason == starved
    overtaken.tell("pause")
    assert waits_of(overtaken.lane) == "B-1 (block 1): paused"


def has_halted(stage: Stage, _: pytest.MonkeyPatch) -> str:
    stage.apply([ModeChanged("halted", "three drops; resume the lane", "", stage.now_ms)])
    return "three drops; resume the lane"


def sees_nothing(stage: Stage, _: pytest.MonkeyPatch) -> str:
    for _tries in range(UNSEEN_LOOKS_MIN):
        stage.tick(60_000)
        stage.blind()
    return "the chain cannot be looked at: nobody answers"


def is_overtaken(stage: Stage, _: pytest.MonkeyPatch) -> str:
    stage.lane.head.overtaken = OVERTAKEN_MIN
    stage.apply([])
    return "others brought blocks 8 times in a row"


def cannot_build(stage: Stage, _: pytest.MonkeyPatch) -> str:
    slot = stage.named(1)
    stage.put(replace(slot, tries=STUCK_TRIES_MIN, wait_reason="no; put it back", retry_ms=10**15))
    return "no; put it back"


def has_no_finality(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setattr(show, "SLOTS_OPEN_MAX", 2)
    stage.apply([])
    return "finality_stands_still: 2 blocks are open; see why the chain ends none"


def holds_too_much(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setattr(bundle_lane, "OPEN_BYTES_MAX", 1)
    stage.apply([])
    return "too large together to begin another; see why the chain ends none"


def owes_callbacks(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setattr(show, "TELLS_OWED_MAX", 1)
    stage.to_slot(2_500)
    stage.slot(stage.hash_of(1))
    stage.to_slot()
    stage.chain.produce()
    stage.look()
    stage.hear(is_done=False)
    return "callbacks_owed: busy"


@pytest.mark.parametrize(
    "trouble",
    [
        has_halted, sees_nothing, is_overtaken, cannot_build, has_no_finality, holds_too_much,
        owes_callbacks,
    ],
)  # fmt: skip
@pytest.mark.parametrize("held", [True, False])
def test_whatever_begins_or_ends_no_block_for_long_is_said_wherever_one_looks(
    trouble: Callable[[Stage, pytest.MonkeyPatch], str], held: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Status, list of lanes, health, readiness (which asks `unwell`) and the doctor agree."""
    stage = queued(2)
    shown, head = teller(stage, held=held), show.read_head(stage.head)
    assert shown.health(view_of(stage)).healthy
    assert (Place(stage).unwell(head), blocks("x", head)) == ("", [])
    said = trouble(stage, monkeypatch)
    head = show.read_head(stage.head)
    health = shown.health(view_of(stage))
    assert not health.healthy
    assert said in Place(stage).unwell(head)
    assert any(said in problem for problem in health.problems)
    (finding,) = blocks("x", head)
    assert said in finding.what
    status = shown.status(view_of(stage), None)
    assert said in status.rollup.reason or said in status.waits
    assert said in shown.state(view_of(stage)).reason


def test_a_status_says_what_is_known_here() -> None:
    stage = queued(2)
    stage.accept(1)
    full = teller(stage).status(view_of(stage), b"\x01" * 32)
    assert full.picture is not None
    assert full.picture.queued == ["1v1", "2v1"]
    assert full.waits.startswith("B-1 (block 1): ")
    assert (full.pool.pending, full.pool.in_blocks, full.pool.total) == (1, 2, 3)
    assert (full.elsewhere, full.chain) == ("", "0x" + "01" * 32)
    part = teller(stage, held=False).status(view_of(stage), None)
    assert (part.picture, part.pool.pending, part.chain) == (None, None, None)
    assert "the process that holds the lane" in part.elsewhere
    assert (part.rollup.open, part.rollup.held) == (2, False)
    asleep = teller(Stage(), held=False).status(empty_view(LANE), None)
    assert (asleep.picture is not None, asleep.pool.pending, asleep.clock) == (True, 0, None)
    assert (asleep.best, asleep.final, asleep.waits) == (None, None, "")
    assert waits_of(submitted().lane) == ""


def test_names_are_known_or_not() -> None:
    own = teller(Stage())
    assert own.lane_name("rollup:dev") == LANE
    assert own.bound_at(LANE, 1) is None
    left = Index("pruned", "x", row_of(queued()).id, LANE, status="confirmed", hash=b"\xab" * 32)
    assert own.pruned(left).hash == "0x" + "ab" * 32


def test_a_block_that_ends_in_the_commit_under_way_does_not_look_like_the_pool() -> None:
    row = row_of(queued())
    ending = teller(Stage()).sight(IntentView(row, None, open=True), b"")
    assert (ending.status, ending.waits) == (Status.INCLUDED, "not_final_yet")
    fresh = teller(Stage()).sight(IntentView(row, None, open=False), b"")
    assert (fresh.status, fresh.waits) == (Status.QUEUED, "in_pool")


def test_a_transaction_has_no_block_until_one_is_sealed() -> None:
    stage = Stage()
    stage.accept(1)
    stage.pull()
    view = IntentView(row_of(stage), None, open=True)
    tx = teller(stage).tx(view, view_of(stage))
    assert tx.rollup is not None
    assert (tx.block, tx.hash, tx.rollup.number) == (None, None, None)
    assert (tx.rollup.bundle, tx.rollup.state, tx.reason) == ("B-1", "building", "being_built")
    stage.build()
    tx = teller(stage).tx(view, view_of(stage))
    assert tx.rollup is not None
    assert (tx.block, tx.rollup.number) == (1, 1)
    assert tx.hash is not None
