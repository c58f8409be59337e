"""What runs when an account is called: its code, the code it delegates to, or a precompile."""

from typing import NamedTuple

from laneway.evm.machine.code import EvmCode
from laneway.evm.machine.context import TransactionContext
from laneway.evm.precompiles.table import Precompile
from laneway.evm.state.view import EMPTY_CODE_HASH

DELEGATION_PREFIX = b"\xef\x01\x00"
DELEGATION_BYTES = 23
NO_CODE = EvmCode(b"")


class CallTarget(NamedTuple):
    address: bytes
    code: EvmCode
    precompile: Precompile | None = None


def delegate_of(code: bytes) -> bytes | None:
    """The account whose code runs instead (EIP-7702); None if this is no delegation."""
    if len(code) == DELEGATION_BYTES and code.startswith(DELEGATION_PREFIX):
        return code[len(DELEGATION_PREFIX) :]
    return None


def target_of(context: TransactionContext, address: bytes) -> CallTarget:
    """What runs at an address itself, whatever it delegates to."""
    precompile = context.precompiles.get(address)
    if precompile is not None:
        return CallTarget(address, NO_CODE, precompile)
    return CallTarget(address, code_of(context, address))


def delegated_target(context: TransactionContext, delegate: bytes) -> CallTarget:
    """What runs when an account delegates: code alone, for a precompile is none (EIP-7702)."""
    return CallTarget(delegate, code_of(context, delegate))


def code_of(context: TransactionContext, address: bytes) -> EvmCode:
    code_hash = context.journal.account(address).code_hash
    if code_hash == EMPTY_CODE_HASH:
        return NO_CODE
    return context.codes.get(code_hash, context.journal.code(address))
