"""An anvil of one contestant's own, for the time of its round: every chain begins empty."""

import json
import signal
import subprocess
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from msgspec import Struct

from laneway.bench.child import BenchFailed, cpu_of, end
from laneway.bench.limits import NODE_ANSWER_S_MAX, SERVER_POLL_S, SERVER_START_S_MAX
from laneway.bench.peers import run
from laneway.bench.redis import free_port
from laneway.devnets.evm.anvil import anvil_program

CHAIN_ID = 31_337
KEY = "0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80"
ADDRESS = "0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266"
"""The first account that every anvil is started with; it has 10,000 ether."""

MINES = ("--block-time", "0.1", "--gas-limit", "1000000000")
"""Ten blocks a second with room for every transfer: the sender is measured and not the block."""
STANDS = ("--no-mining", "--gas-limit", "1000000000")
"""Nothing is ever mined, so that a backlog stands still."""


class Anvil(Struct, frozen=True):
    """A running node and how to reach it."""

    port: int
    pid: int

    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def count(self) -> int:
        """How many transactions of the account are in blocks."""
        return int(self.say("eth_getTransactionCount", ADDRESS, "latest"), 16)

    def say(self, method: str, *params: object) -> Any:
        asked = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
        headers = {"Content-Type": "application/json"}
        request = urllib.request.Request(self.url(), asked.encode(), headers)
        with urllib.request.urlopen(request, timeout=NODE_ANSWER_S_MAX) as answer:
            said = json.loads(answer.read())
        if "error" in said:
            raise BenchFailed(f"anvil: {method}: {said['error']['message']}")
        return said["result"]

    def cpu_s(self) -> float:
        return cpu_of(self.pid)


def program() -> str:
    found = anvil_program()
    if found is None:
        raise BenchFailed("anvil is missing: make setup installs it under .tools")
    return found


def version(path: str) -> str:
    return run([path, "--version"], "ask anvil for its version").split()[2]


@contextmanager
def anvil(path: str, folder: Path, *options: str) -> Iterator[Anvil]:
    """A new node with its files under `folder`, on loopback."""
    port = free_port()
    # Should we be killed, the kernel ends it.
    command = ["setpriv", "--pdeathsig", "KILL", path, "--silent", "--host", "127.0.0.1"]
    command += ["--port", str(port), *options]
    with tempfile.TemporaryFile(dir=folder) as log:
        process = subprocess.Popen(command, stdout=log, stderr=log, stdin=subprocess.DEVNULL)
        try:
            node = Anvil(port, process.pid)
            until_s = time.monotonic() + SERVER_START_S_MAX
            while not is_up(node):
                if process.poll() is not None or time.monotonic() > until_s:
                    log.seek(0)
                    why = log.read().decode("utf-8", "replace").strip()[-1_000:]
                    raise BenchFailed(f"anvil did not start: {why}")
                time.sleep(SERVER_POLL_S)
            yield node
        finally:
            end(process, signal.SIGTERM)


def is_up(node: Anvil) -> bool:
    try:
        node.say("eth_chainId")
    except OSError:
        return False
    return True
