"""The page for rollups' operators has every word that the code can say."""

from pathlib import Path

import pytest

from laneway.kinds.rollup import log as bundle_log
from laneway.kinds.rollup.metrics import COUNTERS, GAUGES, PREFIX
from laneway.lanes.bundle import show

PAGE = (Path(__file__).parents[2] / "docs/rollup-operations.md").read_text()

WAITS = [
    word
    for name, word in vars(show).items()
    if name.isupper() and isinstance(word, str) and word.islower()
]
MESSAGES = [
    message
    for table in (bundle_log.CHANGES, bundle_log.COUNTED, bundle_log.TOLD)
    for _, message in table.values()
]


@pytest.mark.parametrize("word", WAITS)
def test_every_reason_to_wait_is_explained(word: str) -> None:
    assert f"| `{word}` |" in PAGE


def test_there_are_reasons_to_wait() -> None:
    assert len(WAITS) == 21


@pytest.mark.parametrize("message", MESSAGES)
def test_every_line_is_explained(message: str) -> None:
    words = message.partition(": ")[2] or message
    assert words in PAGE


@pytest.mark.parametrize("name", [name for name, _ in COUNTERS])
def test_every_counter_is_explained(name: str) -> None:
    assert f"`{PREFIX}{name}_total" in PAGE


@pytest.mark.parametrize("name", [name for name, _, _ in GAUGES])
def test_every_gauge_is_explained(name: str) -> None:
    assert f"`{PREFIX}{name}`" in PAGE
