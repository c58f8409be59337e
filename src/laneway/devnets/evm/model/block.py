"""A block and how it is made: accounts, base fee, and transactions that move value.

What a chain executes beside that is in executed.py.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from heapq import heappush
from typing import Any

from msgspec import Struct

from laneway.devnets.evm.limits import BASE_FEE_WEI_FIRST, REVERT_GAS
from laneway.devnets.evm.model.pool import PooledTransaction
from laneway.devnets.evm.model.states import EvmAccountState, ValueState
from laneway.evm import rlp
from laneway.evm.execution import fees
from laneway.evm.execution.fees import BLOB_FEE_WEI_MIN
from laneway.evm.execution.receipt import EvmReceipt
from laneway.evm.fork import Fork
from laneway.evm.gas import floor_gas, intrinsic_gas
from laneway.evm.header import BlockHeader, ExecutionBlock
from laneway.evm.keccak import keccak
from laneway.evm.opcodes.system import created_address
from laneway.evm.transaction import fee_wei_max


class EvmBlock(Struct, frozen=True):
    number: int
    hash: bytes
    parent: bytes
    base_fee_wei: int
    gas_used: int
    gas_limit: int
    made_ms: int
    transactions: tuple[bytes, ...]
    header: BlockHeader | None = None
    """None on a chain that moves value alone, whose blocks have no roots."""
    imported: ExecutionBlock | None = None
    """The whole block, if it was made elsewhere."""


class BlockPlace(Struct, frozen=True, kw_only=True):
    """Where a block that is made stands, and what is fixed before anything runs in it."""

    parent: EvmBlock
    made_ms: int
    base_fee_wei: int
    gas_limit: int
    beneficiary: bytes
    chain_id: int
    block_hash: Callable[[int], bytes]
    count: int
    """How many blocks were made on this chain so far: two of one content differ by it."""


class Work(ABC):
    """A block that is being made: its state, and the transactions executed on it."""

    receipts: list[EvmReceipt]
    """Of a chain that executes, one for each of `done`; none elsewhere."""

    def __init__(self, place: BlockPlace) -> None:
        self.place = place
        self.base_fee_wei = place.base_fee_wei
        self.gas_limit = place.gas_limit
        self.gas_used = 0
        self.blob_fee_wei = BLOB_FEE_WEI_MIN
        self.done: list[tuple[PooledTransaction, int, bool]] = []
        """The executed transactions, each with its gas and whether it succeeded."""
        self.receipts = []

    @abstractmethod
    def account(self, address: bytes) -> EvmAccountState: ...

    @abstractmethod
    def run(self, sent: PooledTransaction) -> bool:
        """Execute a transaction; False if it cannot be in this block, and then nothing changes."""

    @abstractmethod
    def state(self) -> Any:
        """The state after all that ran."""

    @abstractmethod
    def block(self, state: Any) -> EvmBlock:
        """The block of what ran."""

    def queue(
        self, best: list[tuple[int, int, list[PooledTransaction]]], line: list[PooledTransaction]
    ) -> None:
        """Let a sender's next transaction compete by its tip; among equal tips the older wins."""
        if line:
            made = line[-1].transaction
            tip = fees.effective_price_wei(made, self.base_fee_wei) - self.base_fee_wei
            heappush(best, (-tip, line[-1].order, line))

    def _ran(self, sent: PooledTransaction, gas: int, succeeded: bool) -> None:
        self.gas_used += gas
        self.done.append((sent, gas, succeeded))

    def _made(self, digest: bytes, header: BlockHeader | None) -> EvmBlock:
        place, hashes = self.place, tuple([sent.hash for sent, _, _ in self.done])
        numbers = (self.base_fee_wei, self.gas_used, self.gas_limit, place.made_ms)
        number = place.parent.number + 1
        return EvmBlock(number, digest, place.parent.hash, *numbers, hashes, header)


class ValueWork(Work):
    """Moves value; addresses in `reverts` revert, and nothing else is executed."""

    def __init__(
        self, state: ValueState, place: BlockPlace, *, fork: Fork, reverts: Mapping[bytes, None]
    ) -> None:
        super().__init__(place)
        self.accounts = dict(state.accounts)
        self._fork = fork
        self._reverts = reverts

    def account(self, address: bytes) -> EvmAccountState:
        return self.accounts.get(address, EvmAccountState())

    def run(self, sent: PooledTransaction) -> bool:
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
        price = fees.effective_price_wei(made, self.base_fee_wei)
        value = made.value_wei if succeeded else 0
        self._pay(sent.sender, -gas * price - value)
        balance = self.account(sent.sender).balance_wei
        self.accounts[sent.sender] = EvmAccountState(balance, made.nonce + 1)
        self._pay(made.to or created_address(sent.sender, made.nonce), value)
        self._pay(self.place.beneficiary, gas * (price - self.base_fee_wei))
        self._ran(sent, gas, succeeded)
        return True

    def state(self) -> ValueState:
        return ValueState(self.accounts)

    def block(self, state: ValueState) -> EvmBlock:  # noqa: ARG002
        place = self.place
        hashes = tuple([sent.hash for sent, _, _ in self.done])
        numbers = (self.base_fee_wei, self.gas_used, self.gas_limit, place.made_ms)
        fields = (place.parent.hash, *numbers, hashes, place.count)
        return self._made(keccak(rlp.encode(fields)), None)

    def _pay(self, address: bytes, wei: int) -> None:
        old = self.account(address)
        self.accounts[address] = EvmAccountState(old.balance_wei + wei, old.nonce)


def genesis(balances: Mapping[bytes, int], gas_limit: int, made_ms: int = 0) -> EvmBlock:
    digest = keccak(rlp.encode([(who, wei) for who, wei in balances.items()]))
    return EvmBlock(0, digest, bytes(32), BASE_FEE_WEI_FIRST, 0, gas_limit, made_ms, ())


def base_fee_after(parent: EvmBlock) -> int:
    """EIP-1559: it follows how full the parent was, around half."""
    return fees.base_fee_after(
        base_fee_wei=parent.base_fee_wei, gas_used=parent.gas_used, gas_limit=parent.gas_limit
    )
