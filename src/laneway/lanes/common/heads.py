"""What every lane's head holds, and how the shared records change it."""

from collections.abc import Callable
from typing import Protocol, TypeVar

import msgspec

from laneway.core.rows import Cursors, HeadWrite, Result, all_classes, taken
from laneway.lanes.common.values import IntentDropped, ModeChanged

encode = msgspec.msgpack.Encoder().encode

H = TypeVar("H")


class CountedHead(Protocol):
    """How far a lane has taken its backlog, and how much of it is final."""

    cursors: Cursors
    settled_count: int
    settled_bytes: int


class Drainable(CountedHead, Protocol):
    """A head with a mode, which may be a drain."""

    mode: str
    reason: str
    by: str
    mode_ms: int
    drain_seq: int
    """While it drains: what is after this place of the backlog stays there."""
    drain_left: int
    """While it drains: how many are still to come."""
    dropped_seq: int
    """The highest place of an intent that was taken back while it waited."""


def head_reader(head: Callable[[], H]) -> Callable[[bytes], H]:
    """Reads the state that a store keeps of a lane; a lane that never ran has none."""
    decode = msgspec.msgpack.Decoder(head).decode
    return lambda state: decode(state) if state else head()


def head_row(head: CountedHead, wake_ms: int | None) -> HeadWrite:
    return HeadWrite(head.cursors, head.settled_count, head.settled_bytes, wake_ms, encode(head))


def passed(cursors: Cursors, priority: int, seq: int) -> Cursors:
    """The cursors after one class was taken up to this sequence."""
    assert seq > taken(cursors, priority)
    if priority >= len(cursors):
        cursors = all_classes(cursors)
    return (*cursors[:priority], seq, *cursors[priority + 1 :])


def settle(head: CountedHead, size: int) -> None:
    """Count one more intent that has its final answer."""
    head.settled_count += 1
    head.settled_bytes += size


def drop_waiting(head: Drainable, record: IntentDropped) -> Result:
    """Take an intent from the backlog that never had a slot; its final answer."""
    count_drained(head, record.seq)
    if record.passes:
        head.cursors = passed(head.cursors, record.priority, record.seq)
    else:
        head.dropped_seq = max(head.dropped_seq, record.seq)
    return drop(head, record)


def drop(head: CountedHead, record: IntentDropped) -> Result:
    settle(head, record.size)
    return Result(record.intent, record.status, record.at_ms, reason=record.reason)


def count_drained(head: Drainable, seq: int) -> None:
    """Count one of the intents that a drain waits for."""
    head.drain_left = max(0, head.drain_left - (seq <= head.drain_seq))


def change_mode(head: Drainable, record: ModeChanged) -> None:
    head.mode, head.reason, head.by = record.mode, record.reason, record.by
    head.mode_ms = record.at_ms
    head.drain_seq, head.drain_left = record.drain_seq, record.drain_left
