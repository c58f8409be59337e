"""RLP, Ethereum's serialisation: byte strings and lists of them, nothing else.

Decoding is strict: every value has exactly one encoding, and all bytes belong to it.
"""

from collections.abc import Sequence
from typing import TypeAlias

from laneway.evm.errors import MalformedRlp
from laneway.evm.limits import RLP_BYTES_MAX, RLP_DEPTH_MAX

Item: TypeAlias = "bytes | tuple[Item, ...]"
"""What was decoded."""

Value: TypeAlias = "int | bytes | Sequence[Value]"
"""What can be encoded; an integer is its big-endian bytes without leading zeros."""

_BYTE = tuple(bytes([number]) for number in range(256))


def encode(value: Value) -> bytes:
    if isinstance(value, int):
        return encode_int(value)
    if isinstance(value, bytes):
        return encode_bytes(value)
    return encode_list(b"".join([encode(item) for item in value]))


def encode_int(number: int) -> bytes:
    if number < 0x80:
        assert number >= 0
        return _BYTE[number] if number else b"\x80"
    length = (number.bit_length() + 7) >> 3
    if length < 56:
        return _BYTE[0x80 + length] + number.to_bytes(length, "big")
    return _header(0x80, length) + number.to_bytes(length, "big")


def encode_bytes(data: bytes) -> bytes:
    length = len(data)
    if length == 1 and data[0] < 0x80:
        return data
    if length < 56:
        return _BYTE[0x80 + length] + data
    return _header(0x80, length) + data


def encode_list(body: bytes) -> bytes:
    """The list whose items' encodings, joined, are the body."""
    return _header(0xC0, len(body)) + body


def _header(base: int, length: int) -> bytes:
    if length < 56:
        return _BYTE[base + length]
    width = (length.bit_length() + 7) >> 3
    return _BYTE[base + 55 + width] + length.to_bytes(width, "big")


def decode(raw: bytes, begin: int = 0) -> Item:
    """The one item of the bytes from here on; MalformedRlp unless they are its encoding."""
    if len(raw) > RLP_BYTES_MAX:
        raise MalformedRlp(at=RLP_BYTES_MAX, problem="there are too many bytes")
    item, end = _item(raw, begin, len(raw), 0)
    if end != len(raw):
        raise MalformedRlp(at=end, problem="bytes are left over")
    return item


def _item(raw: bytes, at: int, end: int, depth: int) -> tuple[Item, int]:
    """The item that begins here, and where the next one does."""
    if at >= end:
        raise MalformedRlp(at=at, problem="an item is missing")
    first = raw[at]
    if first < 0x80:
        return raw[at : at + 1], at + 1
    begin, stop = _span(raw, at, end)
    if first < 0xC0:
        if stop == begin + 1 and first == 0x81 and raw[begin] < 0x80:
            raise MalformedRlp(at=at, problem="a small byte is its own encoding")
        return raw[begin:stop], stop
    if depth == RLP_DEPTH_MAX:
        raise MalformedRlp(at=at, problem="lists nest too deep")
    items: list[Item] = []
    while begin < stop:
        item, begin = _item(raw, begin, stop, depth + 1)
        items.append(item)
    return tuple(items), stop


def _span(raw: bytes, at: int, end: int) -> tuple[int, int]:
    """Where the content of a string or list begins and ends."""
    first = raw[at]
    size = (first - 0x80) & 0x3F
    begin = at + 1
    if size > 55:
        width = size - 55
        begin += width
        if begin > end:
            raise MalformedRlp(at=at, problem="the length is cut off")
        if raw[at + 1] == 0:
            raise MalformedRlp(at=at, problem="the length has a leading zero")
        size = int.from_bytes(raw[at + 1 : begin], "big")
        if size < 56:
            raise MalformedRlp(at=at, problem="a short length is written long")
    if size > end - begin:
        raise MalformedRlp(at=at, problem="the content is cut off")
    return begin, begin + size
