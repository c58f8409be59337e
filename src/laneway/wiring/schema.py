"""What `laneway.toml` may say: sections, keys, types, ranges and defaults."""

import re
from collections.abc import Sequence
from typing import Annotated, Any, Literal, get_args

from msgspec import Meta, Struct, field
from msgspec.structs import asdict, fields

from laneway.chains.limits import ANSWER_MS, CONNECT_MS, READ_MS
from laneway.devnets.contract.limits import ROUND_MS
from laneway.engine.limits import HEARTBEAT_MS, LEASE_TTL_MS
from laneway.lanes.contract.settings import ContractSettings
from laneway.server.limits import (
    BODY_BYTES_MAX,
    CONNECTIONS_MAX,
    REQUEST_S,
    TX_BODY_BYTES_MAX,
)
from laneway.stores.limits import REPLICAS_WAIT_MS, SCHEMA_CHARS_MAX
from laneway.wiring.address import StoreOptions
from laneway.wiring.limits import (
    COUNT_MAX,
    DURATION_MS_MAX,
    PORT_MAX,
    REPLICAS_MAX,
    RETENTION_DAYS_MAX,
    START_MS_MAX,
)
from laneway.wiring.schema_cosmos import CosmosSection, SequenceSection
from laneway.wiring.schema_evm import EoaSection, EvmSection
from laneway.wiring.schema_rollup import BundleSection, RollupSection, preset_of

Duration = Annotated[int, Meta(ge=1, le=DURATION_MS_MAX)]
Count = Annotated[int, Meta(ge=1, le=COUNT_MAX)]
Days = Annotated[int, Meta(ge=0, le=RETENTION_DAYS_MAX)]
Text = Annotated[str, Meta(min_length=1)]
Port = Annotated[int, Meta(ge=0, le=PORT_MAX)]

D = ContractSettings()
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


