"""What went wrong with webhooks, as log lines."""

import logging
from collections.abc import Sequence
from typing import Any

from laneway.core.ids import LaneId, lane_key
from laneway.core.rows import Result
from laneway.engine.listeners import Listener
from laneway.lanes.common.values import ModeChanged
from laneway.lanes.delivery.values import AttemptFailed, SlotSettled

log = logging.getLogger("laneway.webhooks")


class DeliveryLog(Listener):
    """A line for each thing that went wrong. No line holds an address, a secret or a body."""

    def notified(self, lane: LaneId, records: Sequence[Any], _results: Sequence[Result]) -> None:
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

    def _say(self, lane: LaneId, event: str, **fields: object) -> None:
        written = {"webhook": lane_key(lane), **fields}
        text = " ".join(f"{name}={value!r}" for name, value in written.items())
        log.warning("webhook %s %s", event, text, extra={"fields": written})
