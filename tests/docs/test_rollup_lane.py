"""Laws of docs/rollup-lane.md: what it shows runs, and no key or word is invented."""

import asyncio
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from laneway.cli.app import app
from laneway.devnets.jam.devnet import JamDevnet
from laneway.kinds.rollup.section import BundleSection, RollupSection
from laneway.lanes.bundle.rows import BlockState
from laneway.lanes.bundle.settings import BundleSettings

PAGE = (Path(__file__).parents[2] / "docs/rollup-lane.md").read_text()
BLOCK = re.compile(r"```(\w+)\n(.*?)```", re.DOTALL)
SLOT_MS = 200


def blocks(language: str) -> list[str]:
    return [text for name, text in BLOCK.findall(PAGE) if name == language]


def test_every_key_that_it_names_is_a_setting() -> None:
    known = {
        *BundleSettings.__struct_fields__,
        *BundleSection.__struct_fields__,
        *RollupSection.__struct_fields__,
        "guarantee_wait_ms",
    }
    named = set(re.findall(r"`(\w+_(?:max|ms|blocks|slots|window|policy|reuse|counts))`", PAGE))
    assert named
    assert named <= known


def test_every_state_is_explained() -> None:
    states = PAGE.partition("## States")[2].partition("\n## ")[0]
    words = [word for name, word in vars(BlockState).items() if name.isupper()]
    assert len(words) == 6
    for word in words:
        assert f"| `{word}` |" in states


def test_every_command_that_it_names_exists() -> None:
    rollup = app.get_command(None, "rollup")  # type: ignore[arg-type]
    assert rollup is not None
    named = set(re.findall(r"laneway rollup (\w+)", PAGE))
    assert named == {"send", "status", "bundles", "bundle", "account", "receipt"}
    assert named <= set(rollup.list_commands(None))  # type: ignore[attr-defined]


@pytest.mark.slow
def test_its_program_pays_once_on_a_chain_of_its_own(tmp_path: Path) -> None:
    (toml,), (program, _) = blocks("toml"), blocks("python")
    asyncio.run(paid(tmp_path, toml, program))


async def paid(folder: Path, toml: str, program: str) -> None:
    async with JamDevnet(slot_ms=SLOT_MS) as devnet:
        assert f'genesis = "{devnet.model.genesis.hex()}"' in toml
        said = toml.replace("ws://127.0.0.1:19800", devnet.url)
        (folder / "laneway.toml").write_text(said.replace("slot_ms = 500", f"slot_ms = {SLOT_MS}"))
        child = await asyncio.create_subprocess_exec(
            sys.executable, "-c", program,
            cwd=folder, env=os.environ | {}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )  # fmt: skip
        async with asyncio.timeout(60):
            told, _ = await child.communicate()
    lines = told.decode().splitlines()
    assert child.returncode == 0, lines
    assert "3 accumulated 1 v1" in lines
    assert any(line.startswith("confirmed 1 0x") for line in lines), lines
