"""Laws of accounts' own chain: it is said how to try it, and it is forgotten with its process."""

import asyncio
from pathlib import Path

import pytest

from laneway.devnets.evm.accounts import DEV_ACCOUNTS
from laneway.kinds.config import ConfigError
from laneway.kinds.evm.devnet import dev_signer, devnet_lines, open_devnet
from laneway.kinds.evm.section import AccountSection, EvmSection, with_devnet
from laneway.kinds.registry import kinds
from laneway.kinds.served import SERVER_DEFAULT
from laneway.wiring.config import Configuration, load
from laneway.wiring.opening import check_here


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def table() -> EvmSection:
    (found,) = with_devnet(load(), None).config.evm
    assert isinstance(found, EvmSection)
    return found


def file(here: Path, *lines: str) -> Configuration:
    text = '[store]\npath = ":memory:"\ndurability = "memory"\n'
    (here / "laneway.toml").write_text(text + "\n".join(lines))
    return load()


def test_a_flag_adds_a_table_and_keeps_nothing() -> None:
    config = with_devnet(load(), 300).config
    (section,) = config.evm
    assert section.is_embedded()
    assert (section.name, section.chain_id, section.block_ms) == ("dev", 31_337, 300)
    assert [account.signer for account in section.accounts] == [f"dev:{n}" for n in range(10)]
    assert (config.store.path, config.store.durability) == (":memory:", "memory")
    assert load().config.evm == ()


def test_a_database_that_would_outlive_the_chain_is_in_its_way() -> None:
    configuration = load(None, {"LANEWAY_STORE__PATH": "kept.db"})
    with pytest.raises(ConfigError, match="--dev: dev: a chain inside this process is forgotten"):
        with_devnet(configuration, None)


@pytest.mark.parametrize("line", ['name = "dev"\nchain_id = 1', 'name = "other"\nchain_id = 31337'])
def test_a_table_of_the_same_chain_is_in_its_way(here: Path, line: str) -> None:
    configuration = file(here, "[[evm]]", line, 'nodes = ["http://127.0.0.1:8545"]')
    with pytest.raises(ConfigError, match="two tables have the name or the id"):
        with_devnet(configuration, None)


def test_a_file_may_ask_for_it_too_and_its_accounts_are_the_known_ones(here: Path) -> None:
    lines = ["[[evm]]", 'name = "own"', "chain_id = 7", 'nodes = ["devnet"]']
    accounts = ["[[evm.accounts]]", 'name = "a"', 'signer = "{}"']
    for signer in ("dev:10", "env:KEY", "dev:"):
        with pytest.raises(ConfigError, match="the signer of a is one of dev:0 to dev:9"):
            file(here, *lines, *[line.format(signer) for line in accounts])
    configuration = file(here, *lines, *[line.format("dev:9") for line in accounts])
    check_here(configuration)
    assert kinds()["evm"].open_nodes(configuration, {}) == ()


def test_a_known_account_signs_here_alone(here: Path) -> None:
    signer = '[[evm.accounts]]\nname = "a"\nsigner = "dev:0"'
    lines = ["[[evm]]", 'name = "own"', "chain_id = 7", 'nodes = ["http://h:8545"]', signer]
    with pytest.raises(ConfigError, match="the signer of a"):
        file(here, *lines)


def test_it_says_all_that_is_needed_to_try_it() -> None:
    async def story() -> None:
        section = table()
        async with open_devnet(section) as devnet:
            lines = devnet_lines(devnet, section, SERVER_DEFAULT)
            assert lines[0] == f"EVM node    {devnet.url} (chain 31337 in this process)"
            for place, known in enumerate(DEV_ACCOUNTS):
                told = f"  evm:dev:dev{place}  0x{known.address.hex()}  0x{known.secret.hex()}"
                assert lines[2 + place] == told
                assert dev_signer(devnet, f"dev:{place}").address == known.address
            to = f"0x{DEV_ACCOUNTS[-1].address.hex()}"
            send = f"try         laneway send evm:dev:dev0 --to {to} --value 1gwei --wait"
            assert lines[-2] == send
            assert SERVER_DEFAULT in lines[-1]
            other = devnet_lines(devnet, section, "http://127.0.0.1:9")
            assert other[-2] == f"{send} --url http://127.0.0.1:9"

    asyncio.run(story())


def test_without_a_block_time_it_has_its_own() -> None:
    bare = EvmSection(
        name="own", chain_id=7, nodes=("devnet",), accounts=(AccountSection(name="a", signer="s"),)
    )
    assert open_devnet(bare).chain_id == 7
