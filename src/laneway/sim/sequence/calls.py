"""What a caller of these worlds wants of a Cosmos account, and the bytes that do it.

The memo of a transaction names its intent on the chain.
"""

from collections.abc import Sequence
from functools import cache

import msgspec
from msgspec import Struct

from laneway.cosmos.blobs import Blob, commitment, namespace_of, proto
from laneway.cosmos.keys import HeldKey, raw_address
from laneway.cosmos.messages import Any, BlobProto, Coin, MsgPayForBlobs, MsgSend
from laneway.cosmos.tx import Signed, Terms, body_of, fee_of, packed, sign
from laneway.devnets.cosmos.app import MICRO

CHAIN_ID = "laneway-dev"
ORIGIN = b"the first block".ljust(32, b".")
"""The hash of its first block."""
PREFIX = "celestia"
DENOM = "utia"
GAS = 120_000
"""Of every attempt: the largest of them needs less."""
GAS_SHORT = 30_000
"""Less than any transaction needs."""
FOREIGN = "foreign"
"""What someone else's transactions say."""
TOO_MUCH = 10**30
"""More than any account has."""
MESSAGES_MANY = 8
"""So many transfers in one transaction are more than a node takes."""


class Request(Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    data: str
    """Empty for a filler."""
    way: str = "send"
    """send, blob, overspend (fails in its block), hopeless (no signer makes it), failing (it would
    fail when it is tried), brief (wanted only up to a block), and what no node takes: too_large,
    bad_blob, unauthorized, short_gas, bad_coins."""
    until: int = 0
    """The last block that its caller wants it in."""


UNSOUND = ("too_large", "bad_blob", "unauthorized", "short_gas", "bad_coins")
"""What no node ever takes."""

encode_request = msgspec.msgpack.Encoder().encode
decode_request = msgspec.msgpack.Decoder(Request).decode

FILLER = Request("")


@cache
def key_of(account: int) -> HeldKey:
    """The accounts of every world; making a key ready costs as much as a signature."""
    return HeldKey(bytes([account + 1]) * 32)


@cache
def address_of(account: int) -> str:
    return key_of(account).address(PREFIX)


@cache
def raw_of(account: int) -> bytes:
    return raw_address(key_of(account).public_key)


SHOP = HeldKey(b"\x5a" * 32).address(PREFIX)


class Drafted(Struct, frozen=True):
    """Signed bytes and what they pay."""

    signed: Signed
    gas: int
    fee: int


def signed(
    account: int,
    request: Request,
    *,
    number: int,
    sequence: int,
    timeout_height: int,
    price_micro: int,
) -> Drafted:
    key, own = key_of(account), address_of(account)
    gas = GAS_SHORT if request.way == "short_gas" else GAS
    fee = -(-gas * price_micro // MICRO)
    messages, blobs = messages_of(own, request)
    body = body_of(messages, memo=request.data, timeout_height=timeout_height)
    terms = Terms(CHAIN_ID, number, sequence, fee_of(fee, DENOM, gas))
    return Drafted(sign(body, terms, key.public_key, key.sign, blobs), gas, fee)


def messages_of(own: str, request: Request) -> tuple[Sequence[Any], Sequence[BlobProto]]:
    match request.way:
        case "blob":
            return paid_blob(own, request.data, is_sound=True)
        case "bad_blob":
            return paid_blob(own, request.data, is_sound=False)
        case "overspend":
            return [sent(own, SHOP, TOO_MUCH)], ()
        case "too_large":
            return [sent(own, SHOP, 1)] * MESSAGES_MANY, ()
        case "unauthorized":
            return [sent(SHOP, own, 1)], ()
        case "bad_coins":
            return [sent(own, SHOP, 0)], ()
        case _:
            return [sent(own, SHOP if request.data else own, 1)], ()


def sent(payer: str, payee: str, amount: int) -> Any:
    return packed(MsgSend(payer, payee, (Coin(DENOM, str(amount)),)), MsgSend.url)


def paid_blob(own: str, data: str, *, is_sound: bool) -> tuple[Sequence[Any], Sequence[BlobProto]]:
    blob = Blob(namespace_of(b"laneway"), data.encode() * 3)
    size = len(blob.data) + (0 if is_sound else 1)
    message = MsgPayForBlobs(own, (blob.namespace,), (size,), (commitment(blob),), (0,))
    return [packed(message, MsgPayForBlobs.url)], [proto(blob)]
