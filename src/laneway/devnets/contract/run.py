"""The contract devnet as a process, and what it says of itself."""

import asyncio

from msgspec import json

from laneway.devnets.contract.model import ContractChain
from laneway.devnets.contract.socket import ContractSocket
from laneway.devnets.serving import serve


def run_devnet(*, port: int, round_ms: int, as_json: bool) -> int:
    node = ContractSocket(ContractChain(round_ms=round_ms), port=port)
    return asyncio.run(serve(node, place_of if as_json else line_of))


def place_of(node: ContractSocket) -> str:
    return json.encode({"url": node.url}).decode()


def line_of(node: ContractSocket) -> str:
    return f"listening on {node.url}, a contract node for host.kind rest"
