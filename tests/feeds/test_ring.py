"""Laws of the ring: every place finds what is behind it, or is known to be gone."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from laneway.core.ids import LaneId
from laneway.feeds import ring as ring_module
from laneway.feeds.ring import Batch, EventFilter, Frames, ReaderPlace, Ring

LANES = [LaneId("contract:A"), LaneId("contract:B")]


def batch(first: int, count: int) -> Batch:
    return Batch(
        [
            Frames(str(number), LANES[number % 2], f"{number} ".encode())
            for number in range(first, first + count)
        ]
    )


def read_on(ring: Ring, place: ReaderPlace, view: EventFilter) -> list[int] | None:
    """All that stands behind a place, or None if some of it is gone."""
    if not ring.has(place):
        return None
    seen = b""
    while (found := ring.at(place)) is not None:
        rest = found.rest(place.skip)
        seen += b"" if rest is None else rest.seen(view)
        place = ReaderPlace(place.batch + 1)
    return [int(word) for word in seen.split()]


@given(st.lists(st.integers(1, 5), max_size=12), st.data())
def test_behind_every_cursor_stands_all_that_followed_it(
    sizes: list[int], data: st.DataObject
) -> None:
    ring, last = Ring("0"), 0
    for size in sizes:
        ring.add(batch(last + 1, size))
        last += size
    cursor = data.draw(st.integers(0, last))
    place = ring.after(str(cursor))
    if cursor == 0 and last:
        assert place is None  # Where it began is not kept: whoever is there reads the store.
        return
    assert place is not None
    for view, lane in (
        (EventFilter(), None),
        (EventFilter(lane=LANES[1]), 1),
        (EventFilter(may_see=LANES[0].__eq__), 0),
    ):
        expected = [n for n in range(cursor + 1, last + 1) if lane is None or n % 2 == lane]
        assert read_on(ring, place, view) == expected


def test_what_was_let_go_is_known_to_be_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ring_module, "RING_BATCHES_MAX", 2)
    ring = Ring("0")
    begin = ring.end()
    for number in range(1, 6):
        ring.add(batch(number, 1))
    assert not ring.has(begin)
    assert ring.after("2") is None
    kept = ring.after("4")
    assert kept is not None
    assert read_on(ring, kept, EventFilter()) == [5]
    ring.clear("9")
    assert not ring.has(kept)
    assert ring.after("9") == ring.end()


def test_the_ring_is_bounded_in_bytes_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ring_module, "RING_BYTES_MAX", 20)
    ring = Ring("0")
    for number in range(100, 120):
        ring.add(batch(number, 1))
    assert read_on(ring, ReaderPlace(15), EventFilter()) == [115, 116, 117, 118, 119]
    assert not ring.has(ReaderPlace(14))
