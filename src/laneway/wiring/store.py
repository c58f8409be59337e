"""A path or an address → a store. A driver is imported only when its store is asked for."""

from typing import TYPE_CHECKING

from laneway.core.errors import StoreRefused
from laneway.core.urls import shown_url
from laneway.ports import Clock, Store
from laneway.stores.book import Book
from laneway.stores.group import GroupStore
from laneway.wiring.address import POSTGRES, REDIS, StoreOptions
from laneway.wiring.extras import install

if TYPE_CHECKING:
    from laneway.stores.redis import RedisStore


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


def look_at_store(path: str, options: StoreOptions) -> str:
    """What a shared store is like, in words; a StoreError says what is wrong. Nothing is made or
    changed."""
    if path.startswith(POSTGRES):
        try:
            from laneway.stores.postgres.database import Database
        except ImportError as error:
            raise no_driver("PostgreSQL", "postgres", error) from error
        database = Database(path, schema=options.schema, relaxed=options.relaxed)
        durability, shape, newest = database.look()
        kept = "the first start makes its tables" if shape is None else f"schema {shape}"
        later = "" if shape in (None, newest) else f", the next start brings it to {newest}"
        return f"{database.name} can be used ({durability.value}); {kept}{later}"
    from laneway.wiring.process import run

    return run(open_redis(path, options).look())


def no_driver(store: str, extra: str, error: ImportError) -> StoreRefused:
    return StoreRefused(store, f"{error}; run: {install(extra)}")


def open_postgres(address: str, options: StoreOptions) -> Store:
    try:
        from laneway.stores.postgres import PostgresStore
    except ImportError as error:
        raise no_driver("PostgreSQL", "postgres", error) from error
    return PostgresStore(address, schema=options.schema, relaxed=options.relaxed)


def open_redis(address: str, options: StoreOptions) -> "RedisStore":
    """One server, or a Cluster (`redis+cluster://`, of which any server may be named)."""
    try:
        from laneway.stores.redis import RedisStore
    except ImportError as error:
        raise no_driver("Redis", "redis", error) from error
    scheme, _, rest = address.partition("://")
    return RedisStore(
        f"{scheme.removesuffix('+cluster')}://{rest}",
        cluster_form=scheme.endswith("+cluster"),
        durability="relaxed" if options.relaxed else "full",
        replicas_min=options.replicas_min,
        wait_timeout_ms=options.wait_timeout_ms,
    )
