"""Laws of the demo's EVM chain: anvil where there is one, else the devnet, and nothing stays."""

import asyncio
from pathlib import Path

import pytest

from laneway.core.errors import ChainUnreachable
from laneway.demo import node as demo_node
from laneway.demo.naive import NaiveSender, pay_naively
from laneway.demo.node import DemoNode, NodeRefused, open_node
from laneway.devnets.evm.accounts import DEV_ACCOUNTS
from laneway.wire.hex import octets
from laneway.wire.jsonrpc import RpcCall

PAYEE = bytes.fromhex("22" * 20)


def program(folder: Path, text: str) -> str:
    made = folder / "anvil"
    made.write_text(f"#!/bin/sh\n{text}\n")
    made.chmod(0o755)
    return str(made)


async def name_of(folder: Path) -> str:
    async with open_node(folder, 100) as node:
        await node.counts([octets(DEV_ACCOUNTS[0].address)])
        return node.name


@pytest.mark.slow
def test_anvil_says_its_version_and_is_gone_afterwards(tmp_path: Path) -> None:
    async def look() -> DemoNode:
        async with open_node(tmp_path, 100) as node:
            assert await node.counts([octets(DEV_ACCOUNTS[0].address)]) == [0]
            return node

    node = asyncio.run(look())
    assert node.name.startswith("anvil 1.")

    async def look_again() -> None:
        again = DemoNode("it", node.url, node.ws_url)
        try:
            with pytest.raises(ChainUnreachable):
                await again.counts([octets(DEV_ACCOUNTS[0].address)])
        finally:
            await again.close()

    asyncio.run(look_again())


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("exit 3", "ended with code 3; its log is "),
        ("exec sleep 60", "does not listen after 0.2 s"),
    ],
)
@pytest.mark.slow
def test_an_anvil_that_does_not_start_is_named_and_not_needed(
    text: str, problem: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = program(tmp_path, text)
    monkeypatch.setattr(demo_node, "anvil_program", lambda: made)
    monkeypatch.setattr(demo_node, "ANVIL_START_S_MAX", 0.2)
    name = asyncio.run(name_of(tmp_path))
    assert name.startswith(f"laneway's devnet (for {made} {problem}")


def test_an_anvil_that_cannot_be_run_is_not_needed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = tmp_path / "anvil"
    made.write_text("")
    monkeypatch.setattr(demo_node, "anvil_program", lambda: str(made))
    name = asyncio.run(name_of(tmp_path))
    assert name == f"laneway's devnet (for {made} cannot be run: Permission denied)"


def test_a_question_that_a_node_refuses_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(demo_node, "anvil_program", lambda: None)

    async def ask() -> None:
        async with open_node(tmp_path, 100) as node:
            with pytest.raises(NodeRefused, match="refuses eth_dance"):
                await node.ask([RpcCall("eth_dance")])

    asyncio.run(ask())


# Without laneway.


@pytest.mark.slow
def test_a_sender_that_reads_the_nonce_again_after_a_lost_answer_pays_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(demo_node, "anvil_program", lambda: None)

    async def pay() -> list[tuple[int, int]]:
        async with open_node(tmp_path, 50) as node:
            lost = await pay_naively(node.url, DEV_ACCOUNTS[0], PAYEE, list(range(1, 11)))
            assert lost == 3
            while True:
                mined = (await node.mined()).get(DEV_ACCOUNTS[0].address, [])
                if len(mined) == 13:
                    return mined
                await asyncio.sleep(0.05)

    mined = asyncio.run(pay())
    assert [nonce for nonce, _ in mined] == list(range(13))
    # Sends 2, 5 and 9 lost their answers: payments 2, 4 and 7 were made again.
    assert [value for _, value in mined] == [1, 2, 2, 3, 4, 4, 5, 6, 7, 7, 8, 9, 10]


@pytest.mark.slow
def test_with_no_answer_lost_the_same_sender_pays_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(demo_node, "anvil_program", lambda: None)

    async def pay() -> int:
        async with open_node(tmp_path, 50) as node:
            sender = NaiveSender(node.url, DEV_ACCOUNTS[0], PAYEE)
            for value in range(1, 6):
                await sender.pay(value)
            await sender.close()
            while (await node.counts([octets(DEV_ACCOUNTS[0].address)])) != [5]:
                await asyncio.sleep(0.05)
            return sender.lost_count

    assert asyncio.run(pay()) == 0
