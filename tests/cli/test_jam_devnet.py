"""The JAM devnet as a command: it says where it is and who has money, and ends when told to."""

import asyncio
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from aiohttp import ClientSession
from msgspec import json

from laneway.cli.app import run
from laneway.devnets.jam.model.faults import Faults
from laneway.rollups.ledger.account import DEV_ACCOUNTS
from laneway.wiring.config import Configuration, load

DOCUMENT = Path(__file__).parent.parent.parent / "docs/jam-devnet.md"


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("--port", "70000"),
        ("--slot-ms", "-1"),
        ("--slot-ms", "3600001"),
        ("--spec", "large"),
        ("--service", "evm"),
        ("--nodes", "0"),
        ("--nodes", "17"),
    ],
)
def test_a_bad_option_is_a_mistake_of_usage(
    option: str, value: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["devnet", "jam", option, value]) == 2
    assert option in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.parametrize("as_json", [False, True])
def test_it_serves_until_it_is_told_to_end(as_json: bool, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "laneway", "devnet", "jam", "--port", "0"]
    command += ["--slot-ms", "20", "--nodes", "2"] + ["--json"] * as_json
    child = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert child.stdout is not None
        line = child.stdout.readline()
        if as_json:
            urls, shown = json.decode(line)["urls"], line
        else:
            urls = line.removeprefix("listening on ").split()
            shown = "".join(child.stdout.readline() for _ in range(11 + len(DEV_ACCOUNTS)))
        said = json.decode(line)["toml"] if as_json else shown.partition("laneway.toml:")[2]
        (table,) = load_text(said, tmp_path).config.rollup
        assert (table.nodes, table.service, table.slot_ms) == (tuple(urls), 1, 20)
        assert table.genesis is not None
        assert len(urls) == 2
        for account in DEV_ACCOUNTS:
            assert account.id.hex() in shown
            assert account.secret.hex() in shown
        asyncio.run(followed(urls[1]))
        child.send_signal(signal.SIGTERM)
        assert child.wait(30) == 0
    finally:
        child.kill()
        child.communicate()


def load_text(said: str, folder: Path) -> Configuration:
    """As somebody would who copies it."""
    file = folder / "laneway.toml"
    file.write_text(said)
    return load(str(file), {}, {})


async def followed(url: str) -> None:
    async with (
        asyncio.timeout(20),
        ClientSession() as session,
        session.ws_connect(url) as socket,
    ):
        await socket.send_str('{"jsonrpc":"2.0","id":1,"method":"subscribeBestBlock"}')
        said = [await socket.receive_json() for _ in range(4)]
        assert said[0] == {"jsonrpc": "2.0", "result": 1, "id": 1}
        slots = [one["params"]["result"]["slot"] for one in said[1:]]
        assert slots == sorted(set(slots))


def test_the_document_names_every_switch_and_every_call() -> None:
    from laneway.devnets.jam.node.control import CONTROLS
    from laneway.devnets.jam.node.methods import METHODS
    from laneway.devnets.jam.node.subscriptions import SUBSCRIPTIONS

    document = DOCUMENT.read_text()
    for name in (*vars(Faults()), *METHODS, *CONTROLS):
        assert name == "bites" or f"`{name}" in document, name
    for name in SUBSCRIPTIONS:
        assert f"`{name.removeprefix('subscribe')}`" in document, name
