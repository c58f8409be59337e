"""Laws of commands whose work lies elsewhere: called with what was asked, or clearly missing."""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import pytest

from laneway.cli.app import run


class Finding(NamedTuple):
    name: str
    ok: bool
    what: str
    advice: str


def put(monkeypatch: pytest.MonkeyPatch, name: str, **contents: Any) -> None:
    module = ModuleType(name)
    for key, value in contents.items():
        setattr(module, key, value)
    monkeypatch.setitem(sys.modules, name, module)


def noted(calls: list[dict[str, object]], code: int) -> Callable[..., int]:
    def main(**given: object) -> int:
        calls.append(given)
        return code

    return main


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_the_simulator_is_called_with_what_was_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[dict[str, object]] = []
    put(monkeypatch, "laneway.sim.cli", main=noted(calls, 3))
    assert run(["sim", "--seed", "7", "--layer", "S2", "--kind", "eoa", "--json"]) == 3
    assert run(["sim"]) == 3
    assert calls == [
        {"seed": 7, "seeds": 100, "layer": "s2", "kind": "eoa", "lying": False, "json": True},
        {
            "seed": None,
            "seeds": 100,
            "layer": "s1",
            "kind": "contract",
            "lying": False,
            "json": False,
        },
    ]


def test_the_benchmark_is_called_with_what_was_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[dict[str, object]] = []
    put(monkeypatch, "laneway_bench.contract.bench", main=noted(calls, 0))
    assert run(["bench", "contract", "--json", "--quick", "--out", "there"]) == 0
    put(monkeypatch, "laneway_bench.eoa.bench", main=noted(calls, 0))
    assert run(["bench", "eoa", "--only", "raw,viem", "--out", "there"]) == 0
    put(monkeypatch, "laneway_bench.sequence.bench", main=noted(calls, 0))
    assert run(["bench", "sequence", "--quick", "--only", "bytes", "--out", "there"]) == 0
    assert calls == [
        {"json": True, "quick": True, "out": Path("there")},
        {"json": False, "quick": False, "out": Path("there"), "only": "raw,viem"},
        {"json": False, "quick": True, "out": Path("there"), "only": "bytes"},
    ]


def put_doctor(monkeypatch: pytest.MonkeyPatch, examine: Callable[..., list[Finding]]) -> None:
    """A doctor whose database holds one rollup, on a machine without a running server."""
    states = {"rollup:1": b"head"}
    put(monkeypatch, "laneway.wiring.doctor", examine=examine, lane_states=lambda _path: states)
    put(monkeypatch, "laneway.wiring.server_doctor", examine_server=lambda _configuration: [])


@pytest.mark.parametrize(("ok", "code"), [(True, 0), (False, 1)])
def test_the_doctor_says_what_to_do(
    ok: bool, code: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked: list[str] = []

    def examine(path: str, _options: object) -> list[Finding]:
        asked.append(path)
        return [Finding("sqlite", ok, "3.40.1 loses writes", "install apsw")]

    put_doctor(monkeypatch, examine)
    assert run(["doctor", "--db", "my.db"]) == code
    said = capsys.readouterr().out
    assert "sqlite: 3.40.1 loses writes" in said
    assert ("install apsw" in said) is not ok
    assert run(["doctor", "other.db", "--json"]) == code
    told = json.loads(capsys.readouterr().out)
    assert told["ok"] is ok
    assert told["findings"][0]["advice"] == "install apsw"
    assert asked == ["my.db", "other.db"]


@pytest.mark.parametrize(
    ("module", "arguments"),
    [
        ("laneway.sim.cli", ["sim"]),
        ("laneway_bench.contract.bench", ["bench", "contract"]),
        ("laneway.wiring.doctor", ["doctor"]),
    ],
)
def test_a_part_that_is_not_installed_is_named(
    module: str,
    arguments: list[str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    assert run(arguments) == 1
    said = capsys.readouterr().err
    assert "which is not installed here" in said
    assert said.count("\n") == 1
    put(monkeypatch, module)
    assert run(arguments) == 1
    assert "which is not installed here" in capsys.readouterr().err


def test_the_doctor_looks_at_nodes_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    text = '[[rollup]]\nname = "main"\nservice = 1\nnodes = ["ws://127.0.0.1:9"]\n'
    (tmp_path / "laneway.toml").write_text(text)
    put_doctor(monkeypatch, lambda _path, _options: [])
    asked: list[str] = []

    def look(configuration: Any, states: Any) -> list[Finding]:
        assert states == {"rollup:1": b"head"}
        asked.extend(one.name for one in configuration.config.rollup)
        return [Finding("rollup main", False, "its chain cannot be asked", "start a node")]

    put(monkeypatch, "laneway.wiring.node_doctor", examine_nodes=look)
    assert run(["doctor"]) == 1
    assert asked == ["main"]
    assert "BAD  rollup main: its chain cannot be asked" in capsys.readouterr().out
