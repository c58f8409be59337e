"""The JAM codec (Gray Paper 0.7.2, appendix C): naturals, byte strings, sequences, records.

A codec is a value that writes and reads one kind of thing; larger ones are made of smaller ones.
Reading is strict: every value has exactly one encoding, all bytes belong to it, and what a length
prefix claims is compared with the bytes that are there before anything is allocated.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import (
    Annotated,
    Any,
    Generic,
    TypeAlias,
    TypeVar,
    get_args,
    get_origin,
    get_type_hints,
)

from laneway.jam.errors import MalformedEncoding, Unencodable
from laneway.jam.limits import BLOB_BYTES_MAX, SEQUENCE_COUNT_MAX

T = TypeVar("T")
S = TypeVar("S")


class ByteReader:
    """A place in bytes, moved forward by what is taken."""

    __slots__ = ("at", "raw")

    def __init__(self, raw: bytes, at: int = 0) -> None:
        self.raw = raw
        self.at = at

    @property
    def left(self) -> int:
        return len(self.raw) - self.at

    def take(self, count: int) -> bytes:
        begin, end = self.at, self.at + count
        if end > len(self.raw):
            raise self.trouble(f"{count} bytes are expected and {self.left} are left")
        self.at = end
        return self.raw[begin:end]

    def byte(self) -> int:
        if self.at >= len(self.raw):
            raise self.trouble("a byte is expected and none is left")
        self.at += 1
        return self.raw[self.at - 1]

    def trouble(self, problem: str) -> MalformedEncoding:
        return MalformedEncoding.at(self.at, problem)

    def close(self) -> None:
        if self.left:
            raise self.trouble(f"{self.left} bytes follow the end")


class Codec(Generic[T]):
    """One kind of thing, written to bytes and read from them."""

    def write(self, out: bytearray, value: T) -> None:
        raise NotImplementedError

    def read(self, reader: ByteReader) -> T:
        raise NotImplementedError

    def encode(self, value: T) -> bytes:
        out = bytearray()
        self.write(out, value)
        return bytes(out)

    def decode(self, raw: bytes, what: str = "encoding") -> T:
        """The value whose encoding is exactly these bytes; `what` is its name in an error."""
        reader = ByteReader(raw)
        with named_within(what):
            value = self.read(reader)
            reader.close()
        return value


@contextmanager
def named_within(name: str) -> Iterator[None]:
    """Adds the name of what the bytes are part of to an error about them."""
    try:
        yield
    except MalformedEncoding as trouble:
        raise trouble.within(name) from None


class _Natural(Codec[int]):
    """A natural below 2^64 in one to nine bytes, the fewer the smaller it is."""

    def write(self, out: bytearray, value: int) -> None:
        if 0 <= value < 0x80:
            out.append(value)
            return
        if not 0 <= value < 1 << 64:
            raise Unencodable(problem=f"{value} is no natural below 2^64")
        # The count of bytes that follow the first: each gives seven bits and takes one of it.
        extra = (value.bit_length() - 1) // 7
        if extra >= 8:
            out.append(0xFF)
            out += value.to_bytes(8, "little")
            return
        out.append(256 - (1 << (8 - extra)) + (value >> (8 * extra)))
        out += (value & ((1 << (8 * extra)) - 1)).to_bytes(extra, "little")

    def read(self, reader: ByteReader) -> int:
        first = reader.byte()
        if first < 0x80:
            return first
        extra = 8 - (first ^ 0xFF).bit_length()
        low = int.from_bytes(reader.take(extra), "little")
        if extra == 8:
            value, least = low, 1 << 56
        else:
            high = first - (256 - (1 << (8 - extra)))
            value, least = (high << (8 * extra)) | low, 1 << (7 * extra)
        if value < least:
            raise reader.trouble(f"the natural {value} is written in {extra + 1} bytes")
        return value


class Fixed(Codec[int]):
    """A natural in a fixed number of bytes, little end first."""

    def __init__(self, width: int) -> None:
        self.width = width

    def write(self, out: bytearray, value: int) -> None:
        if not 0 <= value < 1 << (8 * self.width):
            raise Unencodable(problem=f"{value} does not fit into {self.width} bytes")
        out += value.to_bytes(self.width, "little")

    def read(self, reader: ByteReader) -> int:
        return int.from_bytes(reader.take(self.width), "little")


class _Flag(Codec[bool]):
    def write(self, out: bytearray, value: bool) -> None:
        out.append(1 if value else 0)

    def read(self, reader: ByteReader) -> bool:
        byte = reader.byte()
        if byte > 1:
            raise reader.trouble(f"{byte} is neither 0 nor 1")
        return byte == 1


class Octets(Codec[bytes]):
    """A fixed number of bytes, without a prefix."""

    def __init__(self, count: int) -> None:
        self.count = count

    def write(self, out: bytearray, value: bytes) -> None:
        if len(value) != self.count:
            raise Unencodable(problem=f"{len(value)} bytes stand where {self.count} belong")
        out += value

    def read(self, reader: ByteReader) -> bytes:
        return reader.take(self.count)


class Blob(Codec[bytes]):
    """A byte string after its length."""

    def __init__(self, bytes_max: int = BLOB_BYTES_MAX) -> None:
        self.bytes_max = bytes_max

    def write(self, out: bytearray, value: bytes) -> None:
        if len(value) > self.bytes_max:
            raise Unencodable(problem=f"{len(value)} bytes, and at most {self.bytes_max} are taken")
        NATURAL.write(out, len(value))
        out += value

    def read(self, reader: ByteReader) -> bytes:
        count = NATURAL.read(reader)
        if count > self.bytes_max:
            raise reader.trouble(f"{count} bytes, and at most {self.bytes_max} are taken")
        return reader.take(count)


class Many(Codec[tuple[T, ...]]):
    """Things of one kind after their count."""

    def __init__(self, item: Codec[T], count_max: int = SEQUENCE_COUNT_MAX) -> None:
        self.item = item
        self.count_max = count_max

    def write(self, out: bytearray, value: Sequence[T]) -> None:
        if len(value) > self.count_max:
            raise Unencodable(problem=f"{len(value)} items, and at most {self.count_max} are taken")
        NATURAL.write(out, len(value))
        for item in value:
            self.item.write(out, item)

    def read(self, reader: ByteReader) -> tuple[T, ...]:
        count = NATURAL.read(reader)
        if count > self.count_max:
            raise reader.trouble(f"{count} items, and at most {self.count_max} are taken")
        if count > reader.left:
            # No item is empty, so a count above the bytes that are left is a lie.
            raise reader.trouble(f"{count} items are expected and {reader.left} bytes are left")
        return _read_items(self.item, reader, count)


class Exactly(Codec[tuple[T, ...]]):
    """A fixed number of things of one kind, without a prefix."""

    def __init__(self, item: Codec[T], count: int) -> None:
        self.item = item
        self.count = count

    def write(self, out: bytearray, value: Sequence[T]) -> None:
        if len(value) != self.count:
            raise Unencodable(problem=f"{len(value)} items stand where {self.count} belong")
        for item in value:
            self.item.write(out, item)

    def read(self, reader: ByteReader) -> tuple[T, ...]:
        return _read_items(self.item, reader, self.count)


def _read_items(item: Codec[T], reader: ByteReader, count: int) -> tuple[T, ...]:
    found: list[T] = []
    try:
        for _ in range(count):
            found.append(item.read(reader))  # noqa: PERF401  # An error names the item it is in.
    except MalformedEncoding as trouble:
        raise trouble.within(f"[{len(found)}]") from None
    return tuple(found)


class Maybe(Codec[T | None]):
    """A thing or nothing, distinguished by a byte."""

    def __init__(self, item: Codec[T]) -> None:
        self.item = item

    def write(self, out: bytearray, value: T | None) -> None:
        if value is None:
            out.append(0)
        else:
            out.append(1)
            self.item.write(out, value)

    def read(self, reader: ByteReader) -> T | None:
        return self.item.read(reader) if FLAG.read(reader) else None


class Record(Codec[T]):
    """The fields of a value, one after the other, in the order of these codecs."""

    def __init__(self, made: Callable[..., T], **fields: Codec[Any]) -> None:
        self.made = made
        self.fields = tuple(fields.items())

    def write(self, out: bytearray, value: T) -> None:
        for name, field in self.fields:
            field.write(out, getattr(value, name))

    def read(self, reader: ByteReader) -> T:
        read: dict[str, Any] = {}
        name = ""
        try:
            for name, field in self.fields:
                read[name] = field.read(reader)
        except MalformedEncoding as trouble:
            raise trouble.within(name) from None
        return self.made(**read)


def record(made: type[T], **special: Codec[Any]) -> Record[T]:
    """All fields of a class in their order, each as its declared type says or as named here."""
    declared = get_type_hints(made, include_extras=True)
    return Record(made, **{name: special.get(name) or _of(declared[name]) for name in declared})


def _of(declared: Any) -> Codec[Any]:
    if get_origin(declared) is Annotated:
        found: Codec[Any] = declared.__metadata__[0]
        return found
    if get_origin(declared) is tuple:
        return Many(_of(get_args(declared)[0]))
    return record(declared)


class Mapped(Codec[T]):
    """A thing that is written as another, by a function each way.

    `inward` may raise Unencodable, and `outward` a ValueError or Unencodable for bytes that are no
    such thing."""

    def __init__(
        self, inner: Codec[S], inward: Callable[[T], S], outward: Callable[[S], T]
    ) -> None:
        self.inner: Codec[Any] = inner
        self.inward = inward
        self.outward = outward

    def write(self, out: bytearray, value: T) -> None:
        self.inner.write(out, self.inward(value))

    def read(self, reader: ByteReader) -> T:
        inner = self.inner.read(reader)
        try:
            return self.outward(inner)
        except (ValueError, Unencodable) as problem:
            raise reader.trouble(str(problem)) from None


NATURAL = _Natural()
FLAG = _Flag()
U8 = Fixed(1)
U16 = Fixed(2)
U32 = Fixed(4)
U64 = Fixed(8)
HASH = Octets(32)
BLOB = Blob()

Hash: TypeAlias = Annotated[bytes, HASH]
Bytes: TypeAlias = Annotated[bytes, BLOB]
Natural: TypeAlias = Annotated[int, NATURAL]
Uint16: TypeAlias = Annotated[int, U16]
Uint32: TypeAlias = Annotated[int, U32]
Uint64: TypeAlias = Annotated[int, U64]
"""Types of fields with their codecs, for `record`."""
