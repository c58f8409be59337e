"""Laws of execution: money moves once, none is made or lost, and every transfer has its answer."""

from random import Random

import pytest
from msgspec.structs import replace
from tests.rollups.ledger.stage import BALANCES, DOMAIN, IDS, KEYS, begun, send

from laneway.rollups.ledger.account import AMOUNT_MAX, NOBODY, LedgerEntry
from laneway.rollups.ledger.execution import Accounts, ExecutedTransfers, TransferStatus, executed
from laneway.rollups.ledger.transfer import Transfer, account_id, transfer_hash

STATE, _ = begun()


def run(*transfers: Transfer, accounts: Accounts = STATE.account) -> ExecutedTransfers:
    return executed(DOMAIN, transfers, accounts)


def statuses(done: ExecutedTransfers) -> list[TransferStatus]:
    return [receipt.status for receipt in done.receipts]


def test_a_transfer_moves_its_amount_and_uses_its_nonce() -> None:
    paid = send(0, 5, 300)
    done = run(paid)
    assert statuses(done) == [TransferStatus.OK]
    assert done.receipts[0].transfer_hash == transfer_hash(paid)
    assert done.changed == {IDS[0]: LedgerEntry(700, 1), IDS[5]: LedgerEntry(300, 0)}


def test_a_transfer_sees_those_before_it() -> None:
    done = run(send(0, 5, 300), send(5, 6, 200), send(0, 6, 700, 1), send(0, 6, 1, 2))
    assert statuses(done) == [
        TransferStatus.OK,
        TransferStatus.OK,
        TransferStatus.OK,
        TransferStatus.INSUFFICIENT_FUNDS,
    ]
    assert done.changed == {
        IDS[0]: LedgerEntry(0, 3),
        IDS[5]: LedgerEntry(100, 1),
        IDS[6]: LedgerEntry(900, 0),
    }


FORGED = replace(send(0, 1, 5), amount=6)


@pytest.mark.parametrize(
    ("transfer", "status"),
    [
        (FORGED, TransferStatus.BAD_SIGNATURE),
        (send(0, 1, 5, nonce=1), TransferStatus.WRONG_NONCE),
        (send(0, 1, 5, nonce=AMOUNT_MAX), TransferStatus.WRONG_NONCE),
    ],
)
def test_what_is_unsigned_or_out_of_turn_changes_nothing(
    transfer: Transfer, status: TransferStatus
) -> None:
    done = run(transfer)
    assert statuses(done) == [status]
    assert done.changed == {}


@pytest.mark.parametrize(
    ("transfer", "status"),
    [
        (send(0, 1, 0), TransferStatus.NOTHING_SENT),
        (send(0, 1, 1_001), TransferStatus.INSUFFICIENT_FUNDS),
        (send(5, 1, 1), TransferStatus.INSUFFICIENT_FUNDS),
    ],
)
def test_a_transfer_that_fails_has_used_its_nonce(
    transfer: Transfer, status: TransferStatus
) -> None:
    done = run(transfer, transfer)
    assert statuses(done) == [status, TransferStatus.WRONG_NONCE]
    payer = account_id(transfer.sender)
    assert done.changed == {payer: LedgerEntry(STATE.account(payer).balance, 1)}


def test_who_pays_himself_has_what_he_had() -> None:
    done = run(send(0, 0, 1_000), send(0, 0, 1_001, 1))
    assert statuses(done) == [TransferStatus.OK, TransferStatus.INSUFFICIENT_FUNDS]
    assert done.changed == {IDS[0]: LedgerEntry(1_000, 2)}


def test_a_balance_never_overflows() -> None:
    """No ledger has so much; a witness that was made up may."""
    full = {IDS[0]: LedgerEntry(10, 0), IDS[1]: LedgerEntry(AMOUNT_MAX - 9, 0)}

    def accounts(id_: bytes) -> LedgerEntry:
        return full.get(id_, NOBODY)

    done = run(send(0, 1, 10), send(0, 1, 9, 1), send(1, 1, 10), accounts=accounts)
    assert statuses(done) == [TransferStatus.BALANCE_OVERFLOW, TransferStatus.OK, TransferStatus.OK]
    assert done.changed == {IDS[0]: LedgerEntry(1, 2), IDS[1]: LedgerEntry(AMOUNT_MAX, 1)}


def test_the_last_nonce_is_never_used() -> None:
    def accounts(id_: bytes) -> LedgerEntry:
        return LedgerEntry(10, AMOUNT_MAX)

    done = run(send(0, 1, 1, AMOUNT_MAX), accounts=accounts)
    assert (statuses(done), done.changed) == ([TransferStatus.WRONG_NONCE], {})


@pytest.mark.parametrize("seed", range(10))
def test_no_money_is_made_or_lost_and_nonces_count_what_had_its_turn(seed: int) -> None:
    source = Random(seed)
    nonces = dict.fromkeys(IDS, 0)
    transfers = []
    for _ in range(60):
        payer, payee = source.randrange(len(KEYS)), source.randrange(len(KEYS))
        off = source.choice((0, 0, 0, 0, 1))
        one = send(payer, payee, source.choice((0, 1, 300, 2_000)), nonces[IDS[payer]] + off)
        is_forged = source.random() < 0.1
        nonces[IDS[payer]] += off == 0 and not is_forged
        transfers.append(replace(one, amount=one.amount + 1) if is_forged else one)
    done = run(*transfers)
    after = {id_: done.changed.get(id_, STATE.account(id_)) for id_ in IDS}
    assert sum(account.balance for account in after.values()) == sum(BALANCES.values())
    assert {id_: account.nonce for id_, account in after.items()} == nonces
    assert len(done.receipts) == len(transfers)
    assert NOBODY not in done.changed.values()
