"""Real Cosmos and Celestia bytes: signatures, transactions, blobs, and the words of nodes."""

import base64
import hashlib
import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from tests.vectors.folder import folder

from laneway.chains.cosmos.phrases import CosmosPhrases, expected_in
from laneway.core.cosmos import OfferKind
from laneway.cosmos.blobs import CelestiaBlob, commitment, from_proto, share_count, shares
from laneway.cosmos.errors import MalformedProtobuf, MalformedTransaction
from laneway.cosmos.keys import HeldCosmosKey, derived, seed_of, verifies
from laneway.cosmos.messages import AuthInfo, BlobTx, MsgPayForBlobs, SignDoc, TxBody, TxRaw
from laneway.cosmos.protobuf import decode, encode
from laneway.cosmos.tx import SigningTerms, is_signed, read, read_blob_tx, sign, sign_doc

pytestmark = pytest.mark.vectors


def listed(*parts: str) -> list[Any]:
    """The entries of one file, or one that is skipped where there is none."""
    path = folder("cosmos", *parts)
    if not path.is_file():
        reason = f"no vectors in cosmos/{'/'.join(parts)}; set LANEWAY_VECTORS"
        return [pytest.param(None, id="none", marks=pytest.mark.skip(reason=reason))]
    entries = json.loads(path.read_bytes())
    return [pytest.param(entry, id=f"{place}") for place, entry in enumerate(entries)]


def files(*parts: str) -> list[Any]:
    """Every JSON file below with transactions, or one that is skipped where there is none."""
    below = sorted(folder("cosmos", *parts).rglob("*.json"))
    found = [path for path in below if any(transactions(json.loads(path.read_bytes())))]
    if not found:
        reason = f"no vectors in cosmos/{'/'.join(parts)}; set LANEWAY_VECTORS"
        return [pytest.param(None, id="none", marks=pytest.mark.skip(reason=reason))]
    return [pytest.param(path, id=path.stem) for path in found]


def transactions(place: Any) -> Iterator[bytes]:
    """Whatever a block's answer has under `txs`, wherever that stands."""
    if isinstance(place, dict):
        for name, inner in place.items():
            if name == "txs" and isinstance(inner, list):
                yield from (base64.b64decode(one) for one in inner if isinstance(one, str))
            else:
                yield from transactions(inner)
    elif isinstance(place, list):
        for inner in place:
            yield from transactions(inner)


@cache
def blobs_at(path: Path) -> dict[str, CelestiaBlob]:
    """Blobs of a file of transactions, by the hash of their data."""
    found: dict[str, CelestiaBlob] = {}
    for raw in transactions(json.loads(path.read_bytes())):
        carried = read_blob_tx(raw)
        for message in () if carried is None else carried.blobs:
            blob = from_proto(message)
            found[hashlib.sha256(blob.data).hexdigest()] = blob
    return found


@pytest.mark.parametrize("case", listed("cosmjs", "sign_mode_direct.json"))
def test_cosmjs_and_a_real_node_sign_the_same_bytes(case: dict[str, Any]) -> None:
    key = HeldCosmosKey(derived(seed_of(case["mnemonic"])))
    found = read(bytes.fromhex(case["signed_tx_bytes"]))
    assert found.auth.fee is not None
    terms = SigningTerms(case["chain_id"], case["account_number"], case["sequence"], found.auth.fee)
    body = encode(found.body)
    assert body.hex() == case["body_bytes"]
    assert encode(found.auth).hex() == case["auth_info_bytes"]
    assert sign_doc(body, encode(found.auth), terms).hex() == case["sign_bytes"]
    signed = sign(body, terms, key.public_key, key.sign)
    assert signed.raw.hex() == case["signed_tx_bytes"]
    assert is_signed(found, case["chain_id"], case["account_number"])


