"""The ledger as a kind of rollup: its service, its known accounts, and people's requests."""

import pytest

from laneway.core.errors import BadRequest
from laneway.jam.service.interface import Stored
from laneway.rollups.domain import Domain
from laneway.rollups.ledger.account import AMOUNT_MAX, DEV_ACCOUNTS
from laneway.rollups.ledger.kind import LedgerKind
from laneway.rollups.ledger.limits import BALANCE_DEV
from laneway.rollups.ledger.state import genesis_balances
from laneway.rollups.ledger.transfer import TRANSFER, is_signed
from laneway.rollups.ledger.witness import code_hash

KIND = LedgerKind()
DOMAIN = Domain(b"c" * 32, 7)
FIRST, SECOND = DEV_ACCOUNTS[:2]
VALUES = {"from": FIRST.secret, "to": SECOND.id, "amount": 5}


def test_its_service_is_the_ledger_of_the_chain() -> None:
    assert KIND.code_hash(b"c" * 32) == code_hash(b"c" * 32)
    assert KIND.rules(DOMAIN).domain == DOMAIN


def test_a_development_chain_begins_with_the_known_accounts() -> None:
    found = genesis_balances(Stored(dict(KIND.dev_storage())))
    assert found == {account.id: BALANCE_DEV for account in KIND.dev_accounts()}
    block, state = KIND.rules(DOMAIN).genesis(KIND.dev_storage()[KIND.genesis_key])
    assert state.account(FIRST.id).balance == BALANCE_DEV
    assert block.header.post_root == state.root


def test_an_account_is_written_in_digits() -> None:
    assert KIND.account_id(FIRST.id.hex()) == KIND.account_id("0x" + FIRST.id.hex().upper())
    for wrong in ("", "dev:0", "00", "0x" + "0" * 63, "g" * 64):
        with pytest.raises(BadRequest, match="64 hexadecimal digits, with 0x before them"):
            KIND.account_id(wrong)


def test_a_request_becomes_a_signed_transfer_of_its_sender() -> None:
    assert KIND.sender(VALUES) == FIRST.id
    transfer = TRANSFER.decode(KIND.transaction(DOMAIN, VALUES, 3))
    assert is_signed(DOMAIN, transfer)
    assert (transfer.recipient, transfer.amount, transfer.nonce) == (SECOND.id, 5, 3)
    assert transfer.sender == FIRST.key.public_key


def test_more_than_there_can_be_is_refused_by_the_option() -> None:
    assert KIND.transaction(DOMAIN, VALUES | {"amount": AMOUNT_MAX}, 0)
    with pytest.raises(BadRequest, match=f"amount: at most {AMOUNT_MAX}"):
        KIND.transaction(DOMAIN, VALUES | {"amount": AMOUNT_MAX + 1}, 0)
