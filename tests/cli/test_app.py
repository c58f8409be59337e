"""Laws of the command line: one clear line for every mistake, the right exit code, quick starts."""

import json
import os
import subprocess
import sys
from pathlib import Path

import click
import pytest
from click.testing import CliRunner, Result

from laneway.cli import app as cli
from laneway.cli.app import app, commands, run
from laneway.client.errors import AnswerLost, Unreachable, refused
from laneway.core.errors import BadRequest, Bug, LanewayError, StoreFull
from laneway.wire.problem import problem

HEAVY = ("aiohttp", "uvloop", "apsw", "rich", "asyncio", "ssl", "sqlite3", "concurrent.futures")
LIGHT_COMMANDS = [
    ["--help"],
    ["--version"],
    ["config", "--help"],
    ["config", "show"],
    ["config", "show", "--json", "--origin"],
    ["demo", "--help"],
    ["sim", "--help"],
    ["bench", "--help"],
    ["bench", "contract", "--help"],
    ["bench", "eoa", "--help"],
    ["bench", "sequence", "--help"],
    ["doctor", "--help"],
    ["up", "--help"],
    ["devnet", "evm", "--help"],
    ["devnet", "cosmos", "--help"],
    ["chaos", "proxy", "--help"],
    ["apikey", "--help"],
    ["init"],
    ["top", "--help"],
    ["send", "--help"],
    ["lanes", "--help"],
    ["lane", "--help"],
    ["lane", "pause", "--help"],
    ["tx", "--help"],
    ["tx", "list", "--help"],
]

LISTING = """
import json, sys
from laneway.cli.app import run
sys.stdout = sys.stderr
code = run(sys.argv[1:])
print(json.dumps([code, sorted(sys.modules)]), file=sys.__stdout__)
"""


def invoke(*arguments: str) -> Result:
    return CliRunner().invoke(app, arguments, prog_name="laneway")


def laneway(*arguments: str, cwd: Path, options: tuple[str, ...] = ()) -> tuple[int, str, str]:
    """The command as a person runs it."""
    ran = subprocess.run(
        [sys.executable, *options, "-m", "laneway", *arguments],
        cwd=cwd, capture_output=True, text=True, timeout=60, check=False,
        env={name: value for name, value in os.environ.items() if "LANEWAY" not in name},
    )  # fmt: skip
    return ran.returncode, ran.stdout, ran.stderr


@pytest.mark.slow
@pytest.mark.parametrize("arguments", LIGHT_COMMANDS, ids=" ".join)
def test_listing_commands_import_only_what_they_need(arguments: list[str], tmp_path: Path) -> None:
    ran = subprocess.run(
        [sys.executable, "-c", LISTING, *arguments],
        cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    code, modules = json.loads(ran.stdout)
    assert code == 0, ran.stderr
    assert not [name for name in modules if name.startswith(HEAVY)]
    ours = [name for name in modules if name.startswith(("laneway.engine", "laneway.stores"))]
    # The defaults stand there.
    assert set(ours) <= {
        *("laneway.engine", "laneway.engine.limits"),
        *("laneway.stores", "laneway.stores.address", "laneway.stores.limits"),
    }


def test_the_help_names_every_command_with_its_purpose() -> None:
    shown = invoke("--help").output
    for name, (_, purpose) in commands().items():
        assert name in shown
        assert purpose[:30] in shown


@pytest.mark.parametrize("name", commands())
def test_every_listed_command_is_there_and_agrees_with_its_listing(name: str) -> None:
    command = app.get_command(click.Context(app), name)
    assert command is not None
    assert command.help is not None
    assert command.help.startswith(commands()[name][1].rstrip("."))


@pytest.mark.slow
def test_the_version_is_told_by_every_way_to_call_it(tmp_path: Path) -> None:
    from laneway.version import __version__

    for module in ("laneway", "laneway.cli"):
        ran = subprocess.run(
            [sys.executable, "-m", module, "--version"],
            cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False,
        )  # fmt: skip
        assert (ran.returncode, ran.stdout) == (0, f"laneway {__version__}\n")


@pytest.mark.slow
@pytest.mark.parametrize(
    "arguments",
    [["dance"], ["demo", "--colour"], ["demo", "--kills", "many"], ["config", "shout"], []],
    ids=" ".join,
)
def test_a_wrong_command_line_exits_with_2(arguments: list[str], tmp_path: Path) -> None:
    code, _, err = laneway(*arguments, cwd=tmp_path)
    assert code == 2
    assert "Usage: laneway" in err
    assert "Traceback" not in err


@pytest.mark.slow
def test_it_does_not_start_under_python_o(tmp_path: Path) -> None:
    code, out, err = laneway("--version", cwd=tmp_path, options=("-O",))
    assert (code, out) == (2, "")
    assert err.startswith("laneway: laneway does not start under 'python -O'")
    assert err.count("\n") == 1


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (BadRequest("key", "is\nempty"), 2),
        (StoreFull("laneway.db"), 75),
        (Bug("the lane is odd"), 1),
        (FileNotFoundError(2, "No such file", "x.db"), 1),
        (ModuleNotFoundError("no", name="msgspec"), 1),
        (TimeoutError("not final\nafter 5 s"), 75),
        (Unreachable("http://127.0.0.1:9", "refused"), 75),
        (AnswerLost("http://127.0.0.1:9", "cut off", "order-7"), 75),
        (refused(problem(404, "intent_not_found", "none")), 3),
        (refused(problem(409, "intent_final", "late")), 1),
        (refused(problem(422, "invalid_body", "lane")), 2),
        (refused(problem(422, "idempotency_conflict", "key")), 1),
        (refused(problem(403, "scope_missing", "no")), 1),
        (refused(problem(503, "draining", "later", retryable=True)), 75),
        (KeyboardInterrupt(), 130),
        (BrokenPipeError(), 1),
    ],
)
def test_every_error_ends_in_an_exit_code_and_at_most_one_line(
    error: LanewayError,
    code: int,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def fail(**_: object) -> None:
        raise error

    monkeypatch.setattr(cli.app, "main", fail)
    monkeypatch.setattr(sys, "stdout", sys.stdout)
    assert run([]) == code
    said = capsys.readouterr().err
    assert said.count("\n") <= 1
    assert not said or said.startswith("laneway: ")


@pytest.mark.slow
def test_a_reader_who_leaves_early_causes_no_traceback(tmp_path: Path) -> None:
    ran = subprocess.run(
        f"'{sys.executable}' -m laneway config show --json | head -c 1",
        shell=True, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert "Traceback" not in ran.stderr
    assert "Exception" not in ran.stderr
