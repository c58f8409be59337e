"""Where settings come from: defaults < preset < laneway.toml < environment < flags.

Every layer passes the same schema, and an error names the layer and the path of the key. What is
read here is never acted upon here: wiring/contract.py does that.
"""

import logging
import os
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from ipaddress import ip_address
from pathlib import Path
from typing import Any, Literal, get_args
from urllib.parse import urlsplit

from msgspec import Struct, ValidationError, convert, to_builtins

from laneway.core.errors import CallerError
from laneway.devnets.jam.limits import LEDGER_SERVICE_DEV
from laneway.jam.spec import RECENT_BLOCK_COUNT
from laneway.lanes.bundle.windows import anchor_offset
from laneway.lanes.eoa.ceilings import BASE_FEE_TIMES
from laneway.lanes.eoa.fees import written
from laneway.signers.errors import SignerUnusable
from laneway.signers.place import COSMOS_SCHEMES, SCHEMES, split
from laneway.wiring.address import POSTGRES, REDIS, is_shared
from laneway.wiring.limits import (
    CONFIG_BYTES_MAX,
    HEARTBEATS_A_LEASE_MIN,
    PORT_MAX,
    SPELLING_LIKENESS_MIN,
)
from laneway.wiring.redaction import SECRETS, shown_setting
from laneway.wiring.schema import PRESETS, Config, kind_at, lookup, paths
from laneway.wiring.schema_cosmos import CosmosSection, cosmos_nodes
from laneway.wiring.schema_evm import EvmSection, fee_ceiling, nodes_of
from laneway.wiring.schema_rollup import BundleSection, RollupSection, rollup_nodes

log = logging.getLogger("laneway.config")

DEFAULT_FILE = "laneway.toml"
FILE_VARIABLE = "LANEWAY_CONFIG"
PREFIX = "LANEWAY_"
VARIABLES = frozenset(
    (
        FILE_VARIABLE,
        "LANEWAY_PRESET",
        "LANEWAY_URL",
        "LANEWAY_API_KEY_FILE",
        "LANEWAY_PASSWORD",
        "LANEWAY_PASSWORD_FILE",
        "LANEWAY_PEERS",
        "LANEWAY_VECTORS",
        "LANEWAY_MUTANT",
    )
)
"""Variables that are no keys of the configuration: of commands, signers, benchmarks and tests."""

Origin = Literal["default", "preset", "file", "environment", "flag"]
Layer = dict[str, Any]


class ConfigError(CallerError):
    """A configuration that cannot be used. Nothing was started."""

    code = "bad_configuration"

    def __init__(self, source: str, problem: str) -> None:
        self.source = source
        """The file, the environment variable or the flag to change."""
        self.problem = problem
        super().__init__(f"{source}: {problem}")


class Setting(Struct, frozen=True):
    """One key as it is in force, fit to be shown: secrets are left out."""

    path: str
    value: str | int | bool | None
    origin: Origin
    source: str


