"""Every opcode with its name, what it takes from the stack and puts on it, and its fixed gas; and
what a fork has of them, as tables that the loop reads by number."""

from functools import cache

from laneway.evm.fork import Fork
from laneway.evm.limits import STACK_WORDS_MAX
from laneway.evm.machine.instructions import Framed, Opcode, OpcodeTable, Plain
from laneway.evm.opcodes import (
    arithmetic,
    bitwise,
    block,
    environment,
    hashing,
    logs,
    memory,
    system,
)


def _numbered(first: int, *opcodes: Opcode) -> dict[int, Opcode]:
    return {first + index: opcode for index, opcode in enumerate(opcodes)}


def _plain(gas: int, pops: int, **named: Plain) -> list[Opcode]:
    return [Opcode(name.strip("_"), pops, 1, gas, plain=do) for name, do in named.items()]


def _asks(gas: int, **named: Framed) -> list[Opcode]:
    """Opcodes that put something on the stack and take nothing."""
    return [Opcode(name, 0, 1, gas, framed=do) for name, do in named.items()]


CANCUN: dict[int, Opcode] = {
    **_numbered(
        0x00,
        Opcode("STOP", 0, 0, 0, framed=system.stop),
        *_plain(3, 2, ADD=arithmetic.add),
        *_plain(5, 2, MUL=arithmetic.mul),
        *_plain(3, 2, SUB=arithmetic.sub),
        *_plain(5, 2, DIV=arithmetic.div, SDIV=arithmetic.sdiv),
        *_plain(5, 2, MOD=arithmetic.mod, SMOD=arithmetic.smod),
        *_plain(8, 3, ADDMOD=arithmetic.addmod, MULMOD=arithmetic.mulmod),
        Opcode("EXP", 2, 1, 10, framed=arithmetic.exp),
        *_plain(5, 2, SIGNEXTEND=arithmetic.signextend),
    ),
    **_numbered(
        0x10,
        *_plain(3, 2, LT=bitwise.lt, GT=bitwise.gt, SLT=bitwise.slt, SGT=bitwise.sgt),
        *_plain(3, 2, EQ=bitwise.eq),
        *_plain(3, 1, ISZERO=bitwise.iszero),
        *_plain(3, 2, AND=bitwise.and_, OR=bitwise.or_, XOR=bitwise.xor),
        *_plain(3, 1, NOT=bitwise.not_),
        *_plain(3, 2, BYTE=bitwise.byte, SHL=bitwise.shl, SHR=bitwise.shr, SAR=bitwise.sar),
    ),
    **_numbered(0x20, Opcode("KECCAK256", 2, 1, 30, framed=hashing.keccak256)),
    **_numbered(
        0x30,
        *_asks(2, ADDRESS=environment.address),
        Opcode("BALANCE", 1, 1, 100, framed=environment.balance),
        *_asks(2, ORIGIN=environment.origin, CALLER=environment.caller),
        *_asks(2, CALLVALUE=environment.callvalue),
        Opcode("CALLDATALOAD", 1, 1, 3, framed=environment.calldataload),
        *_asks(2, CALLDATASIZE=environment.calldatasize),
        Opcode("CALLDATACOPY", 3, 0, 3, framed=environment.calldatacopy),
        *_asks(2, CODESIZE=environment.codesize),
        Opcode("CODECOPY", 3, 0, 3, framed=environment.codecopy),
        *_asks(2, GASPRICE=environment.gasprice),
        Opcode("EXTCODESIZE", 1, 1, 100, framed=environment.extcodesize),
        Opcode("EXTCODECOPY", 4, 0, 100, framed=environment.extcodecopy),
        *_asks(2, RETURNDATASIZE=environment.returndatasize),
        Opcode("RETURNDATACOPY", 3, 0, 3, framed=environment.returndatacopy),
        Opcode("EXTCODEHASH", 1, 1, 100, framed=environment.extcodehash),
    ),
    **_numbered(
        0x40,
        Opcode("BLOCKHASH", 1, 1, 20, framed=block.blockhash),
        *_asks(2, COINBASE=block.coinbase, TIMESTAMP=block.timestamp, NUMBER=block.number),
        *_asks(2, PREVRANDAO=block.prevrandao, GASLIMIT=block.gaslimit, CHAINID=block.chainid),
        *_asks(5, SELFBALANCE=block.selfbalance),
        *_asks(2, BASEFEE=block.basefee),
        Opcode("BLOBHASH", 1, 1, 3, framed=block.blobhash),
        *_asks(2, BLOBBASEFEE=block.blobbasefee),
    ),
    **_numbered(
        0x50,
        Opcode("POP", 1, 0, 2, plain=memory.pop),
        Opcode("MLOAD", 1, 1, 3, framed=memory.mload),
        Opcode("MSTORE", 2, 0, 3, framed=memory.mstore),
        Opcode("MSTORE8", 2, 0, 3, framed=memory.mstore8),
        Opcode("SLOAD", 1, 1, 100, framed=memory.sload),
        Opcode("SSTORE", 2, 0, 0, framed=memory.sstore),
        Opcode("JUMP", 1, 0, 8),
        Opcode("JUMPI", 2, 0, 10),
        *_asks(2, PC=memory.pc, MSIZE=memory.msize, GAS=memory.gas),
        Opcode("JUMPDEST", 0, 0, 1),
        Opcode("TLOAD", 1, 1, 100, framed=memory.tload),
        Opcode("TSTORE", 2, 0, 100, framed=memory.tstore),
        Opcode("MCOPY", 3, 0, 3, framed=memory.mcopy),
        Opcode("PUSH0", 0, 1, 2),
    ),
    **_numbered(0x60, *(Opcode(f"PUSH{width}", 0, 1, 3) for width in range(1, 33))),
    **_numbered(0x80, *(Opcode(f"DUP{at}", at, at + 1, 3) for at in range(1, 17))),
    **_numbered(0x90, *(Opcode(f"SWAP{at}", at + 1, at + 1, 3) for at in range(1, 17))),
    **_numbered(
        0xA0,
        *(Opcode(f"LOG{count}", count + 2, 0, 375, framed=logs.log(count)) for count in range(5)),
    ),
    **_numbered(
        0xF0,
        Opcode("CREATE", 3, 1, 32_000, framed=system.create),
        Opcode("CALL", 7, 1, 100, framed=system.call),
        Opcode("CALLCODE", 7, 1, 100, framed=system.callcode),
        Opcode("RETURN", 2, 0, 0, framed=system.return_),
        Opcode("DELEGATECALL", 6, 1, 100, framed=system.delegatecall),
        Opcode("CREATE2", 4, 1, 32_000, framed=system.create2),
    ),
    0xFA: Opcode("STATICCALL", 6, 1, 100, framed=system.staticcall),
    0xFD: Opcode("REVERT", 2, 0, 0, framed=system.revert),
    0xFE: Opcode("INVALID", 0, 0, 0, framed=system.invalid),
    0xFF: Opcode("SELFDESTRUCT", 1, 0, 5_000, framed=system.selfdestruct),
}
OSAKA = CANCUN | _numbered(0x1E, *_plain(5, 1, CLZ=bitwise.clz))

UNKNOWN = Opcode("INVALID", 0, 0, 0, framed=system.invalid)


@cache
def opcode_table(fork: Fork) -> OpcodeTable:
    known = OSAKA if fork >= Fork.OSAKA else CANCUN
    opcodes = [known.get(number, UNKNOWN) for number in range(256)]
    return OpcodeTable(
        known=known,
        gas=tuple([one.gas for one in opcodes]),
        plain=tuple([one.plain for one in opcodes]),
        framed=tuple([one.framed or system.invalid for one in opcodes]),
        needs=tuple([one.pops for one in opcodes]),
        bounds=tuple([STACK_WORDS_MAX + min(0, one.pops - one.pushes) for one in opcodes]),
    )
