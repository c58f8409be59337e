"""Laws of a rollup's settings: each is the person's, the chain's or scaled with its clock."""

import json
import subprocess
import sys
import tomllib
from pathlib import Path
from types import SimpleNamespace

import pytest
from click.testing import CliRunner
from msgspec import UNSET, convert
from msgspec.structs import asdict, fields, replace

from laneway.cli.app import app
from laneway.core.jam import Parameters
from laneway.kinds.config import ConfigError
from laneway.kinds.rollup.section import (
    TIMES,
    BundleSection,
    RollupConfig,
    RollupNodeSection,
    RollupSection,
    bundle_settings,
    claimed_twice,
    is_one_chain,
    preset_of,
    rollup_conflicts,
    rollup_nodes,
    scaled,
    table_conflicts,
)
from laneway.lanes.bundle.settings import PRESETS, BundleSettings
from laneway.wiring.config import load

KEYS = [field.name for field in fields(BundleSection)]
OF_THE_CHAIN = (
    *("service", "nodes", "cores", "first_number", "keeps_records"),
    *("slot_ms", "rotation_slots", "recent_blocks", "lookup_slots_max", "availability_slots"),
)
"""What its nodes, its service or its table say."""

SIZES = Parameters(
    slot_ms=6_000,
    recent_block_count=9,
    lookup_anchor_slots_max=14_400,
    epoch_slots=600,
    rotation_slots=10,
    availability_timeout_slots=7,
    core_count=3,
    validator_count=1_023,
    dependency_count_max=8,
    work_item_count_max=16,
    extrinsic_count_max=128,
    bundle_bytes_max=1,
    refine_gas_max=1,
    accumulate_gas_max=1,
)


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def rollup(**more: object) -> RollupSection:
    return convert({"name": "main", "service": 5, "nodes": ["ws://n"], **more}, RollupSection)


def shown(*arguments: str) -> dict[str, dict[str, object]]:
    said = CliRunner().invoke(app, ["config", "show", "--json", *arguments], catch_exceptions=False)
    found: dict[str, dict[str, object]] = json.loads(said.stdout)["settings"]
    return found


# What a person may set.


def test_a_person_sets_all_but_what_the_chain_says() -> None:
    assert {*KEYS, *OF_THE_CHAIN} == {field.name for field in fields(BundleSettings)}
    assert not set(KEYS) & set(OF_THE_CHAIN)


@pytest.mark.parametrize("key", KEYS)
def test_a_default_is_the_machines(key: str) -> None:
    assert getattr(BundleSection(), key) == getattr(BundleSettings(), key)


def other(key: str) -> object:
    """A value that is not the default, and within the range."""
    words = {
        "inflight_counts": "submitted_and_guaranteed",
        "core_reuse": "ready",
        "order": "parallel",
        "winner": "latest_version",
        "anchor_policy": "formula",
    }
    if key in words:
        return words[key]
    default = getattr(BundleSettings(), key) or 50_000
    return default - 1 if key.endswith(("until_ms", "blocks_max")) else default + 1


@pytest.mark.parametrize("key", KEYS)
def test_what_is_set_is_read_back_from_config_show(key: str) -> None:
    found = shown("--set", f"bundle.{key}={other(key)}")[f"bundle.{key}"]
    assert (found["value"], found["origin"]) == (other(key), "flag")


@pytest.mark.parametrize("key", KEYS)
def test_what_is_set_reaches_the_machine(key: str) -> None:
    section = replace(BundleSection(), **{key: other(key)})
    settings = bundle_settings(section, rollup(), ("n",), SIZES)
    assert getattr(settings, key) == other(key) != getattr(BundleSettings(), key)


@pytest.mark.parametrize("preset", ["seed-000", "seed-001"])
@pytest.mark.parametrize("key", KEYS)
def test_each_parameter_of_a_seed_is_read_back_from_config_show(preset: str, key: str) -> None:
    found = shown("--preset", preset)[f"bundle.{key}"]
    expected = getattr(PRESETS[preset], key)
    assert expected is not None
    assert (found["value"], found["origin"]) == (expected, "preset")


def test_a_seed_says_nothing_of_what_the_chain_says() -> None:
    for name in ("seed-000", "seed-001"):
        assert set(preset_of(name)) == set(KEYS)
        assert convert(preset_of(name), BundleSection) != BundleSection()
    seed = preset_of("seed-000")
    assert (seed["guarantee_timeout_ms"], seed["anchor_policy"]) == (54_000, "table")
    assert preset_of("seed-001")["guarantee_timeout_ms"] == 30_000


