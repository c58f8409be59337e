"""What code says when it reverts: a text, a panic of the compiler, or bytes of its own.

Errors that a contract defines itself differ by their selector; their operands need its ABI.
"""

from msgspec import Struct

SELECTOR_BYTES = 4
WORD_BYTES = 32
ERROR_SELECTOR = bytes.fromhex("08c379a0")
"""Of Error(string), which `require` and `revert` with a text use."""
PANIC_SELECTOR = bytes.fromhex("4e487b71")
"""Of Panic(uint256), which checks of the compiler use."""
PANICS = {
    0x00: "a check of the compiler failed",
    0x01: "an assertion failed",
    0x11: "an arithmetic operation left its range",
    0x12: "division or modulo by zero",
    0x21: "a number is no value of its enumeration",
    0x22: "a byte array in storage is encoded wrongly",
    0x31: "an empty array has nothing to pop",
    0x32: "an index is out of bounds",
    0x41: "too much memory was asked for",
    0x51: "a function variable is not set",
}
"""The codes of Solidity's documentation."""


class RevertReason(Struct, frozen=True):
    output: bytes
    """All that it reverted with."""
    text: str | None = None
    """Of Error(string)."""
    panic: int | None = None
    """The code of Panic(uint256)."""

    def selector(self) -> bytes | None:
        """Of any error, also one that the contract defines; None if the output is too short."""
        return self.output[:SELECTOR_BYTES] if len(self.output) >= SELECTOR_BYTES else None

    def meaning(self) -> str:
        """In words; empty if only the contract's ABI can say."""
        if self.text is not None:
            return self.text
        if self.panic is not None:
            return f"{PANICS.get(self.panic, 'unknown panic')} (0x{self.panic:02x})"
        return ""

    def message(self) -> str:
        """As nodes answer it."""
        meaning = self.meaning()
        return f"execution reverted: {meaning}" if meaning else "execution reverted"


def reason_of(output: bytes) -> RevertReason:
    """Never an error: what has no known form is its bytes alone."""
    selector, body = output[:SELECTOR_BYTES], output[SELECTOR_BYTES:]
    if selector == ERROR_SELECTOR:
        return RevertReason(output, text=string_at(body))
    if selector == PANIC_SELECTOR and len(body) == WORD_BYTES:
        return RevertReason(output, panic=int.from_bytes(body, "big"))
    return RevertReason(output)


def string_at(body: bytes) -> str | None:
    """The string that is the only operand; None if it is not all there."""
    at = int.from_bytes(body[:WORD_BYTES], "big") + WORD_BYTES
    if at > len(body):
        return None
    end = at + int.from_bytes(body[at - WORD_BYTES : at], "big")
    return body[at:end].decode("utf-8", "replace") if end <= len(body) else None
