"""Whether a lane followed an operator's word, heard from its records."""

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from msgspec import Struct

from laneway.core.ids import IntentId, LaneId
from laneway.core.rows import Result
from laneway.engine.listeners import Listener
from laneway.lanes.bundle import values as bundle
from laneway.lanes.contract.values import CommandRefused, ModeChanged
from laneway.lanes.delivery import values as delivery
from laneway.lanes.eoa import values as eoa
from laneway.lanes.eoa.rows import Purpose
from laneway.lanes.sequence import values as sequence

REFUSALS = (
    CommandRefused,
    delivery.CommandRefused,
    eoa.CommandRefused,
    sequence.CommandRefused,
    bundle.CommandRefused,
)
FOLLOWED = (eoa.ModeChanged, eoa.NoncesReset, sequence.ModeChanged, sequence.SequenceSet)


class Watch(Struct, frozen=True):
    lane: LaneId
    verb: str
    intent: IntentId | None
    heard: "asyncio.Future[str | None]"
    """None: it followed. Words: why it did not."""


class Following(Listener):
    """Hears the lanes of this process; of those elsewhere nothing comes, and a caller's wait ends
    by its own time."""

    def __init__(self) -> None:
        self._watches: list[Watch] = []

    @contextmanager
    def watch(
        self, lane: LaneId, verb: str, intent: IntentId | None = None
    ) -> Iterator["asyncio.Future[str | None]"]:
        """From before the word is told: no answer can come too early."""
        watch = Watch(lane, verb, intent, asyncio.get_running_loop().create_future())
        self._watches.append(watch)
        try:
            yield watch.heard
        finally:
            self._watches.remove(watch)

    def told(self, lane: LaneId, records: Sequence[Any], results: Sequence[Result]) -> None:
        for watch in self._watches:
            if watch.lane == lane and not watch.heard.done():
                hear(watch, records, results)


def hear(watch: Watch, records: Sequence[Any], results: Sequence[Result]) -> None:
    for record in records:
        if isinstance(record, REFUSALS):
            if record.verb == watch.verb and record.intent == watch.intent:
                watch.heard.set_result(record.reason)
                return
        elif is_about(watch, record) if watch.intent else is_word_followed(record):
            watch.heard.set_result(None)
            return
    if watch.intent is not None and any(result.intent == watch.intent for result in results):
        watch.heard.set_result(None)


def is_word_followed(record: object) -> bool:
    """Whether the mode changed by a person's word, and not by the machine's own."""
    if isinstance(record, ModeChanged):
        return not record.halt
    if isinstance(record, FOLLOWED):
        return True
    if isinstance(record, bundle.ModeChanged):
        return record.mode != "halted"
    return isinstance(record, delivery.ModeChanged) and record.mode != "disabled"


def is_about(watch: Watch, record: object) -> bool:
    """Whether an account's lane began what it was told about an intent that has a number."""
    if watch.verb == "settle" and isinstance(record, ModeChanged):
        return record.halt and record.mode != "halted"
    if isinstance(record, eoa.ContentReplaced):
        return watch.verb == "replace" and record.content.intent == watch.intent
    if not isinstance(record, eoa.BumpOrdered) or record.intent != watch.intent:
        return False
    return watch.verb == "bump" or (watch.verb == "cancel" and record.purpose == Purpose.CANCEL)
