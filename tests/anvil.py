"""Private anvils for tests: real EVM nodes on loopback, each with a chain of its own.

They need the program that `make setup` puts under `.tools`. Without it tests fail: an adapter that
was not tried on a real node is not known to work.
"""

import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from eth_account import Account
from msgspec import json
from tests.free_ports import free_port

from laneway.devnets.evm.node.anvil import anvil_program

START_S_MAX = 90.0
SAY_S_MAX = 30.0
CHAIN_ID = 31_337

KEYS = (
    "0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80",
    "0x59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d",
    "0x5de4111afa1a4b94908f83103eb1f1706367c2e68ca870fc3fb9a804cdab365a",
)
"""Of the first accounts that every anvil is started with; 10,000 ether each."""

GWEI = 10**9


def program() -> str:
    found = anvil_program()
    assert found, "the tests need anvil: run make setup"
    return found


class Said(Exception):
    """The node's no."""

    def __init__(self, code: int, message: str) -> None:
        self.code = code
        self.message = message
        super().__init__(f"{code} {message}")


NODES = ("anvil", "devnet")
"""The programs that a test may be run with: they take the same options and the same calls."""
used = ContextVar("used", default="anvil")
"""Which of them a node is from now on."""


def command(port: int) -> list[str]:
    if used.get() == "devnet":
        return [sys.executable, "-m", "laneway", "devnet", "evm", "--port", str(port)]
    return [program(), "--port", str(port), "--host", "127.0.0.1", "--silent"]


class Anvil:
    """One node; it can be stopped, continued, killed and started again on the same port. It may be
    laneway's own devnet as a process."""

    def __init__(self, folder: Path, *options: str) -> None:
        self.folder = folder
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.ws_url = f"ws://127.0.0.1:{self.port}"
        self._options = options
        self._child: subprocess.Popen[bytes] | None = None
        self.start()

    def start(self) -> None:
        with (self.folder / "log").open("ab") as log:
            self._child = subprocess.Popen(
                [*command(self.port), *self._options],
                stdout=log,
                stderr=log,
                stdin=subprocess.DEVNULL,
            )
        try:
            self.await_ready()
        except BaseException:
            self.kill()
            raise

    def await_ready(self) -> None:
        assert self._child is not None
        deadline = time.monotonic() + START_S_MAX
        while True:
            try:
                self.say("eth_chainId")
                return
            except OSError:
                pass
            assert self._child.poll() is None, (self.folder / "log").read_text()
            assert time.monotonic() < deadline, (self.folder / "log").read_text()
            time.sleep(0.02)

    def say(self, method: str, *params: object) -> Any:
        """One call, past every adapter."""
        asked = json.encode({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
        headers = {"Content-Type": "application/json"}
        request = urllib.request.Request(self.url, asked, headers)
        with urllib.request.urlopen(request, timeout=SAY_S_MAX) as answer:
            said = json.decode(answer.read())
        if "error" in said:
            raise Said(said["error"]["code"], said["error"]["message"])
        return said["result"]

    def mine(self, count: int = 1) -> None:
        for _ in range(count):
            self.say("evm_mine")

    def height(self) -> int:
        return int(self.say("eth_blockNumber"), 16)

    def freeze(self) -> None:
        """Stop it as a debugger would; every thread has stopped when this returns."""
        assert self._child is not None
        self._child.send_signal(signal.SIGSTOP)
        deadline = time.monotonic() + START_S_MAX
        threads = Path(f"/proc/{self._child.pid}/task")
        while any(state(said) != "T" for said in stats(threads)):
            assert time.monotonic() < deadline
            time.sleep(0.005)

    def thaw(self) -> None:
        assert self._child is not None
        self._child.send_signal(signal.SIGCONT)

    def end(self) -> None:
        """As an operator would: what it keeps on disk is written."""
        assert self._child is not None
        self._child.terminate()
        self._child.wait(START_S_MAX)

    def kill(self) -> None:
        assert self._child is not None
        self._child.kill()
        self._child.wait()


def stats(threads: Path) -> list[str]:
    return [(thread / "stat").read_text() for thread in threads.iterdir()]


def state(stat: str) -> str:
    """R, S, D, T …: the word behind the program's name, which stands in brackets."""
    return stat.rpartition(")")[2].split()[0]


@contextmanager
def anvil(*options: str) -> Iterator[Anvil]:
    """A node that mines when it is told to, unless the options say otherwise."""
    with TemporaryDirectory(prefix="laneway-anvil-") as folder:
        made = Anvil(Path(folder), *(options or ("--no-mining",)))
        try:
            yield made
        finally:
            made.kill()


def address(key: str = KEYS[0]) -> bytes:
    return bytes.fromhex(Account.from_key(key).address[2:])


def signed(nonce: int, key: str = KEYS[0], **fields: Any) -> tuple[bytes, bytes]:
    """A transfer of one wei in signed bytes, made by eth-account; and its hash."""
    body: dict[str, Any] = {
        "chainId": CHAIN_ID,
        "nonce": nonce,
        "to": "0x" + "11" * 20,
        "value": 1,
        "gas": 21_000,
        "maxFeePerGas": 100 * GWEI,
        "maxPriorityFeePerGas": GWEI,
        "data": "0x",
    }
    body.update(fields)
    made = Account.sign_transaction({k: v for k, v in body.items() if v is not None}, key)
    return bytes(made.raw_transaction), bytes(made.hash)
