"""A path → a store. SQLite is imported only when a file is asked for."""

from laneway.ports import Clock
from laneway.stores.book import Book
from laneway.stores.group import GroupStore


def open_store(path: str, clock: Clock) -> GroupStore:
    """The store at `path`; ":memory:" is for trying things out and keeps nothing."""
    if path == ":memory:":
        from laneway.stores.memory import MemoryBook

        book: Book = MemoryBook()
    else:
        from laneway.stores.sqlite import SqliteBook

        book = SqliteBook(path)
    return GroupStore(book, clock)
