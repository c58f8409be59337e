"""The state after a block: balances and counts alone, or all that contracts can store.

Both answer how an account stands; each is made into the next by what a block changed.
"""

from collections.abc import Mapping
from typing import Final, Protocol

from msgspec import Struct

from laneway.evm.execution.system_calls import HISTORY
from laneway.evm.keccak import keccak
from laneway.evm.state.changes import WriteSet
from laneway.evm.state.view import EMPTY_CODE_HASH, StateAccount
from laneway.evm.trie.accounts import AccountTrie

PREDEPLOYED: Final = {
    HISTORY: bytes.fromhex(
        "3373fffffffffffffffffffffffffffffffffffffffe14604657602036036042575f35600143038111604257"
        "611fff81430311604257611fff9006545f5260205ff35b5f5ffd5b5f35611fff60014303065500"
    ),
    bytes.fromhex("4e59b44847b379578588920ca78fbf26c0b4956c"): bytes.fromhex(
        "7fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffe03601600081602082378035"
        "828234f58015156039578182fd5b8082525050506014600cf3"
    ),
}
"""What anvil begins with too: the hashes of earlier blocks (EIP-2935), and the contract by which
tools make others at the same address on every chain."""


class EvmAccountState(Struct, frozen=True, gc=False):
    balance_wei: int = 0
    nonce: int = 0


NOBODY = EvmAccountState()


class EvmChainState(Protocol):
    """A state that never changes: with other accounts it is another one."""

    def standing(self, address: bytes) -> EvmAccountState: ...

    def with_standing(self, address: bytes, standing: EvmAccountState) -> "EvmChainState":
        """The state in which an account stands like this, and all else is as it was."""
        ...


class ValueState(Struct, frozen=True):
    """Accounts that move value and nothing else."""

    accounts: Mapping[bytes, EvmAccountState]

    def standing(self, address: bytes) -> EvmAccountState:
        return self.accounts.get(address, NOBODY)

    def with_standing(self, address: bytes, standing: EvmAccountState) -> "ValueState":
        return ValueState({**self.accounts, address: standing})


class ExecutedState(Struct, frozen=True):
    """Accounts with code and storage, in a trie of which every block keeps its own. It is a view
    that the EVM executes on (laneway.evm.state.view)."""

    trie: AccountTrie
    codes: Mapping[bytes, bytes]
    """By hash. Shared with the blocks after it, which only add some."""

    def standing(self, address: bytes) -> EvmAccountState:
        found = self.account(address)
        return NOBODY if found is None else EvmAccountState(found.balance_wei, found.nonce)

    def with_standing(self, address: bytes, standing: EvmAccountState) -> "ExecutedState":
        found = self.account(address) or StateAccount()
        account = StateAccount(standing.nonce, standing.balance_wei, found.code_hash)
        return self.after(WriteSet({address: account}, {}, {}))

    def with_code(self, address: bytes, code: bytes) -> "ExecutedState":
        found, digest = self.account(address) or StateAccount(), keccak(code)
        account = StateAccount(found.nonce, found.balance_wei, digest)
        return self.after(WriteSet({address: account}, {}, {digest: code}))

    def with_storage(self, address: bytes, key: int, value: int) -> "ExecutedState":
        account = self.account(address) or StateAccount()
        return self.after(WriteSet({address: account}, {address: {key: value}}, {}))

    def after(self, changes: WriteSet) -> "ExecutedState":
        """The state that these changes make of it."""
        codes = {**self.codes, **changes.codes} if changes.codes else self.codes
        return ExecutedState(self.trie.updated(changes.accounts, changes.storage), codes)

    # The view of the EVM.

    def account(self, address: bytes) -> StateAccount | None:
        found = self.trie.account(address)
        if found is None:
            return None
        return StateAccount(found.nonce, found.balance_wei, found.code_hash)

    def storage(self, address: bytes, key: int) -> int:
        return self.trie.storage(address, key)

    def code(self, address: bytes) -> bytes:
        found = self.account(address)
        return b"" if found is None else self.codes[found.code_hash]

    def has_storage(self, address: bytes) -> bool:
        return self.trie.has_storage(address)


def first_value_state(balances: Mapping[bytes, int]) -> ValueState:
    return ValueState({who: EvmAccountState(wei) for who, wei in balances.items()})


def first_executed_state(balances: Mapping[bytes, int]) -> ExecutedState:
    codes = {keccak(code): code for code in PREDEPLOYED.values()}
    accounts = {who: StateAccount(code_hash=keccak(code)) for who, code in PREDEPLOYED.items()}
    for who, wei in balances.items():
        found = accounts.get(who, StateAccount())
        accounts[who] = StateAccount(0, wei, found.code_hash)
    return ExecutedState(AccountTrie().updated(accounts, {}), {EMPTY_CODE_HASH: b"", **codes})
