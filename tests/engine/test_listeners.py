"""A listener hears everything, and harms nobody."""

import logging
from collections.abc import Sequence
from typing import Any

import pytest

from laneway.core.ids import LaneId, intent_id
from laneway.core.intent import Accepted, Arrival
from laneway.core.rows import Result
from laneway.engine.listeners import Listener, Listeners

LANE = LaneId("toy:A")
INTENT = intent_id(1, bytes(10))


class Ear(Listener):
    def __init__(self, *, broken: bool = False) -> None:
        self.heard: list[str] = []
        self._broken = broken

    def _hear(self, word: str) -> None:
        self.heard.append(word)
        if self._broken:
            raise RuntimeError("cannot bear it")

    def accepted(self, arrival: Arrival, answer: Accepted) -> None:
        self._hear("accepted")

    def notified(self, lane: LaneId, records: Sequence[Any], results: Sequence[Result]) -> None:
        self._hear("told")

    def opened(self, lane: LaneId) -> None:
        self._hear("opened")

    def closed(self, lane: LaneId) -> None:
        self._hear("closed")

    def failed(self, error: Exception) -> None:
        self._hear("failed")


def tell_all(listeners: Listeners) -> None:
    listeners.accepted(Arrival(INTENT, LANE, b"", b"", 0), Accepted(INTENT, 1, 1, 0, True))
    listeners.opened(LANE)
    listeners.notified(LANE, [], [])
    listeners.closed(LANE)
    listeners.failed(RuntimeError())


def test_a_listener_that_raises_is_logged_and_the_others_still_hear(
    caplog: pytest.LogCaptureFixture,
) -> None:
    broken, whole = Ear(broken=True), Ear()
    with caplog.at_level(logging.ERROR, "laneway.engine"):
        tell_all(Listeners([broken, whole]))
    everything = ["accepted", "opened", "told", "closed", "failed"]
    assert broken.heard == whole.heard == everything
    assert len(caplog.records) == len(everything)
    assert "a listener failed" in caplog.text
