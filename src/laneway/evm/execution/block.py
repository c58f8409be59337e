"""A block that is being made: one transaction after the other, with checks, fees and receipts.

A transaction that cannot be included leaves no trace: all checks come before the first change.
"""

from laneway.evm.errors import (
    BlobFeeTooLow,
    BlockBlobsExceeded,
    BlockGasExceeded,
    FeeBelowBase,
    FundsTooLow,
    NonceTooHigh,
    NonceTooLow,
    SenderHasCode,
)
from laneway.evm.execution.authorizations import delegate
from laneway.evm.execution.fees import effective_price_wei
from laneway.evm.execution.receipt import EvmReceipt
from laneway.evm.fork import Fork
from laneway.evm.gas import floor_gas, intrinsic_gas
from laneway.evm.limits import BLOB_GAS, COMPILED_AFTER_GAS
from laneway.evm.machine.calls import execute
from laneway.evm.machine.code import CodeCache, EvmCode
from laneway.evm.machine.context import BlockContext, FrameTracer, TransactionContext
from laneway.evm.machine.frame import CallFrame
from laneway.evm.machine.halts import AddressTaken
from laneway.evm.machine.targets import CallTarget, delegate_of, delegated_target, target_of
from laneway.evm.opcodes.system import created_address
from laneway.evm.rules import ForkRules
from laneway.evm.state.journal import StateJournal
from laneway.evm.transaction import (
    BlobTransaction,
    SetCodeTransaction,
    Transaction,
    access_list,
    cost_wei_max,
    fee_wei_max,
)
from laneway.evm.validity import check

REFUND_QUOTIENT = 5
"""EIP-3529: at most a fifth of the gas comes back."""
CODES = CodeCache()
"""Shared by all states of a process: code is found by its hash, so it is the same for all."""


