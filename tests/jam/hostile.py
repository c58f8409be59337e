"""Hostile bytes: encodings of every JAM object, damaged in many ways, given to the decoders.

Run by path: `python tests/jam/hostile.py --count 200000 --seed 1`. Exit code 0 only if each damaged
encoding is either refused with MalformedEncoding, which says where, or is the one encoding of what
was read. A failing case is repeated with `--seed S --first N --count 1`.
"""

import sys
from argparse import ArgumentParser
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import accumulate
from pathlib import Path
from random import Random
from time import monotonic, perf_counter
from typing import Any

from msgspec import Struct

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.jam import objects
from tests.jam.grown import codecs, grow
from tests.runners import SAY_EVERY_S, say
from tests.vectors.folder import folder
from tests.vectors.test_jam_codec import kind_of

from laneway.jam.bundle import WORK_BUNDLE
from laneway.jam.codec import NATURAL, Codec, record
from laneway.jam.errors import MalformedEncoding
from laneway.jam.extrinsic import (
    GUARANTEES,
    PREIMAGES,
    TICKETS,
    assurance_codec,
    disputes_codec,
    extrinsic_codec,
)
from laneway.jam.header import block_codec, header_codec
from laneway.jam.package import (
    IMPORT_SPEC,
    REFINE_CONTEXT,
    WORK_ITEM,
    WORK_PACKAGE,
    WORK_PACKAGE_V080,
    ExtrinsicSpec,
)
from laneway.jam.report import WORK_REPORT, WORK_RESULT
from laneway.jam.spec import FULL, TINY, ChainSpec

SOURCES_OF_A_KIND = 6
"""Whole encodings that damage starts from; enough that each optional part is there and missing."""
GROWN_OF_A_CODEC = 2
USUAL_BYTES = 4_096
"""Longer encodings are chosen the more seldom the longer they are: the state of a full chain has
megabytes, and its decoders are made of the same parts."""
CASE_S_MAX = 5.0
"""A decoder that takes as long as this over some kilobytes has no bound."""
MEMORY_BYTES_MAX = 2 << 30
"""The runner's whole address space: a decoder that allocates what a prefix claims dies of it."""
LIES = (0x7F, 0x80, 0xFF, 0x3FFF, 0x4000, 1 << 20, (1 << 20) + 1, 1 << 28, 1 << 56, (1 << 64) - 1)


class Kind(Struct, frozen=True):
    """How objects of one kind are made, written and read."""

    name: str
    make: Callable[[Random], Any]
    encode: Callable[[Any], bytes]
    decode: Callable[[bytes], Any]


class Source(Struct, frozen=True):
    """One whole encoding of a kind."""

    kind: Kind
    raw: bytes


class Accepted(Exception):
    """Bytes were taken for something that they are not the encoding of."""


def coded(name: str, codec: Codec[Any], make: Callable[[Random], Any]) -> Kind:
    return Kind(name, make, codec.encode, lambda raw: codec.decode(raw, name))


def kinds() -> Iterator[Kind]:
    yield coded("refine_context", REFINE_CONTEXT, objects.refine_context)
    yield coded("import_spec", IMPORT_SPEC, objects.import_spec)
    yield coded("extrinsic_spec", record(ExtrinsicSpec), objects.extrinsic_spec)
    yield coded("work_item", WORK_ITEM, objects.work_item)
    yield coded("work_package", WORK_PACKAGE, objects.work_package)
    yield coded("work_package_v080", WORK_PACKAGE_V080, objects.work_package_v080)
    yield coded("work_result", WORK_RESULT, objects.work_result)
    yield coded("work_report", WORK_REPORT, objects.work_report)
    yield coded("tickets", TICKETS, lambda source: objects.some(source, objects.ticket))
    yield coded("preimages", PREIMAGES, lambda source: objects.some(source, objects.preimage))
    yield coded("guarantees", GUARANTEES, lambda source: objects.some(source, objects.guarantee))
    yield coded("bundle", WORK_BUNDLE, objects.work_bundle)
    for spec in (TINY, FULL):
        yield from sized_kinds(spec)


