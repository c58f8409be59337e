"""One run: what takes turns, what is left behind, and how it ends."""

import signal
from pathlib import Path

import pytest

from laneway_bench import contest
from laneway_bench.child import BenchFailed
from laneway_bench.contest import Contest, ContestPlan, disk, ended_by_signals, present
from laneway_bench.frame import Goal, Lines, Sample
from laneway_bench.guests import Guests, Need


class Two(Contest[ContestPlan]):
    """Contestants that answer at once; it only notes who was asked."""

    name = "two"
    full = quick = ContestPlan(rounds=3, jobs={"one": 1, "two": 2})

    def __init__(self, folder: Path, missing: dict[str, str]) -> None:
        super().__init__(self.full, folder, Guests(missing=missing), Lines(1.0))
        self.asked: list[str] = []

    def measure(self, name: str, place: Path) -> Sample:
        assert list(place.iterdir()) == []
        (place / "left").touch()
        self.asked.append(name)
        return Sample(jobs=1, seconds=0.1, cpu_s=0.05)


NEEDS: dict[str, tuple[Need, ...]] = {"lost": ("peers",)}
PARTS = {"found": lambda _: {"of_a_part": 2.0}, "lost": lambda _: {"of_a_lost_part": 2.0}}


class Parted(Contest[ContestPlan]):
    """A contestant, and two parts of which one cannot be had."""

    name = "parted"
    full = quick = ContestPlan(jobs={"one": 10})
    goals = (Goal("of_a_part", 1), Goal("of_a_lost_part", 1))
    needs, parts = NEEDS, PARTS

    def measure(self, name: str, place: Path) -> Sample:
        return Sample(jobs=10, seconds=1.0, cpu_s=0.5)


@pytest.fixture(autouse=True)
def quick_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(contest, "fdatasync_per_s", lambda _: 1_000.0)


def test_contestants_take_turns_each_in_an_empty_folder(tmp_path: Path) -> None:
    two = Two(tmp_path, {})
    two.run_rounds()
    assert two.asked == ["one", "two", "two", "one", "one", "two"]
    assert len(two.syncs) == 3
    assert list(tmp_path.iterdir()) == []


def test_who_is_missing_takes_no_turn(tmp_path: Path) -> None:
    two = Two(tmp_path, {"one": "it cannot be had"})
    two.run_rounds()
    assert two.asked == ["two"] * 3
    assert "one" not in two.rounds


@pytest.mark.parametrize(
    ("only", "results"), [("", {"one", "found"}), ("found", {"found"}), ("lost,one", {"one"})]
)
def test_a_run_measures_what_is_asked_for_and_can_be_had(
    only: str, results: set[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    guests = Guests(missing={"lost": "it cannot be had"})
    monkeypatch.setattr(contest, "invited", lambda *_, **__: guests)
    found = Parted.execute(tmp_path, only, quick=True)
    assert set(found["results"]) == {*results, "fdatasync_per_s"}
    assert found["goals"]["of_a_part"]["met"] is ("found" in results)
    assert found["goals"]["of_a_lost_part"] == {"value": None, "goal": ">= 1", "met": False}
    assert (found["quick"], "only" in found) == (True, bool(only))
    assert list(tmp_path.iterdir()) == []


def test_the_folder_under_test_is_gone_afterwards(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with disk() as folder:
        assert folder.is_dir()
    assert list(tmp_path.iterdir()) == []


def test_an_interrupt_is_not_an_error(tmp_path: Path) -> None:
    def interrupted() -> dict[str, object]:
        raise KeyboardInterrupt

    assert present(interrupted, "door", tmp_path, json=True) == 128 + signal.SIGINT


def test_what_cannot_be_run_is_told_on_stderr_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def failed() -> dict[str, object]:
        raise BenchFailed("it cannot be had")

    assert present(failed, "door", tmp_path, json=True) == 2
    said = capsys.readouterr()
    assert (said.out, said.err) == ("", "laneway bench door: it cannot be had\n")


def test_a_polite_end_unwinds_everything() -> None:
    before = signal.getsignal(signal.SIGTERM)
    with pytest.raises(SystemExit), ended_by_signals():
        signal.raise_signal(signal.SIGTERM)
    assert signal.getsignal(signal.SIGTERM) is before
