"""Clients that nobody here wrote send to the devnet as they would to a node: cosmjs and cosmpy."""

import asyncio
import json
import os
from pathlib import Path
from typing import Any

import pytest

from laneway.cosmos.messages import MsgSend
from laneway.devnets.cosmos.devnet import CosmosDevnet
from laneway.devnets.cosmos.model.app import MICRO
from laneway_bench import node
from laneway_bench.peers import scripts

ROOT = Path(__file__).parents[3]
PEERS = Path(os.environ.get("LANEWAY_PEERS", ROOT / ".venv-peers"))
SENDS = 3
WAIT_S = 60

pytestmark = [pytest.mark.slow, pytest.mark.timeout(120)]


def question(net: CosmosDevnet) -> dict[str, Any]:
    rules = net.chain.app.rules
    sender, receiver = net.accounts[:2]
    return {
        "url": net.url,
        "chain_id": net.chain_id,
        "key": sender.secret.hex(),
        "prefix": rules.prefix,
        "denom": rules.denom,
        "to": receiver.address(rules.prefix),
        "jobs": SENDS,
        "poll_ms": 20,
        "gas": "100000",
        "fee": "400",
        "gas_price": net.chain.app.price_micro / MICRO,
    }


async def answered(command: list[str], net: CosmosDevnet) -> dict[str, Any]:
    pipe = asyncio.subprocess.PIPE
    child = await asyncio.create_subprocess_exec(*command, stdin=pipe, stdout=pipe, stderr=pipe)
    asked = json.dumps(question(net)).encode() + b"\n"
    try:
        out, errors = await asyncio.wait_for(child.communicate(asked), WAIT_S)
    finally:
        if child.returncode is None:
            child.kill()
    assert child.returncode == 0, errors.decode()[-2_000:]
    found: dict[str, Any] = json.loads(out)["result"]
    return found


@pytest.mark.parametrize("client", ["cosmjs", "cosmpy"])
def test_every_send_of_a_real_client_is_committed_in_its_order(client: str) -> None:
    async def story() -> None:
        async with CosmosDevnet(block_ms=30) as net:
            if client == "cosmjs":
                command = node.command(node.modules(PEERS), "cosmjs_sends.cjs")
            else:
                command = [str(PEERS / "bin/python"), str(scripts() / "cosmpy_sends.py")]
            found = await answered(command, net)
            committed = [net.chain.committed(bytes.fromhex(one)) for one in found["hashes"]]
            sequences = []
            for one in committed:
                assert one is not None
                assert one.delivered.verdict.code == 0
                assert [message.type_url for message in one.tx.body.messages] == [MsgSend.url]
                sequences.append(one.tx.sequence())
            assert sequences == list(range(SENDS))
            sender = net.chain.account(net.accounts[0].raw)
            assert sender is not None
            assert sender.sequence == SENDS

    asyncio.run(story())
