"""What an execution read and what it changed, as values that a tree or a witness is made from."""

from msgspec import Struct

from laneway.evm.state.view import StateAccount


class WriteSet(Struct, frozen=True):
    """What differs from the state below; nothing that was set back to its old value."""

    accounts: dict[bytes, StateAccount | None]
    """None if the account is deleted."""
    storage: dict[bytes, dict[int, int]]
    """0 if the key is deleted."""
    codes: dict[bytes, bytes]
    """Code by its hash, of the accounts above."""


class ReadSet(Struct, frozen=True):
    """The first answer of the state below to each question, in the order of the questions."""

    accounts: dict[bytes, StateAccount | None]
    storage: dict[bytes, dict[int, int]]
    codes: dict[bytes, bytes]
    """Code by its account."""
    with_storage: dict[bytes, bool]
    """Whether an account had any storage, where that was asked."""
