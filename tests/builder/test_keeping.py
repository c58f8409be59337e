"""States are kept beside the file: when they are due, and without holding anything up."""

import logging
import os
from pathlib import Path
from threading import Event
from typing import Any

import pytest
from tests.builder.stage import DOMAIN
from tests.rollups.log_kind import GENESIS, LogBlock, LogRules, LogState

from laneway.builder import keeping
from laneway.builder.keeping import StateKeeper
from laneway.builder.limits import STATE_AGE_S_MAX, STATE_BLOCKS_DEFAULT, STATE_CHUNK_BYTES
from laneway.builder.shelf import Shelf
from laneway.builder.snapshots import Snapshot
from laneway.devnets.jam.limits import PACKAGES_KEPT_MAX

LogSnapshot = Snapshot[LogState, LogBlock]
IDENTITY = b"which"


class Rules(LogRules):
    """A log whose states take as long to read as a test says."""

    def __init__(self) -> None:
        super().__init__(DOMAIN)
        self.may_read = Event()
        self.may_read.set()
        self.problem: Exception | None = None

    def entries(self, state: LogState) -> Any:
        self.may_read.wait(60)
        if self.problem:
            raise self.problem
        return super().entries(state)


class Clock:
    now_s = 1_000_000.0

    def __call__(self) -> float:
        return self.now_s


class Desk:
    """A keeper with all that it needs."""

    def __init__(self, folder: Path) -> None:
        self.path = str(folder / "builder.db")
        self.rules = Rules()
        self.clock = Clock()
        self.shelf = Shelf(self.path)
        self.shelf.claim("log", IDENTITY)

    def keeper(self, base: int = 0, blocks: int = 4) -> StateKeeper[LogState, LogBlock]:
        return StateKeeper(self.rules, self.shelf, base, blocks=blocks, clock=self.clock)

    def snapshot(self, number: int, lines: tuple[bytes, ...] = (b"line",)) -> LogSnapshot:
        block = LogBlock(number, GENESIS.parent, GENESIS.pre_root, (b"line",))
        return Snapshot(self.rules.sealed(block), block, LogState(lines))

    def write(self, keeper: StateKeeper[LogState, LogBlock], number: int) -> list[int]:
        """Offer a state and wait until it is written, if it is; what is there then."""
        keeper.offer(self.snapshot(number))
        if keeper._writing is not None:
            keeper._writing.result(60)
        return self.numbers()

    def numbers(self) -> list[int]:
        return self.shelf.states.numbers()


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


def test_chains_keep_the_blocks_since_the_newest_state_several_times_over() -> None:
    assert 3 * STATE_BLOCKS_DEFAULT < PACKAGES_KEPT_MAX


def test_the_first_state_is_kept_at_once_and_then_one_each_so_many_blocks(desk: Desk) -> None:
    keeper = desk.keeper()
    assert desk.write(keeper, 0) == [], "the genesis is on the chain"
    assert desk.write(keeper, 1) == [1]
    for number in (2, 3, 4):
        assert desk.write(keeper, number) == [1]
    assert desk.write(keeper, 5) == [5, 1]
    assert desk.write(keeper, 8) == [5, 1]
    assert desk.write(keeper, 12) == [12, 5]
    saved = desk.shelf.states.load(12)
    snapshot = desk.snapshot(12)
    assert (saved.kind, saved.identity, saved.block) == ("log", IDENTITY, snapshot.sealed.hash)
    assert saved.root == snapshot.sealed.post_root
    assert desk.rules.decode(saved.payload) == snapshot.block
    assert list(desk.shelf.states.entries(12)) == [(bytes(8), b"line")]
    keeper.close()


def test_a_rollup_with_few_blocks_has_one_each_hour(desk: Desk) -> None:
    keeper = desk.keeper()
    assert desk.write(keeper, 1) == [1]
    desk.clock.now_s += STATE_AGE_S_MAX - 1
    assert desk.write(keeper, 2) == [1]
    desk.clock.now_s += 1
    assert desk.write(keeper, 1) == [1], "it is there"
    assert desk.write(keeper, 2) == [2, 1]
    keeper.close()


