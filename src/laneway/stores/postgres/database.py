"""Reaching the server: with which settings, in which shape; and its errors as ours."""

import re
from functools import partial
from typing import Any

import psycopg
from psycopg import AsyncConnection, Connection, sql
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg.types.numeric import Int8BinaryDumper

from laneway.core.errors import (
    Bug,
    LanewayError,
    StoreBusy,
    StoreCorrupt,
    StoreFull,
    StoreRefused,
)
from laneway.core.urls import shown_url
from laneway.ports import Durability
from laneway.stores.limits import SCHEMA_CHARS_MAX
from laneway.stores.postgres.arrays import register
from laneway.stores.postgres.limits import (
    CONNECT_S_MAX,
    IDLE_WRITE_MS_MAX,
    LOCK_MS_MAX,
    SERVER_VERSION_MIN,
    TCP_SILENCE_MS_MAX,
)
from laneway.stores.sql import migrations_of, statements_of

DURABLE = ("on", "remote_apply")
"""Values of `synchronous_commit` that wait for the disk, and for the standbys that are named."""

PASSING_REFUSALS = re.compile(
    "starting up|shutting down|recovery|too many|remaining connection slots|not yet accepting", re.I
)
"""Messages of a server that refuses now and will not later."""

SHAPE = "SELECT version FROM shape"

Row = tuple[Any, ...]


statements = partial(statements_of, "laneway.stores.postgres")
migrations = partial(migrations_of, "laneway.stores.postgres")


def check_schema(schema: str) -> None:
    if not re.fullmatch("[a-z_][a-z0-9_]*", schema) or len(schema) > SCHEMA_CHARS_MAX:
        raise StoreRefused(
            schema,
            "a schema's name has lower case letters, digits and underscores, "
            f"{SCHEMA_CHARS_MAX} at most",
        )


def channel_of(schema: str) -> str:
    """The channel for news of a schema's lanes."""
    return f"laneway_{schema}"


PORTS = re.compile("[0-9,]*")


