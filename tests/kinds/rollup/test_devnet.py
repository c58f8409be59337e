"""Laws of a rollup's own chain: it is said how to try it, and it goes on with its database."""

import asyncio
from functools import partial
from pathlib import Path

import pytest
from tests.kinds.rollup.stage import LANE, made, run, table
from tests.rollup_stage import Judge, Purse

from laneway.builder.packages import Authorizer
from laneway.client.place import URL
from laneway.core.errors import StoreRefused
from laneway.devnets.jam.devnet import JamDevnet
from laneway.devnets.jam.journal import Journal
from laneway.devnets.jam.model.genesis import rollup_authorizers
from laneway.devnets.jam.model.values import NULL_AUTHORIZER_HASH
from laneway.jam.package import authorizer_hash
from laneway.kinds.config import ConfigError
from laneway.kinds.rollup.devnet import (
    devnet_lines,
    embedded_authorizer,
    open_devnet,
)
from laneway.kinds.rollup.section import RollupSection, with_devnet
from laneway.kinds.rollup.service import authorizer_of
from laneway.kinds.served import SERVER_DEFAULT
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


# The key of a chain whose rollup names no authorizer.


def listed_by(path: Path | str) -> tuple[bytes, ...]:
    """Those that may move the line of the chain that a start would open."""
    one = table("devnet")
    own = embedded_authorizer(one, str(path))
    assert own.key is not None
    assert own.config == own.key.public_key
    devnet = open_devnet(one, str(path), own)
    assert all(NULL_AUTHORIZER_HASH in pool for pool in devnet.model.setup.authorizers.values())
    return rollup_authorizers(devnet.model.setup)


def test_a_chain_that_begins_is_moved_by_a_key_of_its_own_that_nobody_else_has(here: Path) -> None:
    """The authorizer that lets everybody pass is in the pools of its cores, and not on the list."""
    (own,) = listed_by("l.db")
    assert own != NULL_AUTHORIZER_HASH
    assert ((here / "l.db-jam-key").stat().st_mode & 0o777) == 0o600
    assert listed_by("l.db") == (own,), "a start that was cut short is made again with the same key"
    assert listed_by("other.db") != (own,)
    assert sorted(one.name for one in here.iterdir()) == ["l.db-jam-key", "other.db-jam-key"]


def test_a_chain_in_memory_has_another_key_each_time(here: Path) -> None:
    assert listed_by(":memory:") != listed_by(":memory:")
    assert list(here.iterdir()) == []


def test_a_chain_that_was_begun_without_a_key_goes_on_without_one(here: Path) -> None:
    """Earlier releases listed none, or the one that lets everybody pass."""

    async def begin(*authorizers: bytes) -> None:
        (here / "l.db-jam").unlink(missing_ok=True)
        async with JamDevnet(
            slot_ms=0, journal=Journal(str(here / "l.db-jam")), authorizers=authorizers
        ):
            pass

    for authorizers in ((), (NULL_AUTHORIZER_HASH,)):
        run(partial(begin, *authorizers))
        assert embedded_authorizer(table("devnet"), "l.db") == Authorizer(host=1)
    assert [one.name for one in here.iterdir()] == ["l.db-jam"]


def test_a_chain_whose_key_is_lost_or_open_to_others_is_refused_with_what_to_do(
    here: Path,
) -> None:
    async def story() -> None:
        async with own("l.db"):
            pass
        key = here / "l.db-jam-key"
        assert key.exists(), "nobody else moves the line of the chain"
        key.chmod(0o644)
        with pytest.raises(StoreRefused, match=r"chmod 600 .*; put it back, or begin anew"):
            async with own("l.db"):
                pass
        key.unlink()
        with pytest.raises(StoreRefused, match=r"cannot be read: .*; put it back, or begin anew"):
            async with own("l.db"):
                pass
        assert not key.exists(), "another key would be of no use to this chain"

    run(story)


def test_an_authorizer_that_is_named_is_the_one_that_is_used(here: Path) -> None:
    chosen = {"code_hash": "ab" * 32}
    found = embedded_authorizer(table("devnet", authorizer=chosen), "l.db")
    assert found == Authorizer(host=1, code_hash=b"\xab" * 32)
    assert list(here.iterdir()) == []


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
