"""The Cosmos devnet as a process, and what it says of itself."""

import asyncio

from msgspec import json

from laneway.devnets.cosmos.app import Rules
from laneway.devnets.cosmos.devnet import CosmosDevnet
from laneway.devnets.serving import serve


def run_devnet(*, port: int, block_ms: int, chain_id: str, as_json: bool) -> int:
    devnet = CosmosDevnet(port=port, block_ms=block_ms, rules=Rules(chain_id=chain_id))
    return asyncio.run(serve(devnet, place_of if as_json else lines_of))


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
