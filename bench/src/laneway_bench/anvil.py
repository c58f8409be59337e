"""An anvil of one contestant's own, for the time of its round: every chain begins empty."""

import json
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from msgspec import Struct

from laneway.devnets.evm.node.anvil import anvil_program
from laneway_bench.child import BenchFailed, cpu_of
from laneway_bench.limits import NODE_ANSWER_S_MAX
from laneway_bench.peers import run
from laneway_bench.servers import free_port, running

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
            reply = json.loads(answer.read())
        if "error" in reply:
            raise BenchFailed(f"anvil: {method}: {reply['error']['message']}")
        return reply["result"]

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
    """A new node on loopback that works in `folder`."""
    port = free_port()
    # Should we be killed, the kernel ends it.
    command = ["setpriv", "--pdeathsig", "KILL", path, "--silent", "--host", "127.0.0.1"]
    command += ["--port", str(port), *options]
    with running("anvil", command, lambda _: is_up(Anvil(port, 0)), cwd=folder) as (process, _):
        yield Anvil(port, process.pid)


def is_up(node: Anvil) -> bool:
    try:
        node.say("eth_chainId")
    except OSError:
        return False
    return True
