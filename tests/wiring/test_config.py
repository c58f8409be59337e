"""Laws of the configuration: every key can be set in every layer, and every mistake has a name."""

import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import asdict, fields

from laneway.kinds.config import ConfigError
from laneway.kinds.contract.section import ContractSection
from laneway.kinds.cosmos.section import CosmosSection, price_micro_max, sequence_settings
from laneway.kinds.evm.section import AccountSection, settings_of
from laneway.lanes.contract.settings import ContractSettings
from laneway.lanes.eoa.settings import EoaSettings
from laneway.lanes.sequence.settings import SequenceSettings
from laneway.wiring.config import Configuration, Setting, load, toml_value
from laneway.wiring.schema import config_type, lookup, paths, presets

OTHER: dict[str, object] = {
    "preset": "seed-004",
    "store.path": "other.db",
    "store.durability": "full",
    "store.schema": "other",
    "store.replicas_min": 2,
    "store.wait_timeout_ms": 500,
    "store.start_ms_max": 1_000,
    "contract.fast_size": 8,
    "contract.execution_ms_max": 60_000,
    "contract.search_ms": 100,
    "contract.retry_ms_min": 10,
    "contract.retry_ms_max": 120_000,
    "contract.stale_retries_max": 3,
    "contract.exhausted": "skip",
    "contract.breaker_failures": 9,
    "contract.breaker_open_ms": 5_000,
    "contract.priorities": True,
    "contract.count_max": 1_000,
    "contract.bytes_max": 1 << 30,
    "contract.limit_policy": "spill",
    "host.kind": "devnet",
    "host.url": "http://127.0.0.1:20000",
    "host.password_file": "node.password",
    "host.takes_parent": True,
    "host.connect_ms": 1_000,
    "host.read_ms": 2_000,
    "host.answer_ms": 3_000,
    "host.callable": "my.module:execute",
    "host.round_ms": 50,
    "engine.heartbeat_ms": 200,
    "engine.lease_ms": 9_000,
    "retention.intents_days": 7,
    "retention.feed_days": 0,
    "server.listen": "127.0.0.2",
    "server.port": 0,
    "server.seed_port": 20_000,
    "server.keys_file": "keys.toml",
    "server.body_bytes_max": 4_096,
    "server.tx_body_bytes_max": 8_192,
    "server.connections_max": 100,
    "server.request_ms_max": 5_000,
    "server.metrics_per_lane": True,
    "log.level": "debug",
    "log.format": "json",
    "eoa.inflight": 100,
    "eoa.target_tps": 10,
    "eoa.block_ms": 2_000,
    "eoa.confirm_delay_ms": 500,
    "eoa.finality_depth_blocks": 0,
    "eoa.bump_after_ms": 30_000,
    "eoa.max_recycled_nonces": 20,
    "eoa.recycled": "any",
    "eoa.fee_wei_max": "500 gwei",
    "eoa.cost_wei_max": "0.1 ether",
    "eoa.spend_wei_max": "1000",
    "eoa.poll_ms": 200,
    "eoa.look_ms_min": 50,
    "eoa.rest_ms": 60_000,
    "eoa.resend_ms": 3_000,
    "eoa.make_retry_ms": 100,
    "eoa.make_tries_max": 5,
    "eoa.funds_check_ms": 1_000,
    "eoa.funds_retry_ms": 2_000,
    "eoa.gas_percent": 150,
    "eoa.streams": 2,
    "sequence.inflight": 10,
    "sequence.timeout_blocks": 20,
    "sequence.attempts_max": 2,
    "sequence.poll_ms": 200,
    "sequence.statuses": 20,
    "sequence.retry_ms": 100,
    "sequence.make_retry_ms": 50,
    "sequence.make_tries_max": 5,
    "sequence.rest_ms": 60_000,
    "sequence.account_ms": 1_000,
    "sequence.conflict_blocks": 5,
    "sequence.watch_blocks": 100,
    "sequence.block_ms": 250,
    "sequence.gas_percent": 130,
    "sequence.gas_default": 100_000,
    "sequence.account_bytes_max": 1 << 20,
    "sequence.process_bytes_max": 1 << 28,
    "sequence.submit_wait_ms": 5_000,
    "sequence.offers_at_once": 8,
    "sequence.looks_at_once": 4,
    "bundle.max_queue_depth": 4,
    "bundle.max_inflight": 2,
    "bundle.inflight_counts": "submitted_and_guaranteed",
    "bundle.core_reuse": "ready",
    "bundle.order": "parallel",
    "bundle.winner": "latest_version",
    "bundle.retention_window": 10,
    "bundle.block_interval_ms": 12_000,
    "bundle.block_txs_max": 100,
    "bundle.block_bytes_max": 1_000,
    "bundle.deferred_ms_max": 30_000,
    "bundle.guarantee_margin_slots": 3,
    "bundle.guarantee_timeout_ms": 60_000,
    "bundle.accumulate_timeout_ms": 30_000,
    "bundle.accumulate_timeouts_max": 2,
    "bundle.submit_retry_ms": 3_000,
    "bundle.max_submit_retries": 4,
    "bundle.max_version_retries": 2,
    "bundle.drops_max": 1,
    "bundle.build_from_ms": 5_000,
    "bundle.build_until_ms": 1_000,
    "bundle.submit_from_ms": 4_000,
    "bundle.submit_until_ms": 500,
    "bundle.clock_skew_ms_max": 250,
    "bundle.anchor_policy": "formula",
    "bundle.anchor_age_blocks_max": 3,
    "bundle.poll_ms": 500,
    "bundle.build_retry_ms": 2_000,
    "bundle.tell_retry_ms": 3_000,
}
"""For each key but the password a value, other than the default where one other is allowed."""


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def found(configuration: Configuration, path: str) -> Setting:
    return next(setting for setting in configuration.settings() if setting.path == path)


