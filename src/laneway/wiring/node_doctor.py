"""Which nodes of the configured chains do not answer, or answer for another chain. They are asked
which chain they serve. A contract node names none: it is asked for a block that a lane of the
database has seen."""

import asyncio
from collections.abc import Mapping
from functools import partial
from typing import Any

from laneway.core.errors import LanewayError
from laneway.core.ids import LaneId, is_contract, lane_key
from laneway.lanes.contract.show import read_head
from laneway.ports.nodes import Witnessed
from laneway.wiring.config import Configuration
from laneway.wiring.contract import open_host
from laneway.wiring.doctor import Finding
from laneway.wiring.extras import ExtraMissing, install, needs
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
    findings: list[Finding] = []
    openings = {
        "contract node": partial(opened_host, configuration, states),
        "evm": partial(opened_evm, configuration.config),
        "cosmos": partial(opened_cosmos, configuration.config),
        "rollup": partial(opened_rollups, configuration.config),
    }
    for name, opening in openings.items():
        try:
            chains += opening()
        except ExtraMissing as error:
            findings.append(not_installed(name, error))
        except LanewayError as error:
            findings.append(Finding(name, False, str(error), "change the configuration as it says"))
    found = await asyncio.gather(*(look_at(name, chain) for name, chain in chains))
    return [*findings, *(finding for one in found for finding in one)]


def not_installed(name: str, error: ExtraMissing) -> Finding:
    what = f"it is configured, and the package {error.module} is not installed here"
    return Finding(name, False, what, f"run: {install(error.extra)}")


def witness_in(states: Mapping[str, bytes]) -> tuple[str, int] | None:
    """A contract and a block of it that its lane has seen; None if there is none."""
    for lane, state in states.items():
        if is_contract(LaneId(lane)) and (floor := read_head(state).floor):
            return lane_key(LaneId(lane)), floor
    return None


# The adapters of the configured chains; no connection is made yet.


def opened_host(configuration: Configuration, states: Mapping[str, bytes]) -> list[tuple[str, Any]]:
    if configuration.config.host.kind != "rest":
        return []
    host = open_host(configuration)
    if isinstance(host, Witnessed):
        host.witness = witness_in(states)
    return [("contract node", host)]


def opened_evm(config: Config) -> list[tuple[str, Any]]:
    if not config.evm:
        return []
    with needs("evm"):
        from laneway.wiring.evm import open_chain
    return [(f"evm {one.name}", open_chain(one, config.eoa.poll_ms)) for one in config.evm]


def opened_cosmos(config: Config) -> list[tuple[str, Any]]:
    if not config.cosmos:
        return []
    with needs("cosmos"):
        from laneway.wiring.cosmos import open_chain
    return [(f"cosmos {one.name}", open_chain(one)) for one in config.cosmos]


def opened_rollups(config: Config) -> list[tuple[str, Any]]:
    if not config.rollup:
        return []
    with needs("rollup"):
        from laneway.wiring.rollup import open_chain, places_of
    return [
        (f"rollup:{one.service}", open_chain(one, places_of(one), SystemClock()))
        for one in config.rollup
        if not one.is_embedded()
    ]


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
