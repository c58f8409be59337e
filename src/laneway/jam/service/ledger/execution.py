"""What transfers do: the one place that moves money, for builders and guarantors alike.

A transfer with the sender's signature and next nonce uses that nonce, also when it then fails: its
receipt is the last word on it. One without them changes nothing.
"""

from collections.abc import Callable, Mapping, Sequence
from enum import Enum, unique
from typing import TypeAlias

import msgspec

from laneway.jam.service.ledger.account import AMOUNT_MAX, Account
from laneway.jam.service.ledger.transfer import (
    Domain,
    Transfer,
    account_id,
    is_signed,
    transfer_hash,
)

Accounts: TypeAlias = Callable[[bytes], Account]
"""Gives an account by its id, as it was before the block."""


@unique
class Status(Enum):
    """What came of a transfer; the value is its number in a receipt."""

    OK = 0
    BAD_SIGNATURE = 1
    WRONG_NONCE = 2
    NOTHING_SENT = 3
    """The amount is zero."""
    INSUFFICIENT_FUNDS = 4
    BALANCE_OVERFLOW = 5
    """The recipient has no room for it."""


class Receipt(msgspec.Struct, frozen=True):
    transfer_hash: bytes
    status: Status


class Executed(msgspec.Struct, frozen=True):
    receipts: tuple[Receipt, ...]
    """One for each transfer, in their order."""
    changed: Mapping[bytes, Account]
    """The accounts that are different now, by id."""


def executed(domain: Domain, transfers: Sequence[Transfer], accounts: Accounts) -> Executed:
    """Carry the transfers out, one after the other."""
    changed: dict[bytes, Account] = {}

    def account(id_: bytes) -> Account:
        found = changed.get(id_)
        return accounts(id_) if found is None else found

    receipts = []
    for transfer in transfers:
        status = Status.BAD_SIGNATURE
        if is_signed(domain, transfer):
            status, changes = _carried_out(transfer, account)
            changed.update(changes)
        receipts.append(Receipt(transfer_hash(transfer), status))
    return Executed(tuple(receipts), changed)


def _carried_out(transfer: Transfer, accounts: Accounts) -> tuple[Status, dict[bytes, Account]]:
    """What a signed transfer comes to, and the accounts that it changes."""
    payer, payee, amount = account_id(transfer.sender), transfer.recipient, transfer.amount
    sender = accounts(payer)
    # The last nonce of all is never used: there is no next one to say that it was.
    if transfer.nonce != sender.nonce or sender.nonce == AMOUNT_MAX:
        return Status.WRONG_NONCE, {}
    status = _judged(amount, sender, accounts(payee), is_own=payer == payee)
    if status is not Status.OK or payer == payee:
        return status, {payer: Account(sender.balance, sender.nonce + 1)}
    recipient = accounts(payee)
    return status, {
        payer: Account(sender.balance - amount, sender.nonce + 1),
        payee: Account(recipient.balance + amount, recipient.nonce),
    }


def _judged(amount: int, sender: Account, recipient: Account, *, is_own: bool) -> Status:
    if amount == 0:
        return Status.NOTHING_SENT
    if sender.balance < amount:
        return Status.INSUFFICIENT_FUNDS
    if recipient.balance + amount > AMOUNT_MAX and not is_own:
        return Status.BALANCE_OVERFLOW
    return Status.OK