def sized_kinds(spec: ChainSpec) -> Iterator[Kind]:
    """Those whose bytes depend on the sizes of a chain."""

    def sized(name: str, codec: Codec[Any], make: Callable[[Random, ChainSpec], Any]) -> Kind:
        return coded(f"{spec.name}_{name}", codec, lambda source: make(source, spec))

    yield sized("assurance", assurance_codec(spec), objects.assurance)
    yield sized("disputes", disputes_codec(spec), objects.disputes)
    yield sized("extrinsic", extrinsic_codec(spec), objects.extrinsic)
    yield sized("header", header_codec(spec), objects.header)
    yield sized("block", block_codec(spec), objects.block)


def sources(seed: int) -> list[Source]:
    """Whole encodings to start from: made ones, grown ones, and the vectors where they are."""
    return [*made(seed), *grown(seed), *given()]


def made(seed: int) -> Iterator[Source]:
    for kind in kinds():
        source = Random(f"{seed} {kind.name}")
        for _ in range(SOURCES_OF_A_KIND):
            value = kind.make(source)
            raw = kind.encode(value)
            assert kind.decode(raw) == value, kind.name
            yield Source(kind, raw)


def grown(seed: int) -> Iterator[Source]:
    """Of every codec that the package has; one that nothing grew for starts from no bytes."""
    for name, codec in codecs():
        source = Random(f"{seed} {name}")
        kind = coded(name, codec, lambda source: None)
        for _ in range(GROWN_OF_A_CODEC):
            yield Source(kind, grow(codec, source) or b"")


def given() -> Iterator[Source]:
    for spec in (TINY, FULL):
        for path in sorted(folder("jam", "codec", spec.name).rglob("*.bin")):
            name = f"{spec.name}_{path.stem}"
            kind = coded(name, kind_of(spec, path)[1], lambda source: None)
            yield Source(kind, path.read_bytes())


def damaged(source: Random, raw: bytes, other: bytes) -> bytes:
    """The bytes, hurt in one to three ways; sometimes they come out whole."""
    out = bytearray(raw)
    for _ in range(source.choice((1, 1, 1, 2, 3))):
        source.choice(DAMAGES)(source, out, other)
    return bytes(out)


def flip(source: Random, out: bytearray, _other: bytes) -> None:
    for _ in range(source.randint(1, 4)):
        if out:
            out[place(source, out)] ^= 1 << source.randrange(8)


def overwrite(source: Random, out: bytearray, _other: bytes) -> None:
    if out:
        out[place(source, out)] = source.choice((0, 1, 2, 3, 6, 7, 8, 0x7F, 0x80, 0xC0, 0xFE, 0xFF))


def truncate(source: Random, out: bytearray, _other: bytes) -> None:
    del out[source.randint(0, len(out)) :]


def shorten(source: Random, out: bytearray, _other: bytes) -> None:
    at = place(source, out)
    del out[at : at + source.choice((1, 1, 4, 32, 64))]


def insert(source: Random, out: bytearray, _other: bytes) -> None:
    at = place(source, out)
    out[at:at] = source.randbytes(source.choice((1, 1, 2, 4, 32, 64)))


def append(source: Random, out: bytearray, _other: bytes) -> None:
    out += source.randbytes(source.choice((1, 2, 32)))


def repeat(source: Random, out: bytearray, _other: bytes) -> None:
    at = place(source, out)
    out[at:at] = out[at : at + source.choice((1, 32, 36, 64))]


def lie(source: Random, out: bytearray, _other: bytes) -> None:
    """Put another natural where a small one stands, which is a length more often than not."""
    at = small(source, out)
    out[at : at + 1] = NATURAL.encode(source.choice(LIES))


