"""A configuration → a contract host and the engine on it. Each kind of host is imported late."""

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any, assert_never

from laneway.core.ids import LaneId, lane_key
from laneway.kinds.config import ConfigError
from laneway.kinds.contract.section import HostSection
from laneway.lanes.contract.show import read_head
from laneway.ports import ContractHost
from laneway.ports.nodes import NodesKnown, Witnessed
from laneway.stores.address import POSTGRES, REDIS


def open_host(host: HostSection, store_path: str, source: str = "host.callable") -> ContractHost:
    """`source` says where `host.callable` was set."""
    match host.kind:
        case "devnet":
            from laneway.devnets.contract.journal import BlockJournal
            from laneway.devnets.contract.model import ContractChain
            from laneway.devnets.contract.node.host import EmbeddedHost

            chain = ContractChain(round_ms=host.round_ms)
            # One process owns the file, so it may own a chain; a fleet's store has no place for it.
            journal = BlockJournal(f"{store_path}-devnet") if is_file(store_path) else None
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

            return CallableHost(find_callable(host, source), takes_parent=bool(host.takes_parent))
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


def find_callable(host: HostSection, source: str) -> Callable[..., Any]:
    named = host.callable
    assert named is not None
    module, _, name = named.partition(":")
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


# The node as the doctor asks it.


def open_node(configuration: Any, states: Mapping[str, bytes]) -> NodesKnown | None:
    """None where contracts are executed by no node. A node names no chain, so it is asked for a
    block that a lane has seen; `states` are heads of lanes."""
    config = configuration.config
    if config.host.kind != "rest":
        return None
    host = open_host(config.host, config.store.path)
    if isinstance(host, Witnessed):
        host.witness = witness_in(states)
    assert isinstance(host, NodesKnown)
    return host


def witness_in(states: Mapping[str, bytes]) -> tuple[str, int] | None:
    """A contract and a block of it that its lane has seen; None if there is none."""
    for lane, state in states.items():
        if LaneId(lane).startswith("contract:") and (floor := read_head(state).floor):
            return lane_key(LaneId(lane)), floor
    return None
