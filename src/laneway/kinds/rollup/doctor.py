"""What is wrong with rollups' chains, and what to do about it. It looks, and submits nothing."""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from contextlib import aclosing, suppress

from msgspec import Struct

from laneway.chains.jam.chain import Jip2Chain
from laneway.core.errors import ChainError
from laneway.core.jam import Parameters
from laneway.engine.bundle import rollup_lane
from laneway.engine.system import SystemClock
from laneway.jam.service.commitment import HEAD_KEY
from laneway.jam.service.values import ServiceHead
from laneway.kinds.config import ConfigError
from laneway.kinds.findings import Finding
from laneway.kinds.limits import (
    CLOCK_SLOTS,
    LOOK_PAUSE_S_MAX,
    LOOK_S_MAX,
    LOOK_TRIES,
)
from laneway.kinds.rollup.lanes import SLOT_MS, builder_path, open_chain, places_of
from laneway.kinds.rollup.readable import unreadable
from laneway.kinds.rollup.section import BundleSection, RollupSection, bundle_settings
from laneway.kinds.rollup.service import (
    authorizer_of,
    foreign_line,
    rollup_head,
    unfit_cores,
)
from laneway.lanes.bundle.rows import BundleHead, seen_final
from laneway.lanes.bundle.show import read_head, stuck


class RollupSeen(Struct, frozen=True):
    """What one look at a chain saw of a rollup."""

    sizes: Parameters
    head: ServiceHead | str
    """The newest block of its service, or why there is none."""
    strange: str
    """How the chain contradicts the database; empty if it does not."""
    lag: str
    """Why a builder that starts now would lack what is final; empty if it would not."""
    values: list[tuple[str, bytes | None]]
    """Nodes that alone say something else of the newest final block, and what it is."""


def open_tables(rollups: Sequence[RollupSection]) -> Iterator[tuple[str, Jip2Chain]]:
    """Their chains, each by its lane; one inside this process has no nodes."""
    for one in rollups:
        if not one.is_embedded():
            yield rollup_lane(one.service), open_chain(one, places_of(one), SystemClock())


async def look_at_all(
    rollups: Sequence[RollupSection],
    bundle: BundleSection,
    states: Mapping[str, bytes],
    store_path: str = ":memory:",
) -> list[Finding]:
    """`states` are the heads of the lanes of the database at `store_path`."""
    lanes = [(rollup, states.get(rollup_lane(rollup.service), b"")) for rollup in rollups]
    found = await asyncio.gather(
        *(look_at(rollup, state, store_path, bundle) for rollup, state in lanes)
    )
    return [finding for findings in found for finding in findings]


async def look_at(
    section: RollupSection,
    state: bytes = b"",
    store_path: str = ":memory:",
    bundle: BundleSection = BundleSection(),  # noqa: B008  It is frozen.
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
            seen = await seen_again(chain, section, state, store_path)
    except (ChainError, TimeoutError) as error:
        problem = str(error) or f"no answer within {LOOK_S_MAX:g} s"
        advice = "start a node of it, or name others as its `nodes`"
        return [Finding(name, False, f"its chain cannot be asked: {problem}", advice)]
    else:
        reached = Finding(name, True, f"{', '.join(chain.nodes)} can be asked")
        if seen.strange:
            nodes = ", ".join(one.node for one in chain.standings())
            what = f"node {nodes} answers for another chain: {seen.strange}"
            reached = Finding(name, False, what, "name nodes of its chain, or another database")
        waits = blocks(name, read_head(state)) or lag(name, seen.lag)
        settings = bundle_settings(bundle, section, chain.nodes, seen.sizes)
        return [
            reached, service(name, section, seen.head), *odd_nodes(name, section, seen.values),
            *waits, cores(name, section, seen.sizes),
            await clock(name, chain, seen.sizes, settings.clock_skew_ms_max),
        ]  # fmt: skip
    finally:
        await chain.aclose()


async def seen_again(
    chain: Jip2Chain, section: RollupSection, state: bytes, store_path: str
) -> RollupSeen:
    """What one look sees, or the next one: of several nodes one may be of no use at first."""
    path = builder_path(section, store_path)
    for _ in range(LOOK_TRIES - 1 if len(chain.nodes) > 1 else 0):
        with suppress(ChainError):
            return await seen(chain, section, state, path)
        await asyncio.sleep(min((section.slot_ms or SLOT_MS) / 1_000, LOOK_PAUSE_S_MAX))
    return await seen(chain, section, state, path)


async def seen(
    chain: Jip2Chain, section: RollupSection, state: bytes, path: str | None
) -> RollupSeen:
    head = await rollup_head(chain, section)
    values: list[tuple[str, bytes | None]] = []
    if not isinstance(head, str) and len(chain.endpoints) > 1:
        at = (await chain.head()).finalised
        if at is not None:
            agreed = await chain.service_value(at.header_hash, section.service, HEAD_KEY)
            alone = await chain.service_values(at.header_hash, section.service, HEAD_KEY)
            values = [(node, value) for node, value in alone if value != agreed]
    return RollupSeen(
        sizes=await chain.parameters(),
        head=head,
        strange=await foreign_line(chain, section.service, seen_final(read_head(state))),
        lag=await unreadable(section, chain, path),
        values=values,
    )


def service(name: str, section: RollupSection, head: ServiceHead | str) -> Finding:
    name = f"{name} service"
    if isinstance(head, str):
        # A reason that knows what to do says so after its last semicolon.
        _, _, remedy = head.rpartition("; ")
        return Finding(name, False, head, remedy if remedy != head else "name another `service`")
    return Finding(
        name, True, f"service {section.service} is a {section.kind} at block {head.number}"
    )


def odd_nodes(
    name: str, section: RollupSection, values: Sequence[tuple[str, bytes | None]]
) -> list[Finding]:
    """Nodes that show another newest block at one and the same final block of the chain. They
    decide nothing while two others agree, and help nobody."""
    lacks = f"it has no records of service {section.service}, and other nodes have them"
    lies = f"it shows another newest block of service {section.service} than the others"
    advice = "repair it, or name another one in its place as one of its `nodes`"
    return [
        Finding(f"{name} node {node}", False, lacks if value is None else lies, advice)
        for node, value in values
    ]


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


async def clock(name: str, chain: Jip2Chain, sizes: Parameters, most_ms: int) -> Finding:
    """`most_ms`: with more skew the lane submits nothing. The head that was there first may be old,
    so some new ones are waited for."""
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
        abs(skew_ms) <= most_ms,
        f"blocks are heard of {skew_ms} ms after their time by the chain's calendar",
        "let NTP set this clock; below zero it is behind",
    )
