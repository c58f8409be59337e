"""How deep and how wide JSON from elsewhere may be, found out before it is decoded.

The decoder recurses. On a text that is nested 100,000 deep it raises RecursionError, and where a
library has raised Python's recursion limit it overflows the stack.
"""

from collections.abc import Iterator
from typing import Final

from msgspec import DecodeError

from laneway.core.limits import ANSWER_BRACKETS_MAX, NESTING_MAX

OTHERS: Final = bytes(set(range(256)) - set(b'[]{}"'))
OPENING: Final = b"[{"
PIECE_BYTES: Final = 1 << 16


class TooManyBrackets(DecodeError):
    """More lists and objects than a text of this purpose has."""


def bounded(raw: bytes, brackets_max: int = ANSWER_BRACKETS_MAX) -> bytes:
    """The same bytes; DecodeError if they are nested too deep or have too many brackets."""
    if raw.count(b"[") + raw.count(b"{") > min(NESTING_MAX, brackets_max):
        check(raw, brackets_max)
    return raw


def check(raw: bytes, brackets_max: int) -> None:
    count = depth = deepest = 0
    for brackets in outside_of_texts(raw):
        for bracket in brackets:
            if bracket in OPENING:
                count += 1
                depth += 1
                deepest = max(deepest, depth)
            else:
                depth -= 1
        if count > brackets_max:
            raise TooManyBrackets(f"more than {brackets_max} brackets")
    if deepest > NESTING_MAX:
        raise DecodeError(f"nested deeper than {NESTING_MAX}")


def outside_of_texts(raw: bytes) -> Iterator[bytes]:
    """The brackets that count, in their order, piece by piece."""
    if b"\\" in raw:
        raw = raw.replace(b"\\\\", b"").replace(b'\\"', b"")
    marks = raw.translate(None, OTHERS)
    is_inside = 0
    for begin in range(0, len(marks), PIECE_BYTES):
        # Of what is cut at its quotes every second part is outside of them.
        parts = marks[begin : begin + PIECE_BYTES].split(b'"')
        yield b"".join(parts[is_inside::2])
        is_inside = (is_inside + len(parts) - 1) % 2
