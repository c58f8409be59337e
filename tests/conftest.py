"""Servers that several suites share, what examples are drawn, and the order of tests."""

import logging
from collections.abc import Iterator

import pytest
from hypothesis import settings
from tests.anvil import NODES, used
from tests.servers import postgres_server
from tests.wheel import wheel

__all__ = ["postgres_server", "wheel"]

# The same examples in every run, and no clock that a busy machine could lose against.
settings.register_profile("laneway", derandomize=True, deadline=None, database=None)
settings.load_profile("laneway")

LONG = ("bench", "docs", "fleet", "kill", "load")
"""Folders whose tests take half a minute each, and mostly wait for processes of their own."""


@pytest.fixture
def each_node(request: pytest.FixtureRequest) -> Iterator[None]:
    """The test's nodes are anvils, and in another run laneway's devnet as a process."""
    before = used.set(request.param)
    yield
    used.reset(before)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "each_node" in metafunc.fixturenames:
        alone = metafunc.definition.get_closest_marker("anvil_alone")
        metafunc.parametrize("each_node", NODES[:1] if alone else NODES, indirect=True)


LOGGERS = ("laneway", "aiohttp", "asyncio", "psycopg")
"""Those that a command sets up (laneway/wiring/logs.py)."""


@pytest.fixture(autouse=True)
def kept_loggers() -> Iterator[None]:
    """A command that a test runs in its own process sets up log lines for a stream that is closed
    after the test; a later test would read of that on its own."""
    loggers = [logging.getLogger(name) for name in LOGGERS]
    before = [(one, one.handlers, one.propagate, one.level) for one in loggers]
    yield
    for one, handlers, propagate, level in before:
        one.handlers, one.propagate = handlers, propagate
        one.setLevel(level)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Each of the workers begins with its share of what takes long: begun last, it would be waited
    for alone. They are given even parts of the list, in its order."""
    workers = getattr(config, "workerinput", {}).get("workercount", 1)
    if workers == 1:
        return
    folder = config.rootpath / "tests"
    names = {id(one): one.path.relative_to(folder).parts[0] for one in items}
    long = [one for one in items if names[id(one)] in LONG]
    short = [one for one in items if names[id(one)] not in LONG]
    found: list[pytest.Item] = []
    for worker in range(workers):
        end = len(items) * (worker + 1) // workers
        found += long[worker::workers]
        room = end - len(found)
        found += short[:room]
        del short[:room]
    items[:] = found
