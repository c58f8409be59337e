"""Laws of the devnet as a command: it says where it is and who has money, and ends when told to."""

import asyncio
import signal
import subprocess
import sys

import pytest
from aiohttp import ClientSession
from msgspec import json

from laneway import Laneway, RestHost
from laneway.cli.app import run
from laneway.devnets.cosmos.accounts import DEV_ACCOUNTS as COSMOS_ACCOUNTS
from laneway.devnets.evm.accounts import DEV_ACCOUNTS


@pytest.mark.parametrize(
    "arguments",
    [
        ["contract", "--port", "70000"],
        ["contract", "--round-ms", "0"],
        ["evm", "--port", "70000"],
        ["evm", "--block-ms", "-1"],
        ["evm", "--chain-id", "0"],
        ["evm", "--accounts", "0"],
        ["evm", "--balance", "-1"],
        ["evm", "--block-time", "0"],
        ["evm", "--gas-limit", "1"],
        ["evm", "--hardfork", "london"],
        ["cosmos", "--port", "70000"],
        ["cosmos", "--block-ms", "0"],
    ],
)
def test_a_bad_option_is_a_mistake_of_usage(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["devnet", *arguments]) == 2
    assert arguments[1] in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.parametrize("as_json", [False, True])
def test_a_contract_node_serves_until_it_is_told_to_end(as_json: bool) -> None:
    command = [sys.executable, "-m", "laneway", "devnet", "contract", "--port", "0"]
    command += ["--round-ms", "5"] + ["--json"] * as_json
    child = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert child.stdout is not None
        line = child.stdout.readline()
        url = json.decode(line)["url"] if as_json else line.split()[2].rstrip(",")

        async def story() -> None:
            async with (
                asyncio.timeout(20),
                Laneway.open(":memory:", RestHost(url, password="")) as laneway,
            ):
                handle = await laneway.submit("Qm1", "x")
                assert (await handle.result()).block == 1

        asyncio.run(story())
        child.send_signal(signal.SIGTERM)
        assert child.wait(20) == 0
    finally:
        child.kill()
        child.wait(20)
        assert child.stdout is not None
        child.stdout.close()


@pytest.mark.slow
@pytest.mark.parametrize("as_json", [False, True])
def test_a_cosmos_chain_serves_until_it_is_told_to_end(as_json: bool) -> None:
    command = [sys.executable, "-m", "laneway", "devnet", "cosmos", "--port", "0"]
    command += ["--block-ms", "20", "--chain-id", "mine"] + ["--json"] * as_json
    child = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert child.stdout is not None
        line = child.stdout.readline()
        if as_json:
            place = json.decode(line)
            url, shown = place["url"], line
            assert place["chain_id"] == "mine"
        else:
            url = line.split()[2].rstrip(",")
            shown = "".join(child.stdout.readline() for _ in range(1 + len(COSMOS_ACCOUNTS)))
        for account in COSMOS_ACCOUNTS:
            assert account.address("celestia") in shown
            assert account.secret.hex() in shown

        async def story() -> None:
            async with asyncio.timeout(20), ClientSession() as session:
                height = 0
                while height < 3:
                    async with session.get(f"{url}/status") as response:
                        said = json.decode(await response.read())["result"]
                    assert said["node_info"]["network"] == "mine"
                    height = int(said["sync_info"]["latest_block_height"])

        asyncio.run(story())
        child.send_signal(signal.SIGTERM)
        assert child.wait(30) == 0
    finally:
        child.kill()
        child.communicate()


@pytest.mark.slow
@pytest.mark.parametrize("as_json", [False, True])
def test_it_serves_until_it_is_told_to_end(as_json: bool) -> None:
    command = [sys.executable, "-m", "laneway", "devnet", "evm", "--port", "0"]
    command += ["--block-ms", "20", "--chain-id", "7"] + ["--json"] * as_json
    child = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert child.stdout is not None
        line = child.stdout.readline()
        if as_json:
            place = json.decode(line)
            url, shown = place["url"], line
            assert place["chain_id"] == 7
        else:
            shown = line
            while not line.startswith("Listening on "):
                line = child.stdout.readline()
                shown += line
            url = "http://" + line.split()[2]
            assert "(9) 0xa0Ee7A142d267C1f36714E4a8F75612F20a79720 (10000.000" in shown
            assert "Chain ID\n==================\n\n7\n" in shown
        shown = shown.lower()
        for account in DEV_ACCOUNTS:
            assert account.address.hex() in shown
            assert account.secret.hex() in shown

        async def ask(method: str) -> str:
            body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": []}
            async with ClientSession() as session, session.post(url, json=body) as response:
                return str(json.decode(await response.read())["result"])

        async def story() -> None:
            assert await ask("eth_chainId") == "0x7"
            async with asyncio.timeout(20):
                while await ask("eth_blockNumber") == "0x0":
                    await asyncio.sleep(0.005)

        asyncio.run(story())
        child.send_signal(signal.SIGTERM)
        assert child.wait(30) == 0
    finally:
        child.kill()
        child.communicate()


@pytest.mark.slow
def test_a_port_that_is_taken_is_one_line() -> None:
    command = [sys.executable, "-m", "laneway", "devnet", "evm", "--json", "--port"]
    with subprocess.Popen([*command, "0"], stdout=subprocess.PIPE, text=True) as first:
        try:
            assert first.stdout is not None
            port = json.decode(first.stdout.readline())["url"].rpartition(":")[2]
            second = subprocess.run([*command, port], capture_output=True, text=True, check=False)
            assert second.returncode == 1
            assert second.stderr.count("\n") == 1
            assert "in use" in second.stderr
        finally:
            first.kill()


@pytest.mark.slow
def test_it_has_anvils_options() -> None:
    command = [sys.executable, "-m", "laneway", "devnet", "evm", "--port", "0", "--no-mining"]
    command += ["--accounts", "12", "--balance", "7", "--gas-limit", "1000000"]
    command += ["--hardfork", "osaka", "--block-time", "3600"]
    child = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert child.stdout is not None
        shown = ""
        while "Listening on " not in shown:
            shown += child.stdout.readline()
        # What anvil --accounts 12 has as its last one.
        assert "(11) 0x71bE63f3384f5fb98995898A86B02Fb2426c5788 (7.000" in shown
        assert "(11) 0x701b615bbdfb9de65240bc28bd21bbc0d996645a3dd57e7b12bc2bdf6f192c82" in shown
        assert "Gas Limit\n==================\n\n1000000\n" in shown
        child.send_signal(signal.SIGTERM)
        assert child.wait(30) == 0
    finally:
        child.kill()
        child.communicate()
