"""0x50s: memory, storage, gas and position. Jumps are the loop's own (machine/run.py)."""

from laneway.evm.machine.frame import CallFrame
from laneway.evm.machine.halts import OutOfGas, WriteInStaticCall

COPY_WORD_GAS = 3
WARM_READ_GAS = 100
COLD_KEY_GAS = 2_000
"""EIP-2929: what a cold key costs a read above a warm one."""
COLD_STORE_GAS = 2_100
FRESH_STORE_GAS = 20_000
"""A key that had nothing when the transaction began gets a value."""
STORE_GAS = 2_900
"""Another value for a key that had one: 5,000 without its cold read (EIP-2929)."""
CLEARED_REFUND = 4_800
"""EIP-3529."""
CALL_STIPEND = 2_300
from_bytes = int.from_bytes


def pop(stack: list[int]) -> None:
    stack.pop()


def pc(frame: CallFrame) -> None:
    frame.stack.append(frame.pc)


def mload(frame: CallFrame) -> None:
    stack, memory = frame.stack, frame.memory
    at = stack[-1]
    end = at + 32
    if end > len(memory):
        frame.extend(at, 32)
    stack[-1] = from_bytes(memory[at:end], "big")


def mstore(frame: CallFrame) -> None:
    stack, memory = frame.stack, frame.memory
    at = stack.pop()
    end = at + 32
    if end > len(memory):
        frame.extend(at, 32)
    memory[at:end] = stack.pop().to_bytes(32, "big")


def mstore8(frame: CallFrame) -> None:
    stack = frame.stack
    at = stack.pop()
    frame.extend(at, 1)
    frame.memory[at] = stack.pop() & 0xFF


def sload(frame: CallFrame) -> None:
    storage = frame.own_storage()
    key = frame.stack[-1]
    if key not in storage.warm:
        frame.context.journal.warm_key(storage, key)
        frame.charge(COLD_KEY_GAS)
    frame.stack[-1] = storage.load(key)


def sstore(frame: CallFrame) -> None:
    stack = frame.stack
    key, value = stack.pop(), stack.pop()
    frame.gas = stored(frame, key, value, frame.gas)


def stored(frame: CallFrame, key: int, value: int, gas: int) -> int:
    """Write to storage; what is left of the gas."""
    if frame.is_static:
        raise WriteInStaticCall
    if gas <= CALL_STIPEND:
        # EIP-2200: a call that has the stipend alone writes nothing.
        raise OutOfGas
    storage, journal = frame.storage or frame.own_storage(), frame.context.journal
    if key not in storage.warm:
        journal.warm_key(storage, key)
        gas -= COLD_STORE_GAS
    current = storage.now.get(key)
    if current is None:
        current = storage.load(key)
    original = storage.original.get(key, current)
    if value == current or original != current:
        gas -= WARM_READ_GAS
    else:
        gas -= STORE_GAS if original else FRESH_STORE_GAS
    if gas < 0:
        raise OutOfGas
    if value != current:
        journal.refund += refund(original, current, value)
        journal.store(storage, key, value)
    return gas


def refund(original: int, current: int, value: int) -> int:
    """What a write changes in the refund (EIP-3529); it takes back what an earlier one promised."""
    change = 0
    if original:
        if not current:
            change -= CLEARED_REFUND
        elif not value:
            change += CLEARED_REFUND
    if value == original:
        change += (STORE_GAS if original else FRESH_STORE_GAS) - WARM_READ_GAS
    return change


def msize(frame: CallFrame) -> None:
    frame.stack.append(len(frame.memory))


def gas(frame: CallFrame) -> None:
    frame.stack.append(frame.gas)


def tload(frame: CallFrame) -> None:
    transient = frame.context.journal.transient
    frame.stack[-1] = transient.get((frame.address, frame.stack[-1]), 0)


def tstore(frame: CallFrame) -> None:
    if frame.is_static:
        raise WriteInStaticCall
    key, value = frame.stack.pop(), frame.stack.pop()
    frame.context.journal.store_transient(frame.address, key, value)


def mcopy(frame: CallFrame) -> None:
    stack = frame.stack
    to, at, size = stack.pop(), stack.pop(), stack.pop()
    if size:
        frame.charge(COPY_WORD_GAS * ((size + 31) // 32))
        frame.extend(max(to, at), size)
        memory = frame.memory
        memory[to : to + size] = memory[at : at + size]
