"""The accounts that a transaction touched, before it and after, as go-ethereum's prestateTracer
shows them.

They come from what its journal read and wrote, so the transaction must be the first of its journal.
An account is listed if the state was asked for it, also by a step that had no gas to go on.
"""

from msgspec import Struct, structs

from laneway.evm.state.changes import ReadSet, WriteSet
from laneway.evm.state.view import ABSENT_ACCOUNT, EMPTY_CODE_HASH, StateAccount, StateView


class TracedAccount(Struct, frozen=True, kw_only=True):
    """None where a difference leaves it out."""

    balance_wei: int | None = None
    nonce: int | None = None
    code: bytes | None = None
    storage: dict[int, int] = {}


class StateDifference(Struct, frozen=True):
    before: dict[bytes, TracedAccount]
    """All of each account that changed, with the keys that changed."""
    after: dict[bytes, TracedAccount]
    """Only what changed; accounts that are gone are left out, and keys that hold nothing now."""


def prestate(view: StateView, reads: ReadSet, writes: WriteSet) -> dict[bytes, TracedAccount]:
    """What was touched, as it was. One that was not there has no balance, and is left out if it has
    code or a nonce afterwards: it was created."""
    return {
        address: whole(view, address, account or ABSENT_ACCOUNT, reads.storage.get(address, {}))
        for address, account in reads.accounts.items()
        if account is not None or not is_made(writes.accounts.get(address))
    }


def difference(view: StateView, reads: ReadSet, writes: WriteSet) -> StateDifference:
    """What changed. Accounts that were created are only in `after`."""
    before: dict[bytes, TracedAccount] = {}
    after: dict[bytes, TracedAccount] = {}
    for address in dict.fromkeys([*writes.accounts, *writes.storage]):
        old = reads.accounts.get(address)
        new = writes.accounts.get(address, old)
        keys = writes.storage.get(address, {})
        if old is not None or not is_made(new):
            held = {key: was for key in keys if (was := reads.storage[address][key])}
            before[address] = whole(view, address, old or ABSENT_ACCOUNT, held)
        if new is not None:
            stored = {key: value for key, value in keys.items() if value}
            after[address] = structs.replace(
                changed(old or ABSENT_ACCOUNT, new, writes), storage=stored
            )
    return StateDifference(before, after)


def is_made(account: StateAccount | None) -> bool:
    return account is not None and (account.nonce > 0 or account.code_hash != EMPTY_CODE_HASH)


def whole(
    view: StateView, address: bytes, account: StateAccount, storage: dict[int, int]
) -> TracedAccount:
    has_code = account.code_hash != EMPTY_CODE_HASH
    return TracedAccount(
        balance_wei=account.balance_wei,
        nonce=account.nonce,
        code=view.code(address) if has_code else b"",
        storage=storage,
    )


def changed(old: StateAccount, new: StateAccount, writes: WriteSet) -> TracedAccount:
    is_coded = new.code_hash != old.code_hash
    return TracedAccount(
        balance_wei=new.balance_wei if new.balance_wei != old.balance_wei else None,
        nonce=new.nonce if new.nonce != old.nonce else None,
        code=writes.codes.get(new.code_hash, b"") if is_coded else None,
    )
