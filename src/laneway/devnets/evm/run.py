"""The EVM devnet as a process, and what it says of itself."""

import asyncio

from msgspec import json

from laneway.devnets.evm.devnet import EvmDevnet
from laneway.devnets.serving import serve
from laneway.wire.hex import octets


def run_devnet(*, port: int, block_ms: int, chain_id: int, as_json: bool) -> int:
    devnet = EvmDevnet(port=port, block_ms=block_ms, chain_id=chain_id)
    return asyncio.run(serve(devnet, place_of if as_json else lines_of))


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
