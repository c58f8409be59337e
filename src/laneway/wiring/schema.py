"""What `laneway.toml` may say: sections, keys, types, ranges and defaults.

The sections of the process stand here; each kind of lane brings its own sections and tables.
"""

import re
from collections.abc import Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Annotated, Any, Literal

from msgspec import Meta, Struct, defstruct, field
from msgspec.structs import fields

from laneway.engine.limits import HEARTBEAT_MS, LEASE_TTL_MS
from laneway.kinds.config import ConfigError, ConfigPart, Count, Duration, Text
from laneway.kinds.kind import Kind
from laneway.kinds.limits import DURATION_MS_MAX
from laneway.kinds.registry import kinds
from laneway.server.limits import BODY_BYTES_MAX, CONNECTIONS_MAX, REQUEST_S, TX_BODY_BYTES_MAX
from laneway.stores.address import StoreOptions
from laneway.stores.limits import REPLICAS_WAIT_MS, SCHEMA_CHARS_MAX
from laneway.wiring.limits import PORT_MAX, REPLICAS_MAX, RETENTION_DAYS_MAX, START_MS_MAX

Days = Annotated[int, Meta(ge=0, le=RETENTION_DAYS_MAX)]
Port = Annotated[int, Meta(ge=0, le=PORT_MAX)]

SCHEMA_PATTERN = f"^[a-z_][a-z0-9_]{{0,{SCHEMA_CHARS_MAX - 1}}}$"


