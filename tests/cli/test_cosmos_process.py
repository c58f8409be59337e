"""Three processes as a person starts them: a chain, a server, and commands."""

import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from msgspec import json
from tests.cosmos_stage import NAMESPACE

pytestmark = pytest.mark.slow

LANEWAY = (sys.executable, "-m", "laneway")


@contextmanager
def beside(*words: str) -> Iterator[Iterator[str]]:
    """A command that serves; the lines it says."""
    child = subprocess.Popen([*LANEWAY, *words], stdout=subprocess.PIPE, text=True)
    try:
        assert child.stdout is not None
        yield child.stdout
        child.send_signal(signal.SIGTERM)
        child.communicate(timeout=20)
        assert child.returncode == 0
    finally:
        child.kill()
        child.wait()


@contextmanager
def serving(file: Path) -> Iterator[str]:
    with beside("up", "--config", str(file)) as lines:
        found = re.search(r"http://\S+:\d+", next(lines))
        assert found is not None
        yield found[0]


def typed(url: str, *words: str) -> Any:
    said = subprocess.run(
        [*LANEWAY, *words, "--url", url, "--json"], capture_output=True, timeout=60, check=True
    )
    return json.decode(said.stdout)


def test_a_chain_a_server_and_a_sender_in_processes_of_their_own(tmp_path: Path) -> None:
    file, key = tmp_path / "laneway.toml", tmp_path / "main.key"
    with beside("devnet", "cosmos", "--port", "0", "--block-ms", "50", "--json") as lines:
        place = json.decode(next(lines))
        own, other = place["accounts"][:2]
        key.touch(mode=0o600)
        key.write_text(own["key"])
        file.write_text(f"""
[store]
path = "{tmp_path / "q.db"}"
[server]
port = 0
[sequence]
poll_ms = 50
[[cosmos]]
name = "dev"
chain_id = "{place["chain_id"]}"
nodes = ["{place["url"]}"]
[[cosmos.accounts]]
name = "main"
signer = "file:{key}"
""")
        pay = ("send", "cosmos:dev", "--to", other["address"], "--amount", "5utia", "--key", "k")
        with serving(file) as url:
            done = typed(url, *pay, "--wait", "--timeout", "30")
            assert (done["status"], done["cosmos"]["sequence"]) == ("confirmed", 0)
            blob = tmp_path / "blob"
            blob.write_bytes(b"some data")
            words = ("--blob", str(blob), "--namespace", NAMESPACE)
            sent = typed(url, "send", "cosmos:dev", *words)
        with serving(file) as url:
            # What was accepted survives, and what was sent is not sent again.
            landed = typed(url, "tx", "wait", sent["id"], "--timeout", "30")
            assert (landed["status"], landed["cosmos"]["sequence"]) == ("confirmed", 1)
            assert typed(url, *pay)["hash"] == done["hash"]
            lane = typed(url, "lane", "show", "cosmos:dev")
            assert (lane["queue"]["executed"], lane["cosmos"]["committed"]) == (2, 2)
