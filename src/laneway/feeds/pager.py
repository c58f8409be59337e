"""How much of the feed is read at once: most commits have a few hundred bytes, and some have the
signed bytes of blobs."""

from collections.abc import Sequence

from laneway.core.rows import FeedEntry
from laneway.feeds.limits import FEED_PAGE_BYTES, FEED_PAGE_FIRST


class Pager:
    """Learns from each page how many entries the next one should have."""

    def __init__(self, count_max: int) -> None:
        self._count_max = count_max
        self.count = min(FEED_PAGE_FIRST, count_max)

    def saw(self, entries: Sequence[FeedEntry]) -> bool:
        """Learn from a page of at most `count` entries; whether nothing lay behind it."""
        count, size = self.count, sum(len(entry.records) for entry in entries)
        if size > FEED_PAGE_BYTES:
            self.count = max(1, count * FEED_PAGE_BYTES // size)
        elif len(entries) == count and 2 * size <= FEED_PAGE_BYTES:
            self.count = min(2 * count, self._count_max)
        return len(entries) < count
