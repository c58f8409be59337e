"""Transfers of a ledger rollup as a person asks for them: names of accounts, keys, signatures.

Imported late: the curve is an extra (`rollup`). A key is never read from the command line.
"""

import os
import re
import stat
from typing import TYPE_CHECKING

import click

from laneway.cli.printing import say
from laneway.devnets.jam.accounts import DEV_ACCOUNTS, DevAccount
from laneway.jam.ed25519 import HeldKey
from laneway.jam.service.ledger.account import AMOUNT_MAX
from laneway.jam.service.ledger.transfer import TRANSFER, Domain, account_id, signed
from laneway.wire.hex import octets

if TYPE_CHECKING:
    from laneway.client.blocking import Client

DEV = "dev:"
DIGITS = re.compile(r"(?:0x)?([0-9a-fA-F]{64})")
KEY_FILE_BYTES_MAX = 1_024
"""A seed has 64 digits; more is another file."""


def dev_named(text: str) -> DevAccount:
    """One of the accounts that every development chain begins with."""
    digits = text.removeprefix(DEV)
    if not (digits.isascii() and digits.isdigit()) or int(digits) >= len(DEV_ACCOUNTS):
        raise click.UsageError(f"{text}: say {DEV}0 to {DEV}{len(DEV_ACCOUNTS) - 1}")
    return DEV_ACCOUNTS[int(digits)]


def account_named(text: str) -> str:
    if text.startswith(DEV):
        return octets(dev_named(text).id)
    found = DIGITS.fullmatch(text)
    if found is None:
        raise click.UsageError(f"{text}: an account is 64 hexadecimal digits, or {DEV}N")
    return f"0x{found[1].lower()}"


def key_named(text: str) -> HeldKey:
    """What is wrong with a file is said without showing any of it."""
    if text.startswith(DEV):
        return dev_named(text).key
    with open(text, "rb") as file:
        if stat.S_IMODE(os.fstat(file.fileno()).st_mode) & 0o077:
            raise click.UsageError(f"{text}: others may read it; run: chmod 600 {text}")
        said = file.read(KEY_FILE_BYTES_MAX)
    found = DIGITS.fullmatch(said.decode("ascii", "replace").strip())
    if found is None:
        raise click.UsageError(f"{text}: it does not hold 64 hexadecimal digits")
    return HeldKey(bytes.fromhex(found[1]))


def transfers(
    client: "Client",
    rollup: str,
    key: HeldKey,
    payee: str,
    *,
    amount: int,
    nonce: int | None,
    count: int = 1,
) -> list[str]:
    """Signed ones, the first with the account's next nonce."""
    if amount > AMOUNT_MAX:
        raise click.UsageError(f"--amount: at most {AMOUNT_MAX}")
    status = client.rollup(rollup)
    if status.chain is None or status.rollup.kind != "ledger":
        raise click.UsageError(f"{rollup} is no ledger; hand in a signed transaction with --raw")
    domain = Domain(bytes.fromhex(status.chain[2:]), status.rollup.service)
    if nonce is None:
        own = client.rollup_account(rollup, octets(account_id(key.public_key)))
        if own.elsewhere:
            # A nonce that turns out to be used is refused, or told as sent before.
            say(f"laneway: nonce {own.nonce_next} is a guess: {own.elsewhere}", err=True)
        nonce = own.nonce_next
    recipient = bytes.fromhex(payee[2:])
    return [
        octets(TRANSFER.encode(signed(key, domain, recipient=recipient, amount=amount, nonce=one)))
        for one in range(nonce, nonce + count)
    ]
