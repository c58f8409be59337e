"""The peers that run on Node."""

import json
import shutil
from pathlib import Path

import pytest

from laneway_bench import node
from laneway_bench.child import BenchFailed
from laneway_bench.peers import scripts

WANTED = (scripts() / "npm.txt").read_text().split()


def put(folder: Path, name: str, version: str) -> None:
    about = folder / name / "package.json"
    about.parent.mkdir(parents=True)
    about.write_text(json.dumps({"version": version}))


def test_the_peers_are_those_of_the_issue() -> None:
    assert [one.rpartition("@")[0] for one in WANTED] == [
        "@cosmjs/proto-signing", "@cosmjs/stargate", "@ethereumjs/block", "@ethereumjs/common",
        "@ethereumjs/statemanager", "@ethereumjs/tx", "@ethereumjs/util", "@ethereumjs/vm",
        "@openzeppelin/contracts", "@typeberry/native", "ethers", "js-sha3", "solc", "viem",
    ]  # fmt: skip
    assert "viem@2.57.1" in WANTED
    assert any(one.startswith("ethers@6.") for one in WANTED)


def test_without_node_nothing_is_tried(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(BenchFailed, match="apt-get install -y npm"):
        node.modules(tmp_path)


def test_packages_of_the_wanted_versions_are_left_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[list[str]] = []

    def run(command: list[str], _purpose: str) -> str:
        asked.append(command)
        return "v20.1.0\n"

    monkeypatch.setattr(node, "run", run)
    monkeypatch.setattr(shutil, "which", lambda name: name)
    for one in WANTED:
        name, _, version = one.rpartition("@")
        put(tmp_path / "node" / "node_modules", name, version)
    found = node.modules(tmp_path)
    assert asked == []
    assert node.words(found)["viem"] == "2.57.1"
    assert node.words(found)["node"] == "20.1.0"


def test_another_version_is_replaced_by_the_wanted_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[list[str]] = []

    def run(command: list[str], _purpose: str) -> str:
        asked.append(command)
        return ""

    monkeypatch.setattr(node, "run", run)
    monkeypatch.setattr(shutil, "which", lambda name: name)
    put(tmp_path / "node" / "node_modules", "viem", "1.0.0")
    node.modules(tmp_path)
    assert asked[0][-len(WANTED) :] == WANTED
    assert "--ignore-scripts" in asked[0]
    monkeypatch.setattr(shutil, "which", lambda name: name if name == "node" else None)
    with pytest.raises(BenchFailed, match="npm is missing"):
        node.modules(tmp_path)


def test_a_script_finds_its_packages(tmp_path: Path) -> None:
    command = node.command(tmp_path, "viem_transfers.cjs")
    assert command[:3] == ["env", f"NODE_PATH={tmp_path}", "node"]
    assert Path(command[3]).is_file()
