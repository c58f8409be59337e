"""The bounds of pages that every store keeps."""

import pytest

from laneway.core.errors import BadRequest
from laneway.core.ids import LaneId, intent_id
from laneway.core.intent import IntentRow
from laneway.stores.limits import BACKLOG_PAGE_BYTES_MAX
from laneway.stores.pages import backlog_page, feed_number


def row(number: int, size: int = 1) -> IntentRow:
    id_ = intent_id(number, bytes(10))
    return IntentRow(id_, LaneId("contract:a"), number, 0, 0, None, None, "", b"", bytes(size))


def test_a_page_is_bounded_in_number_and_bytes_and_says_whether_more_wait() -> None:
    rows = [row(number) for number in range(3)]
    assert backlog_page(rows, 3).intents == tuple(rows)
    assert [backlog_page(rows, limit).more for limit in (2, 3)] == [True, False]
    large = [row(1, BACKLOG_PAGE_BYTES_MAX + 1), row(2)]
    page = backlog_page(large, 9)
    assert (page.intents, page.more) == ((large[0],), True)


def test_a_feed_goes_on_after_a_number() -> None:
    assert [feed_number(cursor) for cursor in ("", "0", "17")] == [0, 0, 17]
    for cursor in ("x", "-1", "²", "1" * 19):
        with pytest.raises(BadRequest):
            feed_number(cursor)
