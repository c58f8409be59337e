"""Code of the EVM as words: assembled, read back, and the table of opcodes by fork.

A program is a tuple of snippets, a snippet a tuple of words: the name of an opcode, a number
(pushed in its shortest form), `PUSHn number`, bytes as they are, `:label` (a jump destination),
`@label` (its address, pushed) and `.label` (the address of what follows, without a JUMPDEST).
Labels belong to their snippet, except those that begin with a capital letter.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple, TypeAlias

Word: TypeAlias = str | int | bytes
Snippet: TypeAlias = tuple[Word, ...]


class Opcode(NamedTuple):
    byte: int
    name: str
    takes: int
    gives: int


def _listed() -> Iterator[Opcode]:
    plain = """
        00 STOP 0 0|01 ADD 2 1|02 MUL 2 1|03 SUB 2 1|04 DIV 2 1|05 SDIV 2 1|06 MOD 2 1|07 SMOD 2 1
        08 ADDMOD 3 1|09 MULMOD 3 1|0a EXP 2 1|0b SIGNEXTEND 2 1|10 LT 2 1|11 GT 2 1|12 SLT 2 1
        13 SGT 2 1|14 EQ 2 1|15 ISZERO 1 1|16 AND 2 1|17 OR 2 1|18 XOR 2 1|19 NOT 1 1|1a BYTE 2 1
        1b SHL 2 1|1c SHR 2 1|1d SAR 2 1|1e CLZ 1 1|20 KECCAK256 2 1|30 ADDRESS 0 1|31 BALANCE 1 1
        32 ORIGIN 0 1|33 CALLER 0 1|34 CALLVALUE 0 1|35 CALLDATALOAD 1 1|36 CALLDATASIZE 0 1
        37 CALLDATACOPY 3 0|38 CODESIZE 0 1|39 CODECOPY 3 0|3a GASPRICE 0 1|3b EXTCODESIZE 1 1
        3c EXTCODECOPY 4 0|3d RETURNDATASIZE 0 1|3e RETURNDATACOPY 3 0|3f EXTCODEHASH 1 1
        40 BLOCKHASH 1 1|41 COINBASE 0 1|42 TIMESTAMP 0 1|43 NUMBER 0 1|44 PREVRANDAO 0 1
        45 GASLIMIT 0 1|46 CHAINID 0 1|47 SELFBALANCE 0 1|48 BASEFEE 0 1|49 BLOBHASH 1 1
        4a BLOBBASEFEE 0 1|50 POP 1 0|51 MLOAD 1 1|52 MSTORE 2 0|53 MSTORE8 2 0|54 SLOAD 1 1
        55 SSTORE 2 0|56 JUMP 1 0|57 JUMPI 2 0|58 PC 0 1|59 MSIZE 0 1|5a GAS 0 1|5b JUMPDEST 0 0
        5c TLOAD 1 1|5d TSTORE 2 0|5e MCOPY 3 0|5f PUSH0 0 1|f0 CREATE 3 1|f1 CALL 7 1
        f2 CALLCODE 7 1|f3 RETURN 2 0|f4 DELEGATECALL 6 1|f5 CREATE2 4 1|fa STATICCALL 6 1
        fd REVERT 2 0|fe INVALID 0 0|ff SELFDESTRUCT 1 0"""
    for line in plain.replace("\n", "|").split("|"):
        if line.strip():
            byte, name, takes, gives = line.split()
            yield Opcode(int(byte, 16), name, int(takes), int(gives))
    for size in range(1, 33):
        yield Opcode(0x5F + size, f"PUSH{size}", 0, 1)
    for place in range(1, 17):
        yield Opcode(0x7F + place, f"DUP{place}", place, place + 1)
        yield Opcode(0x8F + place, f"SWAP{place}", place + 1, place + 1)
    for topics in range(5):
        yield Opcode(0xA0 + topics, f"LOG{topics}", 2 + topics, 0)


OPCODES = {one.name: one for one in _listed()}
BY_BYTE = {one.byte: one for one in OPCODES.values()}
OSAKA_ONLY = {"CLZ"}
LABEL_BYTES = 2


def opcodes(fork: str) -> list[Opcode]:
    """Those that the fork defines; INVALID counts, for it is defined to fail."""
    is_old = fork in ("Cancun", "Prague")
    return [one for one in OPCODES.values() if not (is_old and one.name in OSAKA_ONLY)]


def push(number: int, size: int | None = None) -> bytes:
    if number == 0 and not size:
        return b"\x5f"
    size = size or (number.bit_length() + 7) // 8
    return bytes([0x5F + size]) + number.to_bytes(size, "big")


def _encoded(words: Sequence[Word], scope: int) -> Iterator[bytes | str]:
    """Bytes, and labels with their scope, which are resolved later."""
    for word in words:
        if isinstance(word, bytes):
            yield word
        elif isinstance(word, int):
            yield push(word)
        elif word[0] in ":@.":
            name = word[1:] if word[1].isupper() else f"{scope}.{word[1:]}"
            if word[0] == "@":
                yield "@" + name
            else:
                yield ":" + name
                if word[0] == ":":
                    yield b"\x5b"
        else:
            name, _, number = word.partition(" ")
            if number:
                yield push(int(number, 0), int(name[4:]))
            else:
                yield bytes([OPCODES[name].byte])


def assemble(program: Iterable[Snippet]) -> bytes:
    """The program's bytes; a label that is gone, for its snippet is, counts as 0."""
    parts = [part for scope, words in enumerate(program) for part in _encoded(words, scope)]
    places: dict[str, int] = {}
    at = 0
    for part in parts:
        if isinstance(part, bytes):
            at += len(part)
        elif part[0] == ":":
            places[part[1:]] = at
        else:
            at += 1 + LABEL_BYTES
    return b"".join(
        part
        if isinstance(part, bytes)
        else push(places.get(part[1:], 0) & 0xFFFF, LABEL_BYTES)
        if part[0] == "@"
        else b""
        for part in parts
    )


def disassemble(code: bytes) -> Iterator[tuple[int, str]]:
    """Address and text of each instruction."""
    at = 0
    while at < len(code):
        byte = code[at]
        opcode = BY_BYTE.get(byte)
        size = byte - 0x5F if 0x60 <= byte <= 0x7F else 0
        if opcode is None:
            yield at, f"byte 0x{byte:02x}"
        elif size:
            given = code[at + 1 : at + 1 + size]
            short = "" if len(given) == size else f" (cut off at {len(given)} bytes)"
            yield at, f"{opcode.name} 0x{given.hex()}{short}"
        else:
            yield at, opcode.name
        at += 1 + size