class EvmExecution:
    """A block that is being made: transactions are executed on it one after the other."""

    def __init__(
        self,
        journal: StateJournal,
        block: BlockContext,
        rules: ForkRules,
        *,
        codes: CodeCache = CODES,
        compiled_after: int = COMPILED_AFTER_GAS,
    ) -> None:
        """Code that spent as much gas as `compiled_after` becomes Python functions; NEVER_COMPILED
        leaves all of it to the interpreter. `tracer` may be set before each transaction."""
        self.journal = journal
        self.block = block
        self.rules = rules
        self.gas_used = 0
        self.blob_gas_used = 0
        self.tracer: FrameTracer | None = None
        self._codes = codes
        self._compiled_after = compiled_after
        self._warm_always = {**dict.fromkeys(rules.precompiles), block.coinbase: None}
        """Accounts that cost no first touch in any transaction (EIP-2929, EIP-3651)."""

    def transact(self, transaction: Transaction, sender: bytes) -> EvmReceipt:
        """Its receipt. InvalidTransaction if no block can have it, Excluded if this one cannot."""
        self.check(transaction, sender)
        receipt = self._run_or_abandon(transaction, sender)
        self.gas_used += receipt.gas_used
        self.blob_gas_used += receipt.blob_gas
        self.journal.settle()
        return receipt

    def simulate(
        self, transaction: Transaction, sender: bytes, *, is_kept: bool = False
    ) -> EvmReceipt:
        """The receipt that `transact` would make of it, if anybody could sign for any account.

        Its nonce, the sender's code, the cap of EIP-7825 and the block's gas are not asked for.
        What it did stays only if `is_kept`.
        """
        self._check_simulated(transaction, sender)
        receipt = self._run_or_abandon(transaction, sender)
        if is_kept:
            self.journal.settle()
        else:
            self.journal.abandon()
        return receipt

    def _run_or_abandon(self, transaction: Transaction, sender: bytes) -> EvmReceipt:
        try:
            return self._run(transaction, sender)
        except BaseException:
            # A bug, or a library that is not installed: the state stays as it was.
            self.journal.abandon()
            raise

    def check(self, transaction: Transaction, sender: bytes) -> None:
        """Raise what `transact` would raise; nothing changes."""
        block = self.block
        check(transaction, self.rules.fork, block.chain_id)
        left = block.gas_limit - self.gas_used
        if transaction.gas_limit > left:
            raise BlockGasExceeded(gas=transaction.gas_limit, left=left)
        self._check_fees(transaction)
        if isinstance(transaction, BlobTransaction):
            self._check_blobs(transaction)
        self._check_sender(transaction, sender)

    def _check_simulated(self, transaction: Transaction, sender: bytes) -> None:
        check(transaction, self.rules.fork, self.block.chain_id, has_gas_cap=False)
        self._check_fees(transaction)
        self._check_funds(transaction, sender)

    def _check_fees(self, transaction: Transaction) -> None:
        block = self.block
        fee = fee_wei_max(transaction)
        if fee < block.base_fee_wei:
            raise FeeBelowBase(fee_wei=fee, base_fee_wei=block.base_fee_wei)
        if isinstance(transaction, BlobTransaction):
            asked, base = transaction.blob_fee_wei_max, block.blob_base_fee_wei
            if asked < base:
                raise BlobFeeTooLow(fee_wei=asked, base_fee_wei=base)

    def _check_blobs(self, transaction: BlobTransaction) -> None:
        left = self.rules.blobs.most - self.blob_gas_used // BLOB_GAS
        if len(transaction.blob_hashes) > left:
            raise BlockBlobsExceeded(given=len(transaction.blob_hashes), left=left)

    def _check_sender(self, transaction: Transaction, sender: bytes) -> None:
        account = self.journal.account(sender)
        nonce = transaction.nonce
        if nonce < account.nonce:
            raise NonceTooLow(nonce=nonce, nonce_next=account.nonce)
        if nonce > account.nonce:
            raise NonceTooHigh(nonce=nonce, nonce_next=account.nonce)
        code = self.journal.code(sender)
        if code and (self.rules.fork < Fork.PRAGUE or delegate_of(code) is None):
            raise SenderHasCode()
        self._check_funds(transaction, sender)

    def _check_funds(self, transaction: Transaction, sender: bytes) -> None:
        cost, balance = cost_wei_max(transaction), self.journal.account(sender).balance_wei
        if cost > balance:
            raise FundsTooLow(cost_wei=cost, balance_wei=balance)

    def _run(self, transaction: Transaction, sender: bytes) -> EvmReceipt:
        journal, block, fork = self.journal, self.block, self.rules.fork
        price = effective_price_wei(transaction, block.base_fee_wei)
        limit, blob_gas = transaction.gas_limit, blob_gas_of(transaction)
        journal.begin(sender, limit * price + blob_gas * block.blob_base_fee_wei)
        if isinstance(transaction, SetCodeTransaction):
            delegate(journal, transaction.authorizations, block.chain_id)
        frame = self._outermost(transaction, sender, price)
        self._warm(transaction, sender, frame)
        if frame.halt is None or self.tracer is not None:
            execute(frame)
        used = limit - frame.gas
        refund = min(used // REFUND_QUOTIENT, journal.refund)
        used = max(used - refund, floor_gas(transaction, fork))
        journal.pay(sender, (limit - used) * price)
        tip = used * (price - block.base_fee_wei)
        if tip:
            journal.pay(block.coinbase, tip)
        else:
            journal.touch(block.coinbase)
        return EvmReceipt(
            type=transaction.type,
            succeeded=frame.is_good(),
            gas_used=used,
            effective_price_wei=price,
            logs=tuple(journal.logs),
            contract=frame.address if frame.is_creation else None,
            output=frame.output,
            halt=frame.halt.reason if frame.halt is not None else "",
            blob_gas=blob_gas,
            refund=refund,
        )

    def _outermost(self, transaction: Transaction, sender: bytes, price: int) -> CallFrame:
        hashes = transaction.blob_hashes if isinstance(transaction, BlobTransaction) else ()
        context = self.context(sender, price_wei=price, blob_hashes=hashes)
        gas = transaction.gas_limit - intrinsic_gas(transaction, self.rules.fork)
        value, to = transaction.value_wei, transaction.to
        if to is None:
            to = created_address(sender, transaction.nonce)
            target, data, kind = CallTarget(to, EvmCode(transaction.data)), b"", "CREATE"
        else:
            target, data, kind = self.target(context, to), transaction.data, "CALL"
        frame = CallFrame(
            context,
            kind=kind,
            target=target,
            caller=sender,
            address=to,
            data=data,
            gas=gas,
            value_wei=value,
            transferred_wei=value,
        )
        if frame.is_creation and self.journal.is_taken(to):
            frame.halt = AddressTaken()
            frame.gas = 0
        return frame

    def context(
        self, origin: bytes, *, price_wei: int, blob_hashes: tuple[bytes, ...] = ()
    ) -> TransactionContext:
        """What the frames of a transaction share."""
        return TransactionContext(
            journal=self.journal,
            block=self.block,
            origin=origin,
            gas_price_wei=price_wei,
            blob_hashes=blob_hashes,
            precompiles=self.rules.precompiles,
            opcodes=self.rules.opcodes,
            codes=self._codes,
            compiled_after=self._compiled_after,
            has_delegations=self.rules.fork >= Fork.PRAGUE,
            tracer=self.tracer,
        )

    def target(self, context: TransactionContext, address: bytes) -> CallTarget:
        """What a transaction to this address runs."""
        if context.has_delegations:
            delegated = delegate_of(self.journal.code(address))
            if delegated is not None:
                return delegated_target(context, delegated)
        return target_of(context, address)

    def _warm(self, transaction: Transaction, sender: bytes, frame: CallFrame) -> None:
        """What costs no first touch: EIP-2929, EIP-2930, EIP-3651, and who is delegated to."""
        journal = self.journal
        warm = journal.warm
        warm.update(self._warm_always)
        warm[sender] = warm[frame.address] = warm[frame.code_address] = None
        for entry in access_list(transaction):
            warm[entry.address] = None
            storage = journal.storage(entry.address)
            for key in entry.keys:
                storage.warm[int.from_bytes(key, "big")] = None


def blob_gas_of(transaction: Transaction) -> int:
    if isinstance(transaction, BlobTransaction):
        return len(transaction.blob_hashes) * BLOB_GAS
    return 0
