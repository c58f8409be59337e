"""Laws of the extras: each alone, from the wheel, does what README.md says with it."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tests.readme import Block, Reader, blocks
from tests.servers import PostgresServer

from laneway.kinds.extras import EXTRAS

INSTALL_S_MAX = 240


def story(extra: str | None) -> list[Block]:
    """The first block, which every section begins with, and the sections that install `extra`:
    of these what is for all, and what is for it. None: the section that installs nothing."""
    typed = [block for block in blocks()[1:] if block.kind != "text" and block.not_run is None]
    first = typed[0]
    if extra is None:
        return [block for block in typed if block.section == first.section]
    sections = {block.section for block in typed if block.extra == extra}
    return [first] + [
        block for block in typed if block.section in sections and block.extra in (None, extra)
    ]


@pytest.fixture(scope="module")
def fresh(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A virtual environment with the wheel and nothing else, as it was after its installation."""
    folder = tmp_path_factory.mktemp("environments")
    made, kept = folder / "venv", folder / "kept"
    for command in (
        [sys.executable, "-m", "venv", str(made)],
        [str(made / "bin/python"), "-m", "pip", "install", "-q", str(wheel)],
    ):
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=INSTALL_S_MAX, check=False
        )
        assert done.returncode == 0, done.stderr
    made.rename(kept)
    return kept


def test_every_extra_has_a_story() -> None:
    told = {block.extra for block in blocks()}
    assert told == {None, *EXTRAS}
    for extra in (None, *EXTRAS):
        assert any("laneway" in block.text for block in story(extra)[1:]), extra


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("extra", [None, *EXTRAS])
def test_an_extra_alone_does_what_the_readme_says_with_it(
    extra: str | None, fresh: Path, tmp_path: Path, postgres_server: PostgresServer
) -> None:
    # Its scripts name the place where it was made, so a copy stands there, one at a time.
    environment = fresh.with_name("venv")
    shutil.rmtree(environment, ignore_errors=True)
    shutil.copytree(fresh, environment, symlinks=True)
    if extra == "postgres":
        postgres_server.run("DROP DATABASE IF EXISTS laneway")
    at_postgres = {"PGHOST": str(postgres_server.folder), "PGUSER": "postgres"}
    with Reader(tmp_path, environment, **at_postgres) as reader:
        for block in story(extra):
            reader.follow(block)
