"""A kind of rollup that laneway does not know, from another distribution: served by `laneway up`,
the REST API and the command line as the ledger is, with no line of it in laneway."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from threading import Timer
from typing import Any
from urllib.error import HTTPError
from urllib.request import urlopen

import pytest
from tests.rollups.log_kind import LogState, grown

from laneway.jam.hashing import ZERO_HASH, blake2b

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
START_S_MAX = 60
COMMAND_S_MAX = 100
LINES = ("one", "two", "three")


class Distribution:
    """A folder on the import path with a distribution that names the log, and nothing else."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        about = folder / "site" / "laneway_log-1.0.dist-info"
        about.mkdir(parents=True)
        (about / "METADATA").write_text("Metadata-Version: 2.1\nName: laneway-log\nVersion: 1.0\n")
        (about / "entry_points.txt").write_text(
            "[laneway.rollups]\nlog = tests.rollups.log_kind:LogKind\n"
        )
        path = os.pathsep.join([str(folder / "site"), str(ROOT)])
        self.environment = {**os.environ, "PYTHONPATH": path}
        self.url = ""

    def start(self) -> None:
        command = [*["up", "--rollup", "log", "--slot-ms", "150", "--listen", "127.0.0.1:0"]]
        process = subprocess.Popen(
            [sys.executable, "-m", "laneway", *command],
            cwd=self.folder,
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self.process = process
        self.said = said(process)
        rest = next(line for line in self.said.splitlines() if line.startswith("REST "))
        self.url = rest.split()[1].removesuffix("/v1/transactions")

    def run(self, *words: str) -> tuple[int, str]:
        done = subprocess.run(
            [sys.executable, "-m", "laneway", *words, "--url", self.url],
            cwd=self.folder,
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=COMMAND_S_MAX,
            check=False,
        )
        return done.returncode, done.stdout + done.stderr

    def get(self, path: str) -> Any:
        with urlopen(f"{self.url}{path}", timeout=COMMAND_S_MAX) as answer:
            return json.load(answer)


def said(process: subprocess.Popen[str]) -> str:
    """All that a server says until it has said how to try it; killed if that takes too long."""
    assert process.stdout is not None
    late = Timer(START_S_MAX, process.kill)
    late.start()
    found = ""
    try:
        for line in process.stdout:
            found += line
            if line.startswith("try "):
                return found
    finally:
        late.cancel()
    raise AssertionError(found)


@pytest.fixture
def other(tmp_path: Path) -> Iterator[Distribution]:
    distribution = Distribution(tmp_path)
    try:
        distribution.start()
        yield distribution
    finally:
        distribution.process.send_signal(signal.SIGTERM)
        distribution.process.communicate(timeout=START_S_MAX)


def test_another_distributions_rollup_is_built_finalised_and_shown(other: Distribution) -> None:
    assert "laneway rollup send --line hello --wait" in other.said
    assert "accounts" not in other.said, "a log has none"

    for line in LINES:
        code, out = other.run("rollup", "send", "--line", line, "--wait", "--timeout", "60")
        assert (code, "confirmed" in out) == (0, True), out

    # REST.
    (rollup,) = other.get("/v1/rollup")["items"]
    assert (rollup["name"], rollup["kind"], rollup["lane"]) == ("log", "log", "rollup:1")
    receipts = [
        other.get(f"/v1/rollup/log/receipts/{blake2b(line.encode()).hex()}") for line in LINES
    ]
    assert {(one["status"], one["ok"], one["state"]) for one in receipts} == {
        ("ok", True, "finalised")
    }
    newest = other.get(f"/v1/rollup/log/bundles/{receipts[-1]['number']}")
    lines = [line.encode() for line in LINES]
    assert newest["bundle"]["state"] == "finalised"
    assert newest["post_root"] == "0x" + LogState(tuple(lines)).root.hex()
    assert LogState(tuple(lines)).root == grown(ZERO_HASH, lines)
    with pytest.raises(HTTPError, match="422"):
        other.get("/v1/rollup/log/accounts/" + "0" * 64)

    # The command line.
    code, out = other.run("rollup", "list")
    assert (code, out.splitlines()[1].split()[:3]) == (0, ["rollup:1", "log", "log"])
    code, out = other.run("rollup", "receipt", blake2b(b"two").hex())
    assert (code, "finalised" in out) == (0, True), out
    code, out = other.run("rollup", "account", "dev:0")
    assert (code, "a log has no accounts" in out) == (2, True), out
    code, out = other.run("rollup", "send", *["--from", "dev:0", "--to", "dev:1", "--amount", "5"])
    assert (code, "rollup:1 is no ledger" in out) == (2, True), out
    code, out = other.run("rollup", "send", "--line", "one", "--amount", "5")
    assert (code, "say --from, --to and --amount, or --line, or --raw" in out) == (2, True), out

    # What is in the log comes in no second time.
    code, out = other.run("rollup", "send", "--line", "one", "--key", "another")
    assert (code, "confirmed" in out) == (0, True), out


def test_without_the_distribution_its_kind_is_unknown(tmp_path: Path) -> None:
    table = '[[rollup]]\nname = "x"\nkind = "log"\nservice = 1\nnodes = ["devnet"]\n'
    (tmp_path / "laneway.toml").write_text(table)
    done = subprocess.run(
        [sys.executable, "-m", "laneway", "config", "check"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=COMMAND_S_MAX,
        check=False,
    )
    assert done.returncode != 0
    assert "x: there is no kind of rollup log here, but ledger" in done.stdout + done.stderr
