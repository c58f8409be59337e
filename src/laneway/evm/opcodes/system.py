"""0xF0s: calls, creations and ends. A call leaves a frame in `child`, which runs before its caller
goes on; what it returned is taken over in machine/calls.py."""

from laneway.evm import rlp
from laneway.evm.keccak import keccak
from laneway.evm.limits import CALL_DEPTH_MAX, INITCODE_BYTES_MAX, NONCE_MAX
from laneway.evm.machine.code import EvmCode
from laneway.evm.machine.frame import CallFrame
from laneway.evm.machine.halts import InitcodeTooLarge, InvalidOpcode, WriteInStaticCall
from laneway.evm.machine.targets import CallTarget, delegate_of, delegated_target, target_of
from laneway.evm.opcodes.environment import address_of_word
from laneway.evm.opcodes.memory import CALL_STIPEND, WARM_READ_GAS

INITCODE_WORD_GAS = 2
HASH_WORD_GAS = 6
COLD_ACCOUNT_GAS = 2_500
"""EIP-2929: above the warm price that every call pays."""
COLD_BENEFICIARY_GAS = 2_600
"""SELFDESTRUCT pays nothing for a warm one."""
VALUE_GAS = 9_000
NEW_ACCOUNT_GAS = 25_000
KEPT_FRACTION = 64
"""EIP-150: a 64th of its gas stays with the caller."""


def stop(frame: CallFrame) -> bool:  # noqa: ARG001
    return True


def return_(frame: CallFrame) -> bool:
    at, size = frame.stack.pop(), frame.stack.pop()
    frame.extend(at, size)
    frame.output = frame.read(at, size)
    return True


def revert(frame: CallFrame) -> bool:
    return_(frame)
    frame.is_reverted = True
    return True


def invalid(frame: CallFrame) -> bool:  # noqa: ARG001
    raise InvalidOpcode


def selfdestruct(frame: CallFrame) -> bool:
    if frame.is_static:
        raise WriteInStaticCall
    journal = frame.context.journal
    beneficiary = address_of_word(frame.stack.pop())
    if journal.warm_account(beneficiary):
        frame.charge(COLD_BENEFICIARY_GAS)
    wei = journal.account(frame.address).balance_wei
    if wei and journal.account(beneficiary).is_empty():
        frame.charge(NEW_ACCOUNT_GAS)
    move(frame, frame.address, beneficiary, wei)
    if frame.address in journal.created:
        # EIP-6780: only what the same transaction made is destroyed, with what it sent itself.
        journal.pay(frame.address, -journal.account(frame.address).balance_wei)
        journal.mark_destroyed(frame.address)
    return True


def move(frame: CallFrame, sender: bytes, recipient: bytes, wei: int) -> None:
    journal = frame.context.journal
    if wei:
        journal.pay(sender, -wei)
        journal.pay(recipient, wei)
    else:
        journal.touch(recipient)


# Creations.


def create(frame: CallFrame) -> bool:
    value_wei, at, size = (frame.stack.pop() for _ in range(3))
    initcode = paid_initcode(frame, at, size, INITCODE_WORD_GAS)
    nonce = frame.context.journal.account(frame.address).nonce
    return begin_creation(
        frame, "CREATE", created_address(frame.address, nonce), initcode, value_wei
    )


def create2(frame: CallFrame) -> bool:
    value_wei, at, size, salt = (frame.stack.pop() for _ in range(4))
    initcode = paid_initcode(frame, at, size, INITCODE_WORD_GAS + HASH_WORD_GAS)
    seed = b"\xff" + frame.address + salt.to_bytes(32, "big") + keccak(initcode)
    return begin_creation(frame, "CREATE2", keccak(seed)[12:], initcode, value_wei)


def created_address(sender: bytes, nonce: int) -> bytes:
    return keccak(rlp.encode((sender, nonce)))[12:]


