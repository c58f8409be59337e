"""What a caller of these worlds wants of a Cosmos account, and the bytes that do it.

The memo of a transaction names its intent on the chain.
"""

from functools import cache

from laneway.cosmos.blobs import CelestiaBlob, commitment, namespace_of
from laneway.cosmos.keys import HeldCosmosKey, raw_address
from laneway.cosmos.messages import Any, Coin, MsgPayForBlobs, MsgSend
from laneway.cosmos.protobuf import encode
from laneway.cosmos.tx import SignedCosmosTx, SigningTerms, body_of, fee_of, sign
from laneway.devnets.cosmos.model.app import MICRO
from laneway.ports import CosmosBlob, CosmosRequest

CHAIN_ID = "laneway-dev"
ORIGIN = b"the first block".ljust(32, b".")
"""The hash of its first block."""
PREFIX = "celestia"
DENOM = "utia"
GAS = 120_000
"""What callers name, and what nodes simulate: the largest transaction needs less."""
GAS_SHORT = 30_000
"""Less than any transaction needs."""
FOREIGN = "foreign"
"""What someone else's transactions say."""
TOO_MUCH = 10**30
"""More than any account has."""
MESSAGES_MANY = 8
"""The number of transfers in one transaction that is more than a node takes."""


UNSOUND = "%"
"""How the memo begins of what no node ever takes."""
FAILING = "?"
"""How the memo begins of what often fails when it is simulated."""
UNMADE = "!"
"""How the name begins of what can be no transaction."""

MARKS = {
    "too_large": UNSOUND,
    "bad_blob": UNSOUND,
    "unauthorized": UNSOUND,
    "short_gas": UNSOUND,
    "bad_coins": UNSOUND,
    "failing": FAILING,
    "hopeless": UNMADE,
}
"""By the way in which a request is meant to fail; "overspend" fails in its block and "brief" is
wanted only up to a block."""


@cache
def key_of(account: int) -> HeldCosmosKey:
    """The accounts of every world; making a key ready costs as much as a signature."""
    return HeldCosmosKey(bytes([account + 1]) * 32)


@cache
def address_of(account: int) -> str:
    return key_of(account).address(PREFIX)


@cache
def raw_of(account: int) -> bytes:
    return raw_address(key_of(account).public_key)


SHOP = HeldCosmosKey(b"\x5a" * 32).address(PREFIX)


def request_of(
    own: str, data: str, way: str = "send", *, until: int = 0, gas: int | None = GAS
) -> CosmosRequest:
    """What a caller wants, in one of several ways."""
    if way == "blob":
        blob = CosmosBlob(namespace_of(b"laneway"), data.encode() * 3)
        return CosmosRequest(blobs=(blob,), memo=data, gas=gas)
    if way in ("failing", "short_gas"):
        gas = None if way == "failing" else GAS_SHORT
    return CosmosRequest(
        messages=messages_of(own, data, way), memo=data, gas=gas, timeout_height=until or None
    )


def messages_of(own: str, data: str, way: str) -> tuple[tuple[str, bytes], ...]:
    match way:
        case "hopeless":
            return ()
        case "bad_blob":
            blob = CelestiaBlob(namespace_of(b"laneway"), data.encode())
            message = MsgPayForBlobs(
                own, (blob.namespace,), (len(blob.data),), (commitment(blob),), (0,)
            )
            return ((MsgPayForBlobs.url, encode(message)),)
        case "overspend":
            return (sent(own, SHOP, TOO_MUCH),)
        case "too_large":
            return (sent(own, SHOP, 1),) * MESSAGES_MANY
        case "unauthorized":
            return (sent(SHOP, own, 1),)
        case "bad_coins":
            return (sent(own, SHOP, 0),)
        case _:
            return (sent(own, SHOP, 1),)


def sent(payer: str, payee: str, amount: int) -> tuple[str, bytes]:
    return MsgSend.url, encode(MsgSend(payer, payee, (Coin(DENOM, str(amount)),)))


def foreign(
    account: int, data: str, *, number: int, sequence: int, price_micro: int
) -> SignedCosmosTx:
    """A transfer of someone else who has the key as well."""
    key = key_of(account)
    fee = fee_of(-(-GAS * price_micro // MICRO), DENOM, GAS)
    body = body_of([Any(*sent(address_of(account), SHOP, 1))], memo=data, timeout_height=0)
    return sign(body, SigningTerms(CHAIN_ID, number, sequence, fee), key.public_key, key.sign, ())
