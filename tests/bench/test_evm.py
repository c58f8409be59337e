"""The benchmark of the EVM: every goal is there, and everyone executes the same transactions."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.evm.scene import assemble

from laneway_bench.child import BenchFailed
from laneway_bench.evm import engine
from laneway_bench.evm.bench import FULL, GOALS, PEERS, QUICK, EvmBench
from laneway_bench.evm.mining import settings
from laneway_bench.evm.workload import CALLS, SENDER, WORKLOADS, hexed, plain_state, workload
from laneway_bench.frame import Lines, Sample
from laneway_bench.guests import Guests
from laneway_bench.report import table, write_report

ROOT = Path(__file__).parents[2]
THRESHOLDS = {
    "erc20_interpreted_vs_eels": ">= 40",
    "erc20_fast_vs_eels": ">= 90",
    "erc20_interpreted_vs_pyevm": ">= 8",
    "erc20_fast_vs_pyevm": ">= 18",
    "erc20_fast_vs_ethereumjs": ">= 20",
    "transfers_vs_eels": ">= 10",
    "swap_fast_vs_pyevm": ">= 10",
    "hash_loop_fast_vs_pyevm": ">= 5",
}
MACHINE = {
    "cores": 2, "cpu": "c", "python": "3", "sqlite": "3", "kernel": "6", "filesystem": "ext4",
    "peers": {"py-evm": "0.12"},
}  # fmt: skip
STOPS = assemble("1 0 RETURN")
"""Creation code of a contract that stops at once, for every name of a contract."""
CODES = dict.fromkeys(("Token", "Pair", "Loops"), STOPS)


def run_of(rates: dict[str, float]) -> EvmBench:
    """A run in which laneway makes so many transactions a second, and each peer one."""
    bench = EvmBench(QUICK, Path(), Guests(), Lines(1.0))
    for name in bench.rounds:
        seconds = 1 / rates.get(name.partition("_")[2], 1.0)
        bench.rounds[name] = [Sample(1, seconds, seconds)]
    bench.recovery = {"laneway": [50.0], **{peer: [1e6] for peer in PEERS}}
    return bench


def test_the_goals_are_those_that_were_set() -> None:
    assert {goal.name: goal.words() for goal in GOALS} == THRESHOLDS


def test_a_full_run_means_something() -> None:
    assert FULL.rounds >= 3
    assert min(FULL.jobs.values()) >= 10
    assert FULL.warm["ethereumjs"] >= 200
    assert max(QUICK.jobs.values()) <= 200


def test_the_object_and_the_table_hold_every_goal(tmp_path: Path) -> None:
    bench = run_of({"fast": 30.0, "interpreted": 9.0, "laneway": 12.0})
    report = bench.assembled(MACHINE, {"mining": {"erc20": 20_000.0}})
    goals = report["goals"]
    assert list(goals) == list(THRESHOLDS)
    assert goals["erc20_fast_vs_pyevm"] == {"value": 30.0, "goal": ">= 18", "met": True}
    assert goals["erc20_interpreted_vs_eels"] == {"value": 9.0, "goal": ">= 40", "met": False}
    assert goals["hash_loop_fast_vs_pyevm"]["value"] == 30
    assert goals["transfers_vs_eels"]["value"] == 12
    assert report["ratios"]["swap_fast_vs_ethereumjs"] == 30
    assert report["ratios"]["erc20_fast_with_recovery_vs_eels"] == pytest.approx(59.91, 0.001)
    said = table(report)
    assert "recovering its sender, apart: laneway 50, eels 1,000,000" in said
    assert "anvil puts into one block, wall time: erc20 20,000" in said
    assert write_report(report, tmp_path, "evm") == said
    assert "EVM transactions" in (tmp_path / "evm.svg").read_text()


def test_what_did_not_run_leaves_its_goals_unmet() -> None:
    bench = EvmBench(QUICK, Path(), Guests(missing=dict.fromkeys(FULL.jobs, "none")), Lines(1.0))
    report = bench.assembled(MACHINE, {})
    assert all(goal["value"] is None and not goal["met"] for goal in report["goals"].values())
    assert "not measured" in table(report)


def test_workloads_and_contestants_are_chosen_by_name() -> None:
    assert EvmBench.chosen("")[-1] == "mining"
    assert EvmBench.chosen("hash,mining")[0] == "hash_fast"
    assert EvmBench.chosen("pyevm") == [f"{name}_pyevm" for name in WORKLOADS]
    assert EvmBench.chosen("erc20_fast") == ["erc20_fast"]
    with pytest.raises(BenchFailed, match="nobody is called dance"):
        EvmBench.chosen("dance")


@pytest.mark.parametrize("name", WORKLOADS)
def test_a_workload_names_the_gas_of_each_transaction(name: str) -> None:
    found = workload(name, CODES, 3)
    assert set(CALLS) == set(WORKLOADS)
    assert len(found["gas"]) == len(found["transactions"]) == 3
    assert all(gas >= 21_000 for gas in found["gas"])
    assert found["state"][hexed(SENDER)]["nonce"] >= 0


@pytest.mark.parametrize("is_fast", [False, True])
def test_laneway_comes_to_the_same_gas_or_fails(is_fast: bool) -> None:
    question = workload("hash", CODES, 12) | {"warm": 4, "fast": is_fast}
    answer = engine.measure(question)
    assert answer["jobs"] == 8
    assert answer["cpu_s"] > 0
    assert answer["recovery_us"] > 0
    with pytest.raises(BenchFailed, match="the gas differs"):
        engine.measure(question | {"gas": [0] * 12})


def test_a_transaction_that_fails_is_no_workload() -> None:
    broken = dict.fromkeys(CODES, assemble("0xfe 0 MSTORE8 1 0 RETURN"))
    with pytest.raises(BenchFailed, match="failed"):
        workload("hash", broken, 1)


def test_a_state_is_set_account_by_account() -> None:
    state: dict[str, Any] = {
        hexed(SENDER): {"nonce": 2, "balance": "0x5", "code": "0x", "storage": {}},
        "0x" + "cc" * 20: {"nonce": 1, "balance": "0x0", "code": "0x00", "storage": {"0x1": "0x2"}},
    }
    methods = [method for method, _ in settings(state)]
    both = ["anvil_setBalance", "anvil_setNonce"]
    assert methods == [*both, *both, "anvil_setCode", "anvil_setStorageAt"]
    plain = plain_state(state)
    assert plain.accounts[SENDER].balance_wei == 5
    assert plain.storage(b"\xcc" * 20, 1) == 2


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_everyone_executes_the_same_in_a_quick_run(tmp_path: Path) -> None:
    peers = Path(os.environ.get("LANEWAY_PEERS", ROOT / ".venv-peers"))
    command = [sys.executable, "-m", "laneway_bench", "evm", "--quick", "--json"]
    command += ["--only", "transfers,erc20,swap,hash", "--out", str(tmp_path)]
    ran = subprocess.run(
        [*command, "--peers", str(peers)], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stderr
    report = json.loads(ran.stdout)
    values = {name: goal["value"] for name, goal in report["goals"].items()}
    assert all(value is not None and value > 1 for value in values.values()), report
