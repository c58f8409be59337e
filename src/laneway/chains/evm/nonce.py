"""What a node says of a nonce: how many are used, and which transaction it names there.

Nothing of it is believed here. A transaction is handed on as bytes, built again from the fields
that the node shows, so that a caller can hash them and recover their signature.
"""

from typing import Any

from msgspec import DecodeError, Raw, Struct, field, json

from laneway.chains.evm.blocks import BY_NUMBER
from laneway.chains.evm.endpoint import EvmEndpoint
from laneway.chains.evm.limits import NONCE_SCAN_BLOCKS_MAX
from laneway.chains.evm.shapes import HeaderShape, read, read_number, translated
from laneway.core.errors import ChainUnreadable
from laneway.core.facts import NonceClaim
from laneway.evm.envelope import encode_canonical
from laneway.evm.secp256k1 import Signature
from laneway.evm.transaction import (
    Access,
    AccessListTransaction,
    Authorization,
    BlobTransaction,
    DynamicFeeTransaction,
    LegacyTransaction,
    SetCodeTransaction,
    Transaction,
)
from laneway.wire.hex import octets, quantity, read_octets, read_quantity
from laneway.wire.jsonrpc import RpcCall, RpcError
from laneway.wire.limits import WEI_MAX

BLOCK_NUMBER = RpcCall("eth_blockNumber")


class PlaceShape(Struct, rename="camel"):
    """As much of a transaction as says whose it is, of whatever type; one that waits has no
    block."""

    hash: str = ""
    sender: str = field(name="from", default="")
    nonce: str = ""
    block_hash: str | None = None


class FullBlockShape(HeaderShape, rename="camel"):
    transactions: list[Raw] = field(default_factory=list)


class AccessShape(Struct, rename="camel"):
    address: str
    storage_keys: list[str] = []


class AuthorizationShape(Struct, rename="camel"):
    chain_id: str
    address: str
    nonce: str
    r: str
    s: str
    y_parity: str = ""
    v: str = "0x0"


class TransactionShape(Struct, rename="camel"):
    """The fields of types 0 to 4."""

    nonce: str
    gas: str
    r: str
    s: str
    type: str = "0x0"
    to: str | None = None
    value: str = "0x0"
    input: str = "0x"
    v: str = "0x0"
    y_parity: str = ""
    chain_id: str | None = None
    gas_price: str | None = None
    max_fee_per_gas: str = "0x0"
    max_priority_fee_per_gas: str = "0x0"
    access_list: list[AccessShape] | None = None
    max_fee_per_blob_gas: str = "0x0"
    blob_versioned_hashes: list[str] | None = None
    authorization_list: list[AuthorizationShape] | None = None


PLACE: json.Decoder[PlaceShape | None] = json.Decoder(PlaceShape | None)
FULL_BLOCK: json.Decoder[FullBlockShape | None] = json.Decoder(FullBlockShape | None)
TRANSACTION: json.Decoder[TransactionShape] = json.Decoder(TransactionShape)


async def read_claim(node: EvmEndpoint, address: bytes, nonce: int) -> NonceClaim:
    with node.reading("nonce"):
        calls = [BLOCK_NUMBER, RpcCall("eth_getTransactionCount", (octets(address), "latest"))]
        if node.has_by_nonce:
            parameters = (octets(address), quantity(nonce))
            calls.append(RpcCall("eth_getTransactionBySenderAndNonce", parameters))
        newest, counted, *named = await node.ask(calls)
        head = read_number(node, newest)
        node.saw_head(head)
        count = read_number(node, counted)
        if count <= nonce:
            return NonceClaim(node.name, count)
        if named and not isinstance(named[0], RpcError):
            place = read(node, named[0], PLACE)
            if place is None or place.block_hash is None:
                return NonceClaim(node.name, count)
            return claim_of(node, count, place, named[0])
        # Geth, for one, has no such method.
        node.has_by_nonce = False
        return await scan(node, address, nonce, head, count)