def as_toml(path: str, value: object) -> str:
    section, _, key = path.rpartition(".")
    assert isinstance(value, str | int)
    line = f"{key} = {toml_value(value)}\n"
    return f"[{section}]\n{line}" if section else line


def variable(path: str) -> str:
    return "LANEWAY_" + path.replace(".", "__").upper()


def test_every_key_has_a_value_to_try() -> None:
    assert {*OTHER, "host.password"} == set(paths())


@pytest.mark.parametrize("path", OTHER)
def test_a_key_set_in_the_file_is_read_back(path: str, here: Path) -> None:
    (here / "laneway.toml").write_text(as_toml(path, OTHER[path]))
    setting = found(load(), path)
    assert setting == Setting(path, OTHER[path], "file", "laneway.toml")  # type: ignore[arg-type]


@pytest.mark.parametrize("path", OTHER)
def test_a_key_set_in_the_environment_is_read_back_in_its_type(path: str, here: Path) -> None:
    text = str(OTHER[path]).lower() if isinstance(OTHER[path], bool) else str(OTHER[path])
    setting = found(load(None, {variable(path): text}), path)
    assert setting == Setting(path, OTHER[path], "environment", variable(path))  # type: ignore[arg-type]


@pytest.mark.parametrize("path", OTHER)
def test_a_key_set_by_a_flag_is_read_back_in_its_type(path: str, here: Path) -> None:
    text = str(OTHER[path]).lower() if isinstance(OTHER[path], bool) else str(OTHER[path])
    setting = found(load(None, {}, {path: text}), path)
    assert setting == Setting(path, OTHER[path], "flag", f"--set {path}")  # type: ignore[arg-type]


@pytest.mark.parametrize("path", paths())
def test_a_key_that_nobody_set_has_its_default(path: str, here: Path) -> None:
    setting = found(load(), path)
    assert (setting.value, setting.origin) == (lookup(config_type()(), path), "default")


PRESET_KEYS = [
    (name, f"{section}.{key}", value)
    for name, preset in presets().items()
    for section, keys in preset.items()
    for key, value in keys.items()
]


@pytest.mark.parametrize(("name", "path", "value"), PRESET_KEYS)
def test_each_parameter_of_a_preset_is_read_back(
    name: str, path: str, value: object, here: Path
) -> None:
    setting = found(load(None, {"LANEWAY_PRESET": name}), path)
    assert (setting.value, setting.origin, setting.source) == (value, "preset", name)


def test_the_seed_has_a_fast_queue_of_five_and_never_rejects(here: Path) -> None:
    contract = load(None, {"LANEWAY_PRESET": "seed-004"}).config.contract
    assert (contract.fast_size, contract.limit_policy) == (5, "spill")
    assert contract.count_max is contract.bytes_max is None
    assert not contract.priorities


