"""What the simulator makes of the chain model is what the adapter makes of the same chain over its
wire: worlds of rollups are worth as much as this."""

import asyncio
import random

import pytest
from tests.jam_worlds import DevnetWorld, Made, World, tell, text

from laneway.core.jam import JamBlockRef
from laneway.sim.bundle.node_view import NodeView

pytestmark = pytest.mark.slow

LIMITS = (1, 2, 64)


class Twins:
    """The adapter and the simulator's view of one node, asked the same."""

    def __init__(self, world: World) -> None:
        assert isinstance(world, DevnetWorld)
        self._world = world
        self._view = NodeView(world.devnet.model, 0, "node")
        self.made: list[Made] = []
        self.known: list[JamBlockRef] = []
        self.kinds: set[str] = set()
        """Of the facts that were compared."""

    async def submit(self, made: Made, core: int = 0) -> Made:
        told = await self._world.chain.submit(made.package, [core])
        assert told.taken() is not None, told
        self.made.append(made)
        return made

    async def compare(self, limit: int = 64) -> None:
        """One look of each, behind the same blocks."""
        watched = [made.watched for made in self.made]
        told = await self._world.chain.look(self.known, watched, limit)
        assert self._view.look(self.known, watched, limit) == told
        self.known = [one for one in self.known if one not in told.gone]
        self.known += [block.block for block in told.blocks]
        facts = [one.fact for block in told.blocks for one in block.seen]
        self.kinds |= {type(fact).__name__ for fact in facts}
        for offset in (0, 1, 6):
            context = await self._world.chain.context(offset=offset)
            assert self._view.context(offset) == context


def played(story: object) -> None:
    asyncio.run(tell("devnet", story))  # type: ignore[arg-type]


def test_a_package_is_seen_alike_on_all_its_way() -> None:
    async def story(world: World) -> None:
        twins = Twins(world)
        await twins.compare()
        await twins.submit(await world.pack(offset=1))
        world.produce(noGuarantee=True)
        for _ in range(8):
            await twins.compare()
            world.produce()
        await twins.compare()
        assert twins.kinds == {"Reportable", "Reported", "Ready", "Accumulated"}

    played(story)


def test_two_versions_of_a_block_are_seen_alike() -> None:
    async def story(world: World) -> None:
        twins = Twins(world)
        first = await twins.submit(await world.pack(offset=1))
        await twins.submit(await world.pack(first.work, offset=2), core=1)
        for _ in range(5):
            await twins.compare()
            world.produce()
        assert "ServiceRefused" in twins.kinds

    played(story)


def test_what_is_never_available_or_never_reported_is_seen_alike() -> None:
    async def story(world: World) -> None:
        twins = Twins(world)
        await twins.submit(await world.pack(offset=1))
        world.produce(noAssure=[0])
        world.say("dev_fault", "withheld_cores", [1])
        await twins.submit(await world.pack(offset=1), core=1)
        for _ in range(12):
            await twins.compare()
            world.produce(noAssure=[0])
        assert "Failed" in twins.kinds

    played(story)


def test_what_a_service_holds_is_seen_alike_until_it_expires_and_its_anchor_is_forgotten() -> None:
    async def story(world: World) -> None:
        twins = Twins(world)
        await world.pack(offset=1)
        held = await twins.submit(await world.pack(offset=1))
        world.say("dev_fault", "withheld_cores", [1])
        lost = await world.pack(held.work, offset=1)
        await twins.submit(lost, core=1)
        for _ in range(24):
            world.produce(4)
            await twins.compare()
        assert "ServiceRefused" in twins.kinds
        assert "Failed" in twins.kinds

    played(story)


def test_a_fork_is_seen_alike() -> None:
    async def story(world: World) -> None:
        twins = Twins(world)
        world.say("dev_finality", "freeze")
        common = world.best()
        await twins.submit(await world.pack(offset=0))
        world.produce(2)
        await twins.compare()
        gone = len(twins.known)
        slot = world.best().slot + 1
        world.produce(parent=text(common.header_hash), slot=slot, noGuarantee=True)
        await twins.compare()
        assert len(twins.known) <= gone
        world.produce(2)
        await twins.compare()

    played(story)


@pytest.mark.parametrize("seed", range(4))
def test_a_story_of_many_packages_is_seen_alike(seed: int) -> None:
    dice = random.Random(seed)

    async def story(world: World) -> None:
        twins = Twins(world)
        last: tuple[bytes, ...] = ()
        for _ in range(25):
            if dice.random() < 0.4:
                names = last if dice.random() < 0.5 else ()
                made = await world.pack(offset=dice.choice((0, 1, 6)), prerequisites=names)
                await twins.submit(made, dice.randrange(2))
                last = (made.hash,)
            if dice.random() < 0.2:
                world.say("dev_fault", "reorg_depth", dice.choice((1, 2, 3)))
            cores = dice.choice(([], [], [0], [1]))
            world.say("dev_fault", "unavailable_cores", cores)
            world.say("dev_fault", "withheld_cores", dice.choice(([], [], [0, 1])))
            world.produce()
            await twins.compare(dice.choice(LIMITS))

    played(story)