class Configuration(Struct, frozen=True):
    config: Config
    file: str | None
    """The file that was read, if any."""
    origins: dict[str, tuple[Origin, str]]
    """Where each key came from that is not a default, and the name to change it by."""
    warnings: tuple[str, ...] = ()
    """What was set and has no effect, in words for a person."""

    def settings(self) -> Iterator[Setting]:
        for path in paths():
            value = shown_setting(path, lookup(self.config, path))
            origin, source = self.origins.get(path, ("default", ""))
            yield Setting(path, value, origin, source)

    def chains(self) -> list[dict[str, Any]]:
        """The tables of EVM chains, fit to be shown; every node is a table of its own."""
        return self._tables("evm", [nodes_of(chain) for chain in self.config.evm])

    def fee_ceilings(self) -> list[dict[str, object]]:
        """For each EVM chain, in their order: what a unit of gas may cost unless an account says
        otherwise, and where that comes from."""
        found: list[dict[str, object]] = []
        for chain in self.config.evm:
            wei, source, is_set = fee_ceiling(self.config.eoa, chain)
            path = "eoa.fee_wei_max" if source == "eoa.fee_wei_max" else "evm"
            origin = f"{self.origins[path][1]}: {source}" if is_set else source
            times = None if is_set else BASE_FEE_TIMES
            found.append({"fee_wei_max": written(wei), "origin": origin, "base_fee_times": times})
        return found

    def cosmos_chains(self) -> list[dict[str, Any]]:
        """The same of Cosmos chains."""
        return self._tables("cosmos", [cosmos_nodes(chain) for chain in self.config.cosmos])

    def rollups(self) -> list[dict[str, Any]]:
        """The same of rollups. An embedded chain has no address."""
        nodes = [None if one.is_embedded() else rollup_nodes(one) for one in self.config.rollup]
        return self._tables("rollup", nodes)

    def webhooks(self) -> list[dict[str, Any]]:
        """The tables of the endpoints, fit to be shown."""
        return self._tables("webhooks", [None for _ in self.config.webhooks])

    def _tables(self, name: str, nodes: Sequence[object | None]) -> list[dict[str, Any]]:
        tables: list[dict[str, Any]] = to_builtins(getattr(self.config, name))
        for table, found in zip(tables, nodes, strict=True):
            if found is not None:
                table["nodes"] = to_builtins(found)
        return [shown_setting(name, table) for table in tables]


def load_here(file: str | None) -> Configuration:
    """What a program of the user's or a worker runs by; what has no effect is logged."""
    configuration = load(file, os.environ)
    for warning in configuration.warnings:
        log.warning("%s", warning)
    return configuration


def load(
    file: str | None = None,
    environ: Mapping[str, str] | None = None,
    flags: Mapping[str, str] | None = None,
) -> Configuration:
    """Put the layers together. `flags` are texts by path, as the command line gives them."""
    environ = {} if environ is None else environ
    named = file or environ.get(FILE_VARIABLE)
    found = named or (DEFAULT_FILE if Path(DEFAULT_FILE).exists() else None)
    layers: list[tuple[Origin, str, Layer]] = []
    if found is not None:
        layers.append(("file", found, read_file(found)))
    layers += [("environment", *variable) for variable in read_environment(environ)]
    layers += [("flag", *flag) for flag in read_flags(flags or {})]
    for _, _, layer in reversed(layers):
        if "preset" in layer:
            preset = layer["preset"]
            if preset is not None:
                layers.insert(0, ("preset", preset, PRESETS[preset]))
            break
    merged: Layer = {}
    origins: dict[str, tuple[Origin, str]] = {}
    for origin, source, layer in layers:
        for path, value in flat(with_port(layer, source)):
            put(merged, path, value)
            origins[path] = (origin, source)
    config = convert(merged, Config)
    warnings = tuple(not_understood(environ, config))
    configuration = Configuration(config, found, origins, warnings)
    check_together(configuration)
    return configuration


# Layers.


def read_file(name: str) -> Layer:
    try:
        with Path(name).open("rb") as opened:
            raw = opened.read(CONFIG_BYTES_MAX + 1)
    except OSError as error:
        raise ConfigError(name, f"cannot be read: {error.strerror}") from error
    if len(raw) > CONFIG_BYTES_MAX:
        raise ConfigError(name, f"is larger than {CONFIG_BYTES_MAX} bytes; is it the right file?")
    try:
        layer = tomllib.loads(raw.decode())
    except UnicodeDecodeError as error:
        raise ConfigError(name, f"is not UTF-8 text (byte {error.start})") from error
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise ConfigError(name, f"is not TOML: {error}") from error
    check(layer, name)
    if isinstance(layer.get("host"), dict) and "password" in layer["host"]:
        raise ConfigError(
            name,
            "a password does not belong here; use `password_file` or the environment variable "
            "LANEWAY_HOST__PASSWORD - at `$.host.password`",
        )
    return layer


def read_environment(environ: Mapping[str, str]) -> Iterator[tuple[str, Layer]]:
    """Variables LANEWAY_SECTION__KEY and LANEWAY_PRESET; other LANEWAY_ names are not ours."""
    for variable in sorted(environ):
        if not variable.startswith(PREFIX):
            continue
        name = variable.removeprefix(PREFIX).lower()
        if name == "preset" or "__" in name:
            yield variable, typed(name.replace("__", ".", 1), environ[variable], variable)


