"""`python -m laneway_bench`: the words of the command line reach the benchmark."""

from pathlib import Path

import pytest

from laneway_bench import __main__ as command
from laneway_bench.contract import bench as contract
from laneway_bench.door import bench as door
from laneway_bench.eoa import bench as eoa
from laneway_bench.sequence import bench as sequence


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["contract"], (False, False, Path("bench/results"), Path(".venv-peers"))),
        (
            ["contract", "--json", "--quick", "--out", "o", "--peers", "p"],
            (True, True, Path("o"), Path("p")),
        ),
        (["door", "--quick"], (False, True, Path("bench/results"), Path(".venv-peers"))),
        (["eoa"], (False, False, Path("bench/results"), Path(".venv-peers"), "")),
        (
            ["eoa", "--only", "raw,viem"],
            (False, False, Path("bench/results"), Path(".venv-peers"), "raw,viem"),
        ),
        (
            ["sequence", "--only", "bytes"],
            (False, False, Path("bench/results"), Path(".venv-peers"), "bytes"),
        ),
    ],
)
def test_the_options_reach_the_benchmark(
    arguments: list[str],
    expected: tuple[object, ...],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    heard: list[object] = []

    def run(*given: object) -> int:
        heard.append(given)
        return 7

    bench = {"contract": contract, "door": door, "eoa": eoa, "sequence": sequence}[arguments[0]]
    monkeypatch.setattr(bench, "main", run)
    assert command.main(arguments) == 7
    assert heard == [expected]


def test_a_choice_of_contestants_belongs_to_accounts(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        command.main(["door", "--only", "arq"])
    assert "--only" in capsys.readouterr().err


def test_an_unknown_benchmark_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        command.main(["dance"])
    assert "contract" in capsys.readouterr().err
