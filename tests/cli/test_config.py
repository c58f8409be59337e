"""Laws of `laneway config`: what is shown is what is in force, and every mistake exits with 2."""

import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from laneway.cli.app import app, run
from laneway.wiring.schema import config_type, lookup, paths


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def invoke(*arguments: str, **environ: str) -> Result:
    return CliRunner().invoke(app, arguments, env=environ, catch_exceptions=False)


def shown(*arguments: str, **environ: str) -> dict[str, Any]:
    settings: dict[str, Any] = json.loads(
        invoke("config", "show", "--json", *arguments, **environ).stdout
    )["settings"]
    return settings


def test_every_key_is_shown() -> None:
    settings = shown()
    assert list(settings) == list(paths())
    for path, setting in settings.items():
        assert setting["value"] == lookup(config_type()(), path)
        assert setting["origin"] == "default"


def test_what_is_shown_is_toml_that_can_be_used_again(here: Path) -> None:
    text = invoke("config", "show", "--set", "contract.fast_size=8").stdout
    assert tomllib.loads(text)["contract"]["fast_size"] == 8
    (here / "laneway.toml").write_text(text)
    assert shown()["contract.fast_size"]["value"] == 8
    assert invoke("config", "check").stdout == "laneway.toml: ok\n"


def test_the_origin_of_each_key_is_told(here: Path) -> None:
    (here / "laneway.toml").write_text("[contract]\nsearch_ms = 7\n")
    text = invoke(
        "config", "show", "--origin", "--preset", "seed-004", "--db", "my.db",
        LANEWAY_LOG__LEVEL="debug",
    ).stdout  # fmt: skip
    lines = {line.split()[0]: " ".join(line.split()) for line in text.splitlines() if "=" in line}
    assert lines["search_ms"] == "search_ms = 7 # file laneway.toml"
    assert lines["exhausted"] == 'exhausted = "skip" # preset seed-004'
    assert lines["path"] == 'path = "my.db" # flag --set store.path'
    assert lines["level"] == 'level = "debug" # environment LANEWAY_LOG__LEVEL'
    assert lines["retry_ms_max"] == "retry_ms_max = 60000 # default"
    assert tomllib.loads(text)["contract"]["search_ms"] == 7


def test_a_secret_is_never_shown() -> None:
    for options in ([], ["--origin"], ["--json"]):
        out = invoke("config", "show", *options, LANEWAY_HOST__PASSWORD="hunter2").stdout
        assert "hunter2" not in out
        assert "(redacted)" in out


def test_a_preset_is_read_back() -> None:
    settings = shown("--preset", "seed-004")
    assert settings["contract.fast_size"]["value"] == 5
    assert settings["contract.fast_size"]["origin"] == "preset"
    assert settings["host.round_ms"]["value"] == 600_000
    assert settings["contract.stale_retries_max"]["value"] == 1
    assert settings["contract.exhausted"]["value"] == "skip"


def test_a_good_configuration_exits_with_0(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["config", "check"]) == 0
    assert capsys.readouterr().out == "no laneway.toml, defaults: ok\n"
    assert run(["config", "check", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"ok": True, "file": None}


@pytest.mark.parametrize("command", ["show", "check"])
@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            b'[contract]\nfast_size = "five"\n',
            "laneway: laneway.toml: Expected `int`, got `str` - at `$.contract.fast_size`\n",
        ),
        (
            b"[contract]\nfast = 5\n",
            "laneway: laneway.toml: Object contains unknown field `fast` - at `$.contract`\n",
        ),
        (
            b"[contract]\nfast_size = 0\n",
            "laneway: laneway.toml: Expected `int` >= 1 - at `$.contract.fast_size`\n",
        ),
        (b"\xff", "laneway: laneway.toml: is not UTF-8 text (byte 0)\n"),
        (b"[", "laneway: laneway.toml: is not TOML: Invalid initial character for a key part"),
    ],
)
def test_a_mistake_is_one_line_and_exits_with_2(
    text: bytes, said: str, command: str, here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (here / "laneway.toml").write_bytes(text)
    assert run(["config", command]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith(said)
    assert captured.err.count("\n") == 1


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--config", "none.toml"], "none.toml: cannot be read"),
        (["--set", "contract.fast_size=x"], "--set contract.fast_size: Expected `int`, got `str`"),
        (["--set", "nothing=1"], "--set nothing: there is no key `nothing`"),
        (["--set", "contract.fast_size"], "say KEY=VALUE"),
        (["--set", "host.password=x"], "others can read the command line"),
        (["--preset", "none"], "--set preset: Invalid enum value 'none'"),
    ],
)
def test_a_wrong_flag_exits_with_2(
    arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["config", "check", *arguments]) == 2
    assert said in capsys.readouterr().err


def test_rollups_are_shown_as_tables_that_can_be_used_again(here: Path) -> None:
    text = (
        '[[rollup]]\nname = "main"\nservice = 7\nmax_inflight = 2\ncores = [0]\n'
        'nodes = ["ws://127.0.0.1:19800", { url = "wss://node.example.org", name = "b" }]\n'
    )
    (here / "laneway.toml").write_text(text)
    said = invoke("config", "show").stdout
    (table,) = tomllib.loads(said)["rollup"]
    assert (table["name"], table["kind"], table["service"]) == ("main", "ledger", 7)
    assert (table["max_inflight"], table["cores"]) == (2, [0])
    assert [node["url"] for node in table["nodes"]] == [
        "ws://127.0.0.1:19800", "wss://node.example.org",
    ]  # fmt: skip
    (here / "laneway.toml").write_text(said)
    assert invoke("config", "check").stdout == "laneway.toml: ok\n"
    (shown_as_json,) = json.loads(invoke("config", "show", "--json").stdout)["rollup"]
    assert shown_as_json["service"] == 7


