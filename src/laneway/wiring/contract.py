"""A configuration → a contract host and the engine on it. Each kind of host is imported late."""

import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, assert_never

from laneway.engine.heart import Pace, Retention
from laneway.engine.shell import Listener
from laneway.ports import Clock, ContractHost
from laneway.wiring.address import POSTGRES, REDIS
from laneway.wiring.config import ConfigError, Configuration
from laneway.wiring.embedded import Laneway
from laneway.wiring.extras import missing
from laneway.wiring.limits import RETENTION_DAYS_MAX
from laneway.wiring.schema import Config, HostSection, RetentionSection
from laneway.wiring.store import open_store
from laneway.wiring.system import SystemClock
from laneway.wiring.webhooks import read_webhooks

if TYPE_CHECKING:
    from laneway.wiring.cosmos import CosmosLanes
    from laneway.wiring.evm import EvmLanes
    from laneway.wiring.rollup import RollupLanes

DAY_MS = 86_400_000


def open_laneway(configuration: Configuration, listeners: Sequence[Listener] = ()) -> Laneway:
    """The engine that a configuration describes. Enter it to start it."""
    config = configuration.config
    # Read first: a mistake here must not leave a store open.
    webhooks = read_webhooks(config.webhooks)
    host = open_host(configuration)
    clock = SystemClock()
    evm, cosmos = open_accounts(config, clock), open_cosmos(config, clock)
    rollup = open_rollups(config, clock)
    return Laneway(
        open_store(config.store.path, clock, config.store.options()),
        host,
        config.contract.settings(),
        clock,
        listeners,
        retention=retention_of(config.retention),
        pace=Pace(config.engine.heartbeat_ms, config.engine.lease_ms),
        webhooks=webhooks,
        evm=evm,
        cosmos=cosmos,
        rollup=rollup,
    )


def open_accounts(config: Config, clock: Clock) -> "EvmLanes | None":
    """The accounts of the chains that are configured; imported late, for the curve is an extra."""
    if not config.evm:
        return None
    try:
        from laneway.wiring.evm import EvmLanes
    except ModuleNotFoundError as error:
        raise unconfigurable(error, "evm") from error
    return EvmLanes(config.evm, config.eoa, clock)


def open_cosmos(config: Config, clock: Clock) -> "CosmosLanes | None":
    """The same of Cosmos chains."""
    if not config.cosmos:
        return None
    try:
        from laneway.wiring.cosmos import CosmosLanes
    except ModuleNotFoundError as error:
        raise unconfigurable(error, "cosmos") from error
    return CosmosLanes(config.cosmos, config.sequence, clock)


def open_rollups(config: Config, clock: Clock) -> "RollupLanes | None":
    """The same of rollups on JAM chains."""
    if not config.rollup:
        return None
    try:
        from laneway.wiring.rollup import RollupLanes
    except ModuleNotFoundError as error:
        raise unconfigurable(error, "rollup") from error
    return RollupLanes(config.rollup, config.bundle, clock, store_path=config.store.path)


def unconfigurable(error: ModuleNotFoundError, extra: str) -> ConfigError:
    """A table of the configuration, whose key is the extra's name, that cannot be served."""
    return ConfigError("laneway", f"{missing(error, extra)} - at `$.{extra}`")


def retention_of(section: RetentionSection) -> Retention:
    return Retention(
        intents_ms=(section.intents_days or RETENTION_DAYS_MAX) * DAY_MS,
        feed_ms=(section.feed_days or RETENTION_DAYS_MAX) * DAY_MS,
    )


def open_host(configuration: Configuration) -> ContractHost:
    host = configuration.config.host
    match host.kind:
        case "devnet":
            from laneway.devnets.contract.host import EmbeddedHost
            from laneway.devnets.contract.journal import Journal
            from laneway.devnets.contract.model import ContractChain

            chain = ContractChain(round_ms=host.round_ms)
            path = configuration.config.store.path
            # One process owns the file, so it may own a chain; a fleet's store has no place for it.
            journal = Journal(f"{path}-devnet") if is_file(path) else None
            return EmbeddedHost(chain, takes_parent=host.takes_parent is not False, journal=journal)
        case "rest":
            from laneway.chains.contract_rest import RestHost

            assert host.url is not None
            return RestHost(
                host.url,
                password=password_of(host),
                takes_parent=bool(host.takes_parent),
                connect_ms=host.connect_ms,
                read_ms=host.read_ms,
                answer_ms=host.answer_ms,
            )
        case "callable":
            from laneway.chains.contract_callable import CallableHost

            return CallableHost(find_callable(configuration), takes_parent=bool(host.takes_parent))
        case _:
            assert_never(host.kind)


def is_file(path: str) -> bool:
    """Whether it is one process's own file, and not memory or a server that many share."""
    return path != ":memory:" and not path.startswith(POSTGRES + REDIS)


def password_of(host: HostSection) -> str:
    if host.password is not None or host.password_file is None:
        return host.password or ""
    path = Path(host.password_file)
    try:
        mode = path.stat().st_mode
        password = path.read_text()
    except (OSError, UnicodeDecodeError) as error:
        problem = f"cannot be read: {error} - at `$.host.password_file`"
        raise ConfigError(str(path), problem) from error
    if mode & 0o077:
        raise ConfigError(str(path), f"others may read this password; run: chmod 600 {path}")
    return password.removesuffix("\n").removesuffix("\r")


def find_callable(configuration: Configuration) -> Callable[..., Any]:
    named = configuration.config.host.callable
    assert named is not None
    module, _, name = named.partition(":")
    _, source = configuration.origins["host.callable"]
    if "" not in sys.path:
        # As `python -m` does it: the caller's own module lies where the command was typed.
        sys.path.insert(0, "")
    try:
        found: Any = import_module(module)
        for part in name.split("."):
            found = getattr(found, part)
    except (ImportError, AttributeError) as error:
        raise ConfigError(source, f"{error} - at `$.host.callable`") from error
    if not callable(found):
        raise ConfigError(source, f"{named} is not callable - at `$.host.callable`")
    function: Callable[..., Any] = found
    return function
