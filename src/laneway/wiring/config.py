"""Where settings come from: defaults < preset < laneway.toml < environment < flags.

Every layer passes the same schema, and an error names the layer and the path of the key. What is
read here is never acted upon here: the kinds do that.
"""

import logging
import os
import re
import tomllib
from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from ipaddress import ip_address
from pathlib import Path
from typing import Any, Literal, get_args

from msgspec import Struct, ValidationError, convert
from msgspec.structs import replace

from laneway.kinds.config import ConfigError, Conflict
from laneway.stores.address import POSTGRES, REDIS, is_shared
from laneway.wiring.limits import (
    CONFIG_BYTES_MAX,
    HEARTBEATS_A_LEASE_MIN,
    PORT_MAX,
    SPELLING_LIKENESS_MIN,
)
from laneway.wiring.redaction import free_texts, shown_setting
from laneway.wiring.schema import (
    Config,
    config_type,
    lookup,
    parts,
    paths,
    presets,
    tables,
    type_at,
)

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


class Setting(Struct, frozen=True):
    """One key as it is in force, fit to be shown: secrets are left out."""

    path: str
    value: str | int | bool | None
    origin: Origin
    source: str


class TableView(Struct, frozen=True):
    """One table as it is in force, fit to be shown."""

    values: dict[str, Any]
    remarks: Mapping[str, tuple[object, str]]
    """What follows from it, by name: for programs, and as a line for people."""


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

    def tables(self) -> dict[str, list[TableView]]:
        """All tables by the key of their array."""
        found: dict[str, list[TableView]] = {name: [] for name in tables()}
        for part in parts():
            for name in part.tables:
                found[name] = [
                    TableView(shown_setting(name, part.plain_table(one)), part.remarks(self, one))
                    for one in getattr(self.config, name)
                ]
        return found

    def with_table(self, name: str, table: Struct, flag: str) -> "Configuration":
        """The same with one more table, which a flag asks for."""
        config = replace(self.config, **{name: (*getattr(self.config, name), table)})
        origins = {**self.origins, name: ("flag", flag)}
        found = replace(self, config=config, origins=origins)
        check_together(found)
        return found


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
                layers.insert(0, ("preset", preset, presets()[preset]))
            break
    merged: Layer = {}
    origins: dict[str, tuple[Origin, str]] = {}
    for origin, source, layer in layers:
        for path, value in flat(with_port(layer, source)):
            put(merged, path, value)
            origins[path] = (origin, source)
    config = convert(merged, config_type())
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
    for path in sorted(free_texts().secrets):
        section, _, key = path.partition(".")
        if key in layer.get(section, {}):
            raise ConfigError(
                name,
                f"a {key} does not belong here; use `{key}_file` or the environment variable "
                f"{variable_of(path)} - at `$.{path}`",
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
    named = {one for part in parts() for one in part.variables(config)}
    keys = [variable_of(path) for path in paths()]
    known = {key.replace("__", "_"): key for key in (*sorted(VARIABLES), *keys)}
    for variable in sorted(environ):
        is_ours = "__" in variable or variable in VARIABLES or variable in named
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
        if path in free_texts().secrets:
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
    put(layer, path, lookup(check(layer, source, strict=False), path))
    return layer


def check(layer: Layer, source: str, *, strict: bool = True) -> Config:
    try:
        return convert(layer, config_type(), strict=strict)
    except ValidationError as error:
        raise ConfigError(source, explained(str(error))) from None


def explained(problem: str) -> str:
    """msgspec's words, and which words would have been right where it does not say."""
    place = re.search(r" - at `\$\.?(.*)`$", problem)
    if place is None or not problem.startswith("Invalid enum value"):
        return problem
    kind = type_at(place[1])
    words = [word for part in (kind, *get_args(kind)) for word in get_args(part)]
    known = ", ".join(sorted({word for word in words if isinstance(word, str)}))
    return f"{problem[: place.start()]}, expected one of {known}{place[0]}"


# What no single key can say.


def check_together(configuration: Configuration) -> None:
    for path, because, problem in conflicts(configuration.config):
        origins = configuration.origins
        _, source = origins.get(path) or origins[because]
        raise ConfigError(source, f"{problem} - at `$.{path}`")


def conflicts(config: Config) -> Iterator[Conflict]:
    """Keys that contradict each other: the one to change, the other, and why.

    The defaults agree, so one of the two was set by someone.
    """
    engine, store = config.engine, config.store
    if engine.lease_ms < HEARTBEATS_A_LEASE_MIN * engine.heartbeat_ms:
        yield (
            "engine.lease_ms",
            "engine.heartbeat_ms",
            f"a lease lasts at least {HEARTBEATS_A_LEASE_MIN} heartbeats, so that one may be lost",
        )
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
    for part in parts():
        yield from part.conflicts(config)


def is_loopback(listen: str) -> bool:
    try:
        return listen == "localhost" or ip_address(listen).is_loopback
    except ValueError:
        return False


# Small things.


def variable_of(path: str) -> str:
    """The environment variable that sets a key."""
    return f"{PREFIX}{path.replace('.', '__').upper()}"


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
