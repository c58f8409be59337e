"""What each fork allows."""

import pytest
from msgspec import structs

from laneway.evm import errors
from laneway.evm.envelope import draft, seal, signing_digest
from laneway.evm.fork import Fork
from laneway.evm.keccak import keccak
from laneway.evm.limits import INITCODE_BYTES_MAX, TRANSACTION_GAS_MAX
from laneway.evm.secp256k1 import HeldEvmKey, N, Signature, address, sign
from laneway.evm.transaction import (
    AccessListTransaction,
    Authorization,
    BlobTransaction,
    DynamicFeeTransaction,
    LegacyTransaction,
    SetCodeTransaction,
    Transaction,
    signed,
)
from laneway.evm.validity import check, owner_hash, validate

KEY = HeldEvmKey(b"\x46" * 32)
TO = b"\x35" * 20
HASH = b"\x01" + bytes(31)

OLD = LegacyTransaction(0, 1, 21_000, TO)
NAMED = LegacyTransaction(0, 1, 21_000, TO, chain_id=1)
LIST = AccessListTransaction(1, 0, 1, 21_000, TO)
PLAIN = DynamicFeeTransaction(1, 0, 1, 2, 21_000, TO)
BLOB = BlobTransaction(1, 0, 1, 2, 21_000, TO, blob_hashes=(HASH,))
CODE = SetCodeTransaction(1, 0, 1, 2, 46_000, TO, authorizations=(Authorization(1, TO, 0),))
CREATES = LegacyTransaction(0, 1, 10**7, None, data=bytes(INITCODE_BYTES_MAX + 1))


@pytest.mark.parametrize(
    ("bare", "since"),
    [
        (OLD, Fork.FRONTIER),
        (LIST, Fork.BERLIN),
        (PLAIN, Fork.LONDON),
        (BLOB, Fork.CANCUN),
        (CODE, Fork.PRAGUE),
    ],
)
def test_a_type_is_allowed_since_its_fork(bare: Transaction, since: Fork) -> None:
    made = signed(bare, KEY.sign(signing_digest(bare)))
    for fork in Fork:
        if fork >= since:
            assert validate(made, fork, 1) == KEY.address
        else:
            with pytest.raises(errors.TypeUnsupported):
                validate(made, fork, 1)


def changed(bare: Transaction, **fields: object) -> Transaction:
    return structs.replace(bare, **fields)


@pytest.mark.parametrize(
    ("bare", "fork", "kind"),
    [
        (NAMED, Fork.TANGERINE, errors.InvalidSignature),
        (changed(NAMED, chain_id=5), Fork.OSAKA, errors.WrongChain),
        (changed(PLAIN, chain_id=2**64), Fork.OSAKA, errors.FieldOverflow),
        (changed(PLAIN, nonce=2**64), Fork.OSAKA, errors.FieldOverflow),
        (changed(PLAIN, nonce=-1), Fork.OSAKA, errors.FieldOverflow),
        (changed(PLAIN, nonce=2**64 - 1), Fork.OSAKA, errors.NonceTooBig),
        (changed(PLAIN, gas_limit=2**64), Fork.PRAGUE, errors.FieldOverflow),
        (changed(PLAIN, value_wei=2**256), Fork.OSAKA, errors.FieldOverflow),
        (changed(PLAIN, fee_wei_max=2**256), Fork.OSAKA, errors.FieldOverflow),
        (changed(PLAIN, tip_wei_max=2**256), Fork.OSAKA, errors.FieldOverflow),
        (changed(BLOB, blob_fee_wei_max=2**256), Fork.OSAKA, errors.FieldOverflow),
        (changed(PLAIN, tip_wei_max=3), Fork.OSAKA, errors.TipAboveFee),
        (changed(PLAIN, fee_wei_max=2**250), Fork.OSAKA, errors.CostOverflow),
        (changed(PLAIN, gas_limit=20_999), Fork.OSAKA, errors.IntrinsicGasTooLow),
        (changed(PLAIN, data=b"a", gas_limit=21_020), Fork.PRAGUE, errors.GasBelowFloor),
        (changed(PLAIN, gas_limit=TRANSACTION_GAS_MAX + 1), Fork.OSAKA, errors.GasAboveCap),
        (changed(PLAIN, to=b"\x01" * 19), Fork.OSAKA, errors.MalformedField),
        (changed(BLOB, to=None), Fork.OSAKA, errors.RecipientMissing),
        (changed(CODE, to=None), Fork.OSAKA, errors.RecipientMissing),
        (changed(CODE, authorizations=()), Fork.OSAKA, errors.AuthorizationsMissing),
        (changed(BLOB, blob_hashes=()), Fork.OSAKA, errors.BlobsMissing),
        (changed(BLOB, blob_hashes=(HASH,) * 7), Fork.CANCUN, errors.BlobsTooMany),
        (changed(BLOB, blob_hashes=(HASH,) * 10), Fork.PRAGUE, errors.BlobsTooMany),
        (changed(BLOB, blob_hashes=(HASH,) * 7), Fork.OSAKA, errors.BlobsTooMany),
        (changed(BLOB, blob_hashes=(HASH, bytes(32))), Fork.OSAKA, errors.BlobHashUnknown),
        (CREATES, Fork.SHANGHAI, errors.InitcodeTooBig),
    ],
)
def test_what_a_fork_forbids_is_refused_with_its_reason(
    bare: Transaction, fork: Fork, kind: type[errors.InvalidTransaction]
) -> None:
    with pytest.raises(kind):
        check(bare, fork, 1)