class Database:
    """One schema of one database: how to reach it, and what it must be like."""

    def __init__(self, conninfo: str, *, schema: str, relaxed: bool) -> None:
        check_schema(schema)
        try:
            address = conninfo_to_dict(conninfo)
            # Half a password, whose slash or @ was not escaped, would be named in errors.
            name, port = str(address.get("dbname")), str(address.get("port") or "")
            if "@" in name or not PORTS.fullmatch(port):
                raise psycopg.ProgrammingError
        except psycopg.ProgrammingError:
            # The error's own text may hold a part of the password, so it is not kept.
            problem = "not an address like postgresql://USER:PASSWORD@HOST:5432/NAME; a password's "
            problem += "own '/', '?', '#' and '@' are written as %2F, %3F, %23 and %40"
            name = shown_url(conninfo) if "://" in conninfo else "the database's address"
            raise StoreRefused(name, problem) from None
        self.schema = schema
        self.relaxed = relaxed
        self.name = named(address, schema)
        self._address = address
        self.timeline = 1
        """Which history the server writes; a standby that is promoted begins another."""
        self.standbys_behind = 0
        """Standbys that nobody waits for, when a heart last beat."""

    @property
    def channel(self) -> str:
        return channel_of(self.schema)

    def _reach(self, **settings: object) -> str:
        """The address, with what the caller left open filled in."""
        options = [f"-c {name}={value}" for name, value in settings.items()]
        options += [f"-c search_path={self.schema}", str(self._address.get("options") or "")]
        defaults = {
            "application_name": "laneway",
            "connect_timeout": CONNECT_S_MAX,
            "tcp_user_timeout": TCP_SILENCE_MS_MAX,
            "keepalives_idle": TCP_SILENCE_MS_MAX // 2_000,
            "keepalives_interval": TCP_SILENCE_MS_MAX // 4_000,
            "keepalives_count": 2,
        }
        merged = {**defaults, **self._address, "options": " ".join(options).strip()}
        return make_conninfo("", **{key: str(value) for key, value in merged.items()})

    # Opening, once a start.

    def prepare(self) -> Durability:
        """Bring the schema to the newest shape, or refuse it; say what a commit survives."""
        try:
            with Connection.connect(self._reach(lock_timeout=LOCK_MS_MAX)) as connection:
                durability = self._judge(settings(connection), connection.info.server_version)
                self._migrate(connection)
        except psycopg.Error as error:
            raise self.translate(error) from error
        return durability

    def look(self) -> tuple[Durability, int | None, int]:
        """What `prepare` would find: what a commit survives, the schema's shape (None if there is
        none yet) and the newest that is known here. Nothing is made or changed."""
        try:
            with Connection.connect(self._reach(lock_timeout=LOCK_MS_MAX)) as connection:
                durability = self._judge(settings(connection), connection.info.server_version)
                shape = self._found_shape(connection)
        except psycopg.Error as error:
            raise self.translate(error) from error
        newest = migrations()[-1][0]
        if shape is not None:
            self._check_shape(shape, newest)
        return durability, shape, newest

    def _judge(self, found: dict[str, str], version: int) -> Durability:
        if version < SERVER_VERSION_MIN:
            raise StoreRefused(
                self.name,
                f"it is PostgreSQL {version // 10_000}; {SERVER_VERSION_MIN // 10_000} or newer "
                "is needed",
            )
        if found["transaction_read_only"] == "on":
            raise StoreRefused(self.name, "it is read-only; name the primary, not a standby")
        weak = weaknesses(found)
        if not weak:
            return Durability.FULL
        if self.relaxed:
            return Durability.RELAXED
        raise StoreRefused(
            self.name,
            f"{' and '.join(weak)}: a power cut could lose what was acknowledged; "
            "change it, or accept the risk with durability = 'relaxed'",
        )

    def _migrate(self, connection: "Connection[Row]") -> None:
        # One process at a time, and the others find the work done.
        connection.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", [self.channel])
        version = self._shape(connection)
        self._check_shape(version, migrations()[-1][0])
        for number, script in migrations():
            if number > version:
                connection.execute(script.encode())
                connection.execute("UPDATE shape SET version = %s", [number])

    def _check_shape(self, version: int, newest: int) -> None:
        if version > newest:
            raise StoreRefused(
                self.name, f"it has shape {version}, this laneway knows {newest}; upgrade laneway"
            )

    def _shape(self, connection: "Connection[Row]") -> int:
        """The shape's number. A schema that is not there is made."""
        found = self._found_shape(connection)
        if found is not None:
            return found
        name = sql.Identifier(self.schema)
        connection.execute(sql.SQL("CREATE SCHEMA IF NOT EXISTS {}").format(name))
        connection.execute("CREATE TABLE shape (version bigint NOT NULL)")
        connection.execute("INSERT INTO shape VALUES (0)")
        return 0

    def _found_shape(self, connection: "Connection[Row]") -> int | None:
        """The shape's number; None if the schema is not there. A foreign one is refused."""
        found = connection.execute(
            "SELECT to_regclass(%s) IS NOT NULL, EXISTS (SELECT 1 FROM pg_class c JOIN "
            "pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = %s)",
            [f"{self.schema}.shape", self.schema],
        ).fetchone()
        assert found is not None
        ours, inhabited = found
        if not ours:
            if inhabited:
                raise StoreRefused(
                    self.name, "it holds tables of another program; name a schema for laneway alone"
                )
            return None
        row = connection.execute(SHAPE).fetchone()
        assert row is not None
        return int(row[0])

    # Connections of a running store.

    async def writer(self) -> "AsyncConnection[Row]":
        """A connection that may write, checked anew: a setting can change while we run."""
        connection = await self.reader(
            lock_timeout=LOCK_MS_MAX, idle_in_transaction_session_timeout=IDLE_WRITE_MS_MAX
        )
        try:
            cursor = await connection.execute(SETTINGS)
            found: dict[str, str] = dict(await cursor.fetchall())
            self._judge(found, connection.info.server_version)
            cursor = await connection.execute(TIMELINE)
            ((self.timeline,),) = await cursor.fetchall()
        except psycopg.Error as error:
            await connection.close()
            raise self.translate(error) from error
        except BaseException:
            await connection.close()
            raise
        return connection

    async def reader(self, **settings: object) -> "AsyncConnection[Row]":
        # Every question has its index. A plan made while a table was small must not scan it when
        # it has grown, so a statement is planned once, with nested loops over indexes.
        plans = {
            "plan_cache_mode": "force_generic_plan",
            "enable_seqscan": "off",
            "enable_hashjoin": "off",
            "enable_mergejoin": "off",
            "jit": "off",
        }
        try:
            connection = await AsyncConnection.connect(
                self._reach(**plans, **settings), autocommit=True, prepare_threshold=0
            )
        except psycopg.Error as error:
            raise self.translate(error) from error
        connection.prepared_max = None
        # A number's width must not make another statement of the same text.
        connection.adapters.register_dumper(int, Int8BinaryDumper)
        register(connection)
        return connection

    def translate(self, error: psycopg.Error) -> LanewayError:
        """The server's error as one of ours, for everything but a commit whose answer is out."""
        text = str(error).strip() or type(error).__name__
        state = error.sqlstate
        if state is None:
            refused = "FATAL" in text and not PASSING_REFUSALS.search(text)
            return StoreRefused(self.name, text) if refused else StoreBusy(f"{self.name}: {text}")
        if state == "53100":
            return StoreFull(self.name)
        if state in ("XX001", "XX002"):
            return StoreCorrupt(self.name, text)
        if state.startswith(("22", "23")):
            return Bug(f"{self.name}: rows contradict each other ({text})")
        if state.startswith(PASSING_STATES):
            return StoreBusy(f"{self.name}: {text}")
        return StoreRefused(self.name, text)


PASSING_STATES = ("08", "25006", "25P", "40", "53", "55", "57", "58")
"""Errors after which the same question may be asked again: a lost connection, a standby that was
promoted meanwhile, a pause too long, a deadlock, too little of something, a lock, an operator,
the operating system."""

SETTINGS = (
    "SELECT name, current_setting(name) FROM unnest(ARRAY['fsync', "
    "'synchronous_commit', 'transaction_read_only']) AS name"
)


TIMELINE = "SELECT ('x' || left(pg_walfile_name(pg_current_wal_insert_lsn()), 8))::bit(32)::bigint"
"""The first part of the name of the file that is being written."""


def settings(connection: "Connection[Row]") -> dict[str, str]:
    return dict(connection.execute(SETTINGS).fetchall())


def weaknesses(found: dict[str, str]) -> list[str]:
    """The settings with which an acknowledged commit may be lost."""
    weak = [] if found["fsync"] == "on" else ["fsync is off"]
    if found["synchronous_commit"] not in DURABLE:
        weak.append(f"synchronous_commit is {found['synchronous_commit']}")
    return weak


def named(address: "dict[str, Any]", schema: str) -> str:
    """How errors name the database: without its password."""
    place = address.get("host") or address.get("hostaddr") or "the local server"
    name = address.get("dbname") or address.get("user") or "default"
    return f"PostgreSQL {name}.{schema} at {place}"
