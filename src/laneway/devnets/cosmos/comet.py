"""What a node is asked: CometBFT's methods by their names, on the model, in the shapes of
celestia-core 0.38."""

import base64
import hashlib
import re
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from laneway.devnets.cosmos import words
from laneway.devnets.cosmos.given import INTERNAL, Given, RpcRefused
from laneway.devnets.cosmos.limits import STATUSES_MAX
from laneway.devnets.cosmos.model import (
    Committed,
    CosmosChain,
    NodeRefused,
    Standing,
    Status,
)
from laneway.devnets.cosmos.queries import query
from laneway.devnets.cosmos.words import Verdict

Json = dict[str, Any]
Method = Callable[[CosmosChain, int, Given], Json]

VERSION = "0.38.17"
HASH_BYTES = 32
PER_PAGE = 30
PER_PAGE_MAX = 100
SEARCHED_HASH = re.compile(r"tx\.hash\s*=\s*'([0-9A-Fa-f]{64})'")
SEARCHED_NUMBER = re.compile(r"tx\.acc_seq\s*=\s*'([0-9a-z]{1,100})/(\d{1,20})'")


def broadcast(chain: CosmosChain, node: int, given: Given) -> Json:
    try:
        hash_, verdict = chain.broadcast(node, given.octets("tx"))
    except NodeRefused as no:
        raise RpcRefused(INTERNAL, str(no)) from None
    return {
        "code": verdict.code,
        "data": "",
        "log": verdict.log,
        "codespace": verdict.codespace,
        "hash": named(hash_),
    }


def tx_status(chain: CosmosChain, node: int, given: Given) -> Json:
    return status_shown(chain.status(node, checked_hash(given.octets("hash"))))


def tx_status_batch(chain: CosmosChain, node: int, given: Given) -> Json:
    asked = given.many_octets("hashes")
    if len(asked) > STATUSES_MAX:
        raise RpcRefused(INTERNAL, words.too_many(STATUSES_MAX))
    hashes = [checked_hash(one) for one in asked]
    statuses = [
        {"hash": named(one), "result": status_shown(chain.status(node, one))} for one in hashes
    ]
    return {"statuses": statuses}


def checked_hash(hash_: bytes) -> bytes:
    if len(hash_) != HASH_BYTES:
        raise RpcRefused(INTERNAL, words.bad_key(len(hash_)))
    return hash_


def status_shown(status: Status) -> Json:
    shown: Json = {
        "height": "0",
        "index": 0,
        "execution_code": status.verdict.code,
        "error": status.verdict.log,
        "status": status.standing.value,
    }
    committed = status.committed
    if status.standing is not Standing.COMMITTED or committed is None:
        return shown
    shown["height"], shown["index"] = str(committed.height), committed.index
    delivered = committed.delivered
    if delivered.verdict.codespace:
        shown["codespace"] = delivered.verdict.codespace
    shown["gas_wanted"] = str(delivered.gas_wanted)
    shown["gas_used"] = str(delivered.gas_used)
    shown["signers"] = list(delivered.signers)
    return shown


def abci_query(chain: CosmosChain, node: int, given: Given) -> Json:
    found = query(chain, node, given.text("path"), given.hex_octets("data"))
    verdict = found if isinstance(found, Verdict) else words.OK
    value = None if isinstance(found, Verdict) else base64.b64encode(found).decode()
    return {
        "response": {
            "code": verdict.code,
            "log": verdict.log,
            "info": "",
            "index": "0",
            "key": None,
            "value": value,
            "proofOps": None,
            "height": str(chain.height),
            "codespace": verdict.codespace,
        }
    }


def abci_info(chain: CosmosChain, _node: int, _given: Given) -> Json:
    last = {
        "data": "laneway-devnet",
        "version": "1",
        "app_version": "1",
        "last_block_height": str(chain.height),
        "last_block_app_hash": base64.b64encode(app_hash(chain.height)).decode(),
    }
    return {"response": last}


def tx(chain: CosmosChain, _node: int, given: Given) -> Json:
    hash_ = given.octets("hash")
    found = chain.committed(hash_)
    if found is None:
        raise RpcRefused(INTERNAL, f"tx ({named(hash_)}) not found")
    return tx_shown(found)


def tx_search(chain: CosmosChain, _node: int, given: Given) -> Json:
    """By a hash, or by an account and its sequence: all that clients look for."""
    asked = given.text("query").strip()
    by_hash, by_number = SEARCHED_HASH.fullmatch(asked), SEARCHED_NUMBER.fullmatch(asked)
    if by_hash is None and by_number is None:
        raise RpcRefused(INTERNAL, "this devnet searches by tx.hash and tx.acc_seq alone")
    page = given.number("page", 1)
    given.number("per_page", PER_PAGE)
    if page != 1:
        raise RpcRefused(INTERNAL, f"page should be within [1, 1] range, given {page}")
    if by_hash is not None:
        found = chain.committed(bytes.fromhex(by_hash[1]))
    else:
        assert by_number is not None
        found = chain.used_by(by_number[1], int(by_number[2]))
    txs = [] if found is None else [tx_shown(found)]
    return {"txs": txs, "total_count": str(len(txs))}


