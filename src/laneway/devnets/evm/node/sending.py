"""Transactions on their way into a pool: what fills one up, and who waits for its receipt."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from time import monotonic

from laneway.devnets.evm.limits import SYNC_LOOK_MS, SYNC_WAIT_MS_MAX, TIP_WEI_SUGGESTED
from laneway.devnets.evm.model.judging import NO_SIGNATURE
from laneway.devnets.evm.model.pool import PooledTransaction
from laneway.devnets.evm.model.values import TransactionTaken
from laneway.devnets.evm.node.blocks import check_executes
from laneway.devnets.evm.node.execution import estimate_on, refusing
from laneway.devnets.evm.node.fees import gas_price
from laneway.devnets.evm.node.mined import mined
from laneway.devnets.evm.node.parameters import address_of, number_of, wrong
from laneway.devnets.evm.node.requests import read, request_of
from laneway.devnets.evm.node.subscriptions import EvmCaller
from laneway.devnets.evm.node.views import waiting_of
from laneway.evm.envelope import encode_canonical
from laneway.evm.keccak import keccak
from laneway.evm.limits import NONCE_MAX
from laneway.evm.transaction import (
    AccessListTransaction,
    DynamicFeeTransaction,
    LegacyTransaction,
    SetCodeTransaction,
    Transaction,
    signed,
)
from laneway.wire.hex import octets
from laneway.wire.rpc_codes import INTERNAL
from laneway.wire.rpc_server.methods import Json, RpcRefused


def send_raw_transaction(caller: EvmCaller, raw: bytes) -> str:
    if not raw:
        raise wrong("Empty transaction data")
    answer = caller.chain.send(caller.node, raw)
    if isinstance(answer, TransactionTaken):
        return octets(answer.hash)
    raise RpcRefused(answer.code, answer.message)


def send_sync(
    caller: EvmCaller, raw: bytes, wait_ms: int = SYNC_WAIT_MS_MAX
) -> Json | Awaitable[Json]:
    """The receipt (EIP-7966), at once where a block is made for every send."""
    digest = bytes.fromhex(send_raw_transaction(caller, raw)[2:])
    caller.host.settle()
    if caller.chain.receipt(caller.node, digest) is not None:
        return mined(caller, digest)
    return receipt_in_time(caller, digest, min(wait_ms, SYNC_WAIT_MS_MAX))


async def receipt_in_time(caller: EvmCaller, digest: bytes, wait_ms: int) -> Json:
    deadline_s = monotonic() + wait_ms / 1000
    while caller.chain.receipt(caller.node, digest) is None:
        if monotonic() >= deadline_s:
            raise RpcRefused(INTERNAL, "Transaction confirmation timeout")
        await asyncio.sleep(SYNC_LOOK_MS / 1000)
    return mined(caller, digest)


def fill(caller: EvmCaller, fields: Mapping[str, object]) -> Json:
    """The transaction that a wallet would sign, with what it left out; nobody signs it here."""
    check_executes(caller)
    sender = sender_of(caller, fields)
    fields = {**fields, "from": octets(sender)}
    made = signed(
        filled(caller, fields, sender, lambda: estimate_on(caller, fields, "latest")), NO_SIGNATURE
    )
    return in_both_forms(made, sender)


def in_both_forms(made: Transaction, sender: bytes) -> Json:
    """A transaction that was not sent: its bytes, and its fields."""
    raw = encode_canonical(made)
    shown = waiting_of(PooledTransaction(keccak(raw), raw, made, sender, 0))
    return {"raw": octets(raw), "tx": shown}


def sender_of(caller: EvmCaller, fields: Mapping[str, object]) -> bytes:
    """Without one it is the first known account."""
    sender = read(fields, "from", address_of) or next(iter(caller.host.keys), None)
    if sender is None:
        raise wrong("No Signer available")
    return sender


def filled(
    caller: EvmCaller,
    fields: Mapping[str, object],
    sender: bytes,
    estimated: Callable[[], int],
) -> Transaction:
    """The transaction that a caller wrote, unsigned, with what they left out."""
    request = request_of(fields)
    if request.blob_hashes or fields.get("blobs"):
        raise wrong("this node makes no blobs: send them signed, by eth_sendRawTransaction")
    nonce = read(fields, "nonce", number_of)
    nonce = caller.chain.count(caller.node, sender, "pending") if nonce is None else nonce
    gas = estimated() if request.gas is None else request.gas
    chain_id = read(fields, "chainId", number_of)
    chain_id = caller.chain.chain_id if chain_id is None else chain_id
    if max(nonce, gas, chain_id) > NONCE_MAX:
        raise wrong("number too large to fit in target type")
    tail = (gas, request.to, request.value_wei, request.data)
    with refusing():
        request.prices()
    price = request.gas_price_wei
    if price is not None and fields.get("accessList") is None:
        return LegacyTransaction(nonce, price, *tail, chain_id)
    if price is not None:
        return AccessListTransaction(chain_id, nonce, price, *tail, request.access_list)
    fee, tip = request.fee_wei_max, request.tip_wei_max
    fee = max(gas_price(caller), tip or 0) if fee is None else fee
    tip = min(TIP_WEI_SUGGESTED, fee) if tip is None else tip
    shared = (chain_id, nonce, tip, fee, *tail, request.access_list)
    if request.authorizations:
        return SetCodeTransaction(*shared, authorizations=request.authorizations)
    return DynamicFeeTransaction(*shared)