def test_later_layers_win_key_by_key(here: Path) -> None:
    (here / "laneway.toml").write_text(
        'preset = "seed-004"\n[contract]\nfast_size = 6\nsearch_ms = 600\nretry_ms_min = 60\n'
    )
    environ = {"LANEWAY_CONTRACT__FAST_SIZE": "7", "LANEWAY_CONTRACT__SEARCH_MS": "700"}
    configuration = load(None, environ, {"contract.fast_size": "8"})
    contract = configuration.config.contract
    assert (contract.fast_size, contract.search_ms, contract.retry_ms_min) == (8, 700, 60)
    assert contract.exhausted == "skip"
    assert contract.breaker_failures == 5
    origins = [
        found(configuration, f"contract.{key}").origin
        for key in ("fast_size", "search_ms", "retry_ms_min", "exhausted", "breaker_failures")
    ]
    assert origins == ["flag", "environment", "file", "preset", "default"]


def test_the_file_may_be_named_by_a_variable(here: Path) -> None:
    (here / "other.toml").write_text("[contract]\nfast_size = 6\n")
    assert load(None, {"LANEWAY_CONFIG": "other.toml"}).config.contract.fast_size == 6


def test_other_variables_of_that_prefix_are_left_alone(here: Path) -> None:
    assert load(None, {"LANEWAY_VECTORS": "x", "PATH": "y"}).origins == {}


def test_the_section_has_every_setting_an_operator_sets_with_its_default() -> None:
    from_host = {"takes_parent", "has_chain"}
    known = {field.name for field in fields(ContractSettings)} - from_host
    assert {field.name for field in fields(ContractSection)} == known
    assert asdict(ContractSection().settings()) == asdict(ContractSettings())


# Mistakes.

COSMOS = (
    '[[cosmos]]\nname = "mocha"\nchain_id = "mocha-4"\n'
    'nodes = ["http://me:hidden-key-7@node:26657/hidden-key-7"]\n'
)

ROLLUP = '[[rollup]]\nname = "main"\nservice = 1\nnodes = ["wss://me:hidden-key-7@node:19800/hidden-key-7"]\n'
OTHER_ROLLUP = ROLLUP.replace("main", "other").replace("= 1", "= 2")

