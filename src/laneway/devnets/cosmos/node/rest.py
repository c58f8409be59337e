"""The SDK's REST gateway, as far as clients of it need it to send: accounts, balances, gas,
transactions."""

from typing import Any

from msgspec import DecodeError, ValidationError, json

from laneway.core.nesting import bounded
from laneway.cosmos.errors import InvalidCosmos
from laneway.cosmos.messages import Any as Packed
from laneway.cosmos.messages import BaseAccount, Coin, MsgPayForBlobs, MsgSend, PubKey
from laneway.cosmos.protobuf import decode
from laneway.cosmos.tx import Read
from laneway.devnets.cosmos.limits import BLOCK_BYTES_MAX
from laneway.devnets.cosmos.model.chain import Committed, CosmosModel, MempoolRefused
from laneway.devnets.cosmos.model.verdicts import AppVerdict
from laneway.devnets.cosmos.node.comet import in_base64, named, timestamp
from laneway.devnets.cosmos.node.proto_json import octets, raw_tx
from laneway.devnets.cosmos.node.queries import balance_of, base_account
from laneway.wire.rpc_server.methods import Json

Answer = tuple[int, Json]

INVALID, NOT_FOUND, UNKNOWN = 3, 5, 2
"""Codes of gRPC, and what HTTP says for them."""
STATUS = {INVALID: 400, NOT_FOUND: 404, UNKNOWN: 500}

MEMPOOL_PHRASES = (("already exists", 19), ("mempool is full", 20), ("too large", 21))
"""Codes that the SDK has for refusals of the node itself."""


def no(code: int, message: str) -> Answer:
    return STATUS[code], {"code": code, "message": message, "details": []}


def account(chain: CosmosModel, address: str) -> Answer:
    try:
        found = base_account(chain, address)
    except InvalidCosmos as error:
        return no(INVALID, str(error))
    if found is None:
        return no(NOT_FOUND, f"account {address} not found")
    return 200, {"account": {"@type": BaseAccount.url, **account_view(found)}}


def account_view(found: BaseAccount) -> Json:
    key = None
    if found.pub_key is not None:
        raw = decode(PubKey, found.pub_key.value).key
        key = {"@type": PubKey.url, "key": in_base64(raw)}
    return {
        "address": found.address,
        "pub_key": key,
        "account_number": str(found.account_number),
        "sequence": str(found.sequence),
    }


def balance(chain: CosmosModel, address: str, denom: str) -> Answer:
    try:
        found = balance_of(chain, address, denom)
    except InvalidCosmos as error:
        return no(INVALID, str(error))
    return 200, {"balance": {"denom": denom, "amount": str(found)}}


def consensus_params() -> Answer:
    """As celestia has them: a block is bounded by its bytes, not by its gas."""
    block = {"max_bytes": str(BLOCK_BYTES_MAX), "max_gas": "-1"}
    return 200, {"params": {"block": block}}


def broadcast(chain: CosmosModel, node: int, body: bytes) -> Answer:
    raw = read_posted(body)
    if raw is None:
        return no(INVALID, "no transaction in it")
    try:
        hash_, verdict = chain.broadcast(node, raw)
    except MempoolRefused as refused:
        problem = str(refused)
        code = next((code for part, code in MEMPOOL_PHRASES if part in problem), None)
        if code is None:
            return no(UNKNOWN, problem)
        # So the SDK does: a code, and no message.
        return 200, {"tx_response": response_of(b"", AppVerdict(code, "", "sdk"))}
    return 200, {"tx_response": response_of(hash_, verdict)}


def simulate(chain: CosmosModel, node: int, body: bytes) -> Answer:
    raw = read_posted(body)
    if raw is None:
        return no(INVALID, "no transaction in it")
    found = chain.simulate(node, raw)
    verdict = found if isinstance(found, AppVerdict) else found.verdict
    if isinstance(found, AppVerdict) or verdict.code:
        return no(UNKNOWN, verdict.log)
    gas = {"gas_wanted": str(found.gas_wanted), "gas_used": str(found.gas_used)}
    return 200, {"gas_info": gas, "result": {"data": "", "log": "", "events": []}}


