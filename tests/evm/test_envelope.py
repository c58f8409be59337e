"""Bytes of transactions: published examples, both ways, and what is refused."""

import pytest

from laneway.evm import rlp
from laneway.evm.envelope import (
    decode,
    draft,
    encode_canonical,
    encode_network,
    hash_of,
    seal,
    sealed,
    sender,
    signing_digest,
)
from laneway.evm.errors import (
    InvalidSignature,
    InvalidTransaction,
    MalformedField,
    MalformedRlp,
    SidecarMismatch,
    TypeUnsupported,
    WrongFieldCount,
)
from laneway.evm.fields import blob_hash
from laneway.evm.keccak import keccak
from laneway.evm.limits import BLOB_BYTES, TRANSACTION_BYTES_MAX
from laneway.evm.secp256k1 import HeldEvmKey
from laneway.evm.transaction import (
    Access,
    AccessListTransaction,
    Authorization,
    BlobTransaction,
    DynamicFeeTransaction,
    LegacyTransaction,
    SetCodeTransaction,
    Sidecar,
    Transaction,
    signed,
)

KEY = HeldEvmKey(b"\x46" * 32)
TO = b"\x35" * 20
POINT = b"\xc0" + bytes(47)
LISTED = (Access(TO, (b"\x01" * 32,)),)
ETHER = 10**18
GWEI = 10**9

EXAMPLE = LegacyTransaction(9, 20 * GWEI, 21_000, TO, ETHER, chain_id=1)
EXAMPLE_RAW = (
    "f86c098504a817c800825208943535353535353535353535353535353535353535880de0b6b3a76400008025"
    "a028ef61340bd939bc2195fe537567866003e1a15d3c71ff63e1590620aa636276"
    "a067cbe9d8997f761aecb703304b3800ccf555c9f3dc64214b297fb1966a3b6d83"
)
"""The example of EIP-155."""

ALL: list[Transaction] = [
    EXAMPLE,
    LegacyTransaction(0, 1, 53_000, None, data=b"\x60\x00"),
    AccessListTransaction(1, 3, GWEI, 30_000, None, 5, b"\x00", LISTED),
    DynamicFeeTransaction(1, 3, 1, GWEI, 21_000, TO, ETHER),
    BlobTransaction(1, 3, 1, GWEI, 21_000, TO, 0, b"", LISTED, 7, (blob_hash(POINT),)),
    SetCodeTransaction(
        1, 3, 1, GWEI, 71_000, TO, authorizations=(Authorization(0, TO, 1, 1, 2, 3),)
    ),
]


def signed_by_key(bare: Transaction) -> Transaction:
    return signed(bare, KEY.sign(signing_digest(bare)))


def sidecar(version: int = 0, proofs: int = 1) -> Sidecar:
    return Sidecar(version, (bytes(BLOB_BYTES),), (POINT,), (POINT,) * proofs)


def test_the_example_of_eip_155_is_reproduced() -> None:
    drafted = draft(EXAMPLE)
    digest = keccak(drafted.payload)
    assert digest.hex().startswith("daf5a779ae972f97")
    made = seal(drafted, KEY.sign(digest))
    assert made.raw.hex() == EXAMPLE_RAW
    assert made.hash == keccak(made.raw)


@pytest.mark.parametrize("bare", ALL)
def test_what_was_encoded_is_decoded_to_the_same(bare: Transaction) -> None:
    made = signed_by_key(bare)
    raw = encode_canonical(made)
    assert decode(raw) == made
    assert encode_network(made) == raw
    assert sealed(made).hash == hash_of(made) == keccak(raw)
    assert sender(made) == KEY.address
    assert raw[0] == bare.type or bare.type == 0


@pytest.mark.parametrize(("version", "proofs"), [(0, 1), (1, 128)])
def test_a_sidecar_travels_beside_and_is_not_hashed(version: int, proofs: int) -> None:
    bare = ALL[4]
    assert isinstance(bare, BlobTransaction)
    carried = BlobTransaction(
        1, 3, 1, GWEI, 21_000, TO, 0, b"", LISTED, 7, bare.blob_hashes, sidecar(version, proofs)
    )
    made = signed_by_key(carried)
    raw = encode_network(made)
    assert len(raw) > BLOB_BYTES
    assert decode(raw) == made
    assert hash_of(made) == hash_of(signed_by_key(bare))
    assert decode(encode_canonical(made)) == signed_by_key(bare)


def test_a_foreign_sidecar_is_refused() -> None:
    bare = BlobTransaction(1, 3, 1, GWEI, 21_000, TO, blob_hashes=(b"\x01" * 32,))
    carried = BlobTransaction(
        1, 3, 1, GWEI, 21_000, TO, blob_hashes=bare.blob_hashes, sidecar=sidecar()
    )
    with pytest.raises(SidecarMismatch):
        decode(encode_network(signed_by_key(carried)))


def with_field(index: int, item: rlp.Item, bare: Transaction = EXAMPLE) -> bytes:
    raw = encode_canonical(signed_by_key(bare))
    begin = 1 if bare.type else 0
    fields = rlp.decode(raw, begin)
    assert isinstance(fields, tuple)
    return raw[:begin] + rlp.encode([*fields[:index], item, *fields[index + 1 :]])


@pytest.mark.parametrize(
    ("raw", "kind"),
    [
        (b"", MalformedRlp),
        (bytes(TRANSACTION_BYTES_MAX + 1), MalformedRlp),
        (b"\x02", MalformedRlp),
        (b"\x02\x80", MalformedField),
        (b"\x02\xc0", WrongFieldCount),
        (b"\x03\xc0", WrongFieldCount),
        (b"\x03\xc1\xc0", WrongFieldCount),
        (b"\xc0", WrongFieldCount),
        (b"\x00", TypeUnsupported),
        (b"\x05\xc0", TypeUnsupported),
        (b"\xb8", TypeUnsupported),
        (with_field(0, b"\x00"), MalformedField),
        (with_field(6, b""), InvalidSignature),
        (with_field(6, b"\x1d"), InvalidSignature),
        (with_field(9, b"\x02", ALL[3]), InvalidSignature),
        (with_field(8, b"", ALL[3]), MalformedField),
    ],
)
def test_bytes_of_another_form_are_refused(raw: bytes, kind: type[InvalidTransaction]) -> None:
    with pytest.raises(kind):
        decode(raw)


def test_who_signed_without_a_chain_is_known_too() -> None:
    made = signed_by_key(ALL[1])
    assert rlp.decode(encode_canonical(made))[6] in (b"\x1b", b"\x1c")
    assert sender(decode(encode_canonical(made))) == KEY.address
