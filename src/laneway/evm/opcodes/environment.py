"""0x30s: what a frame knows of itself, its call, and other accounts."""

from laneway.evm.machine.frame import CallFrame
from laneway.evm.machine.halts import ReturnDataOutOfBounds

COPY_WORD_GAS = 3
COLD_ACCOUNT_GAS = 2_500
"""EIP-2929: what a cold account costs above a warm one."""
ADDRESS_MASK = (1 << 160) - 1
from_bytes = int.from_bytes


def address(frame: CallFrame) -> None:
    frame.stack.append(from_bytes(frame.address, "big"))


def balance(frame: CallFrame) -> None:
    account = touched(frame, frame.stack[-1])
    frame.stack[-1] = frame.context.journal.account(account).balance_wei


def origin(frame: CallFrame) -> None:
    frame.stack.append(from_bytes(frame.context.origin, "big"))


def caller(frame: CallFrame) -> None:
    frame.stack.append(from_bytes(frame.caller, "big"))


def callvalue(frame: CallFrame) -> None:
    frame.stack.append(frame.value_wei)


def calldataload(frame: CallFrame) -> None:
    stack = frame.stack
    at = stack[-1]
    stack[-1] = from_bytes(frame.data[at : at + 32].ljust(32, b"\0"), "big")


def calldatasize(frame: CallFrame) -> None:
    frame.stack.append(len(frame.data))


def calldatacopy(frame: CallFrame) -> None:
    copy(frame, frame.data)


def codesize(frame: CallFrame) -> None:
    frame.stack.append(len(frame.code.raw))


def codecopy(frame: CallFrame) -> None:
    copy(frame, frame.code.raw)


def gasprice(frame: CallFrame) -> None:
    frame.stack.append(frame.context.gas_price_wei)


def extcodesize(frame: CallFrame) -> None:
    account = touched(frame, frame.stack[-1])
    frame.stack[-1] = len(frame.context.journal.code(account))


def extcodecopy(frame: CallFrame) -> None:
    account = touched(frame, frame.stack.pop())
    copy(frame, frame.context.journal.code(account))


def returndatasize(frame: CallFrame) -> None:
    frame.stack.append(len(frame.returned))


def returndatacopy(frame: CallFrame) -> None:
    if frame.stack[-2] + frame.stack[-3] > len(frame.returned):
        raise ReturnDataOutOfBounds
    copy(frame, frame.returned)


def extcodehash(frame: CallFrame) -> None:
    account = frame.context.journal.account(touched(frame, frame.stack[-1]))
    frame.stack[-1] = 0 if account.is_empty() else from_bytes(account.code_hash, "big")


def touched(frame: CallFrame, word: int) -> bytes:
    """The account of a word, warm from now on and paid for if it was cold."""
    account = address_of_word(word)
    if frame.context.journal.warm_account(account):
        frame.charge(COLD_ACCOUNT_GAS)
    return account


def address_of_word(word: int) -> bytes:
    return (word & ADDRESS_MASK).to_bytes(20, "big")


def copy(frame: CallFrame, source: bytes) -> None:
    """Copy a range into memory, with zeros after the end of the source."""
    stack = frame.stack
    to, at, size = stack.pop(), stack.pop(), stack.pop()
    if size:
        frame.charge(COPY_WORD_GAS * ((size + 31) // 32))
        frame.extend(to, size)
        frame.memory[to : to + size] = source[at : at + size].ljust(size, b"\0")
