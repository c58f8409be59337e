"""What a call returned when it reverted → why, in words.

Error(string) and Panic(uint256) are the compiler's own and read without eth-abi, so that a reason
is shown where no extra is installed; errors of contracts need their ABI.
"""

from typing import Final

from msgspec import Struct

from laneway.evm.abi.decoded import SELECTOR_BYTES, DecodedItem, of_kind
from laneway.evm.abi.interface import Items
from laneway.evm.abi.items import ERROR
from laneway.evm.abi.limits import REVERT_CHARS_MAX

ERROR_STRING: Final = bytes.fromhex("08c379a0")
PANIC: Final = bytes.fromhex("4e487b71")
"""The selectors of Error(string) and Panic(uint256)."""
WORD_BYTES: Final = 32
PANICS: Final = {
    0x00: "the compiler's own",
    0x01: "an assertion failed",
    0x11: "arithmetic overflow or underflow",
    0x12: "division by zero",
    0x21: "a number that the enum does not have",
    0x22: "a byte array in storage that is encoded wrongly",
    0x31: "pop() of an empty array",
    0x32: "an index out of bounds",
    0x41: "too much memory, or an array that is too long",
    0x51: "a function that was never set",
}
"""What Solidity's documentation says of each code."""


class RevertReason(Struct, frozen=True):
    """Why a call reverted."""

    text: str
    """Empty: it returned nothing."""
    error: DecodedItem | None = None
    """The contract's own error, where an ABI has it."""


def revert_reason(output: bytes, items: Items = ()) -> RevertReason:
    """Whatever a contract returns has a text."""
    builtin = builtin_reason(output)
    if builtin is not None or not output:
        return RevertReason(builtin or "")
    found = of_kind(items, ERROR, output)
    if found is not None:
        return RevertReason(cut(found.line()), found)
    if len(output) < SELECTOR_BYTES:
        return RevertReason(f"it returned 0x{output.hex()}")
    return RevertReason(f"an error that no ABI here has: {cut(f'0x{output.hex()}')}")


def builtin_reason(output: bytes) -> str | None:
    """Of Error(string) and Panic(uint256); None if it is neither, or not well made."""
    selector, content = output[:SELECTOR_BYTES], output[SELECTOR_BYTES:]
    if selector == PANIC and len(content) == WORD_BYTES:
        code = int.from_bytes(content)
        return f"Panic(0x{code:02x}): {PANICS.get(code, 'a code that Solidity does not have')}"
    if selector != ERROR_STRING or len(content) < 2 * WORD_BYTES:
        return None
    offset = int.from_bytes(content[:WORD_BYTES])
    length = int.from_bytes(content[WORD_BYTES : 2 * WORD_BYTES])
    if offset != WORD_BYTES or length > len(content) - 2 * WORD_BYTES:
        return None
    text = content[2 * WORD_BYTES :][:length].decode(errors="replace")
    return cut(text) or "an empty reason"


def cut(text: str) -> str:
    return text if len(text) <= REVERT_CHARS_MAX else f"{text[:REVERT_CHARS_MAX]}…"
