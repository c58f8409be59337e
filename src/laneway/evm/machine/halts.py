"""Why a frame loses all of its gas and of what it changed. They never leave the machine."""

from typing import ClassVar


class Halt(Exception):
    reason: ClassVar[str] = "halted"
    """As traces and callers read it; the error messages of go-ethereum where it has one."""


class OutOfGas(Halt):
    reason = "out of gas"


class StackUnderflow(Halt):
    reason = "stack underflow"


class StackOverflow(Halt):
    reason = "stack limit reached 1024"


class InvalidJump(Halt):
    reason = "invalid jump destination"


class InvalidOpcode(Halt):
    reason = "invalid opcode"


class WriteInStaticCall(Halt):
    reason = "write protection"


class ReturnDataOutOfBounds(Halt):
    reason = "return data out of bounds"


class AddressTaken(Halt):
    reason = "contract address collision"


class CodeStartsWithEf(Halt):
    reason = "invalid code: must not begin with 0xef"


class CodeTooLarge(Halt):
    reason = "max code size exceeded"


class InitcodeTooLarge(Halt):
    reason = "max initcode size exceeded"


class PrecompileFailed(Halt):
    reason = "precompiled contract failed"
