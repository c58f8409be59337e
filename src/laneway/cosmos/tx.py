"""A Cosmos transaction: its body, who signs it for what fee, and the bytes that nodes are sent.

The body is encoded once. What is signed is the body, the fee with the sequence, the chain and the
account's number; nothing of it can change without another signature.
"""

import hashlib
from collections.abc import Callable, Sequence

from msgspec import Struct

from laneway.cosmos.errors import MalformedProtobuf, MalformedTransaction
from laneway.cosmos.keys import verifies
from laneway.cosmos.limits import MEMO_CHARS_MAX, TX_BYTES_MAX
from laneway.cosmos.messages import (
    DIRECT,
    Any,
    AuthInfo,
    BlobProto,
    BlobTx,
    Coin,
    Fee,
    ModeInfo,
    PubKey,
    SignDoc,
    SignerInfo,
    SingleMode,
    TxBody,
    TxRaw,
)
from laneway.cosmos.protobuf import Message, decode, encode


class SigningTerms(Struct, frozen=True):
    """What a signature is for, beside the body."""

    chain_id: str
    account_number: int
    sequence: int
    fee: Fee


class SignedCosmosTx(Struct, frozen=True):
    """What is sent, and how the chain will name it."""

    raw: bytes
    hash: bytes


class Read(Struct, frozen=True):
    """A transaction as it was read from its bytes."""

    raw: TxRaw
    body: TxBody
    auth: AuthInfo
    hash: bytes
    blobs: tuple[BlobProto, ...] = ()

    def sequence(self) -> int:
        return self.auth.signer_infos[0].sequence

    def public_key(self) -> bytes:
        key = self.auth.signer_infos[0].public_key
        assert key is not None
        return decode(PubKey, key.value).key


def packed(message: Message, url: str) -> Any:
    return Any(url, encode(message))


def body_of(messages: Sequence[Any], *, memo: str = "", timeout_height: int = 0) -> bytes:
    if not messages:
        raise MalformedTransaction(problem="it has no message")
    if len(memo) > MEMO_CHARS_MAX:
        raise MalformedTransaction(problem=f"its memo has more than {MEMO_CHARS_MAX} characters")
    return encode(TxBody(tuple(messages), memo, timeout_height))


def fee_of(amount: int, denom: str, gas_limit: int, *, payer: str = "", granter: str = "") -> Fee:
    coins = (Coin(denom, str(amount)),) if amount else ()
    return Fee(coins, gas_limit, payer, granter)


def auth_of(public_key: bytes, terms: SigningTerms) -> bytes:
    key = packed(PubKey(public_key), PubKey.url)
    signer = SignerInfo(key, ModeInfo(SingleMode(DIRECT)), terms.sequence)
    return encode(AuthInfo((signer,), terms.fee))


def sign_doc(body: bytes, auth: bytes, terms: SigningTerms) -> bytes:
    return encode(SignDoc(body, auth, terms.chain_id, terms.account_number))


def sign(
    body: bytes,
    terms: SigningTerms,
    public_key: bytes,
    signer: Callable[[bytes], bytes],
    blobs: Sequence[BlobProto] = (),
) -> SignedCosmosTx:
    """The signed transaction, with its blobs beside it if there are some."""
    auth = auth_of(public_key, terms)
    return sealed(body, auth, signer(sign_doc(body, auth, terms)), blobs)


def sealed(
    body: bytes, auth: bytes, signature: bytes, blobs: Sequence[BlobProto] = ()
) -> SignedCosmosTx:
    inner = encode(TxRaw(body, auth, (signature,)))
    raw = encode(BlobTx(inner, tuple(blobs), BlobTx.mark)) if blobs else inner
    return SignedCosmosTx(raw, hash_of(inner))


def hash_of(inner: bytes) -> bytes:
    """Of a transaction without its blobs: they are not part of what is named."""
    return hashlib.sha256(inner).digest()


def read(raw: bytes) -> Read:
    """The transaction of these bytes; MalformedTransaction or MalformedProtobuf with the reason."""
    if len(raw) > TX_BYTES_MAX:
        raise MalformedTransaction(problem=f"it has more than {TX_BYTES_MAX} bytes")
    blob_tx = read_blob_tx(raw)
    inner, blobs = (raw, ()) if blob_tx is None else (blob_tx.tx, blob_tx.blobs)
    outer = decode(TxRaw, inner)
    body = decode(TxBody, outer.body_bytes)
    auth = decode(AuthInfo, outer.auth_info_bytes)
    if not body.messages:
        raise MalformedTransaction(problem="it has no message")
    if not auth.signer_infos or len(auth.signer_infos) != len(outer.signatures):
        raise MalformedTransaction(problem="it has not one signature for each signer")
    return Read(outer, body, auth, hash_of(inner), blobs)


def read_blob_tx(raw: bytes) -> BlobTx | None:
    """None for a transaction without blobs."""
    try:
        found = decode(BlobTx, raw)
    except MalformedProtobuf:
        return None
    return found if found.type_id == BlobTx.mark else None


def is_signed(found: Read, chain_id: str, account_number: int) -> bool:
    """Whether the key it names signed it, directly, for this chain and account."""
    signer = found.auth.signer_infos[0]
    mode = signer.mode_info
    if mode is None or mode.single is None or mode.single.mode != DIRECT:
        return False
    if signer.public_key is None or signer.public_key.type_url != PubKey.url:
        return False
    outer = found.raw
    doc = SignDoc(outer.body_bytes, outer.auth_info_bytes, chain_id, account_number)
    return verifies(found.public_key(), outer.signatures[0], encode(doc))
