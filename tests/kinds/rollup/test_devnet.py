"""Laws of a rollup's own chain: it is said how to try it, and it goes on with its database."""

import asyncio
from pathlib import Path

import pytest
from tests.kinds.rollup.stage import LANE, made, run, table
from tests.rollup_stage import Judge, Purse

from laneway.client.place import URL
from laneway.core.errors import StoreRefused
from laneway.devnets.jam.devnet import JamDevnet
from laneway.devnets.jam.model.genesis import rollup_authorizers
from laneway.jam.package import authorizer_hash
from laneway.kinds.config import ConfigError
from laneway.kinds.rollup.devnet import SERVER_DEFAULT, devnet_lines, open_devnet
from laneway.kinds.rollup.section import RollupSection, with_devnet
from laneway.kinds.rollup.service import authorizer_of
from laneway.wiring.config import load
from laneway.wiring.embedded import Laneway


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_flag_adds_a_table() -> None:
    configuration = with_devnet(load(), "ledger", 300)
    (section,) = configuration.config.rollup
    assert section == RollupSection(
        name="ledger", kind="ledger", service=1, nodes=("devnet",), slot_ms=300
    )
    assert section.is_embedded()
    assert load().config.rollup == ()


def test_a_table_with_the_same_service_is_in_its_way(here: Path) -> None:
    (here / "laneway.toml").write_text(
        '[[rollup]]\nname = "main"\nservice = 1\nnodes = ["ws://127.0.0.1:19800"]\n'
    )
    with pytest.raises(ConfigError, match="--rollup: main and ledger are both service 1"):
        with_devnet(load(), "ledger", None)


def test_a_fleets_database_is_no_place_for_it() -> None:
    configuration = load(None, {"LANEWAY_STORE__PATH": "redis://h"})
    with pytest.raises(ConfigError, match="--rollup: ledger: a chain inside this process needs"):
        with_devnet(configuration, "ledger", None)


def test_commands_look_for_the_server_where_the_example_leaves_it_out() -> None:
    assert SERVER_DEFAULT == URL


def test_it_says_all_that_is_needed_to_try_it() -> None:
    async def story() -> None:
        async with open_devnet(table("devnet", slot_ms=50), ":memory:") as devnet:
            lines = devnet_lines(devnet, SERVER_DEFAULT)
            assert lines[0] == f"JAM node    {devnet.url} (tiny chain in this process)"
            for place, account in enumerate(devnet.accounts):
                said = f"  dev:{place}  {account.id.hex()}  {account.secret.hex()}"
                assert lines[2 + place] == said
            assert lines[-1] == (
                "try         laneway rollup send --from dev:0 --to dev:1 --amount 5 --wait"
            )
            elsewhere = devnet_lines(devnet, "http://127.0.0.1:1")[-1]
            assert elsewhere.endswith("--wait --url http://127.0.0.1:1")

    run(story)


def test_a_chain_in_memory_keeps_nothing(here: Path) -> None:
    async def story() -> None:
        async with open_devnet(table("devnet", slot_ms=50), ":memory:") as devnet:
            devnet.say("dev_produce")

    run(story)
    assert list(here.iterdir()) == []


def test_its_line_is_moved_by_the_authorizer_of_the_rollup_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As its table names it, or as it is where it names none."""
    code, config = bytes([171]) * 32, b"\1"
    monkeypatch.setenv("PAY_KEY", "0d" * 32)
    chosen = {"host": 1, "code_hash": code.hex(), "config": config.hex()}
    for own in (None, chosen, {"signer": "env:PAY_KEY"}):
        one = table("devnet", authorizer=own)
        used = authorizer_of(one)
        model = open_devnet(one, ":memory:").model
        listed = authorizer_hash(used.code_hash, used.config)
        assert rollup_authorizers(model.setup) == (listed,)
        assert all(listed in pool for pool in model.setup.authorizers.values())


@pytest.mark.slow
def test_a_rollup_with_an_authorizer_of_its_own_moves_its_line() -> None:
    chosen = {"host": 1, "code_hash": "ab" * 32, "config": "01"}

    async def story() -> None:
        async with made(":memory:", table("devnet", slot_ms=100, authorizer=chosen)) as lw:
            raw = Purse(devnet_of(lw).model.genesis).transfer()
            assert (await (await lw.transfer(LANE, raw)).result(60)).is_confirmed()

    run(story)


def own(path: Path | str, slot_ms: int = 100) -> Laneway:
    return made(str(path), table("devnet", slot_ms=slot_ms))


def devnet_of(laneway: Laneway) -> JamDevnet:
    assert laneway.rollups.lanes is not None
    assert laneway.rollups.lanes.devnet is not None
    return laneway.rollups.lanes.devnet


@pytest.mark.slow
def test_the_chain_goes_on_with_its_database(here: Path) -> None:
    """Twice ended in the middle; on a chain that began anew nothing of it would ever be final."""
    path = here / "l.db"

    async def story() -> None:
        lives: list[JamDevnet] = []

        def say(method: str, *given: object) -> object:
            return lives[-1].say(method, *given)

        async with own(path) as lw:
            lives.append(devnet_of(lw))
            judge = Judge(say)
            raws = Purse(lives[-1].model.genesis).transfers(9)
            handles = await lw.transfer_many(LANE, raws[:3])
            assert (await handles[0].result(60)).is_confirmed()
            await lw.transfer_many(LANE, raws[3:6])
            await asyncio.sleep(0.25)
            slot = devnet_of(lw).model.slot
        async with own(path) as lw:
            assert devnet_of(lw).model.slot >= slot
            assert devnet_of(lw).replayed_count >= slot
            assert ", 0 slots" not in devnet_lines(devnet_of(lw), "x")[0]
            assert "slots and calls played again" in devnet_lines(devnet_of(lw), "x")[0]
            await lw.transfer_many(LANE, raws[6:])
        async with own(path) as lw:
            for raw in raws:
                assert (await (await lw.transfer(LANE, raw)).result(60)).is_confirmed()
            lives.append(devnet_of(lw))
            audit = judge.audit(raws)
            assert (audit.problems, audit.total) == ([], 9)

    run(story)
    assert {"l.db", "l.db-jam", "l.db-rollup-1"} <= {one.name for one in here.iterdir()}


def test_a_file_of_another_chain_is_left_as_it_is(here: Path) -> None:
    (here / "l.db-jam").write_text("my diary\n")

    async def story() -> None:
        with pytest.raises(StoreRefused, match="no chain of a JAM devnet"):
            async with own(here / "l.db"):
                pass

    run(story)
    assert (here / "l.db-jam").read_text() == "my diary\n"
