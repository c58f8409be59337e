"""The kind `ledger`."""

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from laneway.core.errors import BadRequest
from laneway.rollups.kind import KindOfRollup, Option

if TYPE_CHECKING:
    # The curve and the hash are an extra (`rollup`).
    from laneway.jam.service.interface import Service
    from laneway.rollups.domain import Domain
    from laneway.rollups.ledger.account import LedgerAccount
    from laneway.rollups.ledger.block import LedgerBlock  # noqa: F401 - in the base class.
    from laneway.rollups.ledger.rules import LedgerRules
    from laneway.rollups.ledger.state import LedgerState  # noqa: F401 - in the base class.

GENESIS_KEY: Final = b"g"
"""The key under which the service's storage holds the accounts that it began with."""
ACCOUNT: Final = re.compile(r"(?:0x)?([0-9a-fA-F]{64})")


class LedgerKind(KindOfRollup["LedgerState", "LedgerBlock"]):
    """Accounts that send to each other."""

    name = "ledger"
    genesis_key = GENESIS_KEY

    def rules(self, domain: "Domain") -> "LedgerRules":
        from laneway.rollups.ledger.rules import LedgerRules

        return LedgerRules(domain)

    def service(self, chain: bytes) -> "Service":
        from laneway.rollups.ledger.refine import LedgerService

        return LedgerService(chain)

    # Development chains.

    dev_note = "a million million each"
    example = "--from dev:0 --to dev:1 --amount 5"

    def dev_storage(self) -> Mapping[bytes, bytes]:
        from laneway.rollups.ledger.limits import BALANCE_DEV
        from laneway.rollups.ledger.state import genesis

        return genesis({account.id: BALANCE_DEV for account in self.dev_accounts()})

    def dev_accounts(self) -> "Sequence[LedgerAccount]":
        from laneway.rollups.ledger.account import DEV_ACCOUNTS

        return DEV_ACCOUNTS

    # People's requests.

    options = (
        Option(
            flag="--from", reads="key", metavar="KEY", help="A file with an Ed25519 seed, or dev:N."
        ),
        Option(flag="--to", reads="account", metavar="ACCOUNT", help="64 digits, or dev:N."),
        Option(flag="--amount", reads="count", help="How much."),
    )
    about = (
        "In a ledger it sends money, and is signed here. dev:0 to dev:9 are the accounts of every "
        "development chain, whose keys everybody knows: laneway rollup send --from dev:0 "
        "--to dev:1 --amount 5"
    )
    account_form = "64 hexadecimal digits"

    def account_id(self, text: str) -> bytes:
        digits = ACCOUNT.fullmatch(text)
        if digits is None:
            problem = f"{self.account_form}, with 0x before them or without"
            raise BadRequest("account", problem)
        return bytes.fromhex(digits[1])

    def sender(self, values: Mapping[str, Any]) -> bytes:
        from laneway.jam.ed25519 import HeldEd25519Key
        from laneway.rollups.ledger.transfer import account_id

        return account_id(HeldEd25519Key(values["from"]).public_key)

    def transaction(self, domain: "Domain", values: Mapping[str, Any], nonce: int) -> bytes:
        from laneway.jam.ed25519 import HeldEd25519Key
        from laneway.rollups.ledger.account import AMOUNT_MAX
        from laneway.rollups.ledger.transfer import TRANSFER, signed

        if values["amount"] > AMOUNT_MAX:
            raise BadRequest("amount", f"at most {AMOUNT_MAX}")
        made = signed(
            HeldEd25519Key(values["from"]),
            domain,
            recipient=values["to"],
            amount=values["amount"],
            nonce=nonce,
        )
        return TRANSFER.encode(made)
