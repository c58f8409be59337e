"""The state as the EVM asks for it. Nothing is loaded before it is needed."""

from typing import Protocol

from msgspec import Struct

from laneway.evm.keccak import keccak

EMPTY_CODE_HASH = keccak(b"")


class StateAccount(Struct, frozen=True, gc=False):
    """What stands in an account besides its storage."""

    nonce: int = 0
    balance_wei: int = 0
    code_hash: bytes = EMPTY_CODE_HASH

    def is_empty(self) -> bool:
        """Whether EIP-161 treats it as an account that does not exist."""
        return not self.nonce and not self.balance_wei and self.code_hash == EMPTY_CODE_HASH


ABSENT_ACCOUNT = StateAccount()
"""What opcodes see of an account that does not exist."""


class StateView(Protocol):
    """A state that can be read: a database, a tree, a witness or dictionaries."""

    def account(self, address: bytes) -> StateAccount | None:
        """None if there is no such account."""
        ...

    def storage(self, address: bytes, key: int) -> int:
        """0 where nothing is stored."""
        ...

    def code(self, address: bytes) -> bytes: ...

    def has_storage(self, address: bytes) -> bool:
        """Whether any key holds a value: no contract is created there (EIP-7610)."""
        ...