BROKEN_FILES = {
    "a wrong type": (
        '[contract]\nfast_size = "five"\n',
        "Expected `int`, got `str` - at `$.contract.fast_size`",
    ),
    "an unknown key": (
        "[contract]\nfast_sice = 5\n",
        "Object contains unknown field `fast_sice` - at `$.contract`",
    ),
    "an unknown section": ("[contracts]\n", "Object contains unknown field `contracts`"),
    "a host's trait": (
        "[contract]\nhas_chain = true\n",
        "Object contains unknown field `has_chain` - at `$.contract`",
    ),
    "a section that is no table": (
        "contract = 5\n",
        "Expected `object`, got `int` - at `$.contract`",
    ),
    "below its range": (
        "[contract]\nfast_size = 0\n",
        "Expected `int` >= 1 - at `$.contract.fast_size`",
    ),
    "above its range": (
        "[contract]\nretry_ms_max = 99999999999999\n",
        "Expected `int` <= 31622400000 - at `$.contract.retry_ms_max`",
    ),
    "no failure at all": (
        "[contract]\nbreaker_failures = 0\n",
        "Expected `int` >= 1 - at `$.contract.breaker_failures`",
    ),
    "a boolean for a number": (
        "[contract]\nfast_size = true\n",
        "Expected `int`, got `bool` - at `$.contract.fast_size`",
    ),
    "a wrong word": (
        '[log]\nlevel = "loud"\n',
        "Invalid enum value 'loud', expected one of debug, error, info, warning - at `$.log.level`",
    ),
    "an unknown preset": (
        'preset = "seed-999"\n',
        "Invalid enum value 'seed-999', expected one of seed-000, seed-001, seed-002, seed-003, "
        "seed-004 - at `$.preset`",
    ),
    "an empty path": ('[store]\npath = ""\n', "Expected `str` of length >= 1 - at `$.store.path`"),
    "retries that shrink": (
        "[contract]\nretry_ms_min = 90000\n",
        "90000 is more than `retry_ms_max`, 60000 - at `$.contract.retry_ms_min`",
    ),
    "retries that shrink from above": (
        "[contract]\nretry_ms_max = 10\n",
        "1000 is more than `retry_ms_max`, 10 - at `$.contract.retry_ms_min`",
    ),
    "a lease that one lost heartbeat ends": (
        "[engine]\nheartbeat_ms = 5000\n",
        "a lease lasts at least 4 heartbeats, so that one may be lost - at `$.engine.lease_ms`",
    ),
    "a rejection without a limit": (
        '[contract]\nlimit_policy = "reject"\n',
        "'reject' needs `count_max` or `bytes_max` - at `$.contract.limit_policy`",
    ),
    "a node without an address": (
        '[host]\nkind = "rest"\n',
        "a rest host needs an address like http://127.0.0.1:20000 - at `$.host.url`",
    ),
    "a node with half an address": (
        '[host]\nkind = "rest"\nurl = "localhost:20000"\n',
        "a rest host needs an address like http://127.0.0.1:20000 - at `$.host.url`",
    ),
    "an address that breaks parsers": (
        '[host]\nkind = "rest"\nurl = "http://[::1"\n',
        "a rest host needs an address like http://127.0.0.1:20000 - at `$.host.url`",
    ),
    "a callable without a name": (
        '[host]\nkind = "callable"\ncallable = "module"\n',
        "a callable host needs `module:function` - at `$.host.callable`",
    ),
    "memory by accident": (
        '[store]\npath = ":memory:"\n',
        "'memory' and the path ':memory:' go together: nothing outlives the process"
        " - at `$.store.durability`",
    ),
    "a file that is relaxed": (
        '[store]\ndurability = "relaxed"\n',
        "'relaxed' is for PostgreSQL and Redis; a file is always synced - at `$.store.durability`",
    ),
    "a wait that outlives the lease": (
        '[store]\npath = "redis://h"\nwait_timeout_ms = 20000\n',
        "a lease of 10000 ms ends while a heartbeat waits for its replicas"
        " - at `$.store.wait_timeout_ms`",
    ),
    "a schema that is none": (
        '[store]\nschema = "a b"\n',
        "Expected `str` matching regex '^[a-z_][a-z0-9_]{0,39}$' - at `$.store.schema`",
    ),
    "two Cosmos chains of one name": (
        f"{COSMOS}{COSMOS.replace('mocha-4', 'arabica')}",
        "mocha and mocha are one chain; give it all nodes in one table - at `$.cosmos`",
    ),
    "one Cosmos chain under two names": (
        f"{COSMOS}{COSMOS.replace('mocha', 'other', 1)}",
        "mocha and other are one chain; give it all nodes in one table - at `$.cosmos`",
    ),
    "a Cosmos node without a scheme": (
        COSMOS.replace("http://", ""),
        "mocha: a node needs an address like http://127.0.0.1:26657 - at `$.cosmos`",
    ),
    "two Cosmos accounts of one name": (
        COSMOS + 2 * '[[cosmos.accounts]]\nname = "hot"\nsigner = "env:KEY"\n',
        "mocha: two accounts are called hot - at `$.cosmos`",
    ),
    "a Cosmos chain without nodes": (
        '[[cosmos]]\nname = "mocha"\nchain_id = "mocha-4"\nnodes = []\n',
        "Expected `array` of length >= 1 - at `$.cosmos[0].nodes`",
    ),
    "a price that is none": (
        f'{COSMOS}gas_price = "cheap"\n',
        "Expected `str` matching regex '^[0-9]{1,9}(\\\\.[0-9]{1,6})?$'"
        " - at `$.cosmos[0].gas_price`",
    ),
    "a window that is never open": (
        "[bundle]\nbuild_from_ms = 2000\n",
        "the window is over 2000 ms before the slot, and not open before that; `build_until_ms` is "
        "smaller - at `$.bundle.build_from_ms`",
    ),
    "a window that is over before it opens": (
        "[bundle]\nsubmit_until_ms = 4000\n",
        "the window is over 4000 ms before the slot, and not open before that; `submit_until_ms` "
        "is smaller - at `$.bundle.submit_from_ms`",
    ),
    "anchors that are too old when they are chosen": (
        '[bundle]\nanchor_policy = "table"\nanchor_age_blocks_max = 5\n',
        "with the policy 'table' an anchor is 6 blocks old when its package is built, which then "
        "is never submitted - at `$.bundle.anchor_age_blocks_max`",
    ),
    "two rollups of one name": (
        f"{ROLLUP}{ROLLUP.replace('= 1', '= 2')}",
        "two rollups are called main - at `$.rollup`",
    ),
    "two rollups of one service": (
        f"{ROLLUP}{ROLLUP.replace('main', 'other')}",
        "main and other are both service 1, and a lane is named by that - at `$.rollup`",
    ),
    "a rollup's node that speaks no WebSocket": (
        ROLLUP.replace("wss://", "https://"),
        "main: a node needs an address like ws://127.0.0.1:19800 - at `$.rollup`",
    ),
    "a chain inside each process of a fleet": (
        '[store]\npath = "redis://h"\n[[rollup]]\nname = "dev"\nservice = 1\nnodes = ["devnet"]\n',
        "dev: a chain inside this process needs a database of its own: a file, or durability memory"
        " - at `$.rollup`",
    ),
    "an embedded chain whose ledger has another number": (
        '[[rollup]]\nname = "dev"\nservice = 7\nnodes = ["devnet"]\n',
        "dev: the rollup of a chain inside this process is service 1 - at `$.rollup`",
    ),
    "a genesis that is no hash": (
        f'{ROLLUP}genesis = "22e5"\n',
        "Expected `str` matching regex '^(0x)?[0-9a-fA-F]{64}$' - at `$.rollup[0].genesis`",
    ),
    "a rollup without nodes": (
        '[[rollup]]\nname = "dev"\nservice = 1\nnodes = []\n',
        "Expected `array` of length >= 1 - at `$.rollup[0].nodes`",
    ),
    "a rollup of a kind that nobody builds": (
        f'{ROLLUP}kind = "evm"\n',
        "main: there is no kind of rollup evm here, but ledger - at `$.rollup`",
    ),
    "two rollups of one chain that claim all of it": (
        f"{ROLLUP}{OTHER_ROLLUP}",
        "main and other are on one chain, and both claim all its cores; give each of them `cores` "
        "of its own - at `$.rollup`",
    ),
    "two rollups of one chain that claim one core": (
        f"{ROLLUP}cores = [0, 3, 2]\n{OTHER_ROLLUP}cores = [1, 3, 2]\n",
        "main and other are on one chain, and both claim core 2; give each of them `cores` of its "
        "own - at `$.rollup`",
    ),
    "a core that no chain has": (
        f"{ROLLUP}cores = [341]\n",
        "Expected `int` <= 340 - at `$.rollup[0].cores[0]`",
    ),
    "a password": (
        '[host]\npassword = "secret"\n',
        "a password does not belong here; use `password_file` or the environment variable "
        "LANEWAY_HOST__PASSWORD - at `$.host.password`",
    ),
    "no TOML": ("[contract\n", "is not TOML: Expected ']' at the end of a table declaration"),
    "a key twice": (
        "[log]\nlevel = 'info'\nlevel = 'info'\n",
        "is not TOML: Cannot overwrite a value",
    ),
}


