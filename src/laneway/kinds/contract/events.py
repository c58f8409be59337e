"""Committed records of contract lanes → events."""

from collections.abc import Sequence

from laneway.core.rows import FeedEntry
from laneway.feeds.events import NamedEvent
from laneway.kinds.common import events as common
from laneway.lanes.common.values import CommandRefused, IntentDropped, ModeChanged
from laneway.lanes.contract import values as v


def contract_events(entry: FeedEntry) -> Sequence[NamedEvent]:
    return common.account_events(entry, v.decode_records(entry.records), CONTRACT)


CONTRACT: dict[type, common.EventMaker] = {
    v.SlotClaimed: common.tx_event("submitted", of="slot"),
    v.SlotSettled: common.tx_event(None, block="block", reason="reason"),
    IntentDropped: common.ended,
    ModeChanged: common.mode_changed,
    v.AttemptDoubted: common.lane_event("recovering", reason="reason"),
    CommandRefused: common.command_refused,
}
"""The records that have events, and how each is made."""
