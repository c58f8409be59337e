"""Values ⇄ the bytes of the contract ABI, by eth-abi.

What is decoded was written by strangers: its length and what pointers could make of it are bounded
before, and it counts only if encoding it again gives the same bytes.
"""

from collections.abc import Sequence
from typing import Any

from laneway.evm.abi.limits import DECODED_BYTES_MAX, DECODED_COST_MAX
from laneway.evm.abi.types import AbiParameter, AbiType

WORD_BYTES = 32
COPIED_WORDS = 128
"""Words of bytes that are copied in the time in which one value is read."""


def encode(parameters: Sequence[AbiParameter], values: Sequence[object]) -> bytes:
    """`values` are those of `values_of`."""
    if not parameters:
        return b""
    # Imported late: it takes a tenth of a second, and is an extra.
    from eth_abi import abi

    content: bytes = abi.encode([one.type.text() for one in parameters], list(values))
    return content


def decode(parameters: Sequence[AbiParameter], content: bytes) -> tuple[Any, ...] | None:
    """The values; None if the bytes are not exactly such values, or too much work to read."""
    words = len(content) // WORD_BYTES
    if len(content) > DECODED_BYTES_MAX or cost(parameters, words) > DECODED_COST_MAX:
        return None
    from eth_abi import abi
    from eth_abi.exceptions import DecodingError, EncodingError

    types = [one.type.text() for one in parameters]
    try:
        found: tuple[Any, ...] = abi.decode(types, content)
        is_exact = abi.encode(types, found) == content
    except (DecodingError, EncodingError, UnicodeDecodeError, OverflowError):
        return None
    return found if is_exact else None


def cost(parameters: Sequence[AbiParameter], words: int) -> int:
    """The most values that this number of words can be read as: pointers may lead to one place
    again and again, so that arrays within arrays multiply."""
    return sum(type_cost(one.type, words) for one in parameters)


def type_cost(kind: AbiType, words: int) -> int:
    if kind.parts:
        count = cost(kind.parts, words)
    else:
        count = 1 + (words // COPIED_WORDS if kind.base in ("bytes", "string") else 0)
    for size in kind.sizes:
        count *= words if size is None else size
    return count
