"""The plot is well-formed, and its bars are as long as their logarithms."""

from typing import Any
from xml.etree import ElementTree

import pytest

from laneway_bench.plot import LABELS, LEFT, RIGHT, WIDTH, Axis, svg, text

SVG = "{http://www.w3.org/2000/svg}"


def found(rates: dict[str, float]) -> dict[str, Any]:
    return {
        "results": {name: {"jobs_per_s": rate} for name, rate in rates.items()},
        "goals": {
            "a_goal": {"value": 1.5, "goal": ">= 1", "met": True},
            "another": {"value": None, "goal": "<= 2", "met": False},
        },
    }


def test_the_axis_spans_whole_powers_of_ten() -> None:
    axis = Axis([440.0, 31_000.0])
    assert (axis.low, axis.high) == (2, 5)
    assert axis.x(100) == LEFT
    assert axis.x(100_000) == WIDTH - RIGHT
    assert axis.x(1_000) - axis.x(100) == pytest.approx(axis.x(10_000) - axis.x(1_000))


def test_one_rate_alone_still_has_an_axis() -> None:
    axis = Axis([1_000.0])
    assert axis.high > axis.low


def test_every_contestant_has_a_bar_and_every_goal_a_line() -> None:
    rates = {name: 1_000.0 * place for place, name in enumerate(LABELS, start=1)}
    page = ElementTree.fromstring(svg(found(rates)))
    words = [node.text for node in page.iter(f"{SVG}text")]
    for label in LABELS.values():
        assert label in words
    for word in ("a_goal", "1.5", ">= 1", "yes", "another", "not measured", "no"):
        assert word in words
    # One rectangle a bar, and the page itself.
    assert len(list(page.iter(f"{SVG}rect"))) == len(LABELS) + 1


def test_who_did_not_run_has_no_bar() -> None:
    page = ElementTree.fromstring(svg(found({"laneway_1": 2_000.0, "raw": 20_000.0})))
    words = [node.text for node in page.iter(f"{SVG}text")]
    assert LABELS["huey"] not in words


def test_without_any_rate_the_goals_are_still_told() -> None:
    page = ElementTree.fromstring(svg(found({})))
    assert "a_goal" in [node.text for node in page.iter(f"{SVG}text")]


def test_a_longer_bar_is_a_higher_rate() -> None:
    page = ElementTree.fromstring(svg(found({"laneway_1": 2_000.0, "raw": 20_000.0})))
    widths = [float(node.attrib["width"]) for node in page.iter(f"{SVG}rect")][1:]
    assert widths[0] < widths[1]


def test_words_cannot_break_the_page() -> None:
    assert "&lt;b&gt;" in text(0, 0, "<b>")