def read_posted(body: bytes) -> bytes | None:
    """The transaction in its bytes, or written in JSON; None if there is none."""
    try:
        posted = json.decode(bounded(body), type=dict[str, object])
        found = posted.get("tx_bytes", posted.get("txBytes"))
        return raw_tx(posted["tx"]) if found is None else octets(found)
    except (DecodeError, ValidationError, UnicodeDecodeError, KeyError, InvalidCosmos):
        return None


def transaction(chain: CosmosModel, hash_: str) -> Answer:
    try:
        found = chain.committed(bytes.fromhex(hash_))
    except ValueError:
        return no(INVALID, f"{hash_} is no hash")
    if found is None:
        return no(NOT_FOUND, f"tx not found: {hash_}")
    view = tx_view(found.tx)
    made_ms = chain.blocks[found.height - 1].made_ms
    response = response_of(found.tx.hash, found.delivered.verdict, found)
    response["timestamp"] = timestamp(made_ms)
    response["tx"] = {"@type": "/cosmos.tx.v1beta1.Tx", **view}
    return 200, {"tx": view, "tx_response": response}


def response_of(hash_: bytes, verdict: AppVerdict, found: Committed | None = None) -> Json:
    delivered = None if found is None else found.delivered
    return {
        "height": "0" if found is None else str(found.height),
        "txhash": named(hash_),
        "codespace": verdict.codespace,
        "code": verdict.code,
        "data": "",
        "raw_log": verdict.log,
        "logs": [],
        "info": "",
        "gas_wanted": "0" if delivered is None else str(delivered.gas_wanted),
        "gas_used": "0" if delivered is None else str(delivered.gas_used),
        "tx": None,
        "timestamp": "",
        "events": [],
    }


def tx_view(tx: Read) -> Json:
    fee = tx.auth.fee
    coins = () if fee is None else fee.amount
    body = {
        "messages": [message_view(one) for one in tx.body.messages],
        "memo": tx.body.memo,
        "timeout_height": str(tx.body.timeout_height),
        "extension_options": [],
        "non_critical_extension_options": [],
    }
    signers = [
        {
            "public_key": {"@type": PubKey.url, "key": in_base64(tx.public_key())},
            "mode_info": {"single": {"mode": "SIGN_MODE_DIRECT"}},
            "sequence": str(tx.sequence()),
        }
    ]
    paid = {
        "amount": [coin_view(one) for one in coins],
        "gas_limit": str(0 if fee is None else fee.gas_limit),
        "payer": "" if fee is None else fee.payer,
        "granter": "" if fee is None else fee.granter,
    }
    return {
        "body": body,
        "auth_info": {"signer_infos": signers, "fee": paid},
        "signatures": [in_base64(one) for one in tx.raw.signatures],
    }


def message_view(message: Packed) -> dict[str, Any]:
    if message.type_url == MsgSend.url:
        sent = decode(MsgSend, message.value)
        return {
            "@type": MsgSend.url,
            "from_address": sent.from_address,
            "to_address": sent.to_address,
            "amount": [coin_view(one) for one in sent.amount],
        }
    if message.type_url == MsgPayForBlobs.url:
        paid = decode(MsgPayForBlobs, message.value)
        return {
            "@type": MsgPayForBlobs.url,
            "signer": paid.signer,
            "namespaces": [in_base64(one) for one in paid.namespaces],
            "blob_sizes": list(paid.blob_sizes),
            "share_commitments": [in_base64(one) for one in paid.share_commitments],
            "share_versions": list(paid.share_versions),
        }
    return {"@type": message.type_url, "value": in_base64(message.value)}


def coin_view(coin: Coin) -> Json:
    return {"denom": coin.denom, "amount": coin.amount}