class ContractSection(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """ContractSettings with ranges, without what only the host knows. See there for reasons."""

    fast_size: Count = D.fast_size
    execution_ms_max: Duration = D.execution_ms_max
    search_ms: Duration = D.search_ms
    retry_ms_min: Duration = D.retry_ms_min
    retry_ms_max: Duration = D.retry_ms_max
    stale_retries_max: Count = D.stale_retries_max
    exhausted: Literal["halt", "skip"] = D.exhausted
    breaker_failures: Count = D.breaker_failures
    breaker_open_ms: Duration = D.breaker_open_ms
    priorities: bool = D.priorities
    count_max: Count | None = D.count_max
    bytes_max: Count | None = D.bytes_max
    limit_policy: Literal["spill", "reject"] = D.limit_policy

    def settings(self) -> ContractSettings:
        return ContractSettings(**asdict(self))


class HostSection(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    kind: Literal["devnet", "rest", "callable"] = "devnet"
    url: Text | None = None
    """rest: the node's address."""
    password: str | None = None
    """rest: only from the environment, and never shown."""
    password_file: Text | None = None
    """rest: a file that only its owner may read; its last newline is not part of the password."""
    takes_parent: bool | None = None
    """Whether `execute` names its parent block. Unset: the devnet does, others do not."""
    connect_ms: Duration = CONNECT_MS
    read_ms: Duration = READ_MS
    answer_ms: Duration = ANSWER_MS
    callable: Text | None = None
    """callable: `module:function`."""
    round_ms: Duration = 1_000
    """devnet: how long a consensus round takes. Real ones take ten minutes."""


class EngineSection(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    heartbeat_ms: Duration = HEARTBEAT_MS
    lease_ms: Duration = LEASE_TTL_MS
    """A process whose heart was not heard for so long is dead, and others take its lanes."""


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


class WebhookSection(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One endpoint that is told what happens."""

    id: Annotated[str, Meta(pattern=r"^[a-z0-9][a-z0-9_-]{0,63}$")]
    """Its name; the deliveries are in the lane `delivery:ID`."""
    url: Text
    """Where its messages are posted: http or https."""
    secret_file: Text
    """A file that only its owner may read: `whsec_` and base64, one a line. While secrets rotate
    every one of them signs."""
    events: tuple[Text, ...] = ("*",)
    """Globs of event types: `transaction.*`, `lane.halted`."""
    lanes: tuple[Text, ...] = ("*",)
    """Globs of lanes: `contract:Qm*`."""
    allow_private: bool = False
    """Whether it may be at a private, local or reserved address."""


class Config(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    preset: Literal["seed-000", "seed-001", "seed-002", "seed-003", "seed-004"] | None = None
    store: StoreSection = field(default_factory=StoreSection)
    contract: ContractSection = field(default_factory=ContractSection)
    host: HostSection = field(default_factory=HostSection)
    engine: EngineSection = field(default_factory=EngineSection)
    retention: RetentionSection = field(default_factory=RetentionSection)
    server: ServerSection = field(default_factory=ServerSection)
    log: LogSection = field(default_factory=LogSection)
    eoa: EoaSection = field(default_factory=EoaSection)
    sequence: SequenceSection = field(default_factory=SequenceSection)
    bundle: BundleSection = field(default_factory=BundleSection)
    webhooks: tuple[WebhookSection, ...] = ()
    evm: tuple[EvmSection, ...] = ()
    cosmos: tuple[CosmosSection, ...] = ()
    rollup: tuple[RollupSection, ...] = ()


TABLES = frozenset({"webhooks", "evm", "cosmos", "rollup"})
"""Keys with tables of their own, which no variable and no flag can spell."""

PRESETS: dict[str, dict[str, dict[str, object]]] = {
    # The seed's own numbers and choices: 54 s to a guarantee, anchors by its table, a core given
    # on once it reported, packages that name none before them. That a version's time is over ends
    # nothing by itself: another one is built only when all before it are dead on the chain.
    "seed-000": {"bundle": preset_of("seed-000")},
    # The same of the second seed: what is guaranteed counts as in flight too, 30 s to a guarantee
    # and once 18 s to an accumulation, the newest version wins. After these times the seed takes a
    # version for failed, which is not to be had, since it may still land; and what the service
    # wrote down outranks the newest version.
    "seed-001": {"bundle": preset_of("seed-001")},
    # The seed's own numbers (002 §§1, 3), and what its code does in its charts: any intent may take
    # a recycled nonce, a fixed window. Where it would pay twice (nonces given away after a lost
    # answer, resets below what is bound, a lock taken by force) ours stays. So does our depth: with
    # one block final, as the seed has it, a reorg could bring back bytes whose nonce was given up.
    "seed-002": {
        "eoa": {
            "inflight": 50,
            "recycled": "any",
            "max_recycled_nonces": 50,
            "bump_after_ms": 60_000,
            "funds_check_ms": 300_000,
            "funds_retry_ms": 60_000,
            "make_retry_ms": 100,
            "make_tries_max": 3,
            "poll_ms": 200,
        },
    },
    # The seed's own numbers, and where it has none those of its prototype and of the v1 client it
    # wraps: statuses of twenty at once, asked for every second, and 200 MiB in memory. What would
    # pay twice is not to be had: bytes signed again after a minute of mismatch, an error for what
    # no node knows, a rejection that ends a payload whose bytes may yet land.
    "seed-003": {
        "sequence": {
            "poll_ms": 1_000,
            "statuses": 20,
            "account_bytes_max": 200 << 20,
            "process_bytes_max": 200 << 20,
        },
    },
    # The seed's own numbers (004 §§1, 5, 9), also where laneway is stricter: a conflict ends an
    # execution and the worker goes on, the node picks the parent. It knows no breaker and no
    # deadline; ours stay, for without them a dead node is asked for ever.
    "seed-004": {
        "contract": {
            "fast_size": 5,
            "priorities": False,
            "limit_policy": "spill",
            "stale_retries_max": 1,
            "exhausted": "skip",
        },
        "host": {
            "url": "http://localhost:20000",
            "takes_parent": False,
            "round_ms": ROUND_MS,
        },
    },
}


def paths() -> Sequence[str]:
    return tuple(kinds())


def kinds() -> dict[str, Any]:
    """The type of every key by its path, in the order of the schema."""
    found: dict[str, Any] = {}
    for section in fields(Config):
        if isinstance(section.type, type) and issubclass(section.type, Struct):
            for key in fields(section.type):
                found[f"{section.name}.{key.name}"] = key.type
        elif section.name not in TABLES:
            found[section.name] = section.type
    return found


def kind_at(path: str) -> Any:
    """The type of a key, also of one in a table, as `rollup[0].kind`; None: it is not known."""
    table = re.fullmatch(r"(\w+)\[\d+\]\.(\w+)", path)
    if table is None:
        return kinds().get(path)
    sections = {section.name: section.type for section in fields(Config)}
    return {key.name: key.type for key in fields(get_args(sections[table[1]])[0])}.get(table[2])


def lookup(config: Config, path: str) -> Any:
    value: Any = config
    for name in path.split("."):
        value = getattr(value, name)
    return value