def not_understood(environ: Mapping[str, str], config: Config) -> Iterator[str]:
    """Variables that look like ours and have no effect, each with the spelling that was meant."""
    chains: list[EvmSection | CosmosSection] = [*config.evm, *config.cosmos]
    signers = [account.signer for chain in chains for account in chain.accounts]
    keys = [f"{PREFIX}{path.replace('.', '__').upper()}" for path in paths()]
    known = {key.replace("__", "_"): key for key in (*sorted(VARIABLES), *keys)}
    for variable in sorted(environ):
        is_ours = "__" in variable or variable in VARIABLES or f"env:{variable}" in signers
        if is_ours or not variable.startswith(PREFIX):
            continue
        close = get_close_matches(variable, known, 1, SPELLING_LIKENESS_MIN)
        meant = f"; did you mean {known[close[0]]}?" if close else ""
        yield f"{variable} is set and not understood, so it has no effect{meant}"


def with_port(layer: Layer, source: str) -> Layer:
    """The same layer with HOST:PORT of `server.listen` as two keys."""
    server = layer.get("server") or {}
    listen = server.get("listen", "")
    host, port = listen_address(listen)
    if port is None:
        return layer if host == listen else {**layer, "server": {**server, "listen": host}}
    if not (port.isascii() and port.isdigit() and int(port[:6]) <= PORT_MAX):
        problem = f"{port!r} is no port: a number up to {PORT_MAX}"
        raise ConfigError(source, f"{problem} - at `$.server.listen`")
    if server.get("port", int(port)) != int(port):
        problem = f"it says port {port}, and `port` says {server['port']}"
        raise ConfigError(source, f"{problem} - at `$.server.listen`")
    return {**layer, "server": {**server, "listen": host, "port": int(port)}}


def listen_address(text: str) -> tuple[str, str | None]:
    """HOST, HOST:PORT, [HOST] or [HOST]:PORT; a bare address with several colons is IPv6."""
    if not text.startswith("[") and text.count(":") != 1:
        return text, None
    host, _, port = text.rpartition(":")
    if text.endswith("]"):
        return text[1:-1], None
    return host.removeprefix("[").removesuffix("]"), port


def read_flags(flags: Mapping[str, str]) -> Iterator[tuple[str, Layer]]:
    for path, text in flags.items():
        source = f"--set {path}"
        if path in SECRETS:
            raise ConfigError(
                source, "others can read the command line; use the environment or a file"
            )
        yield source, typed(path, text, source)


def typed(path: str, text: str, source: str) -> Layer:
    """One key given as text, in the type that the schema has for it."""
    if path not in paths():
        raise ConfigError(source, f"there is no key `{path}`; 'laneway config show' lists them all")
    layer: Layer = {}
    put(layer, path, text)
    value = lookup(check(layer, source, strict=False), path)
    layer = {}
    put(layer, path, value)
    return layer


def check(layer: Layer, source: str, *, strict: bool = True) -> Config:
    try:
        return convert(layer, Config, strict=strict)
    except ValidationError as error:
        raise ConfigError(source, explained(str(error))) from None


def explained(problem: str) -> str:
    """msgspec's words, and which words would have been right where it does not say."""
    place = re.search(r" - at `\$\.?(.*)`$", problem)
    if place is None or not problem.startswith("Invalid enum value"):
        return problem
    kind = kind_at(place[1])
    words = [word for part in (kind, *get_args(kind)) for word in get_args(part)]
    known = ", ".join(sorted({word for word in words if isinstance(word, str)}))
    return f"{problem[: place.start()]}, expected one of {known}{place[0]}"


# What no single key can say.


def check_together(configuration: Configuration) -> None:
    for path, because, problem in conflicts(configuration.config):
        origins = configuration.origins
        _, source = origins.get(path) or origins[because]
        raise ConfigError(source, f"{problem} - at `$.{path}`")


