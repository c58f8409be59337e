"""Clients that nobody here wrote see on the EVM devnet what they see on anvil: viem, ethers and
web3.py, each in a script as its own documentation has them.

Where they see something else is listed in docs/evm-devnet.md; what is in no row, or in one whose
difference is gone, fails.
"""

import asyncio
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.anvil import KEYS, anvil

from laneway.devnets.evm.devnet import EvmDevnet
from laneway_bench import node
from laneway_bench.evm.contracts import creation_codes
from laneway_bench.peers import environment

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
PAGE = ROOT / "docs/evm-devnet.md"
PEERS = Path(os.environ.get("LANEWAY_PEERS", ROOT / ".venv-peers"))
WAIT_S = 90
SCRIPTS = {"viem": "viem.cjs", "ethers": "ethers.cjs", "web3.py": "web3py.py"}

STEPS = (
    *("chain", "deploy", "read", "transfer", "logs", "watch by a filter"),
    *("watch by a subscription", "replace", "cancel", "revert", "estimate", "override", "trace"),
    *("fees", "proof", "snapshot", "impersonate"),
)
"""What every script does at least, in this order."""
TOO_LITTLE = "ERC20InsufficientBalance"

DIFFERENCES = {
    "trace.failed.gas": "gas in traces",
    "trace.moved.gas": "gas in traces",
}
"""What is not the same, with its row of the page; alike for all three."""

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]


def command(client: str) -> list[str]:
    script = str(HERE / SCRIPTS[client])
    if script.endswith(".py"):
        return [str(environment(PEERS, ["web3"])), script]
    return node.command(node.modules(PEERS), script)


async def told(client: str, url: str, ws_url: str) -> dict[str, Any]:
    """What the client's script finds on this node, by step."""
    code = creation_codes(node.modules(PEERS))["Token"]
    asked = {"url": url, "ws_url": ws_url, "key": KEYS[0], "code": "0x" + code.hex()}
    pipe = asyncio.subprocess.PIPE
    child = await asyncio.create_subprocess_exec(
        *command(client), stdin=pipe, stdout=pipe, stderr=pipe
    )
    try:
        sent = json.dumps(asked).encode() + b"\n"
        out, errors = await asyncio.wait_for(child.communicate(sent), WAIT_S)
    finally:
        if child.returncode is None:
            child.kill()
    assert child.returncode == 0, out.decode()[-500:] + errors.decode()[-2_000:]
    lines = [json.loads(line) for line in out.splitlines()]
    return {line["step"]: line["found"] for line in lines}


def differing(anvils: Any, ours: Any, where: str = "") -> Iterator[str]:
    """The places whose values are not the same."""
    if isinstance(anvils, dict) and isinstance(ours, dict):
        for key in sorted({*anvils, *ours}):
            place = f"{where}.{key}" if where else key
            yield from differing(anvils.get(key, "absent"), ours.get(key, "absent"), place)
    elif anvils != ours:
        yield where


@pytest.mark.parametrize("client", SCRIPTS)
def test_a_client_sees_the_same_on_anvil_and_on_the_devnet(client: str) -> None:
    async def here() -> dict[str, Any]:
        async with EvmDevnet() as devnet:
            return await told(client, devnet.url, devnet.ws_url)

    # Without this option anvil keeps no steps to be traced.
    with anvil("--steps-tracing") as real:
        theirs = asyncio.run(told(client, real.url, real.ws_url))
    assert [step for step in theirs if step in STEPS] == [*STEPS]
    assert TOO_LITTLE in str(theirs["revert"])
    assert [*differing(theirs, asyncio.run(here()))] == [*DIFFERENCES]


def test_each_difference_has_its_row() -> None:
    page = PAGE.read_text()
    assert [row for row in DIFFERENCES.values() if f"| {row} |" not in page] == []
