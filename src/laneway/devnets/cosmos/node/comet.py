"""CometBFT's methods by their names, on the model, in the shapes of celestia-core 0.38."""

import base64
import hashlib
import re
from collections.abc import Callable
from datetime import UTC, datetime

from laneway.devnets.cosmos.limits import STATUSES_MAX
from laneway.devnets.cosmos.model import verdicts
from laneway.devnets.cosmos.model.chain import (
    Committed,
    CosmosModel,
    MempoolRefused,
    MempoolStanding,
    TransactionStatus,
)
from laneway.devnets.cosmos.model.verdicts import AppVerdict
from laneway.devnets.cosmos.node.parameters import CometParameters, CometRefused
from laneway.devnets.cosmos.node.queries import query
from laneway.wire.rpc_codes import INTERNAL
from laneway.wire.rpc_server.methods import Json

Method = Callable[[CosmosModel, int, CometParameters], Json]

VERSION = "0.38.17"
HASH_BYTES = 32
PER_PAGE = 30
PER_PAGE_MAX = 100
SEARCHED_HASH = re.compile(r"tx\.hash\s*=\s*'([0-9A-Fa-f]{64})'")
SEARCHED_NUMBER = re.compile(r"tx\.acc_seq\s*=\s*'([0-9a-z]{1,100})/(\d{1,20})'")


def broadcast(chain: CosmosModel, node: int, parameters: CometParameters) -> Json:
    try:
        hash_, verdict = chain.broadcast(node, parameters.octets("tx"))
    except MempoolRefused as no:
        raise CometRefused(INTERNAL, str(no)) from None
    return {
        "code": verdict.code,
        "data": "",
        "log": verdict.log,
        "codespace": verdict.codespace,
        "hash": named(hash_),
    }


def tx_status(chain: CosmosModel, node: int, parameters: CometParameters) -> Json:
    return status_view(chain.status(node, checked_hash(parameters.octets("hash"))))


def tx_status_batch(chain: CosmosModel, node: int, parameters: CometParameters) -> Json:
    asked = parameters.many_octets("hashes")
    if len(asked) > STATUSES_MAX:
        raise CometRefused(INTERNAL, verdicts.too_many(STATUSES_MAX))
    hashes = [checked_hash(one) for one in asked]
    statuses = [
        {"hash": named(one), "result": status_view(chain.status(node, one))} for one in hashes
    ]
    return {"statuses": statuses}


def checked_hash(hash_: bytes) -> bytes:
    if len(hash_) != HASH_BYTES:
        raise CometRefused(INTERNAL, verdicts.bad_key(len(hash_)))
    return hash_


def status_view(status: TransactionStatus) -> Json:
    view: Json = {
        "height": "0",
        "index": 0,
        "execution_code": status.verdict.code,
        "error": status.verdict.log,
        "status": status.standing.value,
    }
    committed = status.committed
    if status.standing is not MempoolStanding.COMMITTED or committed is None:
        return view
    view["height"], view["index"] = str(committed.height), committed.index
    delivered = committed.delivered
    if delivered.verdict.codespace:
        view["codespace"] = delivered.verdict.codespace
    view["gas_wanted"] = str(delivered.gas_wanted)
    view["gas_used"] = str(delivered.gas_used)
    view["signers"] = list(delivered.signers)
    return view


def abci_query(chain: CosmosModel, node: int, parameters: CometParameters) -> Json:
    found = query(chain, node, parameters.text("path"), parameters.hex_octets("data"))
    verdict = found if isinstance(found, AppVerdict) else verdicts.OK
    value = None if isinstance(found, AppVerdict) else in_base64(found)
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


def abci_info(chain: CosmosModel, _node: int, _parameters: CometParameters) -> Json:
    last = {
        "data": "laneway-devnet",
        "version": "1",
        "app_version": "1",
        "last_block_height": str(chain.height),
        "last_block_app_hash": in_base64(app_hash(chain.height)),
    }
    return {"response": last}