@pytest.mark.parametrize("case", listed("real_chain_sign_mode_direct.json"))
def test_signatures_of_real_chains_verify(case: dict[str, Any]) -> None:
    body, auth = bytes.fromhex(case["body_bytes_hex"]), bytes.fromhex(case["auth_info_bytes_hex"])
    doc = encode(SignDoc(body, auth, case["chain_id"], case["account_number"]))
    signature, key = bytes.fromhex(case["signature_hex"]), bytes.fromhex(case["pubkey_hex"])
    assert verifies(key, signature, doc)
    assert not verifies(key, signature, doc + b"\0")
    assert encode(decode(TxBody, body)) == body
    assert encode(decode(AuthInfo, auth)) == auth
    raw = encode(TxRaw(body, auth, (signature,)))
    found = read(raw)
    assert found.hash.hex().upper() == case["tx_hash"]
    assert found.sequence() == case["sequence"]
    assert [message.type_url for message in found.body.messages] == case["msgs"]
    assert is_signed(found, case["chain_id"], case["account_number"])


@pytest.mark.parametrize("case", listed("share_commitments.json"))
def test_commitments_are_those_of_the_chain(case: dict[str, Any]) -> None:
    if case["data_b64"] is not None:
        data = base64.b64decode(case["data_b64"])
        signer = bytes.fromhex(case["signer_hex"])
        blob = CelestiaBlob(
            bytes.fromhex(case["namespace_hex"]), data, case["share_version"], signer
        )
    else:
        path = folder("cosmos", *case["source"].split("/"))
        if not path.is_file():
            pytest.skip(f"no vectors in {case['source']}")
        blob = blobs_at(path)[case["data_sha256"]]
    assert (blob.namespace.hex(), len(blob.data)) == (case["namespace_hex"], case["data_len"])
    assert commitment(blob).hex() == case["commitment_hex"]
    assert len(shares(blob)) == share_count(len(blob.data), blob.share_version)


@pytest.mark.parametrize("path", [*files("celestia-app"), *files("go-square")])
def test_transactions_of_real_blocks_are_read_and_written_as_they_were(path: Path) -> None:
    """Their blobs are what their messages pay for."""
    found = list(transactions(json.loads(path.read_bytes())))
    for raw in found:
        same_again(raw)
    assert len(found) > 0


@pytest.mark.parametrize("path", files("celestia-node"))
def test_what_a_file_holds_is_read_whole_or_refused_with_its_place(path: Path) -> None:
    """Some of these have lost bytes on their way here: each says so itself."""
    for raw in transactions(json.loads(path.read_bytes())):
        if is_whole(raw):
            same_again(raw)


def is_whole(raw: bytes) -> bool:
    try:
        read(raw)
    except (MalformedProtobuf, MalformedTransaction):
        return False
    return True


def same_again(raw: bytes) -> None:
    carried = read_blob_tx(raw)
    inner = raw if carried is None else carried.tx
    outer = decode(TxRaw, inner)
    assert encode(outer) == inner
    # A body and who signs it are signed as they came; some say a zero in so many words.
    auth, body = decode(AuthInfo, outer.auth_info_bytes), decode(TxBody, outer.body_bytes)
    assert decode(AuthInfo, encode(auth)) == auth
    assert decode(TxBody, encode(body)) == body
    assert read(raw).auth == auth
    if carried is not None:
        assert encode(carried) == raw
        assert carried.type_id == BlobTx.mark
        (message,) = body.messages
        paid = decode(MsgPayForBlobs, message.value)
        assert encode(paid) == message.value
        given = [from_proto(one) for one in carried.blobs]
        assert paid.namespaces == tuple(blob.namespace for blob in given)
        assert paid.blob_sizes == tuple(len(blob.data) for blob in given)
        assert paid.share_commitments == tuple(map(commitment, given))


@pytest.mark.parametrize("case", listed("sequence_mismatch_strings.json"))
def test_a_nodes_words_on_a_sequence_are_understood(case: dict[str, Any]) -> None:
    found = None if case["expected"] is None else (case["expected"], case["got"])
    assert expected_in(case["text"]) == found
    if found is not None:
        assert CosmosPhrases().of_error(case["text"]) is OfferKind.WRONG_SEQUENCE