@pytest.mark.parametrize(
    ("bare", "fork"),
    [
        (changed(PLAIN, nonce=2**64 - 2), Fork.OSAKA),
        (changed(PLAIN, gas_limit=TRANSACTION_GAS_MAX), Fork.OSAKA),
        (changed(PLAIN, gas_limit=TRANSACTION_GAS_MAX + 1), Fork.PRAGUE),
        (changed(PLAIN, data=b"a", gas_limit=21_020), Fork.CANCUN),
        (changed(BLOB, blob_hashes=(HASH,) * 9), Fork.PRAGUE),
        (CREATES, Fork.PARIS),
        (changed(CREATES, data=bytes(INITCODE_BYTES_MAX)), Fork.SHANGHAI),
        (NAMED, Fork.SPURIOUS),
    ],
)
def test_what_stands_at_the_edge_is_allowed(bare: Transaction, fork: Fork) -> None:
    check(bare, fork)


def test_the_upper_s_ended_with_frontier() -> None:
    made = KEY.sign(signing_digest(OLD))
    mirrored = signed(OLD, Signature(1 - made.y_parity, made.r, N - made.s))
    assert validate(mirrored, Fork.FRONTIER) == KEY.address
    with pytest.raises(errors.InvalidSignature, match="upper half"):
        validate(mirrored, Fork.HOMESTEAD)


def test_without_a_signature_nobody_sent_it() -> None:
    with pytest.raises(errors.InvalidSignature, match="there is none"):
        validate(OLD, Fork.OSAKA)


SECRET = b"\x11" * 32
ADDRESS = address(SECRET)
PAYEE = b"\x33" * 20


def raw(made: Transaction, secret: bytes = SECRET) -> bytes:
    drafted = draft(made)
    return seal(drafted, sign(keccak(drafted.payload), secret)).raw


def proven(content: bytes) -> bytes | None:
    return owner_hash(content, address=ADDRESS, nonce=4, chain_id=7)


@pytest.mark.parametrize(
    "made",
    [
        DynamicFeeTransaction(7, 4, 1, 2, 21_000, PAYEE),
        LegacyTransaction(4, 1, 21_000, PAYEE),
    ],
)
def test_what_the_account_signed_for_this_nonce_and_chain_is_proof(made: Transaction) -> None:
    assert proven(raw(made)) == keccak(raw(made))


@pytest.mark.parametrize(
    "lie",
    [
        raw(DynamicFeeTransaction(7, 4, 1, 2, 21_000, PAYEE), b"\x12" * 32),
        raw(DynamicFeeTransaction(7, 5, 1, 2, 21_000, PAYEE)),
        raw(DynamicFeeTransaction(8, 4, 1, 2, 21_000, PAYEE)),
        raw(DynamicFeeTransaction(7, 4, 1, 2, 21_000, PAYEE))[:-1],
        b"",
    ],
    ids=["another's", "another nonce", "another chain", "cut off", "nothing"],
)
def test_anything_else_is_none(lie: bytes) -> None:
    assert proven(lie) is None