async def scan(node: EvmEndpoint, address: bytes, nonce: int, head: int, count: int) -> NonceClaim:
    """Find the block where the account's count passed the nonce, and look into it."""
    passed, not_passed = head, max(-1, head - NONCE_SCAN_BLOCKS_MAX)
    while passed - not_passed > 1:
        middle = (passed + not_passed) // 2
        if await has_passed(node, address, nonce, middle):
            passed = middle
        else:
            not_passed = middle
    (answer,) = await node.ask([RpcCall(BY_NUMBER, (quantity(passed), True))])
    block = read(node, answer, FULL_BLOCK)
    for mined in [] if block is None else block.transactions:
        place = read(node, mined, PLACE)
        if place is not None and is_at(node, place, address, nonce):
            return claim_of(node, count, place, mined)
    return NonceClaim(node.name, count)


def is_at(node: EvmEndpoint, place: PlaceShape, address: bytes, nonce: int) -> bool:
    if place.sender.lower() != octets(address):
        return False
    return translated(node, lambda: read_quantity(place.nonce)) == nonce


async def has_passed(node: EvmEndpoint, address: bytes, nonce: int, number: int) -> bool:
    """False also where the node no longer has the state, whether it says so by an error, by null or
    otherwise: what is found in the end is looked at."""
    parameters = (octets(address), quantity(number))
    (answer,) = await node.ask([RpcCall("eth_getTransactionCount", parameters)])
    try:
        return read_number(node, answer) > nonce
    except ChainUnreadable:
        return False


def claim_of(node: EvmEndpoint, count: int, place: PlaceShape, content: Raw) -> NonceClaim:
    """Fields from which no transaction can be built are passed on as a hash without bytes."""
    hash_ = translated(node, lambda: read_octets(place.hash))
    try:
        raw = encode_canonical(transaction_of(TRANSACTION.decode(content)))
    except (DecodeError, ValueError, OverflowError):
        raw = b""
    return NonceClaim(node.name, count, hash_, raw)


def transaction_of(shape: TransactionShape) -> Transaction:
    """The transaction that has these fields; ValueError where there is none."""
    kind = read_quantity(shape.type, WEI_MAX)
    common: dict[str, Any] = {
        "nonce": read_quantity(shape.nonce, WEI_MAX),
        "gas_limit": read_quantity(shape.gas, WEI_MAX),
        "to": None if shape.to is None else read_octets(shape.to),
        "value_wei": read_quantity(shape.value, WEI_MAX),
        "data": read_octets(shape.input),
    }
    price = read_quantity(shape.gas_price or "0x0", WEI_MAX)
    r, s, v = (read_quantity(text, WEI_MAX) for text in (shape.r, shape.s, shape.v))
    if kind == 0:
        chain = None if v < 35 else (v - 35) // 2
        signature = Signature((v - 27 if chain is None else v - 35) & 1, r, s)
        return LegacyTransaction(**common, gas_price_wei=price, chain_id=chain, signature=signature)
    common |= {
        "chain_id": read_quantity(shape.chain_id or "0x0", WEI_MAX),
        "access_list": tuple(
            Access(read_octets(one.address), tuple(map(read_octets, one.storage_keys)))
            for one in shape.access_list or ()
        ),
        "signature": Signature(read_quantity(shape.y_parity or shape.v, WEI_MAX), r, s),
    }
    if kind == 1:
        return AccessListTransaction(**common, gas_price_wei=price)
    common["fee_wei_max"] = read_quantity(shape.max_fee_per_gas, WEI_MAX)
    common["tip_wei_max"] = read_quantity(shape.max_priority_fee_per_gas, WEI_MAX)
    match kind:
        case 2:
            return DynamicFeeTransaction(**common)
        case 3:
            return BlobTransaction(
                **common,
                blob_fee_wei_max=read_quantity(shape.max_fee_per_blob_gas, WEI_MAX),
                blob_hashes=tuple(map(read_octets, shape.blob_versioned_hashes or ())),
            )
        case 4:
            listed = tuple(map(authorization_of, shape.authorization_list or ()))
            return SetCodeTransaction(**common, authorizations=listed)
        case _:
            raise ValueError(f"no transaction is of type {kind}")


def authorization_of(shape: AuthorizationShape) -> Authorization:
    return Authorization(
        chain_id=read_quantity(shape.chain_id, WEI_MAX),
        address=read_octets(shape.address),
        nonce=read_quantity(shape.nonce, WEI_MAX),
        y_parity=read_quantity(shape.y_parity or shape.v, WEI_MAX),
        r=read_quantity(shape.r, WEI_MAX),
        s=read_quantity(shape.s, WEI_MAX),
    )
