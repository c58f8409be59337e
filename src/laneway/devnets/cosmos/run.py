"""The Cosmos devnet as a process: it says where it listens, and ends when told to."""

import asyncio
import signal

from msgspec import json

from laneway.devnets.cosmos.app import Rules
from laneway.devnets.cosmos.devnet import CosmosDevnet


def run_devnet(*, port: int, block_ms: int, chain_id: str, as_json: bool) -> int:
    devnet = CosmosDevnet(port=port, block_ms=block_ms, rules=Rules(chain_id=chain_id))
    return asyncio.run(serve(devnet, as_json=as_json))


async def serve(devnet: CosmosDevnet, *, as_json: bool) -> int:
    ended = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, ended.set)
    async with devnet:
        print(place_of(devnet) if as_json else lines_of(devnet), flush=True)
        await ended.wait()
    return 0


def place_of(devnet: CosmosDevnet) -> str:
    prefix = devnet.chain.app.rules.prefix
    place = {
        "url": devnet.url,
        "chain_id": devnet.chain_id,
        "accounts": [
            {"address": account.address(prefix), "key": account.secret.hex()}
            for account in devnet.accounts
        ],
    }
    return json.encode(place).decode()


def lines_of(devnet: CosmosDevnet) -> str:
    prefix = devnet.chain.app.rules.prefix
    accounts = [
        f"  {account.address(prefix)}  {account.secret.hex()}" for account in devnet.accounts
    ]
    return "\n".join(
        [
            f"listening on {devnet.url}, chain {devnet.chain_id}",
            "accounts and their keys, which everybody knows; a million TIA each:",
            *accounts,
        ]
    )
