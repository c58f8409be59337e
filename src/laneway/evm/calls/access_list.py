"""The access list with which a transaction touches nothing cold (EIP-2930)."""

from msgspec import Struct, structs

from laneway.evm.calls.call import CallAnswer, CallSession
from laneway.evm.calls.request import CallRequest
from laneway.evm.limits import ACCESS_LIST_ROUNDS_MAX
from laneway.evm.machine.context import BlockContext
from laneway.evm.machine.frame import CallFrame
from laneway.evm.opcodes.environment import address_of_word
from laneway.evm.opcodes.system import created_address
from laneway.evm.rules import ForkRules
from laneway.evm.state.view import StateView
from laneway.evm.tracing.run import CALLS, TracedRun
from laneway.evm.tracing.steps import SLOAD, SSTORE
from laneway.evm.tracing.watch import StepBefore, TransactionTracer
from laneway.evm.transaction import Access, authority

OF_TOP = (0x31, 0x3B, 0x3C, 0x3F, 0xFF)
"""BALANCE, EXTCODESIZE, EXTCODECOPY, EXTCODEHASH and SELFDESTRUCT name an account on top."""


class MadeAccessList(Struct, frozen=True):
    entries: tuple[Access, ...]
    answer: CallAnswer
    """Of the transaction with this list; the list stands even if the transaction fails."""


class TouchTracer(TransactionTracer):
    """Collects accounts and keys by the opcodes that name them, also in frames that fail."""

    def __init__(self, entries: tuple[Access, ...], left_out: dict[bytes, None]) -> None:
        self._left_out = left_out
        self.touched: dict[bytes, dict[int, None]] = {}
        for entry in entries:
            keys = dict.fromkeys(int.from_bytes(key, "big") for key in entry.keys)
            if keys or entry.address not in left_out:
                self.touched[entry.address] = keys

    def stepping(self, frame: CallFrame, before: StepBefore) -> None:
        op, stack = before.op, before.stack
        if op in (SLOAD, SSTORE) and stack:
            self.touched.setdefault(frame.address, {})[stack[-1]] = None
        elif op in OF_TOP and stack:
            self._touch(address_of_word(stack[-1]))
        elif op in CALLS and len(stack) > 1:
            self._touch(address_of_word(stack[-2]))

    def _touch(self, account: bytes) -> None:
        if account not in self._left_out:
            self.touched.setdefault(account, {})

    def entries(self) -> tuple[Access, ...]:
        """In the order of their bytes."""
        return tuple(
            [
                Access(account, tuple([key.to_bytes(32, "big") for key in sorted(keys)]))
                for account, keys in sorted(self.touched.items())
            ]
        )


def make_access_list(
    view: StateView, block: BlockContext, rules: ForkRules, request: CallRequest
) -> MadeAccessList:
    """Run the request with all that it touched before, until it touches nothing new.

    Sender, recipient, precompiled contracts and who authorized are left out unless keys of theirs
    are touched, for they are warm already.
    """
    session = CallSession(view, block, rules, request)
    to = request.to or created_address(request.sender, session.nonce)
    signers = [signer for one in request.authorizations if (signer := authority(one)) is not None]
    left_out = dict.fromkeys([request.sender, to, *rules.precompiles, *signers])
    entries = TouchTracer(request.access_list, left_out).entries()
    for _ in range(ACCESS_LIST_ROUNDS_MAX):
        tracer = TouchTracer(entries, left_out)
        with_list = structs.replace(request, access_list=entries)
        answer = session.call(request.gas_limit(), request=with_list, tracer=TracedRun(tracer))
        made = tracer.entries()
        if made == entries:
            break
        entries = made
    return MadeAccessList(entries, answer)
