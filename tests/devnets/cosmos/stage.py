"""Chains with two rich accounts, and transactions that are really signed for them."""

from collections.abc import Sequence

from msgspec import Struct, structs

from laneway.cosmos import bech32
from laneway.cosmos.blobs import Blob, commitment, namespace_of, proto
from laneway.cosmos.keys import HeldKey, raw_address
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
from laneway.cosmos.tx import Read, Signed, Terms, body_of, fee_of, hash_of, packed, read, sign
from laneway.devnets.cosmos.app import Rules
from laneway.devnets.cosmos.ledger import Account
from laneway.devnets.cosmos.mempool import MempoolRules
from laneway.devnets.cosmos.model import CosmosChain, Standing
from laneway.devnets.cosmos.words import OK, Verdict

PREFIX, DENOM, CHAIN_ID = Rules().prefix, Rules().denom, Rules().chain_id
A, B, STRANGER = HeldKey(b"\x01" * 32), HeldKey(b"\x02" * 32), HeldKey(b"\x03" * 32)
RICH = 1_000_000
TO = b"\x35" * 20
GAS, FEE = 100_000, 400
"""The least fee for this gas, at 0.004."""
NUMBERS = {A.public_key: 0, B.public_key: 1, STRANGER.public_key: 2}
BLOB = Blob(namespace_of(b"mine"), b"data")


class Wish(Struct, frozen=True):
    """What is signed beside the messages and the sequence."""

    key: HeldKey = A
    chain_id: str = CHAIN_ID
    number: int | None = None
    fee: int = FEE
    gas: int = GAS
    granter: str = ""
    timeout: int = 0
    memo: str = ""


def raw_of(key: HeldKey) -> bytes:
    return raw_address(key.public_key)


def shown(raw: bytes) -> str:
    return bech32.encode(PREFIX, raw)


def address(key: HeldKey) -> str:
    return key.address(PREFIX)


def signed(
    sequence: int, messages: Sequence[Any], blobs: Sequence[Blob] = (), **fields: object
) -> Signed:
    wish = structs.replace(Wish(), **fields)
    number = NUMBERS[wish.key.public_key] if wish.number is None else wish.number
    fee = fee_of(wish.fee, DENOM, wish.gas, granter=wish.granter)
    body = body_of(messages, memo=wish.memo, timeout_height=wish.timeout)
    terms = Terms(wish.chain_id, number, sequence, fee)
    carried = [proto(one) for one in blobs]
    return sign(body, terms, wish.key.public_key, wish.key.sign, carried)


def send(key: HeldKey, to: bytes = TO, amount: int = 5) -> Any:
    coins = (Coin(DENOM, str(amount)),)
    return packed(MsgSend(address(key), shown(to), coins), MsgSend.url)


def pay(sequence: int, *, to: bytes = TO, amount: int = 5, **fields: object) -> Signed:
    wish = structs.replace(Wish(), **fields)
    return signed(sequence, [send(wish.key, to, amount)], (), **fields)


def paying(key: HeldKey, blobs: Sequence[Blob]) -> MsgPayForBlobs:
    return MsgPayForBlobs(
        address(key),
        tuple(one.namespace for one in blobs),
        tuple(len(one.data) for one in blobs),
        tuple(commitment(one) for one in blobs),
        tuple(one.share_version for one in blobs),
    )


def publish(sequence: int, *blobs: Blob, **fields: object) -> Signed:
    """A transaction that pays for its blobs, which travel beside it."""
    wish = structs.replace(Wish(), **fields)
    carried = blobs or (BLOB,)
    message = packed(paying(wish.key, carried), MsgPayForBlobs.url)
    return signed(sequence, [message], carried, **fields)


def grant(granter: HeldKey, grantee: bytes, limit: int | None = None) -> Any:
    """A message that lets someone spend on fees; None: without a limit."""
    coins = () if limit is None else (Coin(DENOM, str(limit)),)
    allowance = packed(BasicAllowance(coins), BasicAllowance.url)
    message = MsgGrantAllowance(address(granter), shown(grantee), allowance)
    return packed(message, MsgGrantAllowance.url)


def resigned(made: Signed, auth: Message) -> Signed:
    """The same body for other terms, with a signature that is of neither."""
    inner = encode(structs.replace(decode(TxRaw, made.raw), auth_info_bytes=encode(auth)))
    return Signed(inner, hash_of(inner))


def reads(made: Signed) -> Read:
    return read(made.raw)


def world(*nodes: MempoolRules, rules: Rules | None = None) -> CosmosChain:
    balances = {raw_of(A): RICH, raw_of(B): RICH}
    return CosmosChain(balances, rules=rules, nodes=nodes or (MempoolRules(),))


def accepted(chain: CosmosChain, made: Signed, node: int = 0) -> bytes:
    hash_, verdict = chain.broadcast(node, made.raw)
    assert verdict is OK, verdict
    assert hash_ == made.hash
    return hash_


def refused(chain: CosmosChain, made: Signed, node: int = 0) -> Verdict:
    hash_, verdict = chain.broadcast(node, made.raw)
    assert verdict.code
    assert hash_ == made.hash
    return verdict


def standings(chain: CosmosChain, *made: Signed, node: int = 0) -> list[Standing]:
    return [chain.status(node, one.hash).standing for one in made]


def account(chain: CosmosChain, raw: bytes) -> Account:
    found = chain.account(raw)
    assert found is not None
    return found


def blocks(chain: CosmosChain, count: int) -> None:
    """Empty ones: proposers leave everything out."""
    chain.is_held = True
    for _ in range(count):
        assert chain.produce().hashes == ()
    chain.is_held = False
