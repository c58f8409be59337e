"""Laws of docs/from-web3.md: what it shows of laneway runs, and pays once."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from tests import evm_token
from tests.anvil import anvil
from tests.free_ports import free_port

PAGE = (Path(__file__).parents[2] / "docs/from-web3.md").read_text()
AFTER, WORDS = (PAGE.partition(f"## {name}\n")[2] for name in ("After", "Calls in words"))
BLOCK = re.compile(r"```(\w+)\n(.*?)```", re.DOTALL)
TO = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8"
KEY = "ac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80"
ETHER = 10**18
START_S_MAX = 90.0


def blocks(language: str, section: str = AFTER) -> list[str]:
    own = section.partition("\n## ")[0]
    return [text for name, text in BLOCK.findall(own) if name == language]


def ask(url: str, method: str, *params: object) -> Any:
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).encode()
    request = urllib.request.Request(url, body, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=60) as answer:
        return json.loads(answer.read())["result"]


@contextmanager
def started(*words: str, folder: Path, env: dict[str, str]) -> Iterator["subprocess.Popen[str]"]:
    child = subprocess.Popen(
        [sys.executable, "-m", "laneway", *words],
        cwd=folder, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    )  # fmt: skip
    try:
        yield child
    finally:
        child.send_signal(signal.SIGTERM)
        child.communicate(timeout=START_S_MAX)


def until_ready(url: str) -> None:
    deadline_s = time.monotonic() + START_S_MAX
    while True:
        try:
            with urllib.request.urlopen(f"{url}/readyz", timeout=5):
                return
        except OSError:
            assert time.monotonic() < deadline_s
            time.sleep(0.05)


def ran(folder: Path, env: dict[str, str], *words: str) -> str:
    done = subprocess.run(
        words, cwd=folder, env=env, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.slow
def test_every_way_of_the_page_names_one_payment(tmp_path: Path) -> None:
    (toml,), (javascript,), (shell,) = blocks("toml"), blocks("js"), blocks("sh")
    client, embedded = blocks("python")
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    env = os.environ | {"LANEWAY_URL": url, "HOT_KEY": KEY}
    devnet = ("devnet", "evm", "--block-ms", "100", "--json")
    with started(*devnet, folder=tmp_path, env=env) as node:
        assert node.stdout is not None
        rpc = json.loads(node.stdout.readline())["url"]
        before = int(ask(rpc, "eth_getBalance", TO, "latest"), 16)
        assert "http://127.0.0.1:8545" in toml
        (tmp_path / "laneway.toml").write_text(toml.replace("http://127.0.0.1:8545", rpc))
        (tmp_path / "pay.mjs").write_text(javascript)
        with started("up", "--listen", f"127.0.0.1:{port}", folder=tmp_path, env=env):
            until_ready(url)
            paid = ran(tmp_path, env, sys.executable, "-c", client).strip()
            program = shutil.which("node")
            assert program, "the page's JavaScript needs node: run make setup"
            assert ran(tmp_path, env, program, "pay.mjs").strip() == paid
            typed = shell.strip().replace("laneway ", f"{sys.executable} -m laneway ", 1)
            assert paid in ran(tmp_path, env, "sh", "-c", typed)
        assert ran(tmp_path, env, sys.executable, "-c", embedded).strip() == paid
        assert int(ask(rpc, "eth_getBalance", TO, "latest"), 16) - before == ETHER // 10
        mined = ask(rpc, "eth_getTransactionByHash", paid)
        assert (int(mined["value"], 16), int(mined["nonce"], 16)) == (ETHER // 10, 0)


def balance(rpc: str, token: str) -> int:
    call = {"to": token, "data": "0x70a08231" + TO[2:].rjust(64, "0")}
    return int(ask(rpc, "eth_call", call, "latest"), 16)


@pytest.mark.slow
def test_every_way_of_the_page_names_one_call_in_words(tmp_path: Path) -> None:
    (client,), (javascript,), (shell,) = (blocks(name, WORDS) for name in ("python", "js", "sh"))
    (toml,) = blocks("toml")
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    env = os.environ | {"LANEWAY_URL": url, "HOT_KEY": KEY}
    artifact = {"abi": evm_token.ABI, "bytecode": {"object": evm_token.CODE}}
    (tmp_path / "Token.json").write_text(json.dumps(artifact))
    (tmp_path / "call.mjs").write_text(javascript)
    with anvil("--block-time", "0.1") as node:
        (tmp_path / "laneway.toml").write_text(toml.replace("http://127.0.0.1:8545", node.url))
        with started("up", "--listen", f"127.0.0.1:{port}", folder=tmp_path, env=env):
            until_ready(url)
            token, value = ran(tmp_path, env, sys.executable, "-c", client).split()
            assert int(value) == balance(node.url, token) == 15 * ETHER // 10
            program = shutil.which("node")
            assert program, "the page's JavaScript needs node: run make setup"
            sent = ran(tmp_path, env, program, "call.mjs", token).strip()
            typed = shell.replace("laneway ", f"{sys.executable} -m laneway ")
            shown = ran(tmp_path, env | {"TOKEN": token}, "sh", "-ec", typed)
            assert shown.count(sent) == 2
            assert f"transfer(to={TO}, amount={value})" in shown
            assert f"value={value}) of {token}" in shown
        assert balance(node.url, token) == 15 * ETHER // 10
