"""Transactions as values."""

import pytest

from laneway.evm.errors import InvalidSignature
from laneway.evm.keccak import keccak
from laneway.evm.limits import BLOB_GAS
from laneway.evm.secp256k1 import HeldEvmKey, Signature
from laneway.evm.transaction import (
    Access,
    AccessListTransaction,
    Authorization,
    BlobTransaction,
    DynamicFeeTransaction,
    LegacyTransaction,
    access_list,
    authority,
    authorization_digest,
    cost_wei_max,
    fee_wei_max,
    recovered,
    signed,
    tip_wei_max,
)

KEY = HeldEvmKey(b"\x46" * 32)
TO = b"\x35" * 20
LISTED = (Access(TO, (b"\x01" * 32,)),)
OLD = LegacyTransaction(0, 7, 21_000, TO)
LIST = AccessListTransaction(1, 0, 8, 21_000, TO, access_list=LISTED)
NEW = DynamicFeeTransaction(1, 0, 2, 9, 21_000, TO)


def test_before_eip_1559_the_price_is_fee_and_tip() -> None:
    assert [fee_wei_max(each) for each in (OLD, LIST, NEW)] == [7, 8, 9]
    assert [tip_wei_max(each) for each in (OLD, LIST, NEW)] == [7, 8, 2]


def test_only_typed_transactions_list_accesses() -> None:
    assert access_list(OLD) == ()
    assert access_list(LIST) == LISTED


def test_a_signature_changes_nothing_else() -> None:
    made = signed(NEW, Signature(1, 2, 3))
    assert made.signature == Signature(1, 2, 3)
    assert signed(made, Signature(0, 1, 1)).nonce == NEW.nonce
    assert NEW.signature is None


def test_an_authorization_names_the_account_that_signed_it() -> None:
    bare = Authorization(1, TO, 5)
    made = KEY.sign(authorization_digest(bare))
    assert authority(Authorization(1, TO, 5, made.y_parity, made.r, made.s)) == KEY.address
    assert authority(bare) is None


def test_who_signed_is_known_or_refused() -> None:
    digest = keccak(b"a")
    assert recovered(digest, KEY.sign(digest)) == KEY.address
    with pytest.raises(InvalidSignature, match="there is none"):
        recovered(digest, None)
    with pytest.raises(InvalidSignature, match="no key"):
        recovered(digest, Signature(0, 5, 1))


def test_what_a_transaction_can_cost_is_its_value_its_gas_and_its_blobs() -> None:
    plain = DynamicFeeTransaction(1, 0, 2, 30, 21_000, b"t" * 20, 1_000)
    assert cost_wei_max(plain) == 1_000 + 21_000 * 30
    legacy = LegacyTransaction(0, 7, 21_000, b"t" * 20, 5)
    assert cost_wei_max(legacy) == 5 + 21_000 * 7
    blobs = BlobTransaction(
        1, 0, 2, 30, 21_000, b"t" * 20, 1_000, blob_fee_wei_max=3, blob_hashes=(b"h" * 32,) * 2
    )
    assert cost_wei_max(blobs) == 1_000 + 21_000 * 30 + 2 * BLOB_GAS * 3
