"""Laws of the fault proxy as a command: it says where it listens, and a bad option is one line."""

import asyncio
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from aiohttp import ClientSession
from msgspec import json

from laneway.cli.app import run


@pytest.mark.parametrize(
    "arguments",
    [
        ["--upstream", "nowhere"],
        ["--upstream", "http://127.0.0.1:1", "--listen", "here"],
        ["--upstream", "http://127.0.0.1:1", "--rule", "explode"],
    ],
)
def test_a_bad_option_is_one_line(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["chaos", "proxy", *arguments]) == 2
    assert capsys.readouterr().err.count("\n") == 1


@pytest.mark.slow
@pytest.mark.parametrize("as_json", [False, True])
def test_it_serves_until_it_is_told_to_end(tmp_path: Path, as_json: bool) -> None:
    rules = tmp_path / "rules.json"
    rules.write_text('[{"fault":"error","message":"from the file"}]')
    command = [sys.executable, "-m", "laneway", "chaos", "proxy", "--rules", str(rules)]
    command += ["--upstream", "http://127.0.0.1:1", "--listen", "127.0.0.1:0"]
    command += ["--rule", "error method=first message=given"]
    command += ["--json"] * as_json
    child = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert child.stdout is not None
        line = child.stdout.readline()
        url = json.decode(line)["url"] if as_json else line.split()[-1]

        async def ask(method: str) -> str:
            body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": []}
            async with ClientSession() as session, session.post(url, json=body) as response:
                return str(json.decode(await response.read())["error"]["message"])

        assert asyncio.run(ask("first")) == "given"
        assert asyncio.run(ask("second")) == "from the file"
        child.send_signal(signal.SIGTERM)
        said, _ = child.communicate(timeout=30)
        assert child.returncode == 0
        if as_json:
            assert [rule["struck"] for rule in json.decode(said)] == [1, 1]
        else:
            assert "error first: struck 1 times" in said
    finally:
        child.kill()
        child.wait()
