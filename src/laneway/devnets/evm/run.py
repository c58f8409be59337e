"""The EVM devnet as a process: it says where it listens, and ends when told to."""

import asyncio
import signal

from msgspec import json

from laneway.devnets.evm.devnet import EvmDevnet
from laneway.wire.hex import octets


def run_devnet(*, port: int, block_ms: int, chain_id: int, as_json: bool) -> int:
    devnet = EvmDevnet(port=port, block_ms=block_ms, chain_id=chain_id)
    return asyncio.run(serve(devnet, as_json=as_json))


async def serve(devnet: EvmDevnet, *, as_json: bool) -> int:
    ended = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, ended.set)
    async with devnet:
        print(place_of(devnet) if as_json else lines_of(devnet), flush=True)
        await ended.wait()
    return 0


def place_of(devnet: EvmDevnet) -> str:
    place = {
        "url": devnet.url,
        "ws_url": devnet.ws_url,
        "chain_id": devnet.chain_id,
        "accounts": [
            {"address": octets(account.address), "key": octets(account.secret)}
            for account in devnet.accounts
        ],
    }
    return json.encode(place).decode()


def lines_of(devnet: EvmDevnet) -> str:
    accounts = [
        f"  {octets(account.address)}  {octets(account.secret)}" for account in devnet.accounts
    ]
    return "\n".join(
        [
            f"listening on {devnet.url}, chain {devnet.chain_id}",
            "accounts and their keys, which everybody knows; 10,000 ether each:",
            *accounts,
        ]
    )