@pytest.mark.parametrize("mistake", BROKEN_FILES)
def test_a_mistake_in_the_file_names_the_file_and_the_path(mistake: str, here: Path) -> None:
    text, problem = BROKEN_FILES[mistake]
    (here / "laneway.toml").write_text(text)
    with pytest.raises(ConfigError) as caught:
        load()
    assert str(caught.value).startswith(f"laneway.toml: {problem}")
    assert "secret" not in str(caught.value)


BROKEN_VARIABLES = {
    "LANEWAY_CONTRACT__FAST_SIZE": ("five", "Expected `int`, got `str`"),
    "LANEWAY_CONTRACT__BREAKER_FAILURES": ("0", "Expected `int` >= 1"),
    "LANEWAY_CONTRACT__PRIORITIES": ("perhaps", "Expected `bool`, got `str`"),
    "LANEWAY_CONTRACT__COUNT_MAX": ("-1", "Expected `int` >= 1"),
    "LANEWAY_LOG__FORMAT": ("xml", "Invalid enum value 'xml', expected one of auto, json, text"),
    "LANEWAY_PRESET": (
        "mine",
        "Invalid enum value 'mine', expected one of seed-000, seed-001, seed-002, seed-003, "
        "seed-004",
    ),
    "LANEWAY_CONTRACT__RETRY_MS_MIN": ("90000", "90000 is more than `retry_ms_max`, 60000"),
    "LANEWAY_HOST__KIND": ("rest", "a rest host needs an address"),
    "LANEWAY_CONTRACT__FAST_SICE": ("5", "there is no key `contract.fast_sice`"),
    "LANEWAY_CONTRACT__HAS_CHAIN": ("true", "there is no key `contract.has_chain`"),
}


