"""Pages of the backlog and of the feed, with the bounds that every store keeps. Pure."""

from collections.abc import Iterable

from laneway.core.errors import BadRequest
from laneway.core.intent import BacklogPage, IntentRow
from laneway.stores.limits import BACKLOG_PAGE_BYTES_MAX, FEED_CURSOR_CHARS_MAX


def backlog_page(waiting: Iterable[IntentRow], limit: int) -> BacklogPage:
    """The first of the waiting intents, `limit` at most. One row more than fits must follow for
    the page to know that the backlog goes on."""
    rows: list[IntentRow] = []
    size = 0
    for row in waiting:
        if len(rows) == limit or (rows and size + row.size() > BACKLOG_PAGE_BYTES_MAX):
            return BacklogPage(tuple(rows), more=True)
        size += row.size()
        rows.append(row)
    return BacklogPage(tuple(rows), more=False)


def bad_cursor() -> BadRequest:
    return BadRequest("cursor", "not a cursor of this store")


def feed_number(cursor: str) -> int:
    """The number after which a feed goes on; the empty cursor is the beginning."""
    if not cursor:
        return 0
    if not (cursor.isascii() and cursor.isdigit()) or len(cursor) > FEED_CURSOR_CHARS_MAX:
        raise bad_cursor()
    return int(cursor)
