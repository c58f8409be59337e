"""Which nodes of the configured chains do not answer, or answer for another chain, and what else
their kinds find of them."""

import asyncio
from collections.abc import Mapping
from typing import Any

from laneway.core.errors import LanewayError
from laneway.kinds.extras import ExtraMissing, install
from laneway.kinds.findings import Finding
from laneway.kinds.kind import Kind
from laneway.kinds.limits import PROBE_S_MAX
from laneway.kinds.registry import kinds
from laneway.wiring.config import Configuration
from laneway.wiring.process import run

ADVICE = "start it, or name another one in laneway.toml"


def examine_nodes(configuration: Configuration, states: Mapping[str, bytes]) -> list[Finding]:
    """One finding for each node of each chain, and then those of their kinds; `states` are the
    heads of the database's lanes."""
    return run(look_at_all(configuration, states))


async def look_at_all(configuration: Configuration, states: Mapping[str, bytes]) -> list[Finding]:
    chains: list[tuple[str, Any]] = []
    opened: list[Kind] = []
    findings: list[Finding] = []
    for kind in kinds().values():
        name = kind.nodes_name or kind.name
        try:
            chains += kind.open_nodes(configuration, states)
            opened.append(kind)
        except ExtraMissing as error:
            findings.append(not_installed(name, error))
        except LanewayError as error:
            findings.append(Finding(name, False, str(error), "change the configuration as it says"))
    for found in await asyncio.gather(*(look_at(name, chain) for name, chain in chains)):
        findings += found
    for more in await asyncio.gather(*(kind.examine(configuration, states) for kind in opened)):
        findings += more
    return findings


def not_installed(name: str, error: ExtraMissing) -> Finding:
    what = f"it is configured, and the package {error.module} is not installed here"
    return Finding(name, False, what, f"run: {install(error.extra)}")


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
