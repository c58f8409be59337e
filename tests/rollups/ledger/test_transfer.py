"""Laws of transfers: what is signed, for which ledger, and by whom."""

import pytest
from msgspec.structs import replace
from tests.rollups.ledger.stage import DOMAIN, IDS, KEYS, send

from laneway.jam.ed25519 import ZERO_KEY, verifies
from laneway.jam.errors import MalformedEncoding, Unencodable
from laneway.jam.hashing import blake2b
from laneway.rollups.domain import Domain
from laneway.rollups.ledger.limits import TRANSFER_COUNT_MAX
from laneway.rollups.ledger.transfer import (
    TRANSFER,
    TRANSFER_BYTES,
    TRANSFERS,
    Transfer,
    account_id,
    is_signed,
    message,
    signed,
    transfer_hash,
)

PAID = send(0, 1, 258, nonce=3)
FIELDS = KEYS[0].public_key + IDS[1] + b"\2\1\0\0\0\0\0\0" + b"\3\0\0\0\0\0\0\0"


def test_an_account_is_the_hash_of_its_key() -> None:
    key = KEYS[0].public_key
    assert account_id(key) == blake2b(b"jamroll-ledger-account/1" + key)


def test_a_transfer_has_144_bytes() -> None:
    raw = FIELDS + PAID.signature
    assert len(raw) == TRANSFER_BYTES
    assert TRANSFER.encode(PAID) == raw
    assert TRANSFER.decode(raw) == PAID
    assert transfer_hash(PAID) == blake2b(raw)
    assert TRANSFERS.encode((PAID, PAID)) == b"\2" + raw + raw


def test_what_is_signed_names_the_ledger() -> None:
    tagged = b"jamroll-ledger-transfer/1" + DOMAIN.chain + b"\7\0\0\0" + FIELDS
    assert message(DOMAIN, PAID) == tagged
    assert verifies(PAID.sender, PAID.signature, tagged)


def test_a_signature_holds_for_one_ledger_of_one_chain() -> None:
    assert is_signed(DOMAIN, PAID)
    assert not is_signed(Domain(DOMAIN.chain, 8), PAID)
    assert not is_signed(Domain(blake2b(b"another"), 7), PAID)


@pytest.mark.parametrize(
    "changed",
    [
        replace(PAID, sender=KEYS[2].public_key),
        replace(PAID, recipient=IDS[2]),
        replace(PAID, amount=259),
        replace(PAID, nonce=4),
        replace(PAID, signature=bytes(64)),
    ],
    ids=["sender", "recipient", "amount", "nonce", "signature"],
)
def test_a_signature_holds_for_nothing_else(changed: Transfer) -> None:
    assert not is_signed(DOMAIN, changed)


def test_nobody_pays_with_a_key_for_which_everybody_can_sign() -> None:
    anybody = Transfer(sender=ZERO_KEY, recipient=IDS[0], amount=1, nonce=0)
    # Of a point of order four every fourth message is signed by R = identity and s = 0.
    forged = b"\1" + bytes(63)
    tries = [replace(anybody, nonce=nonce, signature=forged) for nonce in range(40)]
    assert any(verifies(ZERO_KEY, forged, message(DOMAIN, one)) for one in tries)
    assert not any(is_signed(DOMAIN, one) for one in tries)


def test_a_transfer_is_the_same_whenever_it_is_signed() -> None:
    again = signed(KEYS[0], DOMAIN, recipient=IDS[1], amount=258, nonce=3)
    assert again == PAID


def test_more_transfers_than_a_block_takes_are_neither_written_nor_read() -> None:
    with pytest.raises(Unencodable):
        TRANSFERS.encode((PAID,) * (TRANSFER_COUNT_MAX + 1))
    with pytest.raises(MalformedEncoding):
        TRANSFERS.decode(b"\x90\1" + TRANSFER.encode(PAID) * (TRANSFER_COUNT_MAX + 1))
