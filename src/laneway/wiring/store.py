"""A path or an address → a store. A driver is imported only when its store is asked for."""

from laneway.core.errors import StoreRefused
from laneway.ports import Clock, Store
from laneway.stores.book import Book
from laneway.stores.group import GroupStore

POSTGRES = ("postgresql://", "postgres://")


def open_store(path: str, clock: Clock) -> Store:
    """The store at `path`; ":memory:" is for trying things out and keeps nothing."""
    if path.startswith(POSTGRES):
        return open_postgres(path)
    if path == ":memory:":
        from laneway.stores.memory import MemoryBook

        book: Book = MemoryBook()
    else:
        from laneway.stores.sqlite import SqliteBook

        book = SqliteBook(path)
    return GroupStore(book, clock)


def open_postgres(address: str) -> Store:
    try:
        from laneway.stores.postgres import PostgresStore
    except ImportError as error:
        raise StoreRefused(
            "PostgreSQL", f"its driver is missing ({error}); install laneway[postgres]"
        ) from error
    return PostgresStore(address)
