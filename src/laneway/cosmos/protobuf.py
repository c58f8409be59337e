"""Protocol buffers, as much of them as Cosmos transactions need: our own descriptors, no compiler.

A message is a frozen Struct with numbered fields. What is encoded is canonical: fields
in the order of their numbers, defaults left out, numbers packed, each varint as short as can be
(Cosmos ADR-027). Decoding takes any order and the last value of a field, as protobuf says; unknown
fields are refused or skipped, as the caller wants.
"""

import struct
from functools import cache
from typing import Any, ClassVar, Final, TypeVar, get_args, get_origin, get_type_hints

from msgspec import Struct

from laneway.cosmos.errors import MalformedProtobuf
from laneway.cosmos.limits import PROTOBUF_DEPTH_MAX

VARINT: Final = 0
FIXED64: Final = 1
BYTES: Final = 2
FIXED32: Final = 5
UINT64_MAX: Final = (1 << 64) - 1
WIRES: Final = {"uint": VARINT, "bool": VARINT, "double": FIXED64}
KINDS: Final = {int: "uint", bool: "bool", float: "double", bytes: "bytes", str: "string"}


class Field(Struct, frozen=True):
    """One field of a message: its number, what it holds, and whether it holds many."""

    number: int
    name: str
    kind: "str | type[Message]"
    """`uint`, `bool`, `double`, `bytes`, `string`, or the class of a message."""
    many: bool = False

    def wire(self) -> int:
        return WIRES.get(self.kind, BYTES) if isinstance(self.kind, str) else BYTES


class Message(Struct, frozen=True):
    """A protobuf message; every field has a default, as protobuf has it."""

    field_numbers: ClassVar[tuple[int, ...]] = ()
    """Ascending, one for each field; empty if the fields count from 1."""


M = TypeVar("M", bound=Message)


@cache
def fields_of(message: type[Message]) -> tuple[Field, ...]:
    """The descriptors of a message's fields, from the types that they are declared with."""
    declared = get_type_hints(message)
    names = message.__struct_fields__
    numbers = message.field_numbers or range(1, len(names) + 1)
    found = []
    for number, name in zip(numbers, names, strict=True):
        many = get_origin(declared[name]) is tuple
        held = (get_args(declared[name]) or (declared[name],))[0]
        found.append(Field(number, name, KINDS.get(held, held), many))
    return tuple(found)


def encode(message: Message) -> bytes:
    parts: list[bytes] = []
    for field in fields_of(type(message)):
        found = getattr(message, field.name)
        if not found:
            continue  # The default, or none of many. A message that is there is never false.
        if not field.many:
            parts += (_tag(field.number, field.wire()), _value(field.kind, found))
        elif field.kind == "uint":
            packed = b"".join([encode_varint(one) for one in found])
            parts += (_tag(field.number, BYTES), encode_varint(len(packed)), packed)
        else:
            tag = _tag(field.number, field.wire())
            for one in found:
                parts += (tag, _value(field.kind, one))
    return b"".join(parts)


def _value(kind: "str | type[Message]", value: Any) -> bytes:
    if kind == "uint" or kind == "bool":
        return encode_varint(int(value))
    if kind == "double":
        return struct.pack("<d", value)
    content = value.encode() if kind == "string" else value if kind == "bytes" else encode(value)
    return encode_varint(len(content)) + content


def encode_varint(number: int) -> bytes:
    if number < 0x80:
        assert number >= 0
        return _SMALL[number]
    assert number <= UINT64_MAX
    found = bytearray()
    while number >= 0x80:
        found.append(number & 0x7F | 0x80)
        number >>= 7
    found.append(number)
    return bytes(found)


@cache
def _tag(number: int, wire: int) -> bytes:
    return encode_varint(number << 3 | wire)


_SMALL = tuple(bytes([number]) for number in range(0x80))


def decode(kind: type[M], raw: bytes, *, strict: bool = True) -> M:
    """The message of these bytes; MalformedProtobuf where they are none.

    `strict` refuses fields that the class does not know, as a chain does for transactions.
    """
    return _Reader(raw, strict).message(kind, 0, len(raw), 0)


