"""The Cosmos devnet in a process of its own: no contestant pays for the node it sends to.

Asked once how it should be, it says where it is; then it counts what is on its chain.
"""

from typing import Any

from laneway.cosmos.keys import HeldCosmosKey, raw_address
from laneway.devnets.cosmos.devnet import CosmosDevnet
from laneway.devnets.cosmos.limits import BALANCE_DEV
from laneway.devnets.cosmos.model.app import CosmosRules
from laneway.devnets.cosmos.model.mempool import MempoolRules
from laneway_bench.contestant import serve
from laneway_bench.limits import NODE_BLOCK_BYTES_MAX, NODE_COUNT_MAX, NODE_MEMPOOL_BYTES_MAX


def secret(number: int) -> bytes:
    """Of an account that every contestant knows."""
    return number.to_bytes(32, "big")


def devnet(question: dict[str, Any]) -> CosmosDevnet:
    """A fresh chain whose blocks and mempool are never what a contestant waits for."""
    keys = [HeldCosmosKey(secret(number)) for number in range(1, 1 + question["accounts"])]
    return CosmosDevnet(
        block_ms=question["block_ms"],
        rules=CosmosRules(
            block_bytes_max=NODE_BLOCK_BYTES_MAX, blob_txs_max=NODE_COUNT_MAX, keeps_blobs=False
        ),
        nodes=(MempoolRules(bytes_max=NODE_MEMPOOL_BYTES_MAX, count_max=NODE_COUNT_MAX),),
        balances={raw_address(key.public_key): BALANCE_DEV for key in keys},
    )


def counted(net: CosmosDevnet) -> dict[str, int]:
    """What is on the chain: how many, and how many of them failed."""
    chain = net.chain
    found = [chain.committed(hash_) for block in chain.blocks for hash_ in block.hashes]
    codes = [one.delivered.verdict.code for one in found if one is not None]
    return {"committed": len(codes), "failed": sum(map(bool, codes)), "height": chain.height}


async def answer(net: CosmosDevnet, _question: dict[str, Any]) -> dict[str, int]:
    return counted(net)


def main() -> None:
    serve(devnet, answer, lambda net: {"url": net.url, "chain_id": net.chain_id})


if __name__ == "__main__":
    main()