def conflicts(config: Config) -> Iterator[tuple[str, str, str]]:
    """Keys that contradict each other: the one to change, the other, and why.

    The defaults agree, so one of the two was set by someone.
    """
    contract, engine, host, store = config.contract, config.engine, config.host, config.store
    if engine.lease_ms < HEARTBEATS_A_LEASE_MIN * engine.heartbeat_ms:
        yield (
            "engine.lease_ms",
            "engine.heartbeat_ms",
            f"a lease lasts at least {HEARTBEATS_A_LEASE_MIN} heartbeats, so that one may be lost",
        )
    if contract.retry_ms_min > contract.retry_ms_max:
        yield (
            "contract.retry_ms_min",
            "contract.retry_ms_max",
            f"{contract.retry_ms_min} is more than `retry_ms_max`, {contract.retry_ms_max}",
        )
    if contract.limit_policy == "reject" and contract.count_max is contract.bytes_max is None:
        problem = "'reject' needs `count_max` or `bytes_max`"
        yield "contract.limit_policy", "contract.limit_policy", problem
    if host.kind == "rest" and not is_node_url(host.url):
        problem = "a rest host needs an address like http://127.0.0.1:20000"
        yield "host.url", "host.kind", problem
    if host.kind == "callable" and not re.fullmatch(r"[\w.]+:[\w.]+", host.callable or ""):
        yield "host.callable", "host.kind", "a callable host needs `module:function`"
    if config.server.keys_file is None and not is_loopback(config.server.listen):
        problem = "a server that others can reach needs API keys; 'laneway apikey' makes one"
        yield "server.keys_file", "server.listen", problem
    if "://" in store.path and not is_shared(store.path):
        known = ", ".join((*POSTGRES, *REDIS))
        yield "store.path", "store.path", f"no such store; an address begins with {known}"
    if (store.path == ":memory:") != (store.durability == "memory"):
        problem = "'memory' and the path ':memory:' go together: nothing outlives the process"
        yield "store.durability", "store.path", problem
    if store.durability == "relaxed" and not is_shared(store.path):
        problem = "'relaxed' is for PostgreSQL and Redis; a file is always synced"
        yield "store.durability", "store.path", problem
    if store.path.startswith(REDIS) and store.wait_timeout_ms > engine.lease_ms:
        problem = f"a lease of {engine.lease_ms} ms ends while a heartbeat waits for its replicas"
        yield "store.wait_timeout_ms", "engine.lease_ms", problem
    for place, webhook in enumerate(config.webhooks):
        if not is_node_url(webhook.url):
            problem = f"{webhook.id}: a webhook needs an address like https://example.org/hook"
            yield "webhooks", "webhooks", f"{problem}, as `url` of table {place + 1}"
        if webhook.id in [other.id for other in config.webhooks[:place]]:
            yield "webhooks", "webhooks", f"two webhooks have the id {webhook.id}"
    yield from signer_conflicts("evm", config.evm, SCHEMES)
    yield from signer_conflicts("cosmos", config.cosmos, COSMOS_SCHEMES)
    yield from (("evm", "evm", problem) for problem in chain_conflicts(config.evm, 8545))
    yield from (("cosmos", "cosmos", problem) for problem in chain_conflicts(config.cosmos, 26657))
    yield from window_conflicts(config.bundle)
    yield from anchor_conflicts(config.bundle)
    yield from (("rollup", "rollup", problem) for problem in rollup_conflicts(config))


def chain_conflicts(chains: Sequence[EvmSection | CosmosSection], port: int) -> Iterator[str]:
    for place, chain in enumerate(chains):
        for other in chains[:place]:
            if other.name == chain.name or other.chain_id == chain.chain_id:
                yield f"{other.name} and {chain.name} are one chain; give it all nodes in one table"
        for url in urls_of(chain):
            if not is_node_url(url):
                yield f"{chain.name}: a node needs an address like http://127.0.0.1:{port}"
        names = [account.name for account in chain.accounts]
        for name in names:
            if names.count(name) > 1:
                yield f"{chain.name}: two accounts are called {name}"


