"""What the event stream read last, framed once for all who follow it. Nothing here waits."""

from collections.abc import Callable, Iterator, Sequence

import msgspec

from laneway.core.ids import LaneId
from laneway.core.rows import FeedEntry
from laneway.feeds.events import EventsOf
from laneway.feeds.limits import (
    BATCH_BYTES_MAX,
    FEED_PAGE_BYTES,
    FEED_PAGE_FIRST,
    RING_BATCHES_MAX,
    RING_BYTES_MAX,
)
from laneway.wire import sse

LaneTest = Callable[[str], bool]

encode = msgspec.json.Encoder().encode


class EventFilter(msgspec.Struct, frozen=True):
    """Which events a reader wants: of one lane, of those it may see, or all."""

    lane: LaneId | None = None
    may_see: LaneTest | None = None


class Frames(msgspec.Struct, frozen=True, gc=False):
    """One entry of the feed as the wire has it; empty when it has no events."""

    cursor: str
    lane: LaneId
    body: bytes


def framed(entry: FeedEntry, events_of: EventsOf) -> Frames:
    events = events_of(entry)
    last = len(events) - 1
    # Only the last event carries the cursor: who is cut off in between gets the entry again.
    body = b"".join(
        sse.frame(event.type, encode(event), entry.cursor if place == last else None)
        for place, event in enumerate(events)
    )
    return Frames(entry.cursor, entry.lane, body)


class Batch:
    """Entries that are written together. A thousand readers of all of it share its bytes."""

    __slots__ = ("_lanes", "_whole", "cursor", "entries", "size")

    def __init__(self, entries: Sequence[Frames]) -> None:
        self.entries = entries
        self.cursor = entries[-1].cursor
        self.size = sum(len(frames.body) for frames in entries)
        self._whole: bytes | None = None
        self._lanes: dict[LaneId, list[bytes]] | None = None

    def lanes(self) -> dict[LaneId, list[bytes]]:
        """The frames of each lane."""
        if self._lanes is None:
            self._lanes = {}
            for frames in self.entries:
                if frames.body:
                    self._lanes.setdefault(frames.lane, []).append(frames.body)
        return self._lanes

    def seen(self, view: EventFilter) -> bytes:
        if view.lane is not None:
            return b"".join(self.lanes().get(view.lane, ()))
        if view.may_see is None:
            if self._whole is None:
                self._whole = b"".join(frames.body for frames in self.entries)
            return self._whole
        allowed = {lane for lane in self.lanes() if view.may_see(lane)}
        return b"".join(frames.body for frames in self.entries if frames.lane in allowed)

    def rest(self, skip: int) -> "Batch | None":
        """Itself without its first entries."""
        if skip == 0:
            return self
        return Batch(self.entries[skip:]) if skip < len(self.entries) else None


def batches(entries: Sequence[FeedEntry], events_of: EventsOf) -> Iterator[Batch]:
    """In their order, each small enough for one write."""
    held: list[Frames] = []
    size = 0
    for entry in entries:
        frames = framed(entry, events_of)
        if held and size + len(frames.body) > BATCH_BYTES_MAX:
            yield Batch(held)
            held, size = [], 0
        held.append(frames)
        size += len(frames.body)
    if held:
        yield Batch(held)


class ReaderPlace(msgspec.Struct, frozen=True, gc=False):
    """Where a reader goes on: a batch, and how many of its entries it has received."""

    batch: int
    skip: int = 0


class Ring:
    """The last batches, by numbers that only grow."""

    def __init__(self, end: str = "") -> None:
        self._batches: list[Batch] = []
        self._base = 0
        self._size = 0
        self._places: dict[str, ReaderPlace] = {}
        self.cursor = end
        """The cursor after everything that was added."""

    def clear(self, end: str) -> None:
        """Begin anew at another end of the feed; no old place is good any more."""
        self._base += len(self._batches) + 1
        self._batches, self._places, self._size = [], {}, 0
        self.cursor = end

    def end(self) -> ReaderPlace:
        return ReaderPlace(self._base + len(self._batches))

    def add(self, batch: Batch) -> None:
        number = self._base + len(self._batches)
        for skip, frames in enumerate(batch.entries, 1):
            self._places[frames.cursor] = ReaderPlace(number, skip)
        self._batches.append(batch)
        self._size += batch.size
        self.cursor = batch.cursor
        while len(self._batches) > RING_BATCHES_MAX or self._size > RING_BYTES_MAX:
            self._drop()

    def _drop(self) -> None:
        old = self._batches.pop(0)
        self._base += 1
        self._size -= old.size
        for frames in old.entries:
            del self._places[frames.cursor]

    def after(self, cursor: str) -> ReaderPlace | None:
        """The place that follows this cursor, if the ring still knows it."""
        return self.end() if cursor == self.cursor else self._places.get(cursor)

    def has(self, place: ReaderPlace) -> bool:
        """Whether nothing after this place was let go."""
        return place.batch >= self._base

    def at(self, place: ReaderPlace) -> Batch | None:
        """What stands at this place; None at the end."""
        number = place.batch - self._base
        return self._batches[number] if number < len(self._batches) else None


class Pager:
    """Learns from each page how many entries the next one should have."""

    def __init__(self, count_max: int) -> None:
        self._count_max = count_max
        self.count = min(FEED_PAGE_FIRST, count_max)

    def saw(self, entries: Sequence[FeedEntry]) -> bool:
        """Learn from a page of at most `count` entries; whether nothing followed it."""
        count, size = self.count, sum(len(entry.records) for entry in entries)
        if size > FEED_PAGE_BYTES:
            self.count = max(1, count * FEED_PAGE_BYTES // size)
        elif len(entries) == count and 2 * size <= FEED_PAGE_BYTES:
            self.count = min(2 * count, self._count_max)
        return len(entries) < count
