"""The erasure code: data becomes V shards, and any R of them give it back (2:6 and 342:1023).

Data is filled up with zeros to 2R·k bytes and cut into R originals of k words. For each place of a
word, the originals are the values of one polynomial at the points 0 to R-1. It is zero at R to
P-1, where P is the next power of two, so its degree is below P. The other shards are its values
from point P on. The public vectors demand this; the Gray Paper's text (appendix H) would continue
at point R.

No shard is verified here. A caller that decodes has checked each by its proof, so shards beyond the
first R are not compared with what the others say; only their form is looked at.
"""

from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from laneway.jam.errors import InconsistentShards, TooFewShards
from laneway.jam.field import ORDER, Logs, Words, scaled, tables
from laneway.jam.limits import PRODUCTS_AT_ONCE_MAX
from laneway.jam.polynomials import (
    Coefficients,
    Workspace,
    add_derivative,
    borrowed,
    chunks,
    evaluate,
    interpolate,
)
from laneway.jam.spec import ChainSpec

Indices: TypeAlias = NDArray[np.intp]

# Words have their low byte first, and are taken as the machine has them.
assert np.little_endian


def encode(spec: ChainSpec, data: bytes) -> tuple[bytes, ...]:
    """All V shards; the first R of them are the data itself."""
    return tuple(_shards(spec, (data,)))


def encode_together(spec: ChainSpec, parts: Sequence[bytes]) -> tuple[tuple[bytes, ...], ...]:
    """For each of the V indices the shards of all parts, which are equally long.

    Each part is coded for itself, and all of them in one pass."""
    return tuple(_pieces(shards, len(parts)) for shards in _shards(spec, parts))


def decode(spec: ChainSpec, shards: Iterable[tuple[int, bytes]]) -> bytes:
    """The data with the zeros that filled it up, from R or more shards and their indices.

    Raises TooFewShards, and InconsistentShards for shards that cannot be of one encoding."""
    chosen = _chosen(spec, shards)
    with borrowed() as memory:
        return _originals(spec, chosen, memory).tobytes()


