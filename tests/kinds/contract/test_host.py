"""Laws of the wiring: each kind of host comes from a configuration, or says why it cannot."""

import asyncio
import sys
from pathlib import Path

import pytest

from laneway.chains.contract_callable import CallableHost
from laneway.chains.contract_rest import RestHost
from laneway.devnets.contract.node.host import EmbeddedHost
from laneway.kinds.config import ConfigError
from laneway.kinds.contract.host import open_host, password_of
from laneway.kinds.contract.section import HostSection
from laneway.ports import ContractHost
from laneway.wiring.config import load
from laneway.wiring.opening import DAY_MS, open_laneway, retention_of
from laneway.wiring.schema import RetentionSection


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def host_of(**flags: str) -> ContractHost:
    loaded = load(None, {}, {f"host.{name}": value for name, value in flags.items()})
    config = loaded.config
    _, source = loaded.origins.get("host.callable", ("", ""))
    return open_host(config.host, config.store.path, source)


def test_the_devnet_takes_the_parent_unless_told_otherwise(here: Path) -> None:
    host = host_of(kind="devnet", round_ms="5")
    assert isinstance(host, EmbeddedHost)
    assert host.traits.takes_parent
    assert not host_of(kind="devnet", takes_parent="false").traits.takes_parent


def test_a_node_takes_no_parent_unless_told_otherwise(here: Path) -> None:
    host = host_of(kind="rest", url="http://127.0.0.1:1")
    assert isinstance(host, RestHost)
    assert not host.traits.takes_parent
    parented = host_of(kind="rest", url="http://127.0.0.1:1", takes_parent="true")
    assert parented.traits.takes_parent


def test_a_callable_is_found_by_its_name(here: Path) -> None:
    (here / "my_contract.py").write_text("def execute(call, parent):\n    return parent + 1\n")
    host = host_of(kind="callable", callable="my_contract:execute")
    assert isinstance(host, CallableHost)
    assert not host.traits.takes_parent


@pytest.mark.parametrize(
    ("named", "problem"),
    [
        ("no_such_module_here:execute", "No module named 'no_such_module_here'"),
        ("os:no_such_function", "has no attribute 'no_such_function'"),
        ("os:sep", "os:sep is not callable"),
    ],
)
def test_a_callable_that_cannot_be_found_is_named(named: str, problem: str, here: Path) -> None:
    with pytest.raises(ConfigError, match=problem) as caught:
        host_of(kind="callable", callable=named)
    assert "`$.host.callable`" in str(caught.value)
    assert caught.value.source == "--set host.callable"


def test_a_password_file_is_read_without_its_last_newline(here: Path) -> None:
    path = here / "password"
    path.write_text("hunter2 \n")
    path.chmod(0o600)
    assert password_of(HostSection(password_file=str(path))) == "hunter2 "


def test_the_environment_beats_the_password_file(here: Path) -> None:
    assert password_of(HostSection(password="hunter2", password_file="nowhere")) == "hunter2"
    assert password_of(HostSection()) == ""


def test_a_password_file_that_others_may_read_is_refused(here: Path) -> None:
    path = here / "password"
    path.write_text("hunter2")
    path.chmod(0o644)
    with pytest.raises(ConfigError, match="chmod 600") as caught:
        password_of(HostSection(password_file=str(path)))
    assert "hunter2" not in str(caught.value)
    with pytest.raises(ConfigError, match=r"cannot be read.*password_file"):
        password_of(HostSection(password_file=str(here / "none")))


def test_zero_days_keep_for_ever() -> None:
    kept = retention_of(RetentionSection(intents_days=0, feed_days=2))
    assert kept.intents_ms == 36_500 * DAY_MS
    assert kept.feed_ms == 2 * DAY_MS


@pytest.mark.slow
def test_a_configuration_becomes_a_running_engine(here: Path) -> None:
    async def run() -> None:
        flags = {"host.round_ms": "5", "contract.fast_size": "2", "store.path": "mine.db"}
        async with open_laneway(load(None, {}, flags)) as laneway:
            assert laneway.contracts.settings.fast_size == 2
            handle = await laneway.submit("Qm1", "Red", key="a")
            assert (await handle.result(10)).block == 1

    asyncio.run(run())
    assert (here / "mine.db").exists()


@pytest.mark.parametrize(("extra", "node"), [("evm", "8545"), ("cosmos", "26657")])
def test_accounts_without_their_extra_say_what_to_install(
    extra: str, node: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    chain_id = "1" if extra == "evm" else '"a"'
    file = tmp_path / "laneway.toml"
    file.write_text(
        f'[[{extra}]]\nname = "a"\nchain_id = {chain_id}\nnodes = ["http://127.0.0.1:{node}"]\n'
    )
    monkeypatch.setitem(sys.modules, f"laneway.kinds.{extra}.lanes", None)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ConfigError, match=rf"pip install 'laneway\[{extra}\]' - at `\$\.{extra}`"):
        open_laneway(load(str(file)))


def test_a_rollup_without_its_extra_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "laneway.toml"
    file.write_text('[[rollup]]\nname = "a"\nservice = 1\nnodes = ["ws://127.0.0.1:19800"]\n')
    monkeypatch.setitem(sys.modules, "laneway.kinds.rollup.lanes", None)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ConfigError, match=r"pip install 'laneway\[rollup\]' - at `\$\.rollup`"):
        open_laneway(load(str(file)))


@pytest.mark.slow
def test_a_rollups_table_becomes_a_lane(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "laneway.toml").write_text(
        "[bundle]\nmax_inflight = 2\n[[rollup]]\n"
        'name = "dev"\nservice = 1\nnodes = ["devnet"]\nslot_ms = 100\n'
    )

    async def run() -> None:
        async with open_laneway(load()) as laneway:
            assert laneway.rollups.lanes is not None
            assert (
                laneway.rollups.lanes.account(
                    laneway.rollups.lanes.lane("rollup:dev")
                ).settings.max_inflight
                == 2
            )

    asyncio.run(run())
    assert (tmp_path / "laneway.db-rollup-1").exists()
