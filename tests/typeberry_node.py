"""Private JAM dev networks for tests: real state transitions of npm's @typeberry/lib on loopback.

The network is `tests/typeberry/rpc.mjs`; it needs what `make setup` puts under `.tools/typeberry`.
Without it tests fail: an adapter that was not tried on a real state transition is not known to
work. A network lives in memory and begins at the dev genesis whenever it is started; the same calls
give the same bytes.
"""

import os
import shutil
import signal
import subprocess
import time
import urllib.request
from base64 import b64decode, b64encode
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from hashlib import blake2b
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from msgspec import json
from tests.free_ports import free_port

START_S_MAX = 90.0
SAY_S_MAX = 60.0

HERE = Path(__file__).parent
PACKAGES = HERE.parent / ".tools/typeberry"

GENESIS = bytes.fromhex("2bf11dc5e1c7b9bbaafc2c8533017abc12daeb0baf22c92509ad50f7875e5716")
"""The header hash of the dev network's first block."""
BOOTSTRAP = 0
"""The one service of the dev genesis, and the hash of its code."""
BOOTSTRAP_CODE = bytes.fromhex("d1b097b4410b3a63446d7c57d093972a9744fcd2d74f4a5e2ec163610e6d6327")
NULL_AUTHORIZER = bytes.fromhex("f8d86b97d65319a078e5840f1614c296a5254217794dcc910e72ca174e3c2e86")
"""The hash of the one authorizer's code, which the service hosts; it lets everything pass."""

REFINE_GAS = 10_000_000
ACCUMULATE_GAS = 5_000_000


def node_program() -> str:
    """The one that `make setup` installed because the machine's was too old; else the machine's."""
    for installed in sorted(PACKAGES.glob("node_modules/node-linux-*/bin/node")):
        return str(installed)
    found = shutil.which("node")
    assert found, "the tests need Node: run make setup"
    return found


def text(data: bytes) -> str:
    """Bytes as JIP-2 writes them."""
    return b64encode(data).decode()


def data(said: str) -> bytes:
    return b64decode(said, validate=True)


class Said(Exception):
    """The network's no."""

    def __init__(self, code: int, message: str, about: object = None) -> None:
        self.code = code
        self.message = message
        self.about = about
        super().__init__(f"{code} {message}")