class _Reader:
    def __init__(self, raw: bytes, strict: bool) -> None:
        self._raw = raw
        self._strict = strict

    def message(self, kind: type[M], at: int, end: int, depth: int) -> M:
        if depth > PROTOBUF_DEPTH_MAX:
            raise self._error(kind, at, "messages nest too deep")
        known = _by_number(kind)
        found: dict[str, Any] = {}
        while at < end:
            begin = at
            tag, at = self.varint(kind, at, end)
            number, wire = tag >> 3, tag & 7
            field = known.get(number)
            if field is None:
                if self._strict or not number:
                    raise self._error(kind, begin, f"field {number} is unknown")
                at = self._skip(kind, wire, at, end)
            elif wire != field.wire():
                if not (field.many and field.kind == "uint" and wire == BYTES):
                    raise self._error(kind, begin, f"{field.name} has the wire type {wire}")
                at = self._packed(kind, field, at, end, found)
            else:
                value, at = self._one(kind, field, at, end, depth)
                if field.many:
                    found.setdefault(field.name, []).append(value)
                else:
                    found[field.name] = value
        many = {name: tuple(value) for name, value in found.items() if type(value) is list}
        return kind(**(found | many))

    def _one(
        self, kind: type[Message], field: Field, at: int, end: int, depth: int
    ) -> tuple[Any, int]:
        if field.kind == "uint":
            return self.varint(kind, at, end)
        if field.kind == "bool":
            number, at = self.varint(kind, at, end)
            return bool(number), at
        if field.kind == "double":
            stop = self._end(kind, at, 8, end)
            return struct.unpack("<d", self._raw[at:stop])[0], stop
        length, at = self.varint(kind, at, end)
        stop = self._end(kind, at, length, end)
        if field.kind == "bytes":
            return self._raw[at:stop], stop
        if field.kind == "string":
            try:
                return self._raw[at:stop].decode(), stop
            except UnicodeDecodeError:
                raise self._error(kind, at, f"{field.name} is not UTF-8") from None
        assert isinstance(field.kind, type)
        return self.message(field.kind, at, stop, depth + 1), stop

    def _packed(
        self, kind: type[Message], field: Field, at: int, end: int, found: dict[str, Any]
    ) -> int:
        length, at = self.varint(kind, at, end)
        stop = self._end(kind, at, length, end)
        numbers = found.setdefault(field.name, [])
        while at < stop:
            number, at = self.varint(kind, at, stop)
            numbers.append(number)
        return stop

    def _skip(self, kind: type[Message], wire: int, at: int, end: int) -> int:
        """The place of the next field, after one that is unknown."""
        if wire == VARINT:
            return self.varint(kind, at, end)[1]
        if wire == BYTES:
            length, at = self.varint(kind, at, end)
            return self._end(kind, at, length, end)
        if wire in (FIXED64, FIXED32):
            return self._end(kind, at, 8 if wire == FIXED64 else 4, end)
        raise self._error(kind, at, f"the wire type {wire} is not one")

    def varint(self, kind: type[Message], at: int, end: int) -> tuple[int, int]:
        number = 0
        for shift in range(0, 70, 7):
            if at == end:
                raise self._error(kind, at, "a number is cut off")
            byte = self._raw[at]
            at += 1
            number |= (byte & 0x7F) << shift
            if byte < 0x80:
                break
        else:
            raise self._error(kind, at, "a number has more than ten bytes")
        if number > UINT64_MAX:
            raise self._error(kind, at, "a number has more than 64 bits")
        return number, at

    def _end(self, kind: type[Message], at: int, length: int, end: int) -> int:
        if length > end - at:
            raise self._error(kind, at, "the content is cut off")
        return at + length

    def _error(self, kind: type[Message], at: int, problem: str) -> MalformedProtobuf:
        return MalformedProtobuf(what=kind.__name__, at=at, problem=problem)


@cache
def _by_number(kind: type[Message]) -> dict[int, Field]:
    return {field.number: field for field in fields_of(kind)}
