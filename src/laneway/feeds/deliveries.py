"""What went wrong with webhooks, as log lines."""

import logging
from collections.abc import Sequence
from typing import Any

from laneway.core.ids import LaneId, lane_key
from laneway.core.rows import Result
from laneway.engine.listeners import Listener
from laneway.lanes.delivery.values import AttemptFailed, ModeChanged, SlotSettled

log = logging.getLogger("laneway.webhooks")


class DeliveryLog(Listener):
    """A line for each thing that went wrong. No line holds an address, a secret or a body."""

    def told(self, lane: LaneId, records: Sequence[Any], _results: Sequence[Result]) -> None:
        if not lane.startswith("delivery:"):
            return
        for record in records:
            if isinstance(record, AttemptFailed):
                attempt = record.attempt
                self._say(lane, "failed", attempt=attempt.number, reason=attempt.reason)
            elif isinstance(record, SlotSettled) and record.status != "confirmed":
                self._say(lane, record.status, delivery=record.intent, reason=record.reason)
            elif isinstance(record, ModeChanged):
                self._say(lane, record.mode, by=record.by, reason=record.reason)

    def _say(self, lane: LaneId, word: str, **fields: object) -> None:
        said = {"webhook": lane_key(lane), **fields}
        text = " ".join(f"{name}={value!r}" for name, value in said.items())
        log.warning("webhook %s %s", word, text, extra={"fields": said})
