"""A state and a block that are another one but for what a caller names, as the parameters of
eth_call have it."""

from collections.abc import Mapping
from typing import Any

from msgspec import Struct, structs

from laneway.evm.calls.errors import AccountOverriddenTwice
from laneway.evm.keccak import keccak
from laneway.evm.machine.context import BlockContext
from laneway.evm.state.view import ABSENT_ACCOUNT, StateAccount, StateView


class AccountOverride(Struct, frozen=True, kw_only=True):
    """What is None stays as it is. Moving a precompiled contract is not offered."""

    nonce: int | None = None
    balance_wei: int | None = None
    code: bytes | None = None
    state: Mapping[int, int] | None = None
    """All of its storage."""
    state_diff: Mapping[int, int] | None = None
    """Some keys of it."""


class BlockOverride(Struct, frozen=True, kw_only=True):
    """What is None stays as it is. The fields have the names of BlockContext."""

    number: int | None = None
    timestamp_s: int | None = None
    gas_limit: int | None = None
    coinbase: bytes | None = None
    prevrandao: bytes | None = None
    base_fee_wei: int | None = None
    blob_base_fee_wei: int | None = None

    def applied(self, block: BlockContext) -> BlockContext:
        named: dict[str, Any] = {
            name: value for name, value in structs.asdict(self).items() if value is not None
        }
        return structs.replace(block, **named)


class OverriddenView:
    """A StateView over another one, which is not asked for what is overridden."""

    def __init__(self, view: StateView, overrides: Mapping[bytes, AccountOverride]) -> None:
        for account, one in overrides.items():
            if one.state is not None and one.state_diff is not None:
                raise AccountOverriddenTwice(account=account.hex())
        self._view = view
        self._overrides = overrides
        self._code_hashes = {
            account: keccak(one.code) for account, one in overrides.items() if one.code is not None
        }

    def account(self, address: bytes) -> StateAccount | None:
        below, one = self._view.account(address), self._overrides.get(address)
        if one is None:
            return below
        old = below or ABSENT_ACCOUNT
        made = StateAccount(
            old.nonce if one.nonce is None else one.nonce,
            old.balance_wei if one.balance_wei is None else one.balance_wei,
            self._code_hashes.get(address, old.code_hash),
        )
        return None if below is None and made.is_empty() else made

    def storage(self, address: bytes, key: int) -> int:
        one = self._overrides.get(address)
        if one is not None:
            if one.state is not None:
                return one.state.get(key, 0)
            if one.state_diff is not None and key in one.state_diff:
                return one.state_diff[key]
        return self._view.storage(address, key)

    def code(self, address: bytes) -> bytes:
        one = self._overrides.get(address)
        if one is not None and one.code is not None:
            return one.code
        return self._view.code(address)

    def has_storage(self, address: bytes) -> bool:
        """A view below cannot say that the keys which are overridden by 0 were all there is."""
        one = self._overrides.get(address)
        if one is not None:
            if one.state is not None:
                return any(one.state.values())
            if any((one.state_diff or {}).values()):
                return True
        return self._view.has_storage(address)
