"""A call: what code answers on a state, which stays as it is."""

from msgspec import Struct, structs

from laneway.evm.abi.reverts import builtin_reason
from laneway.evm.calls.request import CallRequest, transaction_of
from laneway.evm.execution.block import EvmExecution
from laneway.evm.execution.receipt import EvmReceipt
from laneway.evm.limits import NONCE_MAX
from laneway.evm.machine.context import BlockContext, FrameTracer
from laneway.evm.opcodes.logs import EvmLog
from laneway.evm.rules import ForkRules
from laneway.evm.state.journal import StateJournal
from laneway.evm.state.view import StateView


class CallAnswer(Struct, frozen=True, kw_only=True):
    output: bytes
    """What the code returned, or what it reverted with."""
    gas_used: int
    refund: int = 0
    is_reverted: bool = False
    halt: str = ""
    """Why it failed without reverting; empty if it did not."""
    logs: tuple[EvmLog, ...] = ()
    contract: bytes | None = None
    """The address that a creation used."""

    def is_good(self) -> bool:
        return not (self.is_reverted or self.halt)


class CallSession:
    """A state on which calls are made one after the other; none of them changes it, and what one
    has read of the view is not asked for again."""

    def __init__(
        self, view: StateView, block: BlockContext, rules: ForkRules, request: CallRequest
    ) -> None:
        """The request says whether gas has a price: without one the block has no base fee."""
        self.journal = StateJournal(view)
        self.request = request
        self.rules = rules
        self.block = priced(block, request)
        self.execution = EvmExecution(self.journal, self.block, rules)
        nonce = self.journal.account(request.sender).nonce
        self.nonce = min(nonce, NONCE_MAX - 1)
        """A transaction has none above; no sender of one ever counted so far."""

    def call(
        self,
        gas_limit: int,
        *,
        request: CallRequest | None = None,
        tracer: FrameTracer | None = None,
    ) -> CallAnswer:
        """The answer with this gas limit. InvalidTransaction where there can be none."""
        transaction = transaction_of(
            request or self.request,
            chain_id=self.block.chain_id,
            nonce=self.nonce,
            gas_limit=gas_limit,
        )
        self.execution.tracer = tracer
        return answer_of(self.execution.simulate(transaction, self.request.sender))


def call(
    view: StateView,
    block: BlockContext,
    rules: ForkRules,
    request: CallRequest,
    *,
    tracer: FrameTracer | None = None,
) -> CallAnswer:
    """What a transaction would answer in this block, and nothing of it stays.

    Nonce and signature are not checked, and the sender may be a contract. If no price is named,
    nothing is charged and BASEFEE answers 0. InvalidTransaction if the sender has too little, the
    gas is below the intrinsic, or the fee is below the base fee.
    """
    session = CallSession(view, block, rules, request)
    return session.call(request.gas_limit(), tracer=tracer)


def priced(block: BlockContext, request: CallRequest) -> BlockContext:
    """The block without the fees that a request names no price for."""
    _, fee = request.prices()
    return structs.replace(
        block,
        base_fee_wei=block.base_fee_wei if fee else 0,
        blob_base_fee_wei=(
            0 if request.blob_hashes and not request.blob_fee_wei_max else block.blob_base_fee_wei
        ),
    )


def answer_of(receipt: EvmReceipt) -> CallAnswer:
    return CallAnswer(
        output=receipt.output,
        gas_used=receipt.gas_used,
        refund=receipt.refund,
        is_reverted=not receipt.succeeded and not receipt.halt,
        halt=receipt.halt,
        logs=receipt.logs,
        contract=receipt.contract,
    )


def revert_message(output: bytes) -> str:
    """What nodes answer for a call that reverted with this."""
    reason = builtin_reason(output)
    return f"execution reverted: {reason}" if reason else "execution reverted"
