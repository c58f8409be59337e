"""A path or an address → a store. A driver is imported only when its store is asked for."""

from laneway.core.errors import StoreRefused
from laneway.ports import Clock, Store
from laneway.stores.book import Book
from laneway.stores.group import GroupStore

POSTGRES = ("postgresql://", "postgres://")
REDIS = ("redis://", "rediss://", "redis+cluster://", "rediss+cluster://")


def open_store(path: str, clock: Clock) -> Store:
    """The store at `path`; ":memory:" is for trying things out and keeps nothing."""
    if path.startswith(POSTGRES):
        return open_postgres(path)
    if path.startswith(REDIS):
        return open_redis(path)
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


def open_redis(address: str) -> Store:
    """One server, or a Cluster (`redis+cluster://`, of which any server may be named)."""
    try:
        from laneway.stores.redis import RedisStore
    except ImportError as error:
        raise StoreRefused(
            "Redis", f"its driver is missing ({error}); install laneway[redis]"
        ) from error
    scheme, _, rest = address.partition("://")
    return RedisStore(
        f"{scheme.removesuffix('+cluster')}://{rest}", cluster_form=scheme.endswith("+cluster")
    )