@pytest.mark.parametrize("name", BROKEN_VARIABLES)
def test_a_mistake_in_the_environment_names_the_variable(name: str, here: Path) -> None:
    value, problem = BROKEN_VARIABLES[name]
    with pytest.raises(ConfigError) as caught:
        load(None, {name: value})
    assert str(caught.value).startswith(f"{name}: {problem}")


def test_a_mistake_in_a_flag_names_the_flag(here: Path) -> None:
    with pytest.raises(ConfigError, match=r"--set contract\.fast_size: Expected `int`"):
        load(None, {}, {"contract.fast_size": "x"})
    with pytest.raises(ConfigError, match="--set nonsense: there is no key `nonsense`"):
        load(None, {}, {"nonsense": "x"})


def test_a_named_file_that_is_not_there_is_a_mistake(here: Path) -> None:
    with pytest.raises(ConfigError, match=r"none\.toml: cannot be read: No such file"):
        load("none.toml")
    with pytest.raises(ConfigError, match="cannot be read: Is a directory"):
        load(str(here))


def test_a_file_that_is_no_text_is_a_mistake(here: Path) -> None:
    (here / "laneway.toml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ConfigError, match=r"is not UTF-8 text \(byte 0\)"):
        load()
    (here / "laneway.toml").write_bytes(b"#" * (2 << 20))
    with pytest.raises(ConfigError, match="is larger than"):
        load()


# Secrets.


def test_a_password_is_taken_from_the_environment_and_never_shown(here: Path) -> None:
    configuration = load(None, {"LANEWAY_HOST__PASSWORD": "hunter2"})
    assert configuration.config.host.password == "hunter2"
    assert found(configuration, "host.password").value == "(redacted)"
    assert "hunter2" not in repr(list(configuration.settings()))


def test_a_password_is_not_taken_from_the_command_line(here: Path) -> None:
    with pytest.raises(ConfigError, match="others can read the command line") as caught:
        load(None, {}, {"host.password": "hunter2"})
    assert "hunter2" not in str(caught.value)


def test_a_password_inside_an_address_is_not_shown(here: Path) -> None:
    url = "http://me:hunter2@node:20000/x"
    shown = found(load(None, {"LANEWAY_HOST__URL": url}), "host.url").value
    assert shown == "http://(redacted)@node:20000/x"


@pytest.mark.parametrize(
    ("path", "shown"),
    [
        ("postgresql://me:hunter2@db/laneway", "postgresql://(redacted)@db/laneway"),
        (
            "postgresql:///laneway?user=me&password=hunter2&host=db",
            "postgresql:///laneway?user=(redacted)&password=(redacted)&host=db",
        ),
        ("redis://:hunter2@cache:6379/0", "redis://(redacted)@cache:6379/0"),
        ("folder/laneway.db", "folder/laneway.db"),
    ],
)
def test_a_password_of_the_store_is_not_shown(here: Path, path: str, shown: str) -> None:
    value = str(found(load(None, {"LANEWAY_STORE__PATH": path}), "store.path").value)
    assert "hunter2" not in value
    assert value == shown


@given(st.text() | st.integers(-(1 << 62), 1 << 62) | st.booleans())
def test_toml_reads_back_what_is_shown(value: str | int | bool) -> None:
    if isinstance(value, str) and any(0xD800 <= ord(char) < 0xE000 for char in value):
        return
    assert tomllib.loads(f"key = {toml_value(value)}")["key"] == value


def test_the_seeds_preset_does_not_give_up_a_nonce_at_the_first_block(here: Path) -> None:
    """With a depth of 0 a foreign transaction frees its intent at once; a reorg that takes it back
    lets the old bytes land beside the new ones."""
    preset = load(None, {"LANEWAY_PRESET": "seed-002"}).config.eoa
    assert preset.finality_depth_blocks == EoaSettings().finality_depth_blocks > 0
    assert (preset.inflight, preset.recycled) == (50, "any")


def test_the_seeds_preset_keeps_what_no_setting_may_break(here: Path) -> None:
    """Bytes may never be signed again while those before can land."""
    preset = load(None, {"LANEWAY_PRESET": "seed-003"}).config.sequence
    assert (preset.poll_ms, preset.statuses) == (1_000, 20)
    assert preset.account_bytes_max == preset.process_bytes_max == 200 << 20
    assert preset.timeout_blocks == SequenceSettings().timeout_blocks > 0


def values(name: str) -> list[dict[str, Any]]:
    return [table.values for table in load().tables()[name]]


def ceilings(found: Configuration) -> list[object]:
    return [table.remarks["fee_ceiling"][0] for table in found.tables()["evm"]]


def test_a_chains_nodes_are_shown_without_what_may_be_secret(here: Path) -> None:
    (here / "laneway.toml").write_text(COSMOS)
    (chain,) = values("cosmos")
    assert (chain["name"], chain["chain_id"]) == ("mocha", "mocha-4")
    assert chain["nodes"][0]["url"] == "http://(redacted)@node:26657/(redacted)"
    assert "hidden-key-7" not in str(chain)


def test_what_holds_for_an_account_is_its_own_word_or_the_next_ones(here: Path) -> None:
    accounts = "".join(
        f'[[cosmos.accounts]]\nname = "{name}"\nsigner = "env:KEY"\n{more}'
        for name, more in (("a", "inflight = 3\n"), ("b", ""))
    )
    text = f"[sequence]\ninflight = 9\nstatuses = 30\n{COSMOS}inflight = 5\npoll_ms = 70\n"
    (here / "laneway.toml").write_text(text + accounts)
    config = load().config
    (chain,) = config.cosmos
    own, other = (
        sequence_settings(config.sequence, chain, account, ("n",)) for account in chain.accounts
    )
    assert (own.inflight, other.inflight) == (3, 5)
    assert (own.poll_ms, own.statuses, own.nodes) == (70, 30, ("n",))


def test_a_rollups_nodes_are_shown_without_what_may_be_secret(here: Path) -> None:
    (here / "laneway.toml").write_text(ROLLUP)
    (rollup,) = values("rollup")
    assert (rollup["name"], rollup["kind"], rollup["service"]) == ("main", "ledger", 1)
    assert rollup["nodes"][0]["url"] == "wss://(redacted)@node:19800/(redacted)"
    assert "hidden-key-7" not in str(rollup)


def test_an_embedded_chain_is_shown_by_its_word(here: Path) -> None:
    (here / "laneway.toml").write_text('[[rollup]]\nname = "a"\nservice = 1\nnodes = ["devnet"]\n')
    (rollup,) = values("rollup")
    assert list(rollup["nodes"]) == ["devnet"]


EVM_TABLE = """
[[evm]]
name = "base"
chain_id = 8453
nodes = ["http://127.0.0.1:8545"]
[[evm]]
name = "dev"
chain_id = 31337
nodes = ["http://127.0.0.1:8546"]
"""


def test_a_chain_without_a_fee_ceiling_has_the_tables_and_says_so(here: Path) -> None:
    (here / "laneway.toml").write_text(EVM_TABLE)
    found = load()
    assert ceilings(found) == [
        {
            "fee_wei_max": "50 gwei",
            "origin": "chain table (8453)",
            "base_fee_times": 10,
        },
        {
            "fee_wei_max": "1000 gwei",
            "origin": "default for unknown chains",
            "base_fee_times": 10,
        },
    ]
    account = AccountSection(name="hot", signer="env:KEY")
    settings = settings_of(found.config.eoa, found.config.evm[0], account, ("n",))
    assert (settings.fee_wei_max, settings.fee_by_base) == (50 * 10**9, True)
    assert settings.fee_wei_source == "chain table (8453)"


def test_a_fee_ceiling_that_someone_set_wins_and_names_its_place(here: Path) -> None:
    (here / "laneway.toml").write_text(EVM_TABLE + 'fee_wei_max = "3 gwei"\n')
    found = load(None, {"LANEWAY_EOA__FEE_WEI_MAX": "2 gwei"})
    set_ = {"base_fee_times": None}
    assert ceilings(found) == [
        {
            "fee_wei_max": "2 gwei",
            "origin": "LANEWAY_EOA__FEE_WEI_MAX: eoa.fee_wei_max",
            **set_,
        },
        {"fee_wei_max": "3 gwei", "origin": "laneway.toml: fee_wei_max of dev", **set_},
    ]
    account = AccountSection(name="hot", signer="env:KEY", fee_wei_max="1 gwei")
    settings = settings_of(found.config.eoa, found.config.evm[1], account, ("n",))
    assert (settings.fee_wei_max, settings.fee_by_base) == (10**9, False)
    assert settings.fee_wei_source == "fee_wei_max of the account"


@pytest.mark.parametrize(
    ("text", "host", "port"),
    [
        ("127.0.0.1:8000", "127.0.0.1", 8000),
        ("127.0.0.1:0", "127.0.0.1", 0),
        ("localhost", "localhost", 8547),
        ("[::1]:8000", "::1", 8000),
        ("[::1]", "::1", 8547),
        ("::1", "::1", 8547),
    ],
)
def test_a_port_may_stand_behind_the_host_in_every_layer(
    here: Path, text: str, host: str, port: int
) -> None:
    (here / "laneway.toml").write_text(f'[server]\nlisten = "{text}"\n')
    for configuration in (
        load(),
        load("/dev/null", {"LANEWAY_SERVER__LISTEN": text}),
        load("/dev/null", {}, {"server.listen": text}),
    ):
        server = configuration.config.server
        assert (server.listen, server.port) == (host, port)


def test_a_later_port_wins_and_two_of_one_layer_must_agree(here: Path) -> None:
    (here / "laneway.toml").write_text('[server]\nlisten = "127.0.0.1:8000"\nport = 8000\n')
    assert load(None, {}, {"server.port": "9000"}).config.server.port == 9000
    (here / "laneway.toml").write_text('[server]\nlisten = "127.0.0.1:8000"\nport = 8001\n')
    with pytest.raises(ConfigError, match="it says port 8000, and `port` says 8001"):
        load()


@pytest.mark.parametrize("port", ["65536", "x", "", "-1", "٣", "9" * 5000])
def test_a_port_that_is_none_is_a_mistake(here: Path, port: str) -> None:
    with pytest.raises(ConfigError, match="is no port"):
        load(None, {"LANEWAY_SERVER__LISTEN": f"127.0.0.1:{port}"})


@pytest.mark.parametrize(
    ("variable", "meant"),
    [
        ("LANEWAY_STORE_PATH", "; did you mean LANEWAY_STORE__PATH?"),
        ("LANEWAY_SERVER_PORT", "; did you mean LANEWAY_SERVER__PORT?"),
        ("LANEWAY_API_KEY_FILES", "; did you mean LANEWAY_API_KEY_FILE?"),
        ("LANEWAY_HOME", ""),
    ],
)
def test_a_variable_that_is_not_understood_is_warned_about(
    here: Path, variable: str, meant: str
) -> None:
    configuration = load(None, {variable: "hunter2", "LANEWAY_URL": "x", "STORE_PATH": "y"})
    (warning,) = configuration.warnings
    assert warning == f"{variable} is set and not understood, so it has no effect{meant}"


def test_the_variable_of_a_signer_is_understood(here: Path) -> None:
    (here / "laneway.toml").write_text(
        f'{COSMOS}[[cosmos.accounts]]\nname = "a"\nsigner = "env:LANEWAY_HOT_KEY"\n'
    )
    assert load(None, {"LANEWAY_HOT_KEY": "x"}).warnings == ()


@pytest.mark.parametrize("signer", ["46" * 32, f"0x{'46' * 32}", "hunter2", "gcp-kms:x", "env:"])
def test_a_signer_that_is_none_or_a_key_itself_is_refused_and_not_shown(
    here: Path, signer: str
) -> None:
    (here / "laneway.toml").write_text(
        f'{COSMOS}[[cosmos.accounts]]\nname = "a"\nsigner = "{signer}"\n'
    )
    with pytest.raises(ConfigError, match="mocha: the signer of a: ") as caught:
        load()
    assert signer.removesuffix(":") not in str(caught.value).partition("the signer of a: ")[0]
    assert "46" * 32 not in str(caught.value)
    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize(
    ("words", "micro"),
    [
        ({}, 400_000),
        ({"gas_price_min": "0.1"}, 10_000_000),
        ({"gas_price_max": "0.5"}, 500_000),
        ({"gas_price": "3"}, None),
        ({"gas_price_min": "0"}, None),
    ],
)
def test_what_cosmos_nodes_may_ask_for_gas_has_a_ceiling_by_default(
    words: dict[str, Any], micro: int | None
) -> None:
    chain = CosmosSection(name="mocha", chain_id="mocha-4", nodes=("http://127.0.0.1:1",), **words)
    assert price_micro_max(chain) == micro
