"""Which nodes of the configured chains do not answer, or answer for another chain. They are asked
which chain they serve, and nothing else. Contract nodes and JAM nodes name no chain: theirs is told
from others by what a lane has seen, which a running laneway compares."""

import asyncio
from typing import Any

from laneway.core.errors import LanewayError
from laneway.wiring.config import Configuration
from laneway.wiring.contract import open_host
from laneway.wiring.doctor import Finding
from laneway.wiring.extras import needs
from laneway.wiring.limits import PROBE_S_MAX
from laneway.wiring.process import run
from laneway.wiring.schema import Config
from laneway.wiring.system import SystemClock

ADVICE = "start it, or name another one in laneway.toml"


def examine_nodes(configuration: Configuration) -> list[Finding]:
    """One finding for each node of each chain."""
    return run(look_at_all(configuration))


async def look_at_all(configuration: Configuration) -> list[Finding]:
    chains: list[tuple[str, Any]] = []
    try:
        if configuration.config.host.kind == "rest":
            chains.append(("contract node", open_host(configuration)))
        chains += opened(configuration.config)
    except LanewayError as error:
        return [Finding("nodes", False, str(error), "change the configuration as it says")]
    found = await asyncio.gather(*(look_at(name, chain) for name, chain in chains))
    return [finding for findings in found for finding in findings]


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
