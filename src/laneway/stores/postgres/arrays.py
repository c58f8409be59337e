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


class PackedArray(bytes):
    """An array that is ready to be sent."""


class NumberArray(PackedArray):
    pass


class TextArray(PackedArray):
    pass


class BlobArray(PackedArray):
    pass


def numbers(values: Iterable[int | None]) -> NumberArray:
    parts = [_null if value is None else _number(8, value) for value in values]
    return NumberArray(_header(1, 1, INT8, len(parts), 1) + b"".join(parts))


def texts(values: Iterable[str | None]) -> TextArray:
    parts = [None if value is None else value.encode() for value in values]
    return TextArray(_header(1, 1, TEXT, len(parts), 1) + _elements(parts))


def blobs(values: Iterable[bytes | None]) -> BlobArray:
    parts = list(values)
    return BlobArray(_header(1, 1, BYTEA, len(parts), 1) + _elements(parts))


def _elements(parts: list[bytes | None]) -> bytes:
    return b"".join([_null if part is None else _size(len(part)) + part for part in parts])


class PackedDumper(Dumper):
    """Hands over what is packed already."""

    format = Format.BINARY

    def dump(self, obj: PackedArray) -> Buffer:
        return obj


def register(context: AdaptContext) -> None:
    assert context.adapters is not None
    for kind, element in ((NumberArray, "int8"), (TextArray, "text"), (BlobArray, "bytea")):
        oid = adapters.types[element].array_oid
        dumper = type(f"{kind.__name__}Dumper", (PackedDumper,), {"oid": oid})
        context.adapters.register_dumper(kind, dumper)
