"""What happens to deployments of a rollup, one function a story. Each is named in `STORIES`."""

import shutil
from asyncio import create_task, sleep
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from time import monotonic
from typing import Any

from msgspec import Struct, field
from tests.jip2_relay import Jip2Relay
from tests.load.served import ServerGone
from tests.scenarios import nodes, poison
from tests.scenarios.deployment import Deployment, with_limits
from tests.scenarios.stage import Stage

from laneway.devnets.jam.limits import BLOCKS_KEPT_MAX

Tell = Callable[[Stage, int], Awaitable[None]]


class Story(Struct, frozen=True, kw_only=True):
    tell: Tell
    blocks: int
    """Its size in the short form: rollup blocks in each of its chapters."""
    setup: dict[str, Any] = field(default_factory=dict)
    """How its stage is made."""


async def under_load(stage: Stage, name: str = "one", **more: Any) -> Deployment:
    one = await stage.deploy(name, **more)
    stage.crowd.hire([one], count=4, window=12)
    return one


# Files that are put back, or lost.


async def restored(stage: Stage, blocks: int, *, with_builder: bool | None) -> None:
    """The database is put back as it was some blocks ago, with its builder's file (True), beside
    the newest one (False), or with none at all (None)."""
    one = await under_load(stage)
    await stage.until_blocks(blocks)
    await one.kill()
    copies = stage.folder / "copies"
    one.copy(copies, with_builder=bool(with_builder))
    await one.start()
    await stage.until_blocks(blocks)
    await one.kill()
    one.restore(copies, with_builder=bool(with_builder))
    if with_builder is None:
        one.lose_builder()
    await one.start()
    await stage.until_blocks(blocks)


async def restored_alone(stage: Stage, blocks: int) -> None:
    await restored(stage, blocks, with_builder=False)


async def restored_with_builder(stage: Stage, blocks: int) -> None:
    await restored(stage, blocks, with_builder=True)


async def restored_without_builder(stage: Stage, blocks: int) -> None:
    await restored(stage, blocks, with_builder=None)


async def lost_commits(stage: Stage, blocks: int) -> None:
    """What was in the write-ahead log alone is gone, three times."""
    one = await under_load(stage)
    for _ in range(3):
        await stage.until_blocks(blocks)
        await one.kill()
        one.lose_log()
        await one.start()
    await stage.until_blocks(blocks)


async def builder_lost(stage: Stage, blocks: int) -> None:
    """The builder's file is deleted when the chain has forgotten the first packages. Its states
    stay; there is one for a quarter of the packages that a chain keeps, as on all of them."""
    every = stage.packages_kept // 4
    environment = with_limits(stage.folder / "site", STATE_BLOCKS_DEFAULT=every)
    one = await under_load(stage, environment=environment)
    await stage.until_blocks(blocks)
    for _ in range(2):
        await one.kill()
        one.lose_builder()
        await one.start()
        await stage.until_blocks(10)


async def nothing_left(stage: Stage, blocks: int) -> None:
    """The builder's file and its states are gone, and the chain has forgotten the first packages:
    the lane halts, all say why and what to do, and one state that is put back is enough."""
    every = stage.packages_kept // 4
    environment = with_limits(stage.folder / "site", STATE_BLOCKS_DEFAULT=every)
    one = await under_load(stage, environment=environment)
    await stage.until_blocks(blocks)
    await one.kill()
    away = stage.folder / "away"
    states = one.lose_all(away)
    await one.start()
    await stage.until_unwell(one, "no node has the segments of its package")
    await stage.until_unwell(one, "then resume the lane")
    shutil.copy2(away / states[-1], one.folder / states[-1])
    await sleep(20 * stage.slot_ms / 1_000)
    code, words = await one.command("lane", "resume", "rollup:pay", "--url", one.url)
    assert code == 0, words
    await stage.until_blocks(10)


# Two on one service.


async def two_deployments(stage: Stage, blocks: int) -> None:
    """Each has callers of its own, and some give each transfer to both."""
    one, two = await stage.deploy("one"), await stage.deploy("two")
    stage.crowd.hire([one], count=2, window=6)
    stage.crowd.hire([two], count=2, window=6)
    stage.crowd.hire([one, two], count=2, window=6)
    await stage.until_blocks(blocks)


# Nodes.


async def bad_node(stage: Stage, blocks: int, fault: str) -> None:
    """One of three nodes is of no use all the time; which one it is, the seed says."""
    bad = stage.random.randrange(3)
    async with Jip2Relay(stage.devnet.urls[bad]) as relay:
        nodes.FAULTS[fault](relay, stage.random)
        urls = list(stage.devnet.urls)
        urls[bad] = stage.culprit = relay.url
        await under_load(stage, nodes=urls)
        await stage.until_blocks(blocks)
        await stage.finish()


def with_bad_node(fault: str) -> Story:
    async def tell(stage: Stage, blocks: int) -> None:
        await bad_node(stage, blocks, fault)

    return Story(tell=tell, blocks=20, setup={"nodes": 3})


