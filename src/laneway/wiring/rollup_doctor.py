"""What is wrong with rollups' chains, and what to do about it. It looks, and submits nothing."""

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import aclosing, suppress

from laneway.chains.jam.chain import Jip2Chain
from laneway.core.errors import ChainError
from laneway.core.jam import Parameters
from laneway.engine.bundle import rollup_lane
from laneway.lanes.bundle.show import read_head
from laneway.wiring.config import ConfigError
from laneway.wiring.doctor import Finding
from laneway.wiring.limits import CLOCK_OFF_MS_MAX, CLOCK_SLOTS, PROBE_S_MAX
from laneway.wiring.process import run
from laneway.wiring.rollup import open_chain, places_of
from laneway.wiring.rollup_service import foreign_line, ledger_head, unfit_cores
from laneway.wiring.schema_rollup import RollupSection
from laneway.wiring.system import SystemClock


def examine_rollups(rollups: Sequence[RollupSection], states: Mapping[str, bytes]) -> list[Finding]:
    """`states` are the heads of the database's lanes."""
    return run(look_at_all(rollups, states))


async def look_at_all(
    rollups: Sequence[RollupSection], states: Mapping[str, bytes]
) -> list[Finding]:
    lanes = [(rollup, states.get(rollup_lane(rollup.service), b"")) for rollup in rollups]
    found = await asyncio.gather(*(look_at(rollup, state) for rollup, state in lanes))
    return [finding for findings in found for finding in findings]


async def look_at(section: RollupSection, state: bytes = b"") -> list[Finding]:
    name = f"rollup:{section.service}"
    if section.is_embedded():
        return [Finding(name, True, "its chain is inside the server's own process")]
    try:
        chain = open_chain(section, places_of(section), SystemClock())
    except ConfigError as error:
        return [Finding(name, False, error.problem, "mend its table in the configuration")]
    try:
        async with asyncio.timeout(PROBE_S_MAX):
            sizes = await chain.parameters()
            head = await ledger_head(chain, section.service)
            strange = await foreign_line(chain, section.service, read_head(state).tip)
    except (ChainError, TimeoutError) as error:
        said = str(error) or f"no answer within {PROBE_S_MAX:g} s"
        advice = "start a node of it, or name others as its `nodes`"
        return [Finding(name, False, f"its chain cannot be asked: {said}", advice)]
    else:
        if isinstance(head, str):
            service = Finding(f"{name} service", False, head, "name another `service`")
        else:
            what = f"service {section.service} is a ledger at block {head.number}"
            service = Finding(f"{name} service", True, what)
        reached = Finding(name, True, f"{', '.join(chain.nodes)} can be asked")
        if strange:
            nodes = ", ".join(one.node for one in chain.standings())
            what = f"node {nodes} answers for another chain: {strange}"
            reached = Finding(name, False, what, "name nodes of its chain, or another database")
        return [reached, service, cores(name, section, sizes), await clock(name, chain, sizes)]
    finally:
        await chain.aclose()


def cores(name: str, section: RollupSection, sizes: Parameters) -> Finding:
    problem = unfit_cores(section, sizes)
    count = len(section.cores) or sizes.core_count
    what = problem or f"{count} of the chain's {sizes.core_count} cores"
    return Finding(f"{name} cores", not problem, what, "name others as its `cores`, or none")


async def clock(name: str, chain: Jip2Chain, sizes: Parameters) -> Finding:
    """The head that was there first may be old, so some new ones are waited for."""
    name = f"{name} clock"
    # Slots may be skipped: then what was heard of until now says how late blocks are at most.
    with suppress(TimeoutError):
        async with asyncio.timeout((CLOCK_SLOTS + 1) * sizes.slot_ms / 1000):
            await heard(chain, CLOCK_SLOTS + 1)
    try:
        skew_ms = (await chain.clock()).skew_ms
    except ChainError as error:
        return Finding(name, False, str(error), "see what its node says")
    if skew_ms is None:
        what = "the chain has no calendar to compare this clock with"
        return Finding(name, True, f"{what}; set `calendar` if it has one")
    return Finding(
        name,
        abs(skew_ms) <= CLOCK_OFF_MS_MAX,
        f"blocks are heard of {skew_ms} ms after their time by the chain's calendar",
        "let NTP set this clock; below zero it is behind",
    )


async def heard(chain: Jip2Chain, count: int) -> None:
    async with aclosing(chain.heads()) as heads:
        async for _ in heads:
            count -= 1
            if count == 0:
                return
