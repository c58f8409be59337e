"""Columns as PostgreSQL's binary arrays, packed here: the driver's own way took half of a group.

The format is that of `array_send`: dimensions, whether there are nulls, the element's type, the
length, the lower bound; then every element with its size before it.
"""

from collections.abc import Iterable
from struct import Struct

from psycopg import adapters
from psycopg.abc import AdaptContext
from psycopg.adapt import Buffer, Dumper
from psycopg.pq import Format

_header = Struct("!iiIii").pack
_number = Struct("!iq").pack
_size = Struct("!i").pack
_null = _size(-1)

BYTEA, INT8, TEXT = (adapters.types[name].oid for name in ("bytea", "int8", "text"))


class Packed(bytes):
    """An array that is ready to be sent."""


class Numbers(Packed):
    pass


class Texts(Packed):
    pass


class Blobs(Packed):
    pass


def numbers(values: Iterable[int | None]) -> Numbers:
    parts = [_null if value is None else _number(8, value) for value in values]
    return Numbers(_header(1, 1, INT8, len(parts), 1) + b"".join(parts))


def texts(values: Iterable[str | None]) -> Texts:
    parts = [None if value is None else value.encode() for value in values]
    return Texts(_header(1, 1, TEXT, len(parts), 1) + _elements(parts))


def blobs(values: Iterable[bytes | None]) -> Blobs:
    parts = list(values)
    return Blobs(_header(1, 1, BYTEA, len(parts), 1) + _elements(parts))


def _elements(parts: list[bytes | None]) -> bytes:
    return b"".join([_null if part is None else _size(len(part)) + part for part in parts])


class PackedDumper(Dumper):
    """Hands over what is packed already."""

    format = Format.BINARY

    def dump(self, obj: Packed) -> Buffer:
        return obj


def register(context: AdaptContext) -> None:
    assert context.adapters is not None
    for kind, element in ((Numbers, "int8"), (Texts, "text"), (Blobs, "bytea")):
        oid = adapters.types[element].array_oid
        dumper = type(f"{kind.__name__}Dumper", (PackedDumper,), {"oid": oid})
        context.adapters.register_dumper(kind, dumper)
