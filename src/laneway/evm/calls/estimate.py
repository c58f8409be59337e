"""The least gas limit with which a transaction succeeds.

A call keeps a 64th of its gas, so a transaction may need more than it uses; the only way to know is
to run it again. The order of the attempts is that of go-ethereum, so that code which looks at its
gas has the same estimate.
"""

from laneway.evm.calls.call import CallAnswer, CallSession, revert_message
from laneway.evm.calls.errors import CallFailed, GasAllowanceExceeded
from laneway.evm.calls.request import CallRequest
from laneway.evm.errors import FundsTooLow, GasBelowFloor, IntrinsicGasTooLow
from laneway.evm.fork import Fork
from laneway.evm.gas import BASE
from laneway.evm.limits import BLOB_GAS, CALL_GAS_MAX, TRANSACTION_GAS_MAX
from laneway.evm.machine.context import BlockContext
from laneway.evm.machine.halts import OutOfGas
from laneway.evm.opcodes.memory import CALL_STIPEND
from laneway.evm.opcodes.system import KEPT_FRACTION
from laneway.evm.rules import ForkRules
from laneway.evm.state.view import StateView


def estimate(
    view: StateView,
    block: BlockContext,
    rules: ForkRules,
    request: CallRequest,
    *,
    tolerance_permille: int = 0,
) -> int:
    """The least gas limit that suffices, or one that is above it by at most the tolerance.

    GasAllowanceExceeded if the most that the request, the block and the sender's balance allow is
    too little; CallFailed, with the data of the revert, if it fails for another reason.
    """
    session = CallSession(view, block, rules, request)
    most = allowance(session)
    if is_plain(session) and attempt(session, BASE) is not None:
        return BASE
    answer = attempt(session, most, is_last=True)
    if answer is None:
        raise GasAllowanceExceeded(gas=most)
    low, high = answer.gas_used - 1, most
    likely = (answer.gas_used + answer.refund + CALL_STIPEND) * KEPT_FRACTION // (KEPT_FRACTION - 1)
    if likely < high:
        if attempt(session, likely) is None:
            low = likely
        else:
            high = likely
    while low + 1 < high and (high - low) * 1_000 >= tolerance_permille * high:
        # Most transactions need little more than they use.
        middle = min((low + high) // 2, low * 2)
        if attempt(session, middle) is None:
            low = middle
        else:
            high = middle
    return high


def attempt(session: CallSession, gas: int, *, is_last: bool = False) -> CallAnswer | None:
    """The answer; None if more gas might help. CallFailed if it was the last and none would."""
    try:
        answer = session.call(gas)
    except (IntrinsicGasTooLow, GasBelowFloor):
        return None
    if answer.is_good():
        return answer
    if is_last and answer.is_reverted:
        raise CallFailed(revert_message(answer.output), answer.output)
    if is_last and answer.halt != OutOfGas.reason:
        raise CallFailed(answer.halt)
    return None


def is_plain(session: CallSession) -> bool:
    """Whether it hands over value and runs no code."""
    request = session.request
    return request.to is not None and not request.data and not session.journal.code(request.to)


def allowance(session: CallSession) -> int:
    """The most gas that it may take: of the request or the block, and what the sender can pay."""
    request = session.request
    most = session.block.gas_limit
    if request.gas is not None and request.gas >= BASE:
        most = request.gas
    if session.rules.fork >= Fork.OSAKA:
        most = min(most, TRANSACTION_GAS_MAX)
    _, fee = request.prices()
    if fee:
        balance = session.journal.account(request.sender).balance_wei
        cost = request.value_wei
        cost += len(request.blob_hashes) * BLOB_GAS * (request.blob_fee_wei_max or 0)
        if cost >= balance:
            raise FundsTooLow(cost_wei=cost, balance_wei=balance)
        most = min(most, (balance - cost) // fee)
    return min(most, CALL_GAS_MAX)