class Typeberry:
    """One network; it can be stopped, continued, killed and started again on the same port."""

    def __init__(self, folder: Path, **settings: int) -> None:
        self.folder = folder
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.ws_url = f"ws://127.0.0.1:{self.port}"
        self._settings = {name: str(value) for name, value in settings.items()}
        self._child: subprocess.Popen[bytes] | None = None
        self.start()

    def start(self) -> None:
        settings = {"PORT": str(self.port), "END_WITH_STDIN": "1", **self._settings}
        settings["TYPEBERRY_FOLDER"] = str(PACKAGES)
        log = self.folder / "log"
        with log.open("wb") as written:
            self._child = subprocess.Popen(
                [node_program(), str(HERE / "typeberry/rpc.mjs")],
                env={**os.environ, **settings},
                stdin=subprocess.PIPE,
                stdout=written,
                stderr=written,
            )
        try:
            self.await_ready(log)
        except BaseException:
            self.kill()
            raise

    def await_ready(self, log: Path) -> None:
        assert self._child is not None
        deadline = time.monotonic() + START_S_MAX
        while b"listening on " not in log.read_bytes():
            assert self._child.poll() is None, log.read_text()
            assert time.monotonic() < deadline, log.read_text()
            time.sleep(0.02)

    def ask(self, body: bytes) -> Any:
        """What is answered to these bytes, whatever they are."""
        request = urllib.request.Request(self.url, body, {"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=SAY_S_MAX) as answer:
            return json.decode(answer.read())

    def say(self, method: str, *params: object) -> Any:
        """One call, past every adapter."""
        answer = self.ask(
            json.encode({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
        )
        if "error" in answer:
            error = answer["error"]
            raise Said(error["code"], error["message"], error.get("data"))
        return answer["result"]

    def produce(self, count: int = 1, **wishes: object) -> Any:
        """Make blocks by `dev_produce` and say what the last one did."""
        assert count > 0
        for _ in range(count):
            made = self.say("dev_produce", wishes)
        return made

    def reset(self, finality_depth: int) -> None:
        """Begin at the genesis again, in the same process; connections are cut."""
        self.say("dev_reset", finality_depth)

    def submit(self, package: bytes, core: int = 0, extrinsics: Sequence[bytes] = ()) -> str:
        """Hand a package in; its hash as JIP-2 writes it."""
        self.say("submitWorkPackage", core, text(package), [text(one) for one in extrinsics])
        return text(blake2b(package, digest_size=32).digest())

    def freeze(self) -> None:
        """Stop it as a debugger would; it has stopped when this returns."""
        assert self._child is not None
        self._child.send_signal(signal.SIGSTOP)
        deadline = time.monotonic() + START_S_MAX
        told = Path(f"/proc/{self._child.pid}/status")
        while "(stopped)" not in told.read_text():
            assert time.monotonic() < deadline
            time.sleep(0.005)

    def thaw(self) -> None:
        assert self._child is not None
        self._child.send_signal(signal.SIGCONT)

    def end(self) -> int:
        """Let go of it, as a test does that dies; what it ended with."""
        assert self._child is not None
        assert self._child.stdin is not None
        self._child.stdin.close()
        return self._child.wait(START_S_MAX)

    def kill(self) -> None:
        assert self._child is not None
        assert self._child.stdin is not None
        self._child.kill()
        self._child.stdin.close()
        self._child.wait()


@contextmanager
def typeberry(**settings: int) -> Iterator[Typeberry]:
    """A network that makes a block when it is told to, or each `SLOT_MS` if that is given.

    The settings are those of `rpc.mjs`: SLOT_MS, FINALITY_DEPTH, SUBSCRIPTION_COUNT_MAX."""
    with TemporaryDirectory(prefix="laneway-typeberry-") as folder:
        made = Typeberry(Path(folder), **settings)
        try:
            yield made
        finally:
            made.kill()


def work_package(
    node: Typeberry,
    payload: bytes = b"",
    *,
    anchor: str | None = None,
    prerequisites: Sequence[str] = (),
    **changes: Any,
) -> bytes:
    """A package of one item for Bootstrap, in bytes; by default anchored at the best block.

    It is written here by hand and not by laneway's own codec, so that the two may be compared.
    Changes: state_root, beefy_root, lookup_anchor, lookup_slot, authorizer, service, code,
    refine_gas, accumulate_gas, exports, imports, extrinsics."""
    best = anchor or node.say("bestBlock")["header_hash"]
    lookup = changes.get("lookup_anchor", best)
    if "lookup_slot" not in changes:
        changes["lookup_slot"] = node.say("dev_block", lookup)["slot"]
    context = b"".join(
        (
            data(best),
            changes.get("state_root") or data(node.say("stateRoot", best)),
            changes.get("beefy_root") or data(node.say("beefyRoot", best)),
            data(lookup),
            changes["lookup_slot"].to_bytes(4, "little"),
            counted([data(one) for one in prerequisites]),
        )
    )
    item = b"".join(
        (
            changes.get("service", BOOTSTRAP).to_bytes(4, "little"),
            changes.get("code", BOOTSTRAP_CODE),
            changes.get("refine_gas", REFINE_GAS).to_bytes(8, "little"),
            changes.get("accumulate_gas", ACCUMULATE_GAS).to_bytes(8, "little"),
            changes.get("exports", 0).to_bytes(2, "little"),
            natural(len(payload)) + payload,
            counted([bytes(34)] * changes.get("imports", 0)),
            counted(changes.get("extrinsics", [])),
        )
    )
    authorizer: bytes = changes.get("authorizer", NULL_AUTHORIZER)
    return bytes(4) + authorizer + context + natural(0) + natural(0) + counted([item])


def extrinsic_spec(extrinsic: bytes) -> bytes:
    """How a work item names an extrinsic."""
    return blake2b(extrinsic, digest_size=32).digest() + len(extrinsic).to_bytes(4, "little")


def counted(items: Sequence[bytes]) -> bytes:
    return natural(len(items)) + b"".join(items)


def natural(value: int) -> bytes:
    """The general encoding of a natural below 2**14; no more is needed here."""
    assert value < 1 << 14
    return bytes([value]) if value < 128 else bytes([128 + (value >> 8), value & 255])