def tx_shown(found: Committed) -> Json:
    delivered = found.delivered
    return {
        "hash": named(found.tx.hash),
        "height": str(found.height),
        "index": found.index,
        "tx_result": {
            "code": delivered.verdict.code,
            "data": None,
            "log": delivered.verdict.log,
            "info": "",
            "gas_wanted": str(delivered.gas_wanted),
            "gas_used": str(delivered.gas_used),
            "events": [],
            "codespace": delivered.verdict.codespace,
        },
        "tx": base64.b64encode(found.raw).decode(),
    }


def unconfirmed_txs(chain: CosmosChain, node: int, given: Given) -> Json:
    asked = given.number("limit", PER_PAGE)
    limit = min(asked, PER_PAGE_MAX) if asked > 0 else PER_PAGE
    mempool = chain.nodes[node].mempool
    held = [base64.b64encode(one.raw).decode() for one in mempool.in_order()]
    return {
        "n_txs": str(min(limit, len(held))),
        "total": str(len(held)),
        "total_bytes": str(mempool.size),
        "txs": held[:limit],
    }


def num_unconfirmed_txs(chain: CosmosChain, node: int, _given: Given) -> Json:
    mempool = chain.nodes[node].mempool
    count = str(len(mempool))
    return {"n_txs": count, "total": count, "total_bytes": str(mempool.size), "txs": None}


def health(_chain: CosmosChain, _node: int, _given: Given) -> Json:
    return {}


def status(chain: CosmosChain, node: int, _given: Given) -> Json:
    height = chain.height
    made_ms = chain.blocks[-1].made_ms if chain.blocks else 0
    first_ms = chain.blocks[0].made_ms if chain.blocks else 0
    key = hashlib.sha256(b"node %d" % node).digest()
    return {
        "node_info": {
            "protocol_version": {"p2p": "8", "block": "11", "app": "1"},
            "id": key[:20].hex(),
            "listen_addr": "tcp://127.0.0.1:26656",
            "network": chain.app.rules.chain_id,
            "version": VERSION,
            "channels": "40202122233038606100",
            "moniker": f"laneway-devnet-{node}",
            "other": {"tx_index": "on", "rpc_address": "tcp://127.0.0.1:26657"},
        },
        "sync_info": {
            "latest_block_hash": named(block_hash(height, chain.genesis)),
            "latest_app_hash": named(app_hash(height)),
            "latest_block_height": str(height),
            "latest_block_time": timestamp(made_ms),
            "earliest_block_hash": named(block_hash(1, chain.genesis)),
            "earliest_app_hash": named(app_hash(1)),
            "earliest_block_height": "1",
            "earliest_block_time": timestamp(first_ms),
            "catching_up": False,
        },
        "validator_info": {
            "address": key[:20].hex().upper(),
            "pub_key": {
                "type": "tendermint/PubKeyEd25519",
                "value": base64.b64encode(key).decode(),
            },
            "voting_power": "1" if node == 0 else "0",
        },
    }


def block(chain: CosmosChain, _node: int, given: Given) -> Json:
    height = given.number("height", chain.height)
    if height <= 0:
        raise RpcRefused(INTERNAL, f"height must be greater than 0, but got {height}")
    if height > chain.height:
        newest = f"height {height} must be less than or equal to the current blockchain height"
        raise RpcRefused(INTERNAL, f"{newest} {chain.height}")
    found = chain.blocks[height - 1]
    txs = [chain.committed(one) for one in found.hashes]
    header = {
        "version": {"block": "11", "app": "1"},
        "chain_id": chain.app.rules.chain_id,
        "height": str(height),
        "time": timestamp(found.made_ms),
        "app_hash": named(app_hash(height - 1)),
    }
    raws = [base64.b64encode(one.raw).decode() for one in txs if one is not None]
    return {
        "block_id": {"hash": named(block_hash(height, chain.genesis))},
        "block": {"header": header, "data": {"txs": raws}, "evidence": {"evidence": []}},
    }


METHODS: dict[str, tuple[Method, tuple[str, ...]]] = {
    "broadcast_tx_sync": (broadcast, ("tx",)),
    "tx_status": (tx_status, ("hash",)),
    "tx_status_batch": (tx_status_batch, ("hashes",)),
    "abci_query": (abci_query, ("path", "data", "height", "prove")),
    "abci_info": (abci_info, ()),
    "tx": (tx, ("hash", "prove")),
    "tx_search": (tx_search, ("query", "prove", "page", "per_page", "order_by")),
    "unconfirmed_txs": (unconfirmed_txs, ("limit",)),
    "num_unconfirmed_txs": (num_unconfirmed_txs, ()),
    "health": (health, ()),
    "status": (status, ()),
    "block": (block, ("height",)),
}
"""Each with the names of its parameters, for those that come as a list."""


def named(octets: bytes) -> str:
    return octets.hex().upper()


def app_hash(height: int) -> bytes:
    return hashlib.sha256(b"app %d" % height).digest()


def block_hash(height: int, genesis: bytes = b"") -> bytes:
    return hashlib.sha256(b"block %d" % height + genesis).digest()


def timestamp(made_ms: int) -> str:
    told = datetime.fromtimestamp(made_ms / 1000, UTC).isoformat(timespec="milliseconds")
    return told.replace("+00:00", "Z")