def test_an_embedded_chain_is_shown_as_it_was_written(here: Path) -> None:
    text = '[[rollup]]\nname = "dev"\nservice = 1\nnodes = ["devnet"]\nslot_ms = 300\n'
    (here / "laneway.toml").write_text(text)
    (here / "laneway.toml").write_text(invoke("config", "show").stdout)
    (table,) = tomllib.loads(invoke("config", "show").stdout)["rollup"]
    assert (table["nodes"], table["slot_ms"]) == (["devnet"], 300)


def test_every_chain_says_where_its_fee_ceiling_comes_from(here: Path) -> None:
    text = '[[evm]]\nname = "base"\nchain_id = 8453\nnodes = ["http://127.0.0.1:8545"]\n'
    (here / "laneway.toml").write_text(text)
    default = "# fee ceiling: 50 gwei a unit of gas (chain table (8453)), and 10 times the base fee"
    for options in ((), ("--origin",)):
        assert default in invoke("config", "show", *options).stdout.splitlines()
    (chain,) = json.loads(invoke("config", "show", "--json").stdout)["evm"]
    assert chain["fee_ceiling"]["origin"] == "chain table (8453)"
    (here / "laneway.toml").write_text(f'{text}fee_wei_max = "7 gwei"\n')
    said = invoke("config", "show", "--origin").stdout.splitlines()
    assert "# fee ceiling: 7 gwei a unit of gas (laneway.toml: fee_wei_max of base)" in said


KEY = "46" * 32
EVM = """[[evm]]
name = "dev"
chain_id = 1337
nodes = ["http://127.0.0.1:9"]
[[evm.accounts]]
name = "hot"
signer = "{signer}"
"""
REST = '[host]\nkind = "rest"\nurl = "http://127.0.0.1:9"\n'


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (EVM.format(signer=KEY), "looks like a key itself"),
        (EVM.format(signer="env:NO_SUCH_VARIABLE"), "there is no such variable"),
        (EVM.format(signer="file:none.key"), "none.key: cannot be read"),
        (EVM.format(signer="aws-kms:alias/x"), "must bring the calls to AWS"),
        ('[server]\nkeys_file = "none.toml"\n', "none.toml: cannot be read"),
        (f'{REST}password_file = "none.txt"\n', "none.txt: cannot be read"),
        ('[host]\nkind = "callable"\ncallable = "nowhere:f"\n', "No module named 'nowhere'"),
        ('[store]\npath = "none/laneway.db"\n', "its folder none does not exist"),
        ('[store]\npath = "redis://:hidden-key-7/x@h"\n', "not an address"),
        (
            '[[webhooks]]\nid = "a"\nurl = "https://a.example"\nsecret_file = "none.txt"\n',
            "none.txt: cannot be read",
        ),
    ],
)
def test_what_up_refuses_is_refused(
    text: str, said: str, here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (here / "laneway.toml").write_text(text)
    before = sorted(here.iterdir())
    assert run(["config", "check"]) == 2
    err = capsys.readouterr().err
    assert said in err
    assert KEY not in err
    assert "hidden-key-7" not in err
    assert sorted(here.iterdir()) == before


def test_what_can_be_used_is_not_refused_and_nothing_is_written(
    here: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("HOT_KEY", KEY)
    (here / "laneway.toml").write_text(EVM.format(signer="env:HOT_KEY") + REST)
    assert run(["config", "check"]) == 0, capsys.readouterr().err
    assert [entry.name for entry in here.iterdir()] == ["laneway.toml"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("module", "text", "extra"),
    [
        ("coincurve", EVM.format(signer="env:HOT_KEY"), "evm"),
        ("redis", '[store]\npath = "redis://127.0.0.1:9"\n', "redis"),
        ("psycopg", '[store]\npath = "postgresql://127.0.0.1:9"\n', "postgres"),
        ("nacl", '[[rollup]]\nname = "r"\nservice = 1\nnodes = ["ws://127.0.0.1:9"]\n', "rollup"),
    ],
)
def test_a_missing_extra_is_named_with_what_to_type(
    module: str, text: str, extra: str, here: Path
) -> None:
    (here / "laneway.toml").write_text(text)
    script = (
        f"import sys; sys.modules[{module!r}] = None; from laneway.cli.app import run; "
        "sys.exit(run(['config', 'check']))"
    )
    environ = {**os.environ, "HOT_KEY": KEY}
    command = [sys.executable, "-c", script]
    ended = subprocess.run(command, capture_output=True, text=True, check=False, env=environ)
    assert ended.returncode == 2, ended.stderr
    assert f"pip install 'laneway[{extra}]'" in ended.stderr


def test_a_variable_that_is_not_understood_is_warned_about_on_stderr(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("LANEWAY_STORE_PATH", "elsewhere.db")
    assert run(["config", "check", "--json"]) == 0
    said = capsys.readouterr()
    assert json.loads(said.out)["ok"]
    assert "LANEWAY_STORE_PATH is set and not understood" in said.err
    assert "did you mean LANEWAY_STORE__PATH?" in said.err
