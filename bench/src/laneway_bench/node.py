"""The peers that are JavaScript: their packages beside the peers' Python, and how a script runs."""

import json
import shutil
from collections.abc import Sequence
from pathlib import Path

from laneway_bench.child import BenchFailed
from laneway_bench.peers import run, scripts


def modules(environment_folder: Path) -> Path:
    """The folder with the packages of `npm.txt`; it is made on demand."""
    if shutil.which("node") is None:
        raise BenchFailed("Node is missing: apt-get install -y npm")
    wanted = (scripts() / "npm.txt").read_text().split()
    folder = environment_folder.resolve() / "node"
    found = folder / "node_modules"
    if installed(found, wanted) != wanted:
        if shutil.which("npm") is None:
            raise BenchFailed("npm is missing: apt-get install -y npm")
        # None of them needs its own scripts to be run.
        command = ["npm", "install", "--prefix", str(folder), "--ignore-scripts", "--no-audit"]
        folder.mkdir(parents=True, exist_ok=True)
        run([*command, "--no-fund", "--loglevel=error", *wanted], "install the peers of npm")
    return found


def installed(found: Path, wanted: Sequence[str]) -> list[str]:
    """The same names, each with the version that is there."""
    return [f"{name}@{version}" for name, version in versions(found, wanted).items()]


def versions(found: Path, wanted: Sequence[str]) -> dict[str, str]:
    there = {}
    for name in (one.rpartition("@")[0] for one in wanted):
        about = found / name / "package.json"
        if about.is_file():
            there[name] = str(json.loads(about.read_text())["version"])
    return there


def words(found: Path) -> dict[str, str]:
    """The versions, for those who read the numbers."""
    said = run(["node", "--version"], "ask Node for its version").strip()
    wanted = (scripts() / "npm.txt").read_text().split()
    return {"node": said.removeprefix("v"), **versions(found, wanted)}


def command(found: Path, script: str) -> list[str]:
    """How a script runs with these packages."""
    return ["env", f"NODE_PATH={found}", "node", str(scripts() / script)]
