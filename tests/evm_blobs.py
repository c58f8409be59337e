"""Blobs with their commitments and proofs, made by the reference library of the field."""

import random
from functools import cache
from hashlib import sha256
from importlib.resources import files
from typing import Any

import ckzg
from tests.anvil import CHAIN_ID, GWEI, KEYS

from laneway.evm.envelope import encode_network, hash_of, signing_digest
from laneway.evm.secp256k1 import HeldEvmKey
from laneway.evm.transaction import BlobTransaction, Sidecar
from laneway.evm.transaction import signed as signed_by

FIELD_ELEMENTS = 4_096


@cache
def ceremony() -> Any:
    (found,) = (one for one in files("eth_account").rglob("kzg_trusted_setup.txt"))  # type: ignore[attr-defined]
    return ckzg.load_trusted_setup(str(found), 0)


def blob(seed: int) -> bytes:
    """Values of the field that nobody chose."""
    chance = random.Random(seed)
    return b"".join(b"\0" + chance.randbytes(31) for _ in range(FIELD_ELEMENTS))


@cache
def sidecar(seed: int, *, count: int = 1, version: int = 0) -> Sidecar:
    blobs = tuple(blob(seed + place) for place in range(count))
    commitments = tuple(ckzg.blob_to_kzg_commitment(one, ceremony()) for one in blobs)
    if version == 0:
        proofs = [
            ckzg.compute_blob_kzg_proof(one, commitment, ceremony())
            for one, commitment in zip(blobs, commitments, strict=True)
        ]
    else:
        proofs = [
            proof
            for one in blobs
            for proof in ckzg.compute_cells_and_kzg_proofs(one, ceremony())[1]
        ]
    return Sidecar(version, blobs, commitments, tuple(proofs))


def named(carried: Sidecar) -> tuple[bytes, ...]:
    """The hashes by which a transaction names its blobs."""
    return tuple(b"\x01" + sha256(one).digest()[1:] for one in carried.commitments)


def blob_transaction(nonce: int, carried: Sidecar, **fields: Any) -> BlobTransaction:
    made = BlobTransaction(
        **{
            "chain_id": CHAIN_ID,
            "nonce": nonce,
            "tip_wei_max": GWEI,
            "fee_wei_max": 10 * GWEI,
            "gas_limit": 21_000,
            "to": b"\x11" * 20,
            "blob_fee_wei_max": 10,
            "blob_hashes": named(carried),
            "sidecar": carried,
            **fields,
        }
    )
    key = HeldEvmKey(bytes.fromhex(KEYS[0][2:]))
    return signed_by(made, key.sign(signing_digest(made)))


def sent(made: BlobTransaction) -> tuple[str, str]:
    """The bytes that a node is given, and the hash."""
    return "0x" + encode_network(made).hex(), "0x" + hash_of(made).hex()
