"""Laws of the feed's pages: few large entries at once, many small ones."""

import pytest

from laneway.core.ids import LaneId
from laneway.core.rows import FeedEntry
from laneway.feeds.limits import FEED_PAGE_BYTES, FEED_PAGE_FIRST
from laneway.feeds.ring import Pager


def page(count: int, size: int) -> list[FeedEntry]:
    return [FeedEntry("1", LaneId("cosmos:a:b"), 1, 1, bytes(size))] * count


def test_pages_of_small_entries_grow_to_their_bound() -> None:
    pager = Pager(200)
    counts = []
    for _ in range(4):
        counts.append(pager.count)
        assert not pager.saw(page(pager.count, 100))
    assert counts == [FEED_PAGE_FIRST, 2 * FEED_PAGE_FIRST, 200, 200]
    assert pager.saw(page(199, 100))
    assert pager.count == 200


@pytest.mark.parametrize("size", [1 << 20, 8 << 20, 1 << 30])
def test_large_entries_make_the_next_page_small(size: int) -> None:
    pager = Pager(512)
    assert not pager.saw([FeedEntry("1", LaneId("cosmos:a:b"), 1, 1, Long(size))] * pager.count)
    assert pager.count == max(1, FEED_PAGE_BYTES // size)
    assert pager.saw([])


class Long(bytes):
    """As many bytes as it says, without any."""

    def __new__(cls, _size: int) -> "Long":
        return super().__new__(cls)

    def __init__(self, size: int) -> None:
        self._size = size

    def __len__(self) -> int:
        return self._size


def test_a_bound_below_the_first_page_holds_from_the_beginning() -> None:
    assert Pager(3).count == 3