def test_a_process_goes_on_counting_where_the_one_before_ended(desk: Desk) -> None:
    keeper = desk.keeper()
    desk.write(keeper, 5)
    keeper.close()
    os.utime(desk.shelf.states.path(5), (desk.clock.now_s, desk.clock.now_s))
    again = desk.keeper(base=6)
    assert desk.write(again, 8) == [5]
    assert desk.write(again, 9) == [9, 5]
    again.close()
    os.utime(desk.shelf.states.path(9), (1, 1))
    late = desk.keeper(base=9)
    assert desk.write(late, 10) == [10, 9], "it is old"
    late.close()


def test_states_that_are_damaged_or_of_others_do_not_count(desk: Desk) -> None:
    keeper = desk.keeper()
    desk.write(keeper, 5)
    keeper.close()
    path = Path(desk.shelf.states.path(5))
    os.utime(path, (desk.clock.now_s, desk.clock.now_s))
    ahead = desk.keeper(base=4)
    assert desk.write(ahead, 4) == [4], "what is above it is of a chain that began anew"
    ahead.close()
    raw = Path(desk.shelf.states.path(4)).read_bytes()
    Path(desk.shelf.states.path(4)).write_bytes(raw.replace(IDENTITY, b"other"))
    foreign = desk.keeper(base=4)
    assert desk.write(foreign, 5) == [5, 4]
    foreign.close()
    path.write_bytes(b"torn")
    torn = desk.keeper(base=5)
    assert desk.write(torn, 6) == [6, 5]
    torn.close()


def test_writing_holds_nothing_up_and_one_is_written_at_a_time(desk: Desk) -> None:
    keeper = desk.keeper()
    desk.rules.may_read.clear()
    keeper.offer(desk.snapshot(1))
    writing = keeper._writing
    assert writing is not None
    keeper.offer(desk.snapshot(50))
    assert keeper._writing is writing
    desk.rules.may_read.set()
    writing.result(60)
    assert desk.numbers() == [1]
    assert desk.write(keeper, 51) == [51, 1], "what was left out is made up for by the next"
    keeper.close()


def test_closing_gives_up_what_is_being_written(desk: Desk) -> None:
    keeper = desk.keeper()
    desk.write(keeper, 1)
    desk.rules.may_read.clear()
    keeper.offer(desk.snapshot(9, (bytes(STATE_CHUNK_BYTES),)))
    keeper._stop.set()
    desk.rules.may_read.set()
    keeper.close()
    keeper.close()
    assert desk.numbers() == [1]
    assert [one for one in os.listdir(Path(desk.path).parent) if "part" in one] == []


def test_what_cannot_be_written_is_said_and_tried_again_later(
    desk: Desk, caplog: pytest.LogCaptureFixture
) -> None:
    keeper = desk.keeper()
    desk.rules.problem = ValueError("no entries")
    with caplog.at_level(logging.WARNING, "laneway.builder"):
        assert desk.write(keeper, 1) == []
    said = "The state after block 1 is not kept beside the file: the rollup's rules raised"
    assert said in caplog.text
    desk.rules.problem = None
    assert desk.write(keeper, 2) == [], "not with every block"
    assert desk.write(keeper, 5) == [5]
    keeper.close()


def test_a_builder_in_memory_keeps_none(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    desk.shelf = Shelf(None)
    desk.shelf.claim("log", IDENTITY)
    keeper = desk.keeper()
    keeper.offer(desk.snapshot(100))
    assert keeper._writing is None
    keeper.close()


def test_rules_that_never_return_keep_no_keeper_open(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(keeping, "CLOSE_FILE_S_MAX", 0.05)
    keeper = desk.keeper()
    desk.rules.may_read.clear()
    keeper.offer(desk.snapshot(1))
    keeper.close()
    assert keeper._writing is not None
    assert not keeper._writing.done()
    desk.rules.may_read.set()
    keeper._writing.result(60)
