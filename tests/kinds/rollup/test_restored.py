"""A database that was put back from a copy: what was executed since is confirmed, not refused."""

import asyncio
import shutil
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import pytest
from tests.kinds.rollup.stage import LANE, made, run, table
from tests.rollup_stage import Purse

from laneway.builder import opening
from laneway.builder.opener import open_builder
from laneway.builder.states import StateFiles
from laneway.devnets.jam.devnet import JamDevnet
from laneway.kinds.rollup import lanes
from laneway.wiring.embedded import Laneway

pytestmark = pytest.mark.slow

SLOT_MS = 100


async def ends(lw: Laneway, names: Sequence[str]) -> list[tuple[str, int | None]]:
    """How transactions ended, and in which block."""
    found: list[tuple[str, int | None]] = []
    for name in names:
        while not (tx := await lw.show(name)).final:
            await asyncio.sleep(0.05)
        found.append((tx.status, tx.block))
    return found


@pytest.mark.parametrize("file", ["lost", "old", "as it was"])
def test_what_blocks_executed_since_the_copy_is_confirmed_with_those_blocks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, file: str
) -> None:
    """Whether the builder's file is lost, put back too, or as it was with few blocks in it; the
    states beside it are left."""
    monkeypatch.setattr(lanes, "open_builder", partial(open_builder, state_blocks=2))
    monkeypatch.setattr(opening, "STATE_BLOCKS_DEFAULT", 2)
    home, copy = tmp_path / "home", tmp_path / "copy"
    home.mkdir()
    database, builder = str(home / "l.db"), str(home / "l.db-rollup-1")

    async def story() -> None:
        async with JamDevnet(slot_ms=SLOT_MS) as devnet:
            genesis = devnet.model.genesis
            rollup = table(devnet.url, genesis=genesis.hex(), slot_ms=SLOT_MS, blocks_kept=2)
            purse = Purse(genesis, senders=1)
            async with made(database, rollup) as lw:
                await ends(lw, [(await lw.transfer(LANE, purse.transfer())).id])
                await lw.pause(LANE)
                raws = purse.transfers(3)
                waiting = [(await lw.transfer(LANE, raw)).id for raw in raws]
            shutil.copytree(home, copy)
            async with made(database, rollup) as lw:
                await lw.resume(LANE)
                first = await ends(lw, waiting)
                for _ in range(3):
                    await ends(lw, [(await lw.transfer(LANE, purse.transfer())).id])
            assert StateFiles(builder).numbers()
            for path in home.iterdir():
                is_builders = path.name.startswith("l.db-rollup-1")
                if not is_builders or (file != "as it was" and "-state-" not in path.name):
                    path.unlink()
            for path in copy.iterdir():
                is_builders = path.name.startswith("l.db-rollup-1")
                if not is_builders or (file == "old" and "-state-" not in path.name):
                    shutil.copy(path, home)
            async with made(database, rollup) as lw:
                await lw.resume(LANE)
                assert await ends(lw, waiting) == first
                assert [status for status, _ in first] == ["confirmed"] * 3
                assert (await lw.health(LANE)).problems == []

    run(story)
