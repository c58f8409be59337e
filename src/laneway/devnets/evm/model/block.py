"""A block and how it is made: accounts, base fee, and transactions that move value."""

from collections.abc import Mapping
from heapq import heappush

from msgspec import Struct

from laneway.devnets.evm.limits import (
    BASE_FEE_CHANGE_DENOMINATOR,
    BASE_FEE_WEI_FIRST,
    ELASTICITY,
    REVERT_GAS,
)
from laneway.devnets.evm.model.pool import PooledTransaction
from laneway.evm import rlp
from laneway.evm.fork import Fork
from laneway.evm.gas import floor_gas, intrinsic_gas
from laneway.evm.keccak import keccak
from laneway.evm.transaction import Transaction, fee_wei_max, tip_wei_max


class EvmAccountState(Struct, frozen=True, gc=False):
    balance_wei: int = 0
    nonce: int = 0


NOBODY = EvmAccountState()


class EvmBlock(Struct, frozen=True):
    number: int
    hash: bytes
    parent: bytes
    base_fee_wei: int
    gas_used: int
    gas_limit: int
    made_ms: int
    transactions: tuple[bytes, ...]


class Work:
    """A block that is being made: its state, and the transactions executed on it."""

    def __init__(
        self,
        accounts: Mapping[bytes, EvmAccountState],
        *,
        base_fee_wei: int,
        gas_limit: int,
        fork: Fork,
        reverts: Mapping[bytes, None],
        beneficiary: bytes,
    ) -> None:
        self.accounts = dict(accounts)
        self.base_fee_wei = base_fee_wei
        self.gas_limit = gas_limit
        self.gas_used = 0
        self.done: list[tuple[PooledTransaction, int, bool]] = []
        """The executed transactions, each with its gas and whether it succeeded."""
        self._fork = fork
        self._reverts = reverts
        self._beneficiary = beneficiary

    def account(self, address: bytes) -> EvmAccountState:
        return self.accounts.get(address, NOBODY)

    def queue(
        self, best: list[tuple[int, int, list[PooledTransaction]]], line: list[PooledTransaction]
    ) -> None:
        """Let a sender's next transaction compete by its tip; among equal tips the older wins."""
        if line:
            made = line[-1].transaction
            tip = price_wei(made, self.base_fee_wei) - self.base_fee_wei
            heappush(best, (-tip, line[-1].order, line))

    def run(self, sent: PooledTransaction) -> bool:
        """Execute a transaction; False if it cannot be in this block, and then nothing changes."""
        made, account = sent.transaction, self.account(sent.sender)
        if (
            made.nonce != account.nonce
            or fee_wei_max(made) < self.base_fee_wei
            or sent.cost_wei() > account.balance_wei
            or made.gas_limit > self.gas_limit - self.gas_used
        ):
            return False
        gas = max(intrinsic_gas(made, self._fork), floor_gas(made, self._fork))
        succeeded = made.to not in self._reverts
        if not succeeded:
            gas = min(made.gas_limit, gas + REVERT_GAS)
        price = price_wei(made, self.base_fee_wei)
        value = made.value_wei if succeeded else 0
        self._pay(sent.sender, -gas * price - value)
        balance = self.account(sent.sender).balance_wei
        self.accounts[sent.sender] = EvmAccountState(balance, made.nonce + 1)
        self._pay(made.to or created(sent.sender, made.nonce), value)
        self._pay(self._beneficiary, gas * (price - self.base_fee_wei))
        self.gas_used += gas
        self.done.append((sent, gas, succeeded))
        return True

    def _pay(self, address: bytes, wei: int) -> None:
        old = self.account(address)
        self.accounts[address] = EvmAccountState(old.balance_wei + wei, old.nonce)


def genesis(balances: Mapping[bytes, int], gas_limit: int) -> EvmBlock:
    digest = keccak(rlp.encode([(who, wei) for who, wei in balances.items()]))
    return EvmBlock(0, digest, bytes(32), BASE_FEE_WEI_FIRST, 0, gas_limit, 0, ())


def price_wei(made: Transaction, base_fee_wei: int) -> int:
    """The price that it pays for a unit of gas in a block of this base fee."""
    return min(fee_wei_max(made), base_fee_wei + tip_wei_max(made))


def created(sender: bytes, nonce: int) -> bytes:
    """The address of a contract that an account creates."""
    return keccak(rlp.encode((sender, nonce)))[12:]


def base_fee_after(parent: EvmBlock) -> int:
    """EIP-1559: it follows how full the parent was, around half."""
    target = parent.gas_limit // ELASTICITY
    base, beyond = parent.base_fee_wei, parent.gas_used - target
    change = base * abs(beyond) // target // BASE_FEE_CHANGE_DENOMINATOR
    return base + max(change, 1) if beyond > 0 else base - change
