"""Which nodes of the configured chains do not answer, or answer for another chain. They are asked
which chain they serve. A contract node names none: it is asked for a block that a lane of the
database has seen."""

import asyncio
from collections.abc import Mapping
from typing import Any

from laneway.core.errors import LanewayError
from laneway.core.ids import LaneId, is_contract, lane_key
from laneway.lanes.contract.show import read_head
from laneway.ports.nodes import Witnessed
from laneway.wiring.config import Configuration
from laneway.wiring.contract import open_host
from laneway.wiring.doctor import Finding
from laneway.wiring.extras import needs
from laneway.wiring.limits import PROBE_S_MAX
from laneway.wiring.process import run
from laneway.wiring.schema import Config
from laneway.wiring.system import SystemClock

ADVICE = "start it, or name another one in laneway.toml"


def examine_nodes(configuration: Configuration, states: Mapping[str, bytes]) -> list[Finding]:
    """One finding for each node of each chain; `states` are the heads of the database's lanes."""
    return run(look_at_all(configuration, states))


async def look_at_all(configuration: Configuration, states: Mapping[str, bytes]) -> list[Finding]:
    chains: list[tuple[str, Any]] = []
    try:
        if configuration.config.host.kind == "rest":
            host = open_host(configuration)
            if isinstance(host, Witnessed):
                host.witness = witness_in(states)
            chains.append(("contract node", host))
        chains += opened(configuration.config)
    except LanewayError as error:
        return [Finding("nodes", False, str(error), "change the configuration as it says")]
    found = await asyncio.gather(*(look_at(name, chain) for name, chain in chains))
    return [finding for findings in found for finding in findings]


def witness_in(states: Mapping[str, bytes]) -> tuple[str, int] | None:
    """A contract and a block of it that its lane has seen; None if there is none."""
    for lane, state in states.items():
        if is_contract(LaneId(lane)) and (floor := read_head(state).floor):
            return lane_key(LaneId(lane)), floor
    return None


def opened(config: Config) -> list[tuple[str, Any]]:
    """The adapters of the configured chains; no connection is made yet."""
    chains: list[tuple[str, Any]] = []
    if config.evm:
        with needs("evm"):
            from laneway.wiring.evm import open_chain as open_evm
        chains += [(f"evm {one.name}", open_evm(one, config.eoa.poll_ms)) for one in config.evm]
    if config.cosmos:
        with needs("cosmos"):
            from laneway.wiring.cosmos import open_chain as open_cosmos
        chains += [(f"cosmos {one.name}", open_cosmos(one)) for one in config.cosmos]
    if config.rollup:
        with needs("rollup"):
            from laneway.wiring.rollup import open_chain as open_jam
            from laneway.wiring.rollup import places_of
        chains += [
            (f"rollup:{one.service}", open_jam(one, places_of(one), SystemClock()))
            for one in config.rollup
            if not one.is_embedded()
        ]
    return chains


async def look_at(name: str, chain: Any) -> list[Finding]:
    try:
        await chain.probe(int(1000 * PROBE_S_MAX), 0)
        return [
            Finding(
                name,
                not one.trouble,
                f"{one.trouble}: {one.words()}" if one.trouble else f"node {one.node} answers",
                ADVICE,
            )
            for one in chain.standings()
        ]
    finally:
        await (chain.aclose() if hasattr(chain, "aclose") else chain.close())