def test_what_a_seed_leaves_open_stays_open(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(PRESETS, "seed-000", BundleSettings(guarantee_timeout_ms=None))
    assert set(KEYS) - set(preset_of("seed-000")) == {"guarantee_timeout_ms"}


# What a rollup's table says.

OWN = [
    field.name for field in fields(RollupSection) if field.name in KEYS and field.default is UNSET
]


@pytest.mark.parametrize("key", OWN)
def test_a_rollups_own_word_outranks_that_for_all(key: str) -> None:
    section = BundleSection()
    own = bundle_settings(section, rollup(**{key: other(key)}), ("n",), SIZES)
    assert getattr(own, key) == other(key)
    assert getattr(bundle_settings(section, rollup(), ("n",), SIZES), key) != other(key)


def test_a_rollup_may_say_otherwise_of_these() -> None:
    assert OWN == [
        "max_queue_depth", "max_inflight", "order", "block_interval_ms", "block_txs_max",
        "block_bytes_max", "clock_skew_ms_max", "poll_ms",
    ]  # fmt: skip


def test_the_chain_says_its_own_sizes() -> None:
    settings = bundle_settings(BundleSection(), rollup(), ("a", "b"), SIZES)
    assert (settings.service, settings.nodes, settings.cores) == (5, ("a", "b"), (0, 1, 2))
    assert (settings.rotation_slots, settings.recent_blocks) == (10, 9)
    assert (settings.lookup_slots_max, settings.availability_slots) == (14_400, 7)
    assert settings.slot_ms == 6_000
    named = bundle_settings(BundleSection(), rollup(cores=[2]), ("a",), SIZES)
    assert named.cores == (2,)


def test_a_node_is_an_address_or_a_table() -> None:
    found = rollup_nodes(rollup(nodes=["ws://a", {"url": "ws://b", "takes_packages": False}]))
    assert found == [
        RollupNodeSection(url="ws://a"),
        RollupNodeSection(url="ws://b", takes_packages=False),
    ]


def test_the_word_devnet_is_a_chain_inside_this_process() -> None:
    assert rollup(nodes=["devnet"]).is_embedded()
    assert not rollup(nodes=["devnet", "ws://a"]).is_embedded()


# A quicker clock.


def test_the_times_are_all_that_are_in_milliseconds() -> None:
    assert TIMES == (
        "block_interval_ms", "deferred_ms_max", "slot_ms", "guarantee_timeout_ms",
        "accumulate_timeout_ms", "submit_retry_ms", "build_from_ms", "build_until_ms",
        "submit_from_ms", "submit_until_ms", "clock_skew_ms_max", "poll_ms", "build_retry_ms",
        "tell_retry_ms",
    )  # fmt: skip


@pytest.mark.parametrize("key", TIMES)
def test_a_time_keeps_its_share_of_a_slot(key: str) -> None:
    settings = BundleSettings(guarantee_timeout_ms=54_000)
    assert getattr(scaled(settings, 600), key) == getattr(settings, key) // 10
    assert getattr(scaled(settings, 12_000), key) == getattr(settings, key) * 2


@pytest.mark.parametrize("key", TIMES)
def test_no_time_falls_below_a_millisecond(key: str) -> None:
    settings = BundleSettings(guarantee_timeout_ms=54_000)
    assert getattr(scaled(settings, 1), key) >= 1


def test_zero_is_no_time_and_stays() -> None:
    settings = scaled(BundleSettings(block_interval_ms=0, build_until_ms=0), 300)
    assert (settings.block_interval_ms, settings.build_until_ms) == (0, 0)
    assert (settings.build_from_ms, settings.submit_until_ms) == (150, 50)
    assert BundleSection(block_interval_ms=0).block_interval_ms == 0


@pytest.mark.parametrize("window", ["build", "submit"])
@pytest.mark.parametrize("slot_ms", [1, 20, 300])
def test_a_window_that_is_open_stays_open(window: str, slot_ms: int) -> None:
    narrow = {f"{window}_from_ms": 2_001, f"{window}_until_ms": 2_000}
    settings = scaled(replace(BundleSettings(), **narrow), slot_ms)
    assert getattr(settings, f"{window}_from_ms") > getattr(settings, f"{window}_until_ms")


def test_all_else_is_the_same_on_a_quicker_clock() -> None:
    settings = BundleSettings()
    quick = scaled(settings, 300)
    assert {**asdict(quick), **dict.fromkeys(TIMES)} == {
        **asdict(settings),
        **dict.fromkeys(TIMES),
    }
    assert quick.guarantee_timeout_ms is None
    assert quick.guarantee_wait_ms() * 20 == settings.guarantee_wait_ms()


def test_the_usual_clock_changes_nothing() -> None:
    settings = BundleSettings(build_until_ms=0)
    assert scaled(settings, 6_000) is settings


def test_a_development_chain_scales_what_was_set() -> None:
    settings = bundle_settings(
        BundleSection(poll_ms=600), rollup(slot_ms=300), ("n",), replace(SIZES, slot_ms=300)
    )
    assert (settings.slot_ms, settings.poll_ms, settings.block_interval_ms) == (300, 30, 300)


# Rollups beside each other.


@pytest.mark.parametrize(
    ("one", "other", "claimed"),
    [
        ((), (), "all its cores"),
        ((), (2, 1), "core 1"),
        ((2, 1), (), "core 1"),
        ((0, 1), (2, 3), ""),
        ((3, 2), (2, 3), "core 2"),
    ],
)
def test_a_core_is_claimed_by_one_rollup(
    one: tuple[int, ...], other: tuple[int, ...], claimed: str
) -> None:
    assert claimed_twice(one, other) == claimed


def test_a_chain_is_known_by_its_nodes_or_its_genesis() -> None:
    here = rollup(nodes=["ws://a", {"url": "ws://b"}])
    assert is_one_chain(here, rollup(nodes=["ws://c", "ws://b"]))
    assert not is_one_chain(here, rollup(nodes=["ws://c"]))
    named = rollup(nodes=["ws://c"], genesis="0x" + "ab" * 32)
    assert not is_one_chain(here, named)
    assert is_one_chain(named, rollup(genesis="AB" * 32))
    assert not is_one_chain(named, rollup(genesis="ac" * 32))


def test_rollups_of_different_cores_or_chains_are_beside_each_other() -> None:
    first, second = rollup(cores=[0]), rollup(name="other", service=6, cores=[1])
    elsewhere = rollup(name="third", service=7, nodes=["ws://x"])
    assert list(table_conflicts((first, second, elsewhere))) == []
    shared = rollup(name="other", service=6, cores=[1, 0])
    (problem,) = table_conflicts((first, shared, elsewhere))
    assert "main and other are on one chain, and both claim core 0" in problem


def test_a_kind_that_is_not_installed_is_named() -> None:
    (problem,) = table_conflicts((rollup(kind="chess"),))
    assert problem == "main: there is no kind of rollup chess here, but ledger"


# By whose leave its packages are refined.

SIGNER = """
[[rollup]]
name = "pay"
service = 5
nodes = ["ws://n"]
[rollup.authorizer]
signer = "{signer}"
"""


def test_the_signer_of_an_authorizer_is_read_back_and_can_be_used_again(here: Path) -> None:
    (here / "laneway.toml").write_text(SIGNER.format(signer="file:pay.key"))
    for _ in range(2):
        said = CliRunner().invoke(app, ["config", "show"], catch_exceptions=False).stdout
        (found,) = tomllib.loads(said)["rollup"]
        assert found["authorizer"]["signer"] == "file:pay.key"
        (here / "laneway.toml").write_text(said)


@pytest.mark.slow
@pytest.mark.parametrize("command", ["up", "config check"])
def test_a_start_without_the_key_of_its_authorizer_exits_with_2(command: str, here: Path) -> None:
    (here / "laneway.toml").write_text(SIGNER.format(signer="file:pay.key"))
    words = [sys.executable, "-m", "laneway", *command.split()]
    ended = subprocess.run(words, capture_output=True, text=True, check=False, timeout=60)
    assert (ended.returncode, ended.stdout) == (2, "")
    assert ended.stderr.startswith("laneway: laneway: pay: pay.key: cannot be read")
    assert ended.stderr.count("\n") == 1


def test_a_key_in_the_place_of_a_signer_is_refused_and_not_shown(here: Path) -> None:
    (here / "laneway.toml").write_text(SIGNER.format(signer="ab" * 32))
    with pytest.raises(ConfigError) as caught:
        load()
    assert "pay: the signer of its authorizer: this looks like a key itself" in str(caught.value)
    assert "ab" * 16 not in str(caught.value)


@pytest.mark.parametrize(
    ("chosen", "problem"),
    [
        ({}, "its authorizer needs a `signer`, or a `code_hash`"),
        ({"signer": "keystore:k"}, "its address begins with one of file:, env:"),
        ({"signer": "file:k", "authorization": "01"}, "and no other `authorization`"),
        ({"signer": "file:k"}, ""),
        ({"signer": "env:K", "code_hash": "ab" * 32, "config": "01"}, ""),
        ({"code_hash": "ab" * 32, "authorization": "01"}, ""),
    ],
)
def test_an_authorizer_that_contradicts_itself_is_named(
    chosen: dict[str, str], problem: str
) -> None:
    found = list(rollup_conflicts((rollup(authorizer=chosen),), "laneway.db"))
    assert len(found) == bool(problem)
    assert all(one.startswith("main: ") and problem in one for one in found)


def test_the_variable_of_a_signer_belongs_to_the_configuration() -> None:
    config = SimpleNamespace(
        rollup=(
            rollup(),
            rollup(authorizer={"signer": "file:k"}),
            rollup(authorizer={"signer": "env:LANEWAY_PAY"}),
        )
    )
    assert list(RollupConfig().variables(config)) == ["LANEWAY_PAY"]
