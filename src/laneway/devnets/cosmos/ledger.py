"""Accounts of the devnet, in states that stand on one another: what is being checked or proposed
stands on what is committed, and is thrown away. Pure."""

from collections.abc import Iterator
from typing import Any

from msgspec import Struct, structs


class Account(Struct, frozen=True):
    """One that exists."""

    number: int
    sequence: int = 0
    balance: int = 0
    """Of the chain's own coin."""
    public_key: bytes = b""


class Grant(Struct, frozen=True):
    """What someone may spend on fees; None: without a limit."""

    left: int | None = None


class Ledger:
    """What is not written here stands in the state below."""

    def __init__(self, below: "Ledger | None" = None) -> None:
        self._below = below
        self._accounts: dict[bytes, Account] = {}
        self._grants: dict[tuple[bytes, bytes], Grant] = {}
        self._count: int = 0 if below is None else below._count
        """Accounts that were ever opened."""

    def above(self) -> "Ledger":
        """A state on top of this one."""
        return Ledger(self)

    def settle(self) -> None:
        """Write into the state below what was written here."""
        below = self._below
        assert below is not None
        below._accounts |= self._accounts
        below._grants |= self._grants
        below._count = self._count

    def account(self, address: bytes) -> Account | None:
        found = self._accounts.get(address)
        if found is None and self._below is not None:
            return self._below.account(address)
        return found

    def change(self, address: bytes, **fields: Any) -> Account:
        """The account with other fields; it is opened if there is none."""
        account = self.account(address)
        if account is None:
            account = Account(self._count)
            self._count += 1
        changed = structs.replace(account, **fields)
        self._accounts[address] = changed
        return changed

    def grant(self, granter: bytes, grantee: bytes) -> Grant | None:
        found = self._grants.get((granter, grantee))
        if found is None and self._below is not None:
            return self._below.grant(granter, grantee)
        return found

    def allow(self, granter: bytes, grantee: bytes, grant: Grant) -> None:
        self._grants[granter, grantee] = grant

    def accounts(self) -> Iterator[tuple[bytes, Account]]:
        """Of the lowest state, in the order of their opening."""
        assert self._below is None
        return iter(self._accounts.items())
