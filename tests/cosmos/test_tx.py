"""Laws of transactions: what is signed is read back, and nothing of it can be changed."""

import hashlib

import pytest
from msgspec.structs import replace

from laneway.cosmos.blobs import CelestiaBlob, namespace_of, proto
from laneway.cosmos.errors import MalformedProtobuf, MalformedTransaction
from laneway.cosmos.keys import HeldCosmosKey
from laneway.cosmos.limits import MEMO_CHARS_MAX, TX_BYTES_MAX
from laneway.cosmos.messages import (
    Any,
    AuthInfo,
    Coin,
    Fee,
    ModeInfo,
    MsgSend,
    PubKey,
    SignerInfo,
    SingleMode,
    TxBody,
    TxRaw,
)
from laneway.cosmos.protobuf import encode
from laneway.cosmos.tx import (
    Read,
    SigningTerms,
    auth_of,
    body_of,
    fee_of,
    hash_of,
    is_signed,
    packed,
    read,
    read_blob_tx,
    sealed,
    sign,
    sign_doc,
)

KEY = HeldCosmosKey(b"\x07" * 32)
TERMS = SigningTerms("dev", 4, 9, fee_of(2_000, "utia", 80_000))
SEND = packed(MsgSend("a", "b", (Coin("utia", "5"),)), MsgSend.url)
BODY = body_of([SEND], memo="hello", timeout_height=77)


def test_what_is_signed_is_read_back() -> None:
    signed = sign(BODY, TERMS, KEY.public_key, KEY.sign)
    found = read(signed.raw)
    assert found.hash == signed.hash == hashlib.sha256(signed.raw).digest()
    assert (found.sequence(), found.public_key()) == (9, KEY.public_key)
    assert found.body == TxBody((SEND,), "hello", 77)
    assert found.auth.fee == Fee((Coin("utia", "2000"),), 80_000)
    assert found.blobs == ()
    assert is_signed(found, "dev", 4)


def test_another_chain_or_account_did_not_sign_it() -> None:
    found = read(sign(BODY, TERMS, KEY.public_key, KEY.sign).raw)
    assert not is_signed(found, "other", 4)
    assert not is_signed(found, "dev", 5)
    changed = replace(found.raw, body_bytes=body_of([SEND]))
    assert not is_signed(replace(found, raw=changed), "dev", 4)


def test_blobs_travel_beside_and_do_not_change_the_name() -> None:
    blob = proto(CelestiaBlob(namespace_of(b"mine"), b"data"))
    plain = sign(BODY, TERMS, KEY.public_key, KEY.sign)
    carried = sign(BODY, TERMS, KEY.public_key, KEY.sign, [blob])
    assert carried.hash == plain.hash
    assert carried.raw != plain.raw
    found = read(carried.raw)
    assert (found.hash, found.blobs) == (plain.hash, (blob,))
    assert read_blob_tx(plain.raw) is None
    assert read_blob_tx(b"\xff") is None
    assert read_blob_tx(encode(PubKey(plain.raw))) is None, "it has no mark"


def test_a_fee_of_nothing_names_no_coin() -> None:
    assert fee_of(0, "utia", 5, payer="p", granter="g") == Fee((), 5, "p", "g")


def test_a_body_needs_a_message_and_a_short_memo() -> None:
    with pytest.raises(MalformedTransaction, match="no message"):
        body_of([])
    body_of([SEND], memo="x" * MEMO_CHARS_MAX)
    with pytest.raises(MalformedTransaction, match="memo"):
        body_of([SEND], memo="x" * (MEMO_CHARS_MAX + 1))


def test_what_is_no_transaction_is_refused() -> None:
    auth = auth_of(KEY.public_key, TERMS)
    with pytest.raises(MalformedTransaction, match="more than"):
        read(bytes(TX_BYTES_MAX + 1))
    with pytest.raises(MalformedProtobuf):
        read(b"nonsense")
    with pytest.raises(MalformedTransaction, match="no message"):
        read(sealed(b"", auth, b"s").raw)
    with pytest.raises(MalformedTransaction, match="signature"):
        read(encode(TxRaw(BODY, auth, ())))
    with pytest.raises(MalformedTransaction, match="signature"):
        read(encode(TxRaw(BODY, encode(AuthInfo()), ())))


@pytest.mark.parametrize(
    "signer",
    [
        SignerInfo(packed(PubKey(KEY.public_key), PubKey.url), None, 9),
        SignerInfo(packed(PubKey(KEY.public_key), PubKey.url), ModeInfo(), 9),
        SignerInfo(packed(PubKey(KEY.public_key), PubKey.url), ModeInfo(SingleMode(127)), 9),
        SignerInfo(None, ModeInfo(SingleMode(1)), 9),
        SignerInfo(Any("/cosmos.crypto.ed25519.PubKey", b""), ModeInfo(SingleMode(1)), 9),
    ],
)
def test_other_modes_and_keys_are_not_taken_for_a_direct_signature(signer: SignerInfo) -> None:
    auth = encode(AuthInfo((signer,), TERMS.fee))
    signature = KEY.sign(sign_doc(BODY, auth, TERMS))
    assert not is_signed(read(sealed(BODY, auth, signature).raw), "dev", 4)


def test_the_name_is_of_the_bytes_without_blobs() -> None:
    assert hash_of(b"abc") == hashlib.sha256(b"abc").digest()
    assert isinstance(read(sign(BODY, TERMS, KEY.public_key, KEY.sign).raw), Read)
