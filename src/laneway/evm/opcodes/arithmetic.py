"""0x00s: arithmetic on words of 256 bits. Each takes its operands from the stack alone."""

from laneway.evm.machine.frame import CallFrame

WORD_MAX = (1 << 256) - 1
WORD_COUNT = 1 << 256
SIGN_BIT = 1 << 255
EXPONENT_BYTE_GAS = 50

Stack = list[int]


def add(stack: Stack) -> None:
    a = stack.pop()
    stack[-1] = (a + stack[-1]) & WORD_MAX


def mul(stack: Stack) -> None:
    a = stack.pop()
    stack[-1] = (a * stack[-1]) & WORD_MAX


def sub(stack: Stack) -> None:
    a = stack.pop()
    stack[-1] = (a - stack[-1]) & WORD_MAX


def div(stack: Stack) -> None:
    a = stack.pop()
    b = stack[-1]
    stack[-1] = a // b if b else 0


def sdiv(stack: Stack) -> None:
    a, b = signed(stack.pop()), signed(stack[-1])
    if b:
        quotient = abs(a) // abs(b)
        stack[-1] = (quotient if (a < 0) == (b < 0) else -quotient) & WORD_MAX


def mod(stack: Stack) -> None:
    a = stack.pop()
    b = stack[-1]
    stack[-1] = a % b if b else 0


def smod(stack: Stack) -> None:
    a, b = signed(stack.pop()), signed(stack[-1])
    if b:
        rest = abs(a) % abs(b)
        stack[-1] = (-rest if a < 0 else rest) & WORD_MAX


def addmod(stack: Stack) -> None:
    a, b = stack.pop(), stack.pop()
    n = stack[-1]
    stack[-1] = (a + b) % n if n else 0


def mulmod(stack: Stack) -> None:
    a, b = stack.pop(), stack.pop()
    n = stack[-1]
    stack[-1] = a * b % n if n else 0


def signextend(stack: Stack) -> None:
    index = stack.pop()
    value = stack[-1]
    if index < 31:
        sign = 1 << (8 * index + 7)
        low = (sign << 1) - 1
        stack[-1] = value | (WORD_MAX ^ low) if value & sign else value & low


def exp(frame: CallFrame) -> None:
    stack = frame.stack
    base = stack.pop()
    exponent = stack[-1]
    frame.charge(EXPONENT_BYTE_GAS * ((exponent.bit_length() + 7) // 8))
    stack[-1] = pow(base, exponent, WORD_COUNT)


def signed(word: int) -> int:
    return word - WORD_COUNT if word & SIGN_BIT else word
