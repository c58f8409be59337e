"""The contract lane in memory, and its rows."""

import msgspec

from laneway.core.ids import LaneId
from laneway.core.intent import IntentRow
from laneway.core.rows import START, Cursors, RowPut, Rows, Table, Touched, all_classes
from laneway.lanes.common.heads import encode
from laneway.lanes.contract.settings import ContractSettings
from laneway.lanes.contract.values import Attempt, ContractHead, History, Slot

replace = msgspec.structs.replace
decode_head = msgspec.msgpack.Decoder(ContractHead).decode
decode_slot = msgspec.msgpack.Decoder(Slot).decode
decode_attempt = msgspec.msgpack.Decoder(Attempt).decode
decode_history = msgspec.msgpack.Decoder(History).decode


WINDOW_PLACE = "1"
"""Rows are keyed by their place in the window of one, so that a lane rewrites the same few rows."""

ONE_CLASS: Cursors = (0,)
"""Without priorities there is one class, and one range of the backlog to read."""


class ContractLane:
    """An owned index over frozen rows: at most one slot, and its attempts by number."""

    __slots__ = ("attempts", "head", "id", "intents", "settings", "slot")

    def __init__(self, lane: LaneId, settings: ContractSettings) -> None:
        self.id = lane
        self.settings = settings
        self.head = ContractHead(
            cursors=START if settings.priorities else ONE_CLASS,
            # Without a chain the lane counts its own executions, from the start.
            height=None if settings.has_chain else 0,
        )
        self.slot: Slot | None = None
        self.attempts: dict[int, Attempt] = {}
        self.intents: dict[str, IntentRow] = {}


def restore(rows: Rows, settings: ContractSettings) -> ContractLane:
    """Stand a lane up from its rows, as they were committed."""
    lane = ContractLane(rows.head.lane, settings)
    if rows.head.state:
        lane.head = decode_head(rows.head.state)
        if settings.priorities:  # They may have been switched on since it was written.
            lane.head.cursors = all_classes(lane.head.cursors)
    for row in rows.open:
        if row.table == Table.SLOT:
            lane.slot = decode_slot(row.body)
        else:
            assert row.table == Table.ATTEMPT
            attempt = decode_attempt(row.body)
            lane.attempts[attempt.number] = attempt
    lane.attempts = dict(sorted(lane.attempts.items()))
    lane.intents = {intent.id: intent for intent in rows.intents}
    return lane


def open_slot(lane: ContractLane) -> Slot:
    assert lane.slot is not None
    return lane.slot


def put_slot(lane: ContractLane, slot: Slot) -> Touched:
    lane.slot = slot
    return (RowPut(Table.SLOT, WINDOW_PLACE, slot.intent, encode(slot)),)


def put_attempt(lane: ContractLane, attempt: Attempt) -> Touched:
    lane.attempts[attempt.number] = attempt
    return (RowPut(Table.ATTEMPT, str(attempt.number), None, encode(attempt)),)
