"""Rounds, medians, ratios and goals, without a clock."""

import io
import sys

import pytest

from laneway_bench.frame import (
    Bar,
    Goal,
    Lines,
    Sample,
    interleaved,
    judged,
    progress,
    ratio,
    rounded,
    summary,
)


def sample(rate: float) -> Sample:
    return Sample(jobs=100, seconds=100 / rate, cpu_s=0.001)


def test_every_contestant_runs_once_a_round_and_odd_rounds_run_backwards() -> None:
    assert list(interleaved(["a", "b", "c"], 3)) == [
        (0, "a"),
        (0, "b"),
        (0, "c"),
        (1, "c"),
        (1, "b"),
        (1, "a"),
        (2, "a"),
        (2, "b"),
        (2, "c"),
    ]


def test_a_ratio_is_the_median_of_the_rounds_own_ratios() -> None:
    # The second round was slow for both; the ratio of the medians would be 3.
    ours = [sample(300), sample(100), sample(400)]
    theirs = [sample(100), sample(50), sample(200)]
    assert ratio({"ours": ours, "theirs": theirs}, "ours", "theirs") == pytest.approx(2)


@pytest.mark.parametrize("rounds", [{}, {"ours": [sample(1)]}, {"ours": [sample(1)], "theirs": []}])
def test_a_ratio_with_one_who_did_not_run_is_unknown(rounds: dict[str, list[Sample]]) -> None:
    assert ratio(rounds, "ours", "theirs") is None


def test_rounds_that_do_not_match_are_a_bug() -> None:
    with pytest.raises(ValueError):
        ratio({"ours": [sample(1)], "theirs": [sample(1), sample(2)]}, "ours", "theirs")


@pytest.mark.parametrize(
    ("goal", "value", "met"),
    [
        (Goal("g", 5), 5, True),
        (Goal("g", 5), 4.99, False),
        (Goal("g", 100, at_least=False), 100, True),
        (Goal("g", 100, at_least=False), 100.1, False),
        (Goal("g", 5), None, False),
        (Goal("g", 5, at_least=False), None, False),
    ],
)
def test_a_goal_is_met_at_its_bound_and_never_when_it_was_not_measured(
    goal: Goal, value: float | None, met: bool
) -> None:
    assert goal.is_met(value) is met


def test_a_goal_says_its_value_its_bound_and_whether_it_is_met() -> None:
    goals = (Goal("quick", 0.45), Goal("small", 100, at_least=False), Goal("absent", 1))
    assert judged(goals, {"quick": 0.51239, "small": 120.0, "absent": None}) == {
        "quick": {"value": 0.5124, "goal": ">= 0.45", "met": True},
        "small": {"value": 120.0, "goal": "<= 100", "met": False},
        "absent": {"value": None, "goal": ">= 1", "met": False},
    }


def test_a_goal_is_judged_before_its_value_is_rounded() -> None:
    assert not judged((Goal("g", 0.45),), {"g": 0.449_999_9})["g"]["met"]


def test_a_summary_holds_the_median_and_every_round() -> None:
    found = summary([sample(100), sample(1_000), sample(300)])
    assert found["jobs_per_s"] == 300
    assert found["rounds_jobs_per_s"] == [100, 1_000, 300]
    assert found["cpu_us_per_job"] == 10
    assert found["jobs"] == 100


@pytest.mark.parametrize(
    ("given", "shown"), [(12_345.6, 12_350), (0.123_456, 0.1235), (0, 0), (7, 7)]
)
def test_a_number_has_four_digits(given: float, shown: float) -> None:
    assert rounded(given) == shown


def test_without_a_terminal_each_step_is_a_line_on_stderr(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with progress(10.0) as lines:
        assert isinstance(lines, Lines)
        lines.step("one", 5.0)
        lines.tick(0.5)
        lines.step("two", 5.0)
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.splitlines() == ["[  0%] one", "[ 50%] two"]


def test_on_a_terminal_the_steps_move_one_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = io.StringIO()
    monkeypatch.setattr(terminal, "isatty", lambda: True)
    monkeypatch.setattr(sys, "stderr", terminal)
    with progress(10.0) as bar:
        assert isinstance(bar, Bar)
        bar.step("one", 5.0)
        bar.tick(0.5)
        bar.tick(None)
        bar.step("two", 5.0)
    assert "one" in terminal.getvalue()
    assert "two" in terminal.getvalue()