class StoreSection(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    path: Text = "laneway.db"
    durability: Literal["full", "relaxed", "memory"] = "full"
    """full: accepted means synced to disk. relaxed: a PostgreSQL or Redis that syncs later is taken
    too. memory: nothing outlives the process (":memory:")."""
    schema: Annotated[str, Meta(pattern=SCHEMA_PATTERN)] = "laneway"
    """PostgreSQL: where the tables are; nobody else's may be there."""
    replicas_min: Annotated[int, Meta(ge=0, le=REPLICAS_MAX)] | None = None
    """Redis: how many replicas must have a write before it is answered. Unset: as many as the
    server was ever seen with."""
    wait_timeout_ms: Duration = REPLICAS_WAIT_MS
    """Redis: how long they are waited for before nobody knows whether a write would survive."""
    start_ms_max: Annotated[int, Meta(ge=0, le=DURATION_MS_MAX)] = START_MS_MAX
    """PostgreSQL and Redis: how long 'laneway up' waits for a server that cannot be reached before
    it ends with 75; 0 ends at once."""

    def options(self) -> StoreOptions:
        return StoreOptions(
            relaxed=self.durability == "relaxed",
            schema=self.schema,
            replicas_min=self.replicas_min,
            wait_timeout_ms=self.wait_timeout_ms,
        )


class EngineSection(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    heartbeat_ms: Duration = HEARTBEAT_MS
    lease_ms: Duration = LEASE_TTL_MS
    """A process without a heartbeat for so long is dead, and others take its lanes."""


class RetentionSection(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Idempotency keys outlive both for ever. 0 keeps everything."""

    intents_days: Days = 90
    feed_days: Days = 30


class LogSection(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    level: Literal["debug", "info", "warning", "error"] = "info"
    format: Literal["auto", "json", "text"] = "auto"
    """auto: text on a terminal, one JSON object a line elsewhere."""


class ServerSection(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    listen: Text = "127.0.0.1"
    """The address to serve, or HOST:PORT. Anything but loopback needs `keys_file`."""
    port: Port = 8547
    """0: any free one."""
    seed_port: Port | None = None
    """A second port with the same routes; the contract node's own is 20000 (seed 004)."""
    keys_file: Text | None = None
    """TOML with `[[keys]]`: `id`, `sha256`, `scopes`, `lanes`, `expires`, `requests_per_minute`;
    'laneway apikey' makes one."""
    body_bytes_max: Count = BODY_BYTES_MAX
    tx_body_bytes_max: Count = TX_BODY_BYTES_MAX
    """Of a transaction for a Cosmos account, where there are any; all others have
    `body_bytes_max`."""
    connections_max: Count = CONNECTIONS_MAX
    request_ms_max: Duration = int(REQUEST_S * 1000)
    """For one request, waits and streams aside."""
    metrics_per_lane: bool = False
    """Label every series with its contract: for a few hundred contracts at most."""


class Config(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A whole configuration. What is read is of `config_type`, which has the sections and tables of
    all kinds too."""

    if TYPE_CHECKING:
        preset: str | None = None
        store: StoreSection = StoreSection()
        engine: EngineSection = EngineSection()
        retention: RetentionSection = RetentionSection()
        server: ServerSection = ServerSection()
        log: LogSection = LogSection()

        def __getattr__(self, name: str) -> Any: ...


SECTIONS: Mapping[str, type] = {
    "store": StoreSection,
    "engine": EngineSection,
    "retention": RetentionSection,
    "server": ServerSection,
    "log": LogSection,
}


def config_type() -> type[Config]:
    return built(tuple(kinds().values()))


def parts() -> list[ConfigPart]:
    return [kind.configuration() for kind in kinds().values()]


@cache
def built(found: tuple[Kind, ...]) -> type[Config]:
    """The type of a configuration with the sections and tables of these kinds."""
    parts = [kind.configuration() for kind in found]
    sections: dict[str, type] = {}
    for name, section in SECTIONS.items():
        for part in parts:
            if part.sections_before == name:
                sections |= part.sections
        sections[name] = section
    for part in parts:
        sections |= part.sections
    named = [name for part in parts for name in (*part.sections, *part.tables)]
    for name in named:
        if named.count(name) > 1 or name in (*SECTIONS, "preset"):
            raise ConfigError(name, "two kinds of lanes have a section of this name")
    # No type checker knows names and types that only the kinds know.
    literal: Any = Literal
    array: Any = tuple
    members: list[Any] = [("preset", literal[tuple(presets())] | None, None)]
    members += [(name, one, field(default_factory=one)) for name, one in sections.items()]
    members += [(name, array[one, ...], ()) for name, one in tables().items()]
    made = defstruct(
        "Config", members, bases=(Config,), frozen=True, forbid_unknown_fields=True, kw_only=True
    )
    assert issubclass(made, Config)
    return made


def tables() -> dict[str, type]:
    """The Struct of one table by the key of its array, which no variable and no flag can spell.
    Those of kinds with transactions stand last, for they are the longest."""
    ordered = sorted(kinds().values(), key=lambda kind: kind.is_listed)
    return {name: one for kind in ordered for name, one in kind.configuration().tables.items()}


def presets() -> dict[str, dict[str, Mapping[str, object]]]:
    """Values of each preset by section, of all kinds together."""
    found: dict[str, dict[str, Mapping[str, object]]] = {}
    for part in parts():
        for name, preset in part.presets.items():
            found.setdefault(name, {}).update(preset)
    return dict(sorted(found.items()))


def paths() -> Sequence[str]:
    return tuple(key_types())


def key_types() -> dict[str, Any]:
    """The type of every key by its path, in the order of the schema."""
    found: dict[str, Any] = {}
    for section in fields(config_type()):
        if isinstance(section.type, type) and issubclass(section.type, Struct):
            for key in fields(section.type):
                found[f"{section.name}.{key.name}"] = key.type
        elif section.name not in tables():
            found[section.name] = section.type
    return found


def type_at(path: str) -> Any:
    """The type of a key, also of one in a table, as `rollup[0].kind`; None: it is not known."""
    table = re.fullmatch(r"(\w+)\[\d+\]\.(\w+)", path)
    if table is None:
        return key_types().get(path)
    return {key.name: key.type for key in fields(tables()[table[1]])}.get(table[2])


def lookup(config: Config, path: str) -> Any:
    value: Any = config
    for name in path.split("."):
        value = getattr(value, name)
    return value
