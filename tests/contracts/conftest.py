"""Worlds for the stories of the EVM suites."""

import asyncio

import pytest
from tests.evm_worlds import WORLDS, AnvilWorld, ModelWorld, Story, Told

LACKS = {"anvil": AnvilWorld.lacks, "model": ModelWorld.lacks}


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """A story is told in each world that has what it needs; `Needs` says why one has it not."""
    if "tell" not in metafunc.fixturenames:
        return
    needs = {need for mark in metafunc.definition.iter_markers("needs") for need in mark.args}
    able = [name for name in WORLDS if not needs.intersection(LACKS[name])]
    metafunc.parametrize("tell", able, indirect=True)


@pytest.fixture
def tell(request: pytest.FixtureRequest) -> Told:
    def told(story: Story) -> None:
        async def run() -> None:
            async with WORLDS[request.param]() as world:
                await story(world)

        asyncio.run(run())

    return told
