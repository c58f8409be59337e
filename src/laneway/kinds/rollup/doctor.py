"""What is wrong with rollups' chains, and what to do about it. It looks, and submits nothing."""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from contextlib import aclosing, suppress

from laneway.chains.jam.chain import Jip2Chain
from laneway.core.errors import ChainError
from laneway.core.jam import Parameters
from laneway.engine.bundle import rollup_lane
from laneway.engine.system import SystemClock
from laneway.kinds.config import ConfigError
from laneway.kinds.findings import Finding
from laneway.kinds.limits import CLOCK_OFF_MS_MAX, CLOCK_SLOTS, LOOK_S_MAX
from laneway.kinds.rollup.lanes import builder_path, open_chain, places_of
from laneway.kinds.rollup.readable import unreadable
from laneway.kinds.rollup.section import RollupSection
from laneway.kinds.rollup.service import (
    authorizer_of,
    foreign_line,
    rollup_head,
    unfit_cores,
)
from laneway.lanes.bundle.rows import BundleHead
from laneway.lanes.bundle.show import read_head, stuck


def open_tables(rollups: Sequence[RollupSection]) -> Iterator[tuple[str, Jip2Chain]]:
    """Their chains, each by its lane; one inside this process has no nodes."""
    for one in rollups:
        if not one.is_embedded():
            yield rollup_lane(one.service), open_chain(one, places_of(one), SystemClock())


async def look_at_all(
    rollups: Sequence[RollupSection], states: Mapping[str, bytes], store_path: str = ":memory:"
) -> list[Finding]:
    """`states` are the heads of the lanes of the database at `store_path`."""
    lanes = [(rollup, states.get(rollup_lane(rollup.service), b"")) for rollup in rollups]
    found = await asyncio.gather(*(look_at(rollup, state, store_path) for rollup, state in lanes))
    return [finding for findings in found for finding in findings]


async def look_at(
    section: RollupSection, state: bytes = b"", store_path: str = ":memory:"
) -> list[Finding]:
    name = f"rollup:{section.service}"
    try:
        authorizer_of(section)  # Before anything is asked: its key may be wrong.
        if section.is_embedded():
            return [Finding(name, True, "its chain is inside the server's own process")]
        chain = open_chain(section, places_of(section), SystemClock())
    except ConfigError as error:
        return [Finding(name, False, error.problem, "fix its table in the configuration")]
    try:
        async with asyncio.timeout(LOOK_S_MAX):
            sizes = await chain.parameters()
            head = await rollup_head(chain, section)
            strange = await foreign_line(chain, section.service, read_head(state).tip)
            blind = await unreadable(section, chain, builder_path(section, store_path))
    except (ChainError, TimeoutError) as error:
        problem = str(error) or f"no answer within {LOOK_S_MAX:g} s"
        advice = "start a node of it, or name others as its `nodes`"
        return [Finding(name, False, f"its chain cannot be asked: {problem}", advice)]
    else:
        if isinstance(head, str):
            # A reason that knows what to do says so after its last semicolon.
            _, _, remedy = head.rpartition("; ")
            advice = remedy if remedy != head else "name another `service`"
            service = Finding(f"{name} service", False, head, advice)
        else:
            what = f"service {section.service} is a {section.kind} at block {head.number}"
            service = Finding(f"{name} service", True, what)
        reached = Finding(name, True, f"{', '.join(chain.nodes)} can be asked")
        if strange:
            nodes = ", ".join(one.node for one in chain.standings())
            what = f"node {nodes} answers for another chain: {strange}"
            reached = Finding(name, False, what, "name nodes of its chain, or another database")
        waits = blocks(name, read_head(state)) or lag(name, blind)
        return [
            reached, service, *waits, cores(name, section, sizes), await clock(name, chain, sizes)
        ]  # fmt: skip
    finally:
        await chain.aclose()


def blocks(name: str, head: BundleHead) -> list[Finding]:
    """Whether blocks are built, as the lane's last commit has it."""
    if not (problem := stuck(head)):
        return []
    return [Finding(f"{name} blocks", False, problem, "do what the reason says; see its health")]


def lag(name: str, problem: str) -> list[Finding]:
    """Whether a start would come to what is final."""
    if not problem:
        return []
    _, _, remedy = problem.rpartition("; ")
    return [
        Finding(f"{name} builder", False, f"its builder lacks what is final: {problem}", remedy)
    ]


def cores(name: str, section: RollupSection, sizes: Parameters) -> Finding:
    problem = unfit_cores(section, sizes)
    count = len(section.cores) or sizes.core_count
    what = problem or f"{count} of the chain's {sizes.core_count} cores"
    return Finding(f"{name} cores", not problem, what, "name others as its `cores`, or none")


async def clock(name: str, chain: Jip2Chain, sizes: Parameters) -> Finding:
    """The head that was there first may be old, so some new ones are waited for."""
    name = f"{name} clock"
    # Slots may be skipped: then what was seen until now says how late blocks are at most.
    with suppress(TimeoutError):
        wait_s = (CLOCK_SLOTS + 1) * sizes.slot_ms / 1000
        async with asyncio.timeout(wait_s), aclosing(chain.heads()) as heads:
            for _ in range(CLOCK_SLOTS + 1):
                await anext(heads, None)
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
