"""Servers that several suites share, what examples are drawn, and the order of tests."""

import pytest
from hypothesis import settings
from tests.servers import postgres_server
from tests.wheel import wheel

__all__ = ["postgres_server", "wheel"]

# The same examples in every run, and no clock that a busy machine could lose against.
settings.register_profile("laneway", derandomize=True, deadline=None, database=None)
settings.load_profile("laneway")

LONG = ("bench", "docs", "fleet", "kill", "load")
"""Folders whose tests take half a minute each, and mostly wait for processes of their own."""


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