async def all_nodes_dead_at_start(stage: Stage, blocks: int) -> None:
    """The deployment starts while no node listens; the nodes come, and all goes on."""
    for node in range(3):
        await stage.devnet.stop_node(node)
    one = await stage.deploy("one")
    stage.crowd.hire([one], count=4, window=12)
    await sleep(20 * stage.slot_ms / 1_000)
    for node in range(3):
        await stage.devnet.start_node(node)
    await stage.until_blocks(blocks)


async def half_walked(stage: Stage, blocks: int) -> None:
    """After a short outage each node is lost again in the middle of the walk back, for so long that
    it has forgotten the blocks to which the walk led, and not the one where it began."""
    async with AsyncExitStack() as stack:
        relays = [await stack.enter_async_context(Jip2Relay(url)) for url in stage.devnet.urls]
        await under_load(stage, nodes=[relay.url for relay in relays])
        await stage.until_blocks(blocks)
        await stage.outage(slots=30)
        for relay in relays:
            relay.cut_at["parent"] = WALKED
        await stage.until(lambda: not any(one.cut_at["parent"] for one in relays), "walks back")
        await stage.outage(slots=BLOCKS_KEPT_MAX - WALKED // 2)
        for relay in relays:
            relay.cut_at.clear()
        begun_slot = stage.devnet.model.slot
        await stage.until_blocks(3)
        slots = stage.devnet.model.slot - begun_slot
        if slots > SEEN_AGAIN_SLOTS_MAX:
            stage.problems.append(f"the chain was not seen for {slots} slots after the outage")
        await stage.until_blocks(blocks)
        await stage.finish()


WALKED = 16
"""Steps of a walk before it is lost."""
SEEN_AGAIN_SLOTS_MAX = 60
"""For nodes that are back to be asked again, and three blocks; a cached path that leads nowhere
makes a lane blind for the 256 blocks of one walk."""


# Transactions.


async def poisoned(stage: Stage, blocks: int) -> None:
    """No block can be built with some transfers, which are refused; all others settle."""
    site = stage.folder / "site"
    poison.install(site)
    environment = with_limits(site, BUILD_S_MAX=poison.BUILD_S_MAX)
    one = await under_load(stage, environment=environment, kind=poison.NAME)
    caller = stage.crowd.caller([one])
    kinds = (
        (poison.RAISES, poison.RAISED),
        (poison.LAGS, poison.LATE),
        (poison.UNPACKABLE, poison.UNPACKED),
        (poison.HANGS, poison.LATE),
    )
    for amount, reason in kinds * 2:
        await stage.watched(caller.pay(amount, reason), "a refusal")
        await stage.watched(caller.pay(5), "a transfer with the nonce of one that was refused")
    await stage.until_blocks(blocks)


async def ended_by_one(stage: Stage, blocks: int) -> None:
    """Executing one transfer ends the process each time, as the kernel does where a machine is too
    small: the lane halts and names it, and on a larger machine all of them settle."""
    site = stage.folder / "site"
    poison.install(site)
    small = site / poison.SMALL
    small.touch()
    environment = with_limits(site, BUILD_S_MAX=poison.BUILD_S_MAX)
    one = await under_load(stage, environment=environment, kind=poison.NAME)
    await stage.until_blocks(blocks)
    caller = stage.crowd.caller([one])
    paying = create_task(caller.pay(poison.ENDS))
    for _ in range(ENDS_MAX):
        if not await started_again(one):
            break
    await stage.until_unwell(one, "starts find it begun")
    await stage.until_unwell(one, "then resume the lane")
    small.unlink()
    code, words = await one.command("lane", "resume", "rollup:pay", "--url", one.url)
    assert code == 0, words
    await stage.until(paying.done, "the transfer that ended the process")
    paying.result()
    await stage.until_blocks(blocks)


ENDS_MAX = 40
"""Starts of a process that is ended by a transfer: three of a block of some, and five of one."""
ENDED_S_MAX = 20.0
"""How long a process may live that is to be ended so: the longest pause before a block is begun."""


async def started_again(one: Deployment) -> bool:
    """Start a process again that ends by itself; false if it lives on."""
    until_s = monotonic() + ENDED_S_MAX
    while monotonic() < until_s:
        try:
            one.check()
        except ServerGone:
            await one.kill()
            while True:
                try:
                    await one.start()
                    return True
                except ServerGone:
                    continue
        await sleep(0.05)
    return False


STORIES = {
    "restored": Story(tell=restored_alone, blocks=12),
    "restored-with-builder": Story(tell=restored_with_builder, blocks=12),
    "restored-without-builder": Story(tell=restored_without_builder, blocks=12),
    "lost-commits": Story(tell=lost_commits, blocks=8),
    "two-deployments": Story(tell=two_deployments, blocks=20),
    "builder-lost": Story(tell=builder_lost, blocks=100, setup={"packages_kept": 32}),
    "nothing-left": Story(tell=nothing_left, blocks=60, setup={"packages_kept": 32}),
    **{f"{fault}-node": with_bad_node(fault) for fault in nodes.FAULTS},
    "poisoned": Story(tell=poisoned, blocks=10),
    "ended-by-one": Story(tell=ended_by_one, blocks=6),
    "half-walked": Story(tell=half_walked, blocks=8, setup={"nodes": 3}),
    "nodes-dead-at-start": Story(tell=all_nodes_dead_at_start, blocks=10, setup={"nodes": 3}),
}
