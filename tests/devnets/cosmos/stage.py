"""Chains with two rich accounts, and transactions that are really signed for them."""

from collections.abc import Sequence

from msgspec import Struct, structs

from laneway.cosmos import bech32
from laneway.cosmos.blobs import CelestiaBlob, commitment, namespace_of, proto
from laneway.cosmos.keys import HeldCosmosKey, raw_address
from laneway.cosmos.messages import (
    Any,
    BasicAllowance,
    Coin,
    MsgGrantAllowance,
    MsgPayForBlobs,
    MsgSend,
    TxRaw,
)
from laneway.cosmos.protobuf import Message, decode, encode
from laneway.cosmos.tx import (
    Read,
    SignedCosmosTx,
    SigningTerms,
    body_of,
    fee_of,
    hash_of,
    packed,
    read,
    sign,
)
from laneway.devnets.cosmos.model.app import CosmosRules
from laneway.devnets.cosmos.model.chain import CosmosModel, MempoolStanding
from laneway.devnets.cosmos.model.ledger import BankAccount
from laneway.devnets.cosmos.model.mempool import MempoolRules
from laneway.devnets.cosmos.model.verdicts import OK, AppVerdict

PREFIX, DENOM, CHAIN_ID = CosmosRules().prefix, CosmosRules().denom, CosmosRules().chain_id
A, B, STRANGER = (
    HeldCosmosKey(b"\x01" * 32),
    HeldCosmosKey(b"\x02" * 32),
    HeldCosmosKey(b"\x03" * 32),
)
RICH = 1_000_000
TO = b"\x35" * 20
GAS, FEE = 100_000, 400
"""The least fee for this gas, at 0.004."""
NUMBERS = {A.public_key: 0, B.public_key: 1, STRANGER.public_key: 2}
BLOB = CelestiaBlob(namespace_of(b"mine"), b"data")


class Wish(Struct, frozen=True):
    """What is signed beside the messages and the sequence."""

    key: HeldCosmosKey = A
    chain_id: str = CHAIN_ID
    number: int | None = None
    fee: int = FEE
    gas: int = GAS
    granter: str = ""
    timeout: int = 0
    memo: str = ""


def raw_of(key: HeldCosmosKey) -> bytes:
    return raw_address(key.public_key)


def shown(raw: bytes) -> str:
    return bech32.encode(PREFIX, raw)


def address(key: HeldCosmosKey) -> str:
    return key.address(PREFIX)


def signed(
    sequence: int, messages: Sequence[Any], blobs: Sequence[CelestiaBlob] = (), **fields: object
) -> SignedCosmosTx:
    wish = structs.replace(Wish(), **fields)
    number = NUMBERS[wish.key.public_key] if wish.number is None else wish.number
    fee = fee_of(wish.fee, DENOM, wish.gas, granter=wish.granter)
    body = body_of(messages, memo=wish.memo, timeout_height=wish.timeout)
    terms = SigningTerms(wish.chain_id, number, sequence, fee)
    carried = [proto(one) for one in blobs]
    return sign(body, terms, wish.key.public_key, wish.key.sign, carried)


def send(key: HeldCosmosKey, to: bytes = TO, amount: int = 5) -> Any:
    coins = (Coin(DENOM, str(amount)),)
    return packed(MsgSend(address(key), shown(to), coins), MsgSend.url)


def pay(sequence: int, *, to: bytes = TO, amount: int = 5, **fields: object) -> SignedCosmosTx:
    wish = structs.replace(Wish(), **fields)
    return signed(sequence, [send(wish.key, to, amount)], (), **fields)


def paying(key: HeldCosmosKey, blobs: Sequence[CelestiaBlob]) -> MsgPayForBlobs:
    return MsgPayForBlobs(
        address(key),
        tuple(one.namespace for one in blobs),
        tuple(len(one.data) for one in blobs),
        tuple(commitment(one) for one in blobs),
        tuple(one.share_version for one in blobs),
    )


def publish(sequence: int, *blobs: CelestiaBlob, **fields: object) -> SignedCosmosTx:
    """A transaction that pays for its blobs, which travel beside it."""
    wish = structs.replace(Wish(), **fields)
    carried = blobs or (BLOB,)
    message = packed(paying(wish.key, carried), MsgPayForBlobs.url)
    return signed(sequence, [message], carried, **fields)


def grant(granter: HeldCosmosKey, grantee: bytes, limit: int | None = None) -> Any:
    """A message that lets someone spend on fees; None: without a limit."""
    coins = () if limit is None else (Coin(DENOM, str(limit)),)
    allowance = packed(BasicAllowance(coins), BasicAllowance.url)
    message = MsgGrantAllowance(address(granter), shown(grantee), allowance)
    return packed(message, MsgGrantAllowance.url)


def resigned(made: SignedCosmosTx, auth: Message) -> SignedCosmosTx:
    """The same body for other terms, with a signature that is of neither."""
    inner = encode(structs.replace(decode(TxRaw, made.raw), auth_info_bytes=encode(auth)))
    return SignedCosmosTx(inner, hash_of(inner))


def reads(made: SignedCosmosTx) -> Read:
    return read(made.raw)


def world(*nodes: MempoolRules, rules: CosmosRules | None = None) -> CosmosModel:
    balances = {raw_of(A): RICH, raw_of(B): RICH}
    return CosmosModel(balances, rules=rules, nodes=nodes or (MempoolRules(),))


def accepted(chain: CosmosModel, made: SignedCosmosTx, node: int = 0) -> bytes:
    hash_, verdict = chain.broadcast(node, made.raw)
    assert verdict is OK, verdict
    assert hash_ == made.hash
    return hash_


def refused(chain: CosmosModel, made: SignedCosmosTx, node: int = 0) -> AppVerdict:
    hash_, verdict = chain.broadcast(node, made.raw)
    assert verdict.code
    assert hash_ == made.hash
    return verdict


def standings(chain: CosmosModel, *made: SignedCosmosTx, node: int = 0) -> list[MempoolStanding]:
    return [chain.status(node, one.hash).standing for one in made]


def account(chain: CosmosModel, raw: bytes) -> BankAccount:
    found = chain.account(raw)
    assert found is not None
    return found


def blocks(chain: CosmosModel, count: int) -> None:
    """Empty ones: proposers leave everything out."""
    chain.is_held = True
    for _ in range(count):
        assert chain.produce().hashes == ()
    chain.is_held = False
