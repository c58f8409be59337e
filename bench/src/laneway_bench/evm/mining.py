"""How quickly anvil makes a block of transactions that lie in its pool: for orientation only.

It is wall time of one request on whatever cores it takes, with roots and its own bookkeeping.
"""

import json
import time
import urllib.request
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from laneway_bench.anvil import Anvil, anvil
from laneway_bench.child import BenchFailed
from laneway_bench.limits import EVM_SEND_BATCH, NODE_ANSWER_S_MAX

OPTIONS = ("--no-mining", "--hardfork", "prague", "--gas-limit", str(10**12))


def mining_rate(program: str, folder: Path, question: dict[str, Any]) -> float:
    """Transactions a second."""
    fee = str(question["block"]["base_fee"])
    with anvil(program, folder, *OPTIONS, "--block-base-fee-per-gas", fee) as node:
        say_all(node, list(settings(question["state"])))
        sends = [("eth_sendRawTransaction", [raw]) for raw in question["transactions"]]
        for first in range(0, len(sends), EVM_SEND_BATCH):
            say_all(node, sends[first : first + EVM_SEND_BATCH])
        node.say("evm_setNextBlockTimestamp", question["block"]["time"])
        begun_s = time.perf_counter()
        node.say("evm_mine")
        spent_s = time.perf_counter() - begun_s
        block = node.say("eth_getBlockByNumber", "latest", False)
    if int(block["gasUsed"], 16) != sum(question["gas"]):
        raise BenchFailed("anvil: the gas differs")
    return len(sends) / spent_s


def settings(state: dict[str, Any]) -> Iterator[tuple[str, list[str]]]:
    """What makes a new chain have this state."""
    for address, account in state.items():
        yield "anvil_setBalance", [address, account["balance"]]
        yield "anvil_setNonce", [address, hex(account["nonce"])]
        if account["code"] != "0x":
            yield "anvil_setCode", [address, account["code"]]
        for key, value in account["storage"].items():
            yield "anvil_setStorageAt", [address, key, f"0x{int(value, 16):064x}"]


def say_all(node: Anvil, calls: Sequence[tuple[str, list[str]]]) -> None:
    """Many calls in one request."""
    asked = [
        {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
        for number, (method, params) in enumerate(calls)
    ]
    headers = {"Content-Type": "application/json"}
    request = urllib.request.Request(node.url(), json.dumps(asked).encode(), headers)
    with urllib.request.urlopen(request, timeout=NODE_ANSWER_S_MAX) as answer:
        for reply in json.loads(answer.read()):
            if "error" in reply:
                raise BenchFailed(f"anvil: {reply['error']['message']}")