def tx(chain: CosmosModel, _node: int, parameters: CometParameters) -> Json:
    hash_ = parameters.octets("hash")
    found = chain.committed(hash_)
    if found is None:
        raise CometRefused(INTERNAL, f"tx ({named(hash_)}) not found")
    return tx_view(found)


def tx_search(chain: CosmosModel, _node: int, parameters: CometParameters) -> Json:
    """By a hash, or by an account and its sequence: all that clients look for."""
    asked = parameters.text("query").strip()
    by_hash, by_number = SEARCHED_HASH.fullmatch(asked), SEARCHED_NUMBER.fullmatch(asked)
    if by_hash is None and by_number is None:
        raise CometRefused(INTERNAL, "this devnet searches by tx.hash and tx.acc_seq alone")
    page = parameters.number("page", 1)
    parameters.number("per_page", PER_PAGE)
    if page != 1:
        raise CometRefused(INTERNAL, f"page should be within [1, 1] range, given {page}")
    if by_hash is not None:
        found = chain.committed(bytes.fromhex(by_hash[1]))
    else:
        assert by_number is not None
        found = chain.used_by(by_number[1], int(by_number[2]))
    txs = [] if found is None else [tx_view(found)]
    return {"txs": txs, "total_count": str(len(txs))}


def tx_view(found: Committed) -> Json:
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
        "tx": in_base64(found.raw),
    }


def unconfirmed_txs(chain: CosmosModel, node: int, parameters: CometParameters) -> Json:
    asked = parameters.number("limit", PER_PAGE)
    limit = min(asked, PER_PAGE_MAX) if asked > 0 else PER_PAGE
    mempool = chain.nodes[node].mempool
    held = [in_base64(one.raw) for one in mempool.in_order()]
    return {
        "n_txs": str(min(limit, len(held))),
        "total": str(len(held)),
        "total_bytes": str(mempool.size),
        "txs": held[:limit],
    }


def num_unconfirmed_txs(chain: CosmosModel, node: int, _parameters: CometParameters) -> Json:
    mempool = chain.nodes[node].mempool
    count = str(len(mempool))
    return {"n_txs": count, "total": count, "total_bytes": str(mempool.size), "txs": None}


def status(chain: CosmosModel, node: int, _parameters: CometParameters) -> Json:
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
            "pub_key": {"type": "tendermint/PubKeyEd25519", "value": in_base64(key)},
            "voting_power": "1" if node == 0 else "0",
        },
    }


def block(chain: CosmosModel, _node: int, parameters: CometParameters) -> Json:
    height = parameters.number("height", chain.height)
    if height <= 0:
        raise CometRefused(INTERNAL, f"height must be greater than 0, but got {height}")
    if height > chain.height:
        newest = f"height {height} must be less than or equal to the current blockchain height"
        raise CometRefused(INTERNAL, f"{newest} {chain.height}")
    found = chain.blocks[height - 1]
    txs = [chain.committed(one) for one in found.hashes]
    header = {
        "version": {"block": "11", "app": "1"},
        "chain_id": chain.app.rules.chain_id,
        "height": str(height),
        "time": timestamp(found.made_ms),
        "app_hash": named(app_hash(height - 1)),
    }
    raws = [in_base64(one.raw) for one in txs if one is not None]
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
    "health": (lambda *_: {}, ()),
    "status": (status, ()),
    "block": (block, ("height",)),
}
"""Each with the names of its parameters, for those that come as a list."""


def named(octets: bytes) -> str:
    return octets.hex().upper()


def in_base64(octets: bytes) -> str:
    return base64.b64encode(octets).decode()


def app_hash(height: int) -> bytes:
    return hashlib.sha256(b"app %d" % height).digest()


def block_hash(height: int, genesis: bytes = b"") -> bytes:
    return hashlib.sha256(b"block %d" % height + genesis).digest()


def timestamp(made_ms: int) -> str:
    written = datetime.fromtimestamp(made_ms / 1000, UTC).isoformat(timespec="milliseconds")
    return written.replace("+00:00", "Z")
