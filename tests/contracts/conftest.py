"""Worlds for the stories of the EVM suites."""

import asyncio

import pytest
from tests.evm_worlds import WORLDS, Needs, Story, Told


@pytest.fixture(params=list(WORLDS))
def tell(request: pytest.FixtureRequest) -> Told:
    def told(story: Story, *needs: Needs) -> None:
        async def run() -> None:
            async with WORLDS[request.param]() as world:
                for need in needs:
                    if need in world.lacks:
                        pytest.skip(need.value)
                await story(world)

        asyncio.run(run())

    return told
