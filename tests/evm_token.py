"""A token for tests: an ERC-20 of some three hundred bytes, written by hand for this repository.

`SOURCE` is assembler: `name:` is a place that may be jumped to, `@name` its offset in its section,
`@runtime` and `@end` those of the second section and behind it, `#runtime` that section's size, a
word in quotes its letters; `PUSH` takes the bytes that follow. `CODE` is what it becomes, which
`tests/laws/test_eoa_words.py` checks. A balance stands in the slot of its owner's address.
"""

import re
from typing import Final

ABI = [
    "constructor(string name, uint256 supply)",
    "function transfer(address to, uint256 amount) returns (bool)",
    "function balanceOf(address owner) view returns (uint256)",
    "function boom()",
    "function spin()",
    "event Transfer(address indexed from, address indexed to, uint256 value)",
    "error ERC20InsufficientBalance(address sender, uint256 balance, uint256 needed)",
]
"""`boom` ends in a Panic, `spin` never; what is sent to nobody ends in Error("to nobody")."""

SOURCE = """
section creation            ; the arguments follow the code: (string name, uint256 supply)
    PUSH @end CODESIZE SUB PUSH @end PUSH 00 CODECOPY
    PUSH 20 MLOAD DUP1 CALLER SSTORE
    PUSH 00 MSTORE CALLER PUSH 00
    PUSH ddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef
    PUSH 20 PUSH 00 LOG3
    PUSH #runtime DUP1 PUSH @runtime PUSH 00 CODECOPY PUSH 00 RETURN

section runtime
    PUSH 00 CALLDATALOAD PUSH e0 SHR
    DUP1 PUSH a9059cbb EQ PUSH @transfer JUMPI
    DUP1 PUSH 70a08231 EQ PUSH @balanceOf JUMPI
    DUP1 PUSH a169ce09 EQ PUSH @boom JUMPI
    DUP1 PUSH f0acd7d5 EQ PUSH @spin JUMPI
    PUSH 00 PUSH 00 REVERT

transfer:
    PUSH 04 CALLDATALOAD ISZERO PUSH @nobody JUMPI
    PUSH 24 CALLDATALOAD CALLER SLOAD           ; amount, balance
    DUP2 DUP2 LT PUSH @poor JUMPI
    DUP2 SWAP1 SUB CALLER SSTORE                ; amount
    DUP1 PUSH 04 CALLDATALOAD SLOAD ADD PUSH 04 CALLDATALOAD SSTORE
    PUSH 00 MSTORE PUSH 04 CALLDATALOAD CALLER
    PUSH ddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef
    PUSH 20 PUSH 00 LOG3
    PUSH 01 PUSH 00 MSTORE PUSH 20 PUSH 00 RETURN

poor:                                           ; amount, balance
    PUSH e450d38c PUSH e0 SHL PUSH 00 MSTORE
    CALLER PUSH 04 MSTORE PUSH 24 MSTORE PUSH 44 MSTORE
    PUSH 64 PUSH 00 REVERT

nobody:
    PUSH 08c379a0 PUSH e0 SHL PUSH 00 MSTORE
    PUSH 20 PUSH 04 MSTORE PUSH 09 PUSH 24 MSTORE
    PUSH "to_nobody" PUSH b8 SHL PUSH 44 MSTORE
    PUSH 64 PUSH 00 REVERT

balanceOf:
    PUSH 04 CALLDATALOAD SLOAD PUSH 00 MSTORE PUSH 20 PUSH 00 RETURN

boom:
    PUSH 4e487b71 PUSH e0 SHL PUSH 00 MSTORE PUSH 11 PUSH 04 MSTORE
    PUSH 24 PUSH 00 REVERT

spin:
    PUSH @spin JUMP
"""

CODE: Final = (
    "0x"
    "61014a380361014a6000396020518033556000523360007fddf252ad1be2c89b69c2b068fc378daa952ba7f1"
    "63c4a11628f55a4df523b3ef60206000a36101008061004a6000396000f360003560e01c8063a9059cbb1461"
    "003757806370a08231146100d8578063a169ce09146100e5578063f0acd7d5146100fb5760006000fd5b6004"
    "35156100ad57602435335481811061009257819003335580600435540160043555600052600435337fddf252"
    "ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef60206000a3600160005260206000f3"
    "5b63e450d38c60e01b6000523360045260245260445260646000fd5b6308c379a060e01b6000526020600452"
    "600960245268746f206e6f626f647960b81b60445260646000fd5b6004355460005260206000f35b634e487b"
    "7160e01b600052601160045260246000fd5b6100fb56"
)

OPCODES: Final = {
    name: code
    for code, name in {
        0x01: "ADD", 0x03: "SUB", 0x10: "LT", 0x14: "EQ", 0x15: "ISZERO", 0x1B: "SHL", 0x1C: "SHR",
        0x33: "CALLER", 0x35: "CALLDATALOAD", 0x38: "CODESIZE", 0x39: "CODECOPY", 0x51: "MLOAD",
        0x52: "MSTORE", 0x54: "SLOAD", 0x55: "SSTORE", 0x56: "JUMP", 0x57: "JUMPI", 0x80: "DUP1",
        0x81: "DUP2", 0x90: "SWAP1", 0xA3: "LOG3", 0xF3: "RETURN", 0xFD: "REVERT",
    }.items()
}  # fmt: skip
JUMPDEST: Final = 0x5B


def assembled() -> bytes:
    """`SOURCE` as bytes. Offsets and sizes take two bytes each."""
    text = re.sub(r";.*", "", SOURCE)
    _, creation, runtime = (part.split() for part in re.split(r"section \w+", text))
    body = section(runtime, {})
    known = {"#runtime": len(body)}
    length = len(section(creation, known | {"@runtime": 0, "@end": 0}))
    places = {"@runtime": length, "@end": length + len(body)}
    return section(creation, known | places) + body


def section(words: list[str], known: dict[str, int]) -> bytes:
    """Read twice: the first time nobody knows where the later places are."""
    places: dict[str, int] = {}
    for _ in range(2):
        code = bytearray()
        for before, word in zip(["", *words], words, strict=False):
            if word.endswith(":"):
                places[f"@{word[:-1]}"] = len(code)
                code.append(JUMPDEST)
            elif before == "PUSH":
                pushed = pushed_bytes(word, known | places)
                code += bytes([0x5F + len(pushed)]) + pushed
            elif word != "PUSH":
                code.append(OPCODES[word])
    return bytes(code)


def pushed_bytes(word: str, places: dict[str, int]) -> bytes:
    if word[0] in "@#":
        return places.get(word, 0).to_bytes(2)
    return word.strip('"').replace("_", " ").encode() if word[0] == '"' else bytes.fromhex(word)