def decode_together(
    spec: ChainSpec, shards: Iterable[tuple[int, Sequence[bytes]]]
) -> tuple[bytes, ...]:
    """Parts that were coded together, from all their shards of R or more indices."""
    known = [(index, tuple(pieces)) for index, pieces in shards]
    count = len(known[0][1]) if known else 0
    size = len(known[0][1][0]) if count else 0
    for index, pieces in known:
        if len(pieces) != count or any(len(piece) != size for piece in pieces):
            problem = f"index {index} has other than {count} shards of {size} bytes"
            raise InconsistentShards(problem=problem)
        if size % 2:
            raise InconsistentShards(problem=f"{size} bytes are no whole words")
    chosen = _chosen(spec, ((index, b"".join(pieces)) for index, pieces in known))
    with borrowed() as memory:
        rows = _originals(spec, chosen, memory).reshape(spec.recovery_count, count, size // 2)
        return tuple(part.tobytes() for part in rows.transpose(1, 0, 2))


def _shards(spec: ChainSpec, parts: Sequence[bytes]) -> list[bytes]:
    """For each index the shards of all parts, joined."""
    with borrowed() as memory:
        originals = _cut(spec, parts, memory)
        rows = (*originals, *_recovery(spec, originals, memory))
        return [row.tobytes() for row in rows]


def _pieces(joined: bytes, count: int) -> tuple[bytes, ...]:
    size = len(joined) // max(1, count)
    return tuple(joined[size * place : size * (place + 1)] for place in range(count))


def _cut(spec: ChainSpec, parts: Sequence[bytes], memory: Workspace) -> Words:
    """One row for each original shard: its words of the first part, of the second, …"""
    length = len(parts[0]) if parts else 0
    if any(len(part) != length for part in parts):
        raise InconsistentShards(problem="parts of several lengths are coded together")
    count, words = spec.recovery_count, -(-length // spec.piece_bytes)
    filled = memory.rows("values", len(parts), count * words).view(np.uint8)
    filled[:, length:] = 0
    for row, part in zip(filled, parts, strict=True):
        row[:length] = np.frombuffer(part, np.uint8)
    cut = filled.view(np.uint16).reshape(len(parts), count, words)
    return cut.transpose(1, 0, 2).reshape(count, len(parts) * words)


def _recovery(spec: ChainSpec, originals: Words, memory: Workspace) -> Words:
    """The rows of the shards that follow the originals."""
    size, count = _block_size(spec), spec.validator_count - spec.recovery_count
    found = memory.rows("found", count, originals.shape[1])
    for chunk in chunks(size, originals.shape[1]):
        part = originals[:, chunk]
        polynomial = interpolate(part, memory, first=0, size=size)
        for first in range(0, count, size):
            rows = found[first : first + size, chunk]
            is_last = first + size >= count
            evaluate(polynomial, rows, memory, first=size + first, spoils=is_last)
    return found


def _chosen(spec: ChainSpec, shards: Iterable[tuple[int, bytes]]) -> list[tuple[int, bytes]]:
    """R of the shards, the originals before all others, since those need no arithmetic."""
    known: dict[int, bytes] = {}
    for index, shard in shards:
        if not 0 <= index < spec.validator_count:
            problem = f"{index} is no index below {spec.validator_count}"
            raise InconsistentShards(problem=problem)
        if known.setdefault(index, shard) != shard:
            raise InconsistentShards(problem=f"shard {index} comes twice with different bytes")
    sizes = sorted({len(shard) for shard in known.values()})
    if len(sizes) > 1:
        raise InconsistentShards(problem=f"some have {sizes[0]} bytes and some {sizes[-1]}")
    if any(size % 2 for size in sizes):
        raise InconsistentShards(problem=f"{sizes[0]} bytes are no whole words")
    if len(known) < spec.recovery_count:
        raise TooFewShards(given=len(known), needed=spec.recovery_count)
    return sorted(known.items())[: spec.recovery_count]


def _originals(spec: ChainSpec, shards: Sequence[tuple[int, bytes]], memory: Workspace) -> Words:
    """The rows of the originals, from R shards in the order of their indices."""
    count = spec.recovery_count
    joined = b"".join(shard for _, shard in shards)
    known = np.frombuffer(joined, np.uint16).reshape(count, len(shards[0][1]) // 2)
    indices = np.array([index for index, _ in shards], np.intp)
    if indices[-1] < count:
        return known
    points = np.where(indices < count, indices, indices - count + _block_size(spec))
    logs = _locator(spec, points)
    missing = np.setdiff1d(np.arange(count), indices)
    found = memory.rows("found", *known.shape)
    here = indices < count
    found[indices[here]] = known[here]
    for chunk in chunks(_block_size(spec), known.shape[1]):
        slope = _slope(spec, points, known[:, chunk], logs, memory)
        values = memory.rows("values", count, known[:, chunk].shape[1])
        evaluate(slope, values, memory, first=0, spoils=True)
        for some in _some(missing, values.shape[1]):
            found[some, chunk] = scaled(values[some], ORDER - logs[some, None])
    return found


def _slope(
    spec: ChainSpec, points: Indices, known: Words, logs: Logs, memory: Workspace
) -> Coefficients:
    """The lowest P coefficients of a derivative: that of the coded polynomial times the one which
    is zero at every unknown point.

    The product is known everywhere, and at an unknown point its derivative is the coded
    polynomial's value times the distance to all other unknown points.

    Seen from block to block of P points, it is a polynomial in the number of the block, and its
    derivative at block 0 is what all but that block's own derivative adds. By Lagrange that is the
    sum of the other blocks, each divided by its number; block 0 drops out, since the inverses of
    all numbers below a power of four sum up to zero."""
    size = _block_size(spec)
    first_block = _product(spec, points, known, logs, memory, block=0)
    found = memory.like("others", first_block)
    found[...] = 0
    add_derivative(found, first_block)
    for block in range(1, -(-_end(spec) // size)):
        divided = (logs - tables().log[block]) % ORDER
        other = _product(spec, points, known, divided, memory, block=block)
        np.bitwise_xor(found, other, found)
    return found


def _product(
    spec: ChainSpec,
    points: Indices,
    known: Words,
    logs: Logs,
    memory: Workspace,
    *,
    block: int,
) -> Coefficients:
    """The coefficients for one block of P points, from the known values times these elements."""
    size = _block_size(spec)
    first = block * size
    values = memory.rows("values", min(size, _end(spec) - first), known.shape[1])
    values[...] = 0
    here = np.flatnonzero((points >= first) & (points < first + size))
    for some in _some(here, known.shape[1]):
        values[points[some] - first] = scaled(known[some], logs[points[some], None])
    return interpolate(values, memory, first=first, size=size)


def _some(rows: Indices, width: int) -> Iterator[Indices]:
    """As many rows at a time as may be multiplied."""
    step = PRODUCTS_AT_ONCE_MAX // width
    for at in range(0, len(rows), step):
        yield rows[at : at + step]


def _block_size(spec: ChainSpec) -> int:
    """P: the number of originals, rounded up to a power of two."""
    return 1 << (spec.recovery_count - 1).bit_length()


def _end(spec: ChainSpec) -> int:
    """The point after that of the last shard."""
    return _block_size(spec) + spec.validator_count - spec.recovery_count


def _locator(spec: ChainSpec, points: Indices) -> Logs:
    """For each point the logarithm of the product of its distances to all other unknown points:
    all that are not known, and not where the polynomial is zero anyhow."""
    # The points beyond the last shard's count as unknown, up to a power of four of blocks of P
    # points, which `_slope` relies on.
    count = _block_size(spec)
    while count < _end(spec):
        count *= 4
    unknown = np.ones(count, np.int64)
    unknown[points] = 0
    unknown[spec.recovery_count : _block_size(spec)] = 0
    # Distances are XORs, so the sum over all unknown points is an XOR convolution. It is exact:
    # no number on the way reaches 2^63.
    sums = _walsh(_walsh(unknown) * _distances(count)) // count
    return (sums % ORDER).astype(np.int32)


@cache
def _distances(count: int) -> NDArray[np.int64]:
    """The transformed logarithms of all distances; that of a point to itself does not count."""
    logs = tables().log[:count].astype(np.int64)
    logs[0] = 0
    return _walsh(logs)


def _walsh(values: NDArray[np.int64]) -> NDArray[np.int64]:
    half = 1
    while half < len(values):
        pairs = values.reshape(-1, 2, half)
        low, high = pairs[:, 0], pairs[:, 1]
        values = np.stack((low + high, low - high), axis=1).reshape(-1)
        half *= 2
    return values
