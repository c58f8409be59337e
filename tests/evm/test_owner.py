"""Whose signature is under a transaction decides whose nonce it used."""

import pytest

from laneway.evm.envelope import draft, seal
from laneway.evm.keccak import keccak
from laneway.evm.owner import owner_hash
from laneway.evm.secp256k1 import address, sign
from laneway.evm.transaction import DynamicFeeTransaction, LegacyTransaction, Transaction

SECRET = b"\x11" * 32
ADDRESS = address(SECRET)
TO = b"\x33" * 20


def raw(made: Transaction, secret: bytes = SECRET) -> bytes:
    drafted = draft(made)
    return seal(drafted, sign(keccak(drafted.payload), secret)).raw


def proven(content: bytes) -> bytes | None:
    return owner_hash(content, address=ADDRESS, nonce=4, chain_id=7)


@pytest.mark.parametrize(
    "made", [DynamicFeeTransaction(7, 4, 1, 2, 21_000, TO), LegacyTransaction(4, 1, 21_000, TO)]
)
def test_what_the_account_signed_for_this_nonce_and_chain_is_proof(made: Transaction) -> None:
    assert proven(raw(made)) == keccak(raw(made))


@pytest.mark.parametrize(
    "lie",
    [
        raw(DynamicFeeTransaction(7, 4, 1, 2, 21_000, TO), b"\x12" * 32),
        raw(DynamicFeeTransaction(7, 5, 1, 2, 21_000, TO)),
        raw(DynamicFeeTransaction(8, 4, 1, 2, 21_000, TO)),
        raw(DynamicFeeTransaction(7, 4, 1, 2, 21_000, TO))[:-1],
        b"",
    ],
    ids=["another's", "another nonce", "another chain", "cut off", "nothing"],
)
def test_anything_else_is_none(lie: bytes) -> None:
    assert proven(lie) is None
