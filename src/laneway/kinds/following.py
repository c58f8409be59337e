"""Whether a lane followed an operator's command, read from its records."""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from laneway.core.ids import IntentId, LaneId, lane_kind
from laneway.core.rows import Result
from laneway.engine.listeners import Listener
from laneway.lanes.common.values import CommandRefused, ModeChanged

if TYPE_CHECKING:
    from laneway.kinds.served import Served


class LaneWatch(Struct, frozen=True):
    lane: LaneId
    verb: str
    intent: IntentId | None
    answer: "asyncio.Future[str | None]"
    """None: it followed. Words: why it did not."""


class LaneFollowing(Listener):
    """Reads the commits of this process's lanes; of other lanes nothing comes, and a caller's wait
    ends by its own time."""

    def __init__(self) -> None:
        self._watches: list[LaneWatch] = []
        self.kinds: Mapping[str, Served] = {}
        """The kinds whose lanes are followed, by name."""

    @contextmanager
    def watch(
        self, lane: LaneId, verb: str, intent: IntentId | None = None
    ) -> Iterator["asyncio.Future[str | None]"]:
        """From before the command is written: no answer can come too early."""
        watch = LaneWatch(lane, verb, intent, asyncio.get_running_loop().create_future())
        self._watches.append(watch)
        try:
            yield watch.answer
        finally:
            self._watches.remove(watch)

    def notified(self, lane: LaneId, records: Sequence[Any], results: Sequence[Result]) -> None:
        for watch in self._watches:
            if watch.lane == lane and not watch.answer.done():
                hear(watch, self.kinds[lane_kind(lane)], records, results)


def hear(
    watch: LaneWatch, kind: "Served", records: Sequence[Any], results: Sequence[Result]
) -> None:
    for record in records:
        answer = kind.command_answer(watch.verb, watch.intent, record)
        if answer is not None:
            watch.answer.set_result(answer or None)
            return
    if watch.intent is not None and any(result.intent == watch.intent for result in results):
        watch.answer.set_result(None)


def command_answer(verb: str, intent: IntentId | None, record: Any) -> str | None:
    """What the records mean that lanes of all kinds share: a command is refused, or a person's
    command changed the mode. The machine's own changes answer nobody."""
    if isinstance(record, CommandRefused) and (record.verb, record.intent) == (verb, intent):
        return record.reason or "it was refused"
    if isinstance(record, ModeChanged) and intent is None:
        return None if record.halt or record.mode in ("halted", "disabled") else ""
    return None
