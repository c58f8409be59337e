"""Laws of the EVM devnet as one thing: when it mines, who has money, how it begins and ends."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import pytest
from aiohttp import ClientSession
from tests.anvil import CHAIN_ID, KEYS, address, signed

from laneway.devnets.evm.accounts import DEV_ACCOUNTS
from laneway.devnets.evm.devnet import EvmDevnet
from laneway.devnets.evm.model.chain import EvmModel
from laneway.devnets.evm.model.rules import GETH
from laneway.devnets.evm.node.host import EvmHost
from laneway.evm.secp256k1 import address as address_of
from laneway.wire.rpc_server.methods import RpcRefused

SEND = "eth_sendRawTransaction"
SENDER = "0x" + address().hex()


def run(story: Callable[[], Coroutine[Any, Any, None]]) -> None:
    asyncio.run(asyncio.wait_for(story(), 30))


def raw(nonce: int) -> str:
    return "0x" + signed(nonce)[0].hex()


def height(devnet: EvmDevnet) -> int:
    return devnet.chain.newest().number


def test_the_known_accounts_are_those_of_their_keys_and_have_money() -> None:
    devnet = EvmDevnet()
    assert [account.secret.hex() for account in DEV_ACCOUNTS[: len(KEYS)]] == [
        key[2:] for key in KEYS
    ]
    assert devnet.say("eth_accounts") == ["0x" + a.address.hex() for a in DEV_ACCOUNTS]
    for account in devnet.accounts:
        assert address_of(account.secret) == account.address
        said = devnet.say("eth_getBalance", "0x" + account.address.hex(), "latest")
        assert said == hex(10_000 * 10**18)


def test_other_balances_another_chain_and_other_words_may_be_had() -> None:
    devnet = EvmDevnet(balances={bytes(20): 5}, chain_id=7, rules=GETH)
    assert devnet.say("eth_chainId") == "0x7"
    assert devnet.say("net_version") == "7"
    assert devnet.say("eth_getBalance", "0x" + "00" * 20, "latest") == "0x5"
    assert str(devnet.say("web3_clientVersion")).startswith("geth/")
    with pytest.raises(RpcRefused) as no:
        devnet.say(SEND, "0x02deadbeef")
    assert no.value.code == -32000


def test_with_block_time_zero_every_send_is_mined_at_once() -> None:
    devnet = EvmDevnet(block_ms=0)
    devnet.say(SEND, raw(0))
    assert height(devnet) == 1
    devnet.say("eth_blockNumber")
    assert height(devnet) == 1, "asking mines nothing"
    devnet.say(SEND, raw(2))
    assert height(devnet) == 1, "what waits for a gap makes no block"
    devnet.say(SEND, raw(1))
    assert height(devnet) == 2
    assert devnet.say("eth_getTransactionCount", SENDER, "latest") == "0x3"


def test_what_comes_in_one_batch_is_mined_in_one_block() -> None:
    async def story() -> None:
        async with EvmDevnet() as devnet, ClientSession() as session:
            batch = [
                {"jsonrpc": "2.0", "id": nonce, "method": SEND, "params": [raw(nonce)]}
                for nonce in range(5)
            ]
            async with session.post(devnet.url, json=batch) as response:
                assert len(await response.json()) == 5
            assert len(devnet.chain.newest().transactions) == 5

    run(story)


def test_without_a_block_time_it_mines_only_when_told_to() -> None:
    devnet = EvmDevnet(block_ms=None)
    devnet.say(SEND, raw(0))
    assert height(devnet) == 0
    devnet.mine(2)
    assert height(devnet) == 2
    devnet.say(SEND, raw(1))
    devnet.say("evm_setAutomine", True)
    assert height(devnet) == 3, "what waits is mined when mining is switched on"
    assert devnet.say("anvil_getAutomine") is True
    devnet.say("evm_setAutomine", False)
    devnet.say(SEND, raw(2))
    assert height(devnet) == 3


def test_with_a_block_time_it_mines_by_the_clock_until_told_otherwise() -> None:
    async def story() -> None:
        async with EvmDevnet(block_ms=5) as devnet:
            devnet.say(SEND, raw(0))
            assert height(devnet) == 0, "not before its time"
            while height(devnet) < 3:
                await asyncio.sleep(0.001)
            assert devnet.say("eth_getTransactionCount", SENDER, "latest") == "0x1"
            devnet.say("evm_setIntervalMining", 0)
            stopped = height(devnet)
            await asyncio.sleep(0.02)
            assert height(devnet) == stopped
            devnet.say("evm_setIntervalMining", 3_600)
            devnet.say("evm_setAutomine", True)
            devnet.say(SEND, raw(1))
            assert height(devnet) == stopped + 1

    run(story)


def test_no_block_is_older_than_the_one_before_it() -> None:
    chain = EvmModel({})
    host = EvmHost(chain, block_ms=None)
    chain.mine(10**15)
    assert host.now_ms() == 10**15 + 1_000, "a second later, as anvil has it"


def test_each_node_has_its_own_address_and_its_own_sight() -> None:
    async def story() -> None:
        async with EvmDevnet(block_ms=None, nodes=2) as devnet, ClientSession() as session:
            devnet.chain.freeze(1)
            devnet.mine()
            said = []
            for url in devnet.urls:
                call = {"jsonrpc": "2.0", "id": 1, "method": "eth_blockNumber"}
                async with session.post(url, json=call) as response:
                    said.append((await response.json())["result"])
            assert said == ["0x1", "0x0"]
            devnet.chain.freeze(1, frozen=False)
            devnet.settle()
            assert devnet.say("eth_blockNumber", node=1) == "0x1"

    run(story)


def test_a_port_that_is_taken_is_said_and_nothing_stays_open() -> None:
    async def story() -> None:
        async with EvmDevnet() as first:
            port = int(first.url.rpartition(":")[2])
            second = EvmDevnet(port=port, nodes=2)
            with pytest.raises(OSError, match="address already in use"):
                await second.start()
            assert first.chain_id == CHAIN_ID

    run(story)
