"""What transfers do: the one place that moves money, for builders and guarantors alike.

A transfer with the sender's signature and next nonce uses that nonce, also when it then fails: its
receipt is final. One without them changes nothing.
"""

from collections.abc import Callable, Mapping, Sequence
from enum import Enum, unique
from typing import TypeAlias

import msgspec

from laneway.rollups.domain import Domain
from laneway.rollups.ledger.account import AMOUNT_MAX, LedgerEntry
from laneway.rollups.ledger.transfer import Transfer, account_id, is_signed, transfer_hash

Accounts: TypeAlias = Callable[[bytes], LedgerEntry]
"""Gives an account by its id, as it was before the block."""


@unique
class TransferStatus(Enum):
    """What came of a transfer; the value is its number in a receipt."""

    OK = 0
    BAD_SIGNATURE = 1
    WRONG_NONCE = 2
    NOTHING_SENT = 3
    """The amount is zero."""
    INSUFFICIENT_FUNDS = 4
    BALANCE_OVERFLOW = 5
    """The recipient's balance would be too large."""


class TransferReceipt(msgspec.Struct, frozen=True):
    transfer_hash: bytes
    status: TransferStatus


class ExecutedTransfers(msgspec.Struct, frozen=True):
    receipts: tuple[TransferReceipt, ...]
    """One for each transfer, in their order."""
    changed: Mapping[bytes, LedgerEntry]
    """The accounts that are different now, by id."""


def executed(
    domain: Domain, transfers: Sequence[Transfer], accounts: Accounts
) -> ExecutedTransfers:
    """Carry the transfers out, one after the other."""
    changed: dict[bytes, LedgerEntry] = {}

    def account(id_: bytes) -> LedgerEntry:
        found = changed.get(id_)
        return accounts(id_) if found is None else found

    receipts = []
    for transfer in transfers:
        status = TransferStatus.BAD_SIGNATURE
        if is_signed(domain, transfer):
            status, changes = _carried_out(transfer, account)
            changed.update(changes)
        receipts.append(TransferReceipt(transfer_hash(transfer), status))
    return ExecutedTransfers(tuple(receipts), changed)


def _carried_out(
    transfer: Transfer, accounts: Accounts
) -> tuple[TransferStatus, dict[bytes, LedgerEntry]]:
    """What a signed transfer comes to, and the accounts that it changes."""
    payer, payee, amount = account_id(transfer.sender), transfer.recipient, transfer.amount
    sender = accounts(payer)
    # The last nonce of all is never used: there is no next one to say that it was.
    if transfer.nonce != sender.nonce or sender.nonce == AMOUNT_MAX:
        return TransferStatus.WRONG_NONCE, {}
    status = _judged(amount, sender, accounts(payee), is_own=payer == payee)
    if status is not TransferStatus.OK or payer == payee:
        return status, {payer: LedgerEntry(sender.balance, sender.nonce + 1)}
    recipient = accounts(payee)
    return status, {
        payer: LedgerEntry(sender.balance - amount, sender.nonce + 1),
        payee: LedgerEntry(recipient.balance + amount, recipient.nonce),
    }


def _judged(
    amount: int, sender: LedgerEntry, recipient: LedgerEntry, *, is_own: bool
) -> TransferStatus:
    if amount == 0:
        return TransferStatus.NOTHING_SENT
    if sender.balance < amount:
        return TransferStatus.INSUFFICIENT_FUNDS
    if recipient.balance + amount > AMOUNT_MAX and not is_own:
        return TransferStatus.BALANCE_OVERFLOW
    return TransferStatus.OK
