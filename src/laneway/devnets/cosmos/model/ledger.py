"""Accounts of the devnet, in states that stand on one another: what is being checked or proposed
stands on what is committed, and is thrown away. Pure."""

from collections.abc import Iterator
from typing import Any

from msgspec import Struct, structs


class BankAccount(Struct, frozen=True):
    number: int
    sequence: int = 0
    balance: int = 0
    """Amount of the chain's own coin."""
    public_key: bytes = b""


class Grant(Struct, frozen=True):
    left: int | None = None
    """The amount that a grantee may still spend on fees; None is no limit."""


class Ledger:
    """One state; what is not written in it is read from the state below."""

    def __init__(self, below: "Ledger | None" = None) -> None:
        self._below = below
        self._accounts: dict[bytes, BankAccount] = {}
        self._grants: dict[tuple[bytes, bytes], Grant] = {}
        self._count: int = 0 if below is None else below._count
        """How many accounts were ever opened."""

    def above(self) -> "Ledger":
        """A state on top of this one."""
        return Ledger(self)

    def settle(self) -> None:
        """Write the changes into the state below."""
        below = self._below
        assert below is not None
        below._accounts |= self._accounts
        below._grants |= self._grants
        below._count = self._count

    def account(self, address: bytes) -> BankAccount | None:
        found = self._accounts.get(address)
        if found is None and self._below is not None:
            return self._below.account(address)
        return found

    def change(self, address: bytes, **fields: Any) -> BankAccount:
        """Set fields of an account, which is opened if it does not exist; returns it."""
        account = self.account(address)
        if account is None:
            account = BankAccount(self._count)
            self._count += 1
        changed = self._accounts[address] = structs.replace(account, **fields)
        return changed

    def grant(self, granter: bytes, grantee: bytes) -> Grant | None:
        found = self._grants.get((granter, grantee))
        if found is None and self._below is not None:
            return self._below.grant(granter, grantee)
        return found

    def allow(self, granter: bytes, grantee: bytes, grant: Grant) -> None:
        self._grants[granter, grantee] = grant

    def accounts(self) -> Iterator[tuple[bytes, BankAccount]]:
        """The accounts of the lowest state, in the order in which they were opened."""
        assert self._below is None
        return iter(self._accounts.items())
