"""The library serves a kind of another distribution on every store."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.fleet.stores import started
from tests.foreign.distribution import Installed

pytestmark = pytest.mark.slow

STORY = Path(__file__).parent / "library_story.py"
TOML = """\
[store]
path = "{path}"
{more}
[counter]
folder = "counters"
retry_ms = 100
"""


@contextmanager
def store(kind: str, folder: Path) -> Iterator[str]:
    """The sections of a configuration on a store of this kind."""
    match kind:
        case "memory":
            yield TOML.format(path=":memory:", more='durability = "memory"')
        case "sqlite":
            yield TOML.format(path=folder / "a.db", more="")
        case _:
            with started(kind) as server:
                yield TOML.format(path=server.url, more="")


@pytest.mark.parametrize("kind", ["memory", "sqlite", "postgres", "redis", "redis-cluster"])
def test_a_foreign_kind_is_kept_by_every_store(kind: str, tmp_path: Path) -> None:
    with store(kind, tmp_path) as toml:
        code, said = Installed(tmp_path, toml).python(str(STORY), str(tmp_path))
    assert (code, said.startswith("all as it should be\n")) == (0, True), said