def widen(source: Random, out: bytearray, _other: bytes) -> None:
    """Write a small natural in more bytes than it needs."""
    at = small(source, out)
    value = out[at] if at < len(out) else 0
    extra = source.randint(1, 8)
    first = 256 - (1 << (8 - extra))
    out[at : at + 1] = bytes((first,)) + value.to_bytes(extra, "little")


def splice(source: Random, out: bytearray, other: bytes) -> None:
    """Go on as another encoding from some place on."""
    at = place(source, out)
    out[at:] = other[min(at, len(other)) :] if source.random() < 0.5 else other


def place(source: Random, out: bytearray) -> int:
    """Anywhere, and more often near the begin, where lengths stand."""
    end = len(out) if source.random() < 0.6 else min(len(out), 200)
    return source.randrange(end) if end else 0


def small(source: Random, out: bytearray) -> int:
    """The next byte below eight from some place on."""
    begin = place(source, out)
    return next((at for at in range(begin, min(len(out), begin + 200)) if out[at] < 8), begin)


DAMAGES = (flip, overwrite, truncate, shorten, insert, append, repeat, lie, widen, splice)


def attempt(kind: Kind, raw: bytes) -> bool:
    """Were the bytes taken? Accepted is raised if they were and should not have been."""
    begun_s = perf_counter()
    try:
        value = kind.decode(raw)
    except MalformedEncoding as trouble:
        at = trouble.operands["at"]
        if not trouble.operands["path"] or not isinstance(at, int) or not 0 <= at <= len(raw):
            raise Accepted(f"{kind.name}: an error that does not say where: {trouble}") from None
        taken = False
    else:
        if kind.encode(value) != raw:
            raise Accepted(f"{kind.name}: {len(raw)} bytes were read as something else")
        taken = True
    if perf_counter() - begun_s > CASE_S_MAX:
        raise Accepted(f"{kind.name}: {len(raw)} bytes took more than {CASE_S_MAX:g} s")
    return taken


def cases(seed: int, first: int, count: int) -> Iterator[tuple[int, Kind, bytes]]:
    """Each case follows from the seed and its number alone."""
    whole = sources(seed)
    weights = list(accumulate(min(1.0, USUAL_BYTES / (len(one.raw) + 1)) for one in whole))
    for number in range(first, first + count):
        source = Random(f"{seed} {number}")
        begun, other = source.choices(whole, cum_weights=weights, k=2)
        yield number, begun.kind, damaged(source, begun.raw, other.raw)


class Tally(Struct):
    taken: Counter[str]
    refused: Counter[str]


def run(
    seed: int, first: int, count: int, beat: Callable[[int], None] = lambda done: None
) -> Tally:
    tally = Tally(Counter(), Counter())
    for number, kind, raw in cases(seed, first, count):
        try:
            taken = attempt(kind, raw)
        except BaseException as problem:
            problem.add_note(f"repeat with --seed {seed} --first {number} --count 1 ({kind.name})")
            raise
        (tally.taken if taken else tally.refused)[kind.name] += 1
        beat(number - first + 1)
    return tally


def main() -> int:
    import resource

    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=200_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=0)
    chosen = parser.parse_args()
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES_MAX, MEMORY_BYTES_MAX))
    said_s = begun_s = monotonic()

    def beat(done: int) -> None:
        nonlocal said_s
        if monotonic() - said_s > SAY_EVERY_S:
            said_s = monotonic()
            say(f"{done:,} of {chosen.count:,} encodings, {done / (said_s - begun_s):,.0f}/s", "\r")

    tally = run(chosen.seed, chosen.first, chosen.count, beat)
    taken, refused = tally.taken.total(), tally.refused.total()
    print(f"{taken + refused:,} encodings: {refused:,} refused, {taken:,} taken as they are")
    return 0


if __name__ == "__main__":
    sys.exit(main())
