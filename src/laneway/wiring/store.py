"""A path or an address → a store. A driver is imported only when its store is asked for."""

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, TypeVar

from laneway.core.errors import StoreBusy, StoreRefused
from laneway.core.urls import shown_url
from laneway.kinds.extras import install
from laneway.ports import Clock, Store
from laneway.stores.address import POSTGRES, REDIS, StoreOptions
from laneway.stores.book import Book
from laneway.stores.group import GroupStore
from laneway.wiring.limits import START_RETRY_MS_MAX, START_RETRY_MS_MIN

if TYPE_CHECKING:
    from laneway.stores.postgres.database import Database
    from laneway.stores.redis import RedisStore

T = TypeVar("T")


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


def check_store(path: str, options: StoreOptions) -> None:
    """Refuse a store that cannot be opened, as far as nobody has to be asked: its address, its
    folder, its driver."""
    if path.startswith(POSTGRES):
        postgres_at(path, options)
    elif path.startswith(REDIS):
        open_redis(path, options)
    elif path != ":memory:":
        from laneway.stores.sqlite.database import check_place

        check_place(path)


def look_at_store(path: str, options: StoreOptions) -> str:
    """What a shared store is like, in words; a StoreError says what is wrong. Nothing is made or
    changed."""
    if path.startswith(POSTGRES):
        database = postgres_at(path, options)
        durability, shape, newest = database.look()
        kept = "the first start makes its tables" if shape is None else f"schema {shape}"
        later = "" if shape in (None, newest) else f", the next start brings it to {newest}"
        return f"{database.name} can be used ({durability.value}); {kept}{later}"
    from laneway.wiring.process import run

    return run(open_redis(path, options).look())


def postgres_at(address: str, options: StoreOptions) -> "Database":
    try:
        from laneway.stores.postgres.database import Database
    except ImportError as error:
        raise no_driver("PostgreSQL", "postgres", error) from error
    return Database(address, schema=options.schema, relaxed=options.relaxed)


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
        from laneway.stores.redis.engine_core import EngineCore
    except ImportError as error:
        raise no_driver("Redis", "redis", error) from error
    scheme, _, rest = address.partition("://")
    return RedisStore(
        f"{scheme.removesuffix('+cluster')}://{rest}",
        cluster_form=scheme.endswith("+cluster"),
        durability="relaxed" if options.relaxed else "full",
        replicas_min=options.replicas_min,
        wait_timeout_ms=options.wait_timeout_ms,
        layouts={"evm": EngineCore()},
    )


async def once_reached(
    open_: Callable[[], Awaitable[T]],
    wait_ms_max: int,
    clock: Clock,
    rest: Callable[[str, int], Awaitable[bool]],
) -> T | None:
    """What `open_` returns, once the store that it asks can be reached.

    Before each further try `rest` says why and waits; where it answers False nobody waits any
    longer, and the answer is None. StoreBusy if the store was down for all of `wait_ms_max`.
    """
    begun_ms, wait_ms = clock.monotonic_ms(), START_RETRY_MS_MIN
    while True:
        try:
            return await open_()
        except StoreBusy as error:
            left_ms = begun_ms + wait_ms_max - clock.monotonic_ms()
            if left_ms <= 0:
                raise
            wait_ms = min(wait_ms, left_ms)
            why = " ".join(error.problem.split())
            when = f"again in {wait_ms} ms, for {left_ms // 1000} s more at most"
            if not await rest(f"waiting for the store: {why}; {when}", wait_ms):
                return None
            wait_ms = min(2 * wait_ms, START_RETRY_MS_MAX)