def signer_conflicts(
    path: str, chains: Sequence[EvmSection | CosmosSection], schemes: tuple[str, ...]
) -> Iterator[tuple[str, str, str]]:
    """Accounts whose signer is none, or a key itself."""
    for chain in chains:
        for account in chain.accounts:
            try:
                split(account.signer, schemes)
            except SignerUnusable as error:
                yield path, path, f"{chain.name}: the signer of {account.name}: {error.problem}"


def urls_of(chain: EvmSection | CosmosSection) -> list[str]:
    if isinstance(chain, EvmSection):
        return [node.url for node in nodes_of(chain)]
    return [node.url for node in cosmos_nodes(chain)]


def window_conflicts(bundle: BundleSection) -> Iterator[tuple[str, str, str]]:
    for window in ("build", "submit"):
        begin, end = f"{window}_from_ms", f"{window}_until_ms"
        if getattr(bundle, begin) <= getattr(bundle, end):
            problem = f"the window is over {getattr(bundle, end)} ms before the slot, and not open"
            yield f"bundle.{begin}", f"bundle.{end}", f"{problem} before that; `{end}` is smaller"


def anchor_conflicts(bundle: BundleSection) -> Iterator[tuple[str, str, str]]:
    """The seed's anchors are that old from the start."""
    age = anchor_offset(bundle.anchor_policy, 0, 1, RECENT_BLOCK_COUNT)
    if bundle.anchor_age_blocks_max < age:
        problem = f"with the policy '{bundle.anchor_policy}' an anchor is {age} blocks old when"
        path, because = "bundle.anchor_age_blocks_max", "bundle.anchor_policy"
        yield path, because, f"{problem} its package is built, which then is never submitted"


def rollup_conflicts(config: Config) -> Iterator[str]:
    for place, rollup in enumerate(config.rollup):
        for other in config.rollup[:place]:
            if other.name == rollup.name:
                yield f"two rollups are called {rollup.name}"
            if other.service == rollup.service:
                named = f"{other.name} and {rollup.name}"
                yield f"{named} are both service {rollup.service}, and a lane is named by that"
        if rollup.is_embedded():
            yield from embedded_conflicts(rollup, config.store.path)
        elif not all(is_socket_url(node.url) for node in rollup_nodes(rollup)):
            yield f"{rollup.name}: a node needs an address like ws://127.0.0.1:19800"


def embedded_conflicts(rollup: RollupSection, store_path: str) -> Iterator[str]:
    if is_shared(store_path):
        problem = "a chain inside this process needs a database of its own: a file"
        yield f"{rollup.name}: {problem}, or durability memory"
    if rollup.service != LEDGER_SERVICE_DEV:
        problem = f"the ledger of a chain inside this process is service {LEDGER_SERVICE_DEV}"
        yield f"{rollup.name}: {problem}"


def is_loopback(listen: str) -> bool:
    try:
        return listen == "localhost" or ip_address(listen).is_loopback
    except ValueError:
        return False


def is_node_url(url: str | None) -> bool:
    return is_url(url or "", "http", "https")


def is_socket_url(url: str) -> bool:
    return is_url(url, "ws", "wss")


def is_url(url: str, *schemes: str) -> bool:
    try:
        parts = urlsplit(url)
        return parts.scheme in schemes and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False


# Small things.


def put(layer: Layer, path: str, value: object) -> None:
    section, _, key = path.rpartition(".")
    target = layer.setdefault(section, {}) if section else layer
    target[key] = value


def flat(layer: Layer) -> Iterator[tuple[str, Any]]:
    for name, value in layer.items():
        if isinstance(value, dict):
            yield from ((f"{name}.{key}", inner) for key, inner in value.items())
        else:
            yield name, value


def toml_value(value: str | int | bool) -> str:
    """One value as TOML writes it."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int):
        return str(value)
    escaped = "".join(
        char if char.isprintable() else f"\\U{ord(char):08x}"
        for char in value.replace("\\", "\\\\").replace('"', '\\"')
    )
    return f'"{escaped}"'
