"""A path or an address → a store. A driver is imported only when its store is asked for."""

from laneway.core.errors import StoreRefused
from laneway.core.urls import shown_url
from laneway.ports import Clock, Store
from laneway.stores.book import Book
from laneway.stores.group import GroupStore
from laneway.wiring.address import POSTGRES, REDIS, StoreOptions
from laneway.wiring.extras import install


def open_store(path: str, clock: Clock, options: StoreOptions | None = None) -> Store:
    """The store at `path`; ":memory:" is for trying things out and keeps nothing."""
    options = options or StoreOptions()
    if path.startswith(POSTGRES):
        return open_postgres(path, options)
    if path.startswith(REDIS):
        return open_redis(path, options)
    if "://" in path:
        known = ", ".join((*POSTGRES, *REDIS))
        raise StoreRefused(shown_url(path), f"no such store; an address begins with {known}")
    if path == ":memory:":
        from laneway.stores.memory import MemoryBook

        book: Book = MemoryBook()
    else:
        from laneway.stores.sqlite import SqliteBook

        book = SqliteBook(path)
    return GroupStore(book, clock)


def open_postgres(address: str, options: StoreOptions) -> Store:
    try:
        from laneway.stores.postgres import PostgresStore
    except ImportError as error:
        raise StoreRefused("PostgreSQL", f"{error}; run: {install('postgres')}") from error
    return PostgresStore(address, schema=options.schema, relaxed=options.relaxed)


def open_redis(address: str, options: StoreOptions) -> Store:
    """One server, or a Cluster (`redis+cluster://`, of which any server may be named)."""
    try:
        from laneway.stores.redis import RedisStore
    except ImportError as error:
        raise StoreRefused("Redis", f"{error}; run: {install('redis')}") from error
    scheme, _, rest = address.partition("://")
    return RedisStore(
        f"{scheme.removesuffix('+cluster')}://{rest}",
        cluster_form=scheme.endswith("+cluster"),
        durability="relaxed" if options.relaxed else "full",
        replicas_min=options.replicas_min,
        wait_timeout_ms=options.wait_timeout_ms,
    )