def paid_initcode(frame: CallFrame, at: int, size: int, word_gas: int) -> bytes:
    if frame.is_static:
        raise WriteInStaticCall
    if size > INITCODE_BYTES_MAX:
        raise InitcodeTooLarge
    frame.charge(word_gas * ((size + 31) // 32))
    frame.extend(at, size)
    return frame.read(at, size)


def begin_creation(
    frame: CallFrame, kind: str, address: bytes, initcode: bytes, value_wei: int
) -> bool:
    journal = frame.context.journal
    creator = journal.account(frame.address)
    frame.returned = b""
    is_too_deep = frame.depth >= CALL_DEPTH_MAX
    if is_too_deep or creator.balance_wei < value_wei or creator.nonce >= NONCE_MAX:
        frame.stack.append(0)
        return False
    gas = frame.gas - frame.gas // KEPT_FRACTION
    frame.gas -= gas
    journal.warm_account(address)
    journal.count(frame.address)
    if journal.is_taken(address):
        # The gas is gone, as if its first step had failed.
        frame.stack.append(0)
        return False
    frame.child = CallFrame(
        frame.context,
        kind=kind,
        target=CallTarget(address, EvmCode(initcode)),
        caller=frame.address,
        address=address,
        gas=gas,
        value_wei=value_wei,
        transferred_wei=value_wei,
        depth=frame.depth + 1,
    )
    return True


# Calls.


def call(frame: CallFrame) -> bool:
    asked, word, value_wei = (frame.stack.pop() for _ in range(3))
    if value_wei and frame.is_static:
        raise WriteInStaticCall
    address = address_of_word(word)
    data, at, size = call_memory(frame)
    target = paid_target(frame, address)
    if value_wei:
        is_new = frame.context.journal.account(address).is_empty()
        frame.charge(VALUE_GAS + (NEW_ACCOUNT_GAS if is_new else 0))
    child = CallFrame(
        frame.context,
        kind="CALL",
        target=target,
        caller=frame.address,
        address=address,
        data=data,
        value_wei=value_wei,
        transferred_wei=value_wei,
        depth=frame.depth + 1,
        is_static=frame.is_static,
        output_at=at,
        output_size=size,
    )
    return begin_call(frame, child, asked, value_wei)


def callcode(frame: CallFrame) -> bool:
    asked, word, value_wei = (frame.stack.pop() for _ in range(3))
    data, at, size = call_memory(frame)
    target = paid_target(frame, address_of_word(word))
    if value_wei:
        frame.charge(VALUE_GAS)
    child = CallFrame(
        frame.context,
        kind="CALLCODE",
        target=target,
        caller=frame.address,
        address=frame.address,
        data=data,
        value_wei=value_wei,
        depth=frame.depth + 1,
        is_static=frame.is_static,
        output_at=at,
        output_size=size,
    )
    return begin_call(frame, child, asked, value_wei)


def delegatecall(frame: CallFrame) -> bool:
    asked, word = frame.stack.pop(), frame.stack.pop()
    data, at, size = call_memory(frame)
    child = CallFrame(
        frame.context,
        kind="DELEGATECALL",
        target=paid_target(frame, address_of_word(word)),
        caller=frame.caller,
        address=frame.address,
        data=data,
        value_wei=frame.value_wei,
        depth=frame.depth + 1,
        is_static=frame.is_static,
        output_at=at,
        output_size=size,
    )
    return begin_call(frame, child, asked, 0)


def staticcall(frame: CallFrame) -> bool:
    asked, word = frame.stack.pop(), frame.stack.pop()
    address = address_of_word(word)
    data, at, size = call_memory(frame)
    child = CallFrame(
        frame.context,
        kind="STATICCALL",
        target=paid_target(frame, address),
        caller=frame.address,
        address=address,
        data=data,
        depth=frame.depth + 1,
        is_static=True,
        output_at=at,
        output_size=size,
    )
    return begin_call(frame, child, asked, 0)


def call_memory(frame: CallFrame) -> tuple[bytes, int, int]:
    """The data of a call, and where its output goes; memory has both ranges now."""
    stack = frame.stack
    at, size, output_at, output_size = stack.pop(), stack.pop(), stack.pop(), stack.pop()
    frame.extend(at, size)
    frame.extend(output_at, output_size)
    return frame.read(at, size), output_at, output_size


def paid_target(frame: CallFrame, address: bytes) -> CallTarget:
    """What runs there; the account, and the one that it delegates to, are warm now."""
    context = frame.context
    journal = context.journal
    if journal.warm_account(address):
        frame.charge(COLD_ACCOUNT_GAS)
    if context.has_delegations:
        delegate = delegate_of(journal.code(address))
        if delegate is not None:
            is_cold = journal.warm_account(delegate)
            frame.charge(WARM_READ_GAS + (COLD_ACCOUNT_GAS if is_cold else 0))
            return delegated_target(context, delegate)
    return target_of(context, address)


def begin_call(frame: CallFrame, child: CallFrame, asked: int, wei: int) -> bool:
    """Give the child its gas. With `wei` it has a stipend, and the caller must have that much."""
    gas = min(asked, frame.gas - frame.gas // KEPT_FRACTION)
    frame.gas -= gas
    child.gas = gas + CALL_STIPEND if wei else gas
    frame.returned = b""
    if child.depth > CALL_DEPTH_MAX or (
        wei and frame.context.journal.account(frame.address).balance_wei < wei
    ):
        frame.gas += child.gas
        frame.stack.append(0)
        return False
    frame.child = child
    return True
