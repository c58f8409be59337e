"""Watches thousands of packages one after the other, ends each in another way, and counts what the
node still has open.

`jam_leaks.py --network typeberry --count 5000 --first 0`; `make test` does a slice of it.
"""

import argparse
import asyncio
import sys
from collections.abc import AsyncGenerator
from contextlib import suppress
from pathlib import Path

from msgspec.structs import replace

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.jam_worlds import WORLDS, Made, World, fact_told, next_told, typeberry_process, until

from laneway.core.jam import BlocksGone, PackageSeen, Reported, Watched
from laneway.jam.hashing import blake2b

AT_ONCE = 8
"""Watches that are open together."""
WAYS = 5
"""Closed at once, closed when told, cancelled, out of time, and with its connection cut."""


def other(made: Made, name: bytes) -> Watched:
    """Another package with the same anchor; nobody hands it in."""
    return replace(made.watched, package_hash=name)


async def watch_many(world: World, first: int, count: int) -> None:
    """Every one of them told something, and at the end the node has none open."""
    for begin in range(first, first + count, AT_ONCE):
        made = await world.pack()
        numbers = range(begin, min(begin + AT_ONCE, first + count))
        watched = [other(made, blake2b(number.to_bytes(4, "little"))) for number in numbers]
        if begin % 7 == 0:
            await world.chain.submit(made.package, (0,))
            watched[0] = made.watched
        before = world.say("dev_subscriptions")["opened"]
        watches = [world.chain.watch(one) for one in watched]
        waiting = [asyncio.create_task(fact_told(watch)) for watch in watches]
        # Those that end before their number has come are part of it.
        if begin % 3:
            wanted = before + len(watches)
            await until(lambda wanted=wanted: world.say("dev_subscriptions")["opened"] >= wanted)  # type: ignore[misc]
        world.produce()
        facts = await asyncio.gather(*waiting)
        assert begin % 7 or isinstance(facts[0], Reported), facts[0]
        for number, watch in zip(numbers, watches, strict=True):
            await end(world, watch, number)
        await until(lambda: not any(node.socket.held_count for node in world.adapter._nodes.all))
    await until(lambda: world.open_subscriptions() == 0)


async def end(
    world: World, watch: AsyncGenerator[PackageSeen | BlocksGone, None], number: int
) -> None:
    way = number % WAYS
    if way == 1:
        waiting = asyncio.create_task(next_told(watch))
        world.produce()
        await waiting
    elif way == 2:
        waiting = asyncio.create_task(next_told(watch))
        await asyncio.sleep(0)
        waiting.cancel()
        await asyncio.wait([waiting])
    elif way == 3:
        with suppress(TimeoutError):
            await asyncio.wait_for(anext(watch), 0.001)
    elif way == 4 and number % 64 == 4:
        world.relay.cut()
    await watch.aclose()


async def run(network: str, first: int, count: int) -> None:
    async with WORLDS[network]() as world:
        world.produce(3)
        await watch_many(world, first, count)
        told = world.say("dev_subscriptions")
        opened, left = told["opened"], told["open"]
        print(f"{network}: {count} packages, {opened} subscriptions opened, {left} left")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--network", choices=sorted(WORLDS), default="devnet")
    parser.add_argument("--count", type=int, default=5_000)
    parser.add_argument("--first", type=int, default=0)
    given = parser.parse_args()
    if given.network == "typeberry":
        with typeberry_process():
            asyncio.run(run(given.network, given.first, given.count))
    else:
        asyncio.run(run(given.network, given.first, given.count))


if __name__ == "__main__":
    main()
