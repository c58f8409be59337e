"""0x10s: comparison and bits. Each takes its operands from the stack alone."""

from laneway.evm.opcodes.arithmetic import SIGN_BIT, WORD_MAX, Stack, signed


def lt(stack: Stack) -> None:
    a = stack.pop()
    stack[-1] = 1 if a < stack[-1] else 0


def gt(stack: Stack) -> None:
    a = stack.pop()
    stack[-1] = 1 if a > stack[-1] else 0


def slt(stack: Stack) -> None:
    # Turning the sign bit over keeps the order of signed words.
    a = stack.pop() ^ SIGN_BIT
    stack[-1] = 1 if a < stack[-1] ^ SIGN_BIT else 0


def sgt(stack: Stack) -> None:
    a = stack.pop() ^ SIGN_BIT
    stack[-1] = 1 if a > stack[-1] ^ SIGN_BIT else 0


def eq(stack: Stack) -> None:
    a = stack.pop()
    stack[-1] = 1 if a == stack[-1] else 0


def iszero(stack: Stack) -> None:
    stack[-1] = 0 if stack[-1] else 1


def and_(stack: Stack) -> None:
    a = stack.pop()
    stack[-1] &= a


def or_(stack: Stack) -> None:
    a = stack.pop()
    stack[-1] |= a


def xor(stack: Stack) -> None:
    a = stack.pop()
    stack[-1] ^= a


def not_(stack: Stack) -> None:
    stack[-1] ^= WORD_MAX


def byte(stack: Stack) -> None:
    index = stack.pop()
    stack[-1] = (stack[-1] >> (248 - 8 * index)) & 0xFF if index < 32 else 0


def shl(stack: Stack) -> None:
    shift = stack.pop()
    stack[-1] = (stack[-1] << shift) & WORD_MAX if shift < 256 else 0


def shr(stack: Stack) -> None:
    shift = stack.pop()
    stack[-1] = stack[-1] >> shift if shift < 256 else 0


def sar(stack: Stack) -> None:
    shift = stack.pop()
    stack[-1] = (signed(stack[-1]) >> min(shift, 255)) & WORD_MAX


def clz(stack: Stack) -> None:
    stack[-1] = 256 - stack[-1].bit_length()
