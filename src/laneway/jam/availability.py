"""What validators keep so that a work package stays available, and how each piece is proved.

Truth is Gray Paper 0.7.2, §14.4, and JAMNP-S for the justifications. A bundle is coded as a whole;
the exported segments, and after them their pages of proofs, are coded one by one. Shard i of all of
these goes to one validator. The erasure root is well balanced, over H(bundle shard i) with the
well-balanced root of the segment shards i. No public vector shows an erasure root.

A justification is a path of nodes from the root down, as it stands in messages:
CE 137 (all of a validator's shards)   T(leaves, i)
CE 138 (a bundle shard)                T(leaves, i) ++ [root of the segment shards]
CE 140 (a segment shard)               T(leaves, i) ++ [H(bundle shard)] ++ T(segment shards, s)
CE 139 gives segment shards without any: they count only if the segments that they give are
proved by their pages.

A root says nothing of whether its shards are one encoding. A caller who must know that disperses
what was reconstructed, and compares the roots.
"""

from collections.abc import Iterable, Sequence

import msgspec

from laneway.jam.erasure import decode, decode_together, encode, encode_together
from laneway.jam.errors import InconsistentShards, InvalidProof
from laneway.jam.hashing import HASH_BYTES, blake2b
from laneway.jam.report import PackageSpec
from laneway.jam.segments import exports_root, page_count, proof_pages
from laneway.jam.spec import SEGMENT_BYTES, ChainSpec
from laneway.jam.trees import (
    co_path,
    co_paths,
    well_balanced_root,
    well_balanced_root_from_co_path,
)


class Holding(msgspec.Struct, frozen=True, kw_only=True):
    """What one validator keeps of a package, and the proof that these are the right shards."""

    index: int
    """The index of its shards, not of the validator."""
    bundle_shard: bytes
    segment_shards: tuple[bytes, ...]
    """The shards of the exported segments, and then of their proof pages."""
    path: tuple[bytes, ...]
    """The justification of CE 137."""


class Dispersal(msgspec.Struct, frozen=True):
    """A package, cut into what each validator keeps."""

    package: PackageSpec
    """What the work report says of it."""
    holdings: tuple[Holding, ...]
    """By the index of the shards."""


def shard_index(spec: ChainSpec, *, core: int, validator: int) -> int:
    """The index of the shards that this validator keeps for packages of this core."""
    return (core * spec.recovery_count + validator) % spec.validator_count


def shard_holder(spec: ChainSpec, *, core: int, index: int) -> int:
    """The validator that keeps the shards of this index."""
    return (index - core * spec.recovery_count) % spec.validator_count


def coded_segment_count(exports_count: int) -> int:
    """How many segments and proof pages there are."""
    return exports_count + page_count(exports_count)


def disperse(
    spec: ChainSpec, package_hash: bytes, bundle: bytes, segments: Sequence[bytes]
) -> Dispersal:
    """Cut a bundle and what its package exports into the shards of all validators."""
    pieces = encode_together(spec, (*segments, *proof_pages(segments)))
    shards = encode(spec, bundle)
    leaves = [
        _leaf(blake2b(shard), well_balanced_root(own))
        for shard, own in zip(shards, pieces, strict=True)
    ]
    paths = co_paths(leaves)
    package = PackageSpec(
        hash=package_hash,
        length=len(bundle),
        erasure_root=well_balanced_root(leaves),
        exports_root=exports_root(segments),
        exports_count=len(segments),
    )
    holdings = tuple(
        Holding(index=index, bundle_shard=shard, segment_shards=own, path=paths[index])
        for index, (shard, own) in enumerate(zip(shards, pieces, strict=True))
    )
    return Dispersal(package, holdings)


def justify_bundle_shard(holding: Holding) -> tuple[bytes, ...]:
    """The justification of a bundle shard (CE 138)."""
    return (*holding.path, well_balanced_root(holding.segment_shards))


def justify_segment_shard(holding: Holding, segment: int) -> tuple[bytes, ...]:
    """The justification of a segment shard (CE 140); proof pages are numbered after segments."""
    inner = co_path(holding.segment_shards, segment)
    return (*holding.path, blake2b(holding.bundle_shard), *inner)


def check_holding(spec: ChainSpec, package: PackageSpec, holding: Holding) -> None:
    """InvalidProof unless these are the shards of this index, all of them."""
    wanted = coded_segment_count(package.exports_count)
    if len(holding.segment_shards) != wanted:
        problem = f"{len(holding.segment_shards)} segment shards, and the package has {wanted}"
        raise InvalidProof(problem=problem)
    for shard in holding.segment_shards:
        _check_size(spec, shard, SEGMENT_BYTES)
    check_bundle_shard(
        spec, package, holding.bundle_shard, justify_bundle_shard(holding), index=holding.index
    )


def check_bundle_shard(
    spec: ChainSpec,
    package: PackageSpec,
    shard: bytes,
    justification: Sequence[bytes],
    *,
    index: int,
) -> None:
    """InvalidProof unless this is the bundle shard of this index (CE 138)."""
    _check_size(spec, shard, package.length)
    if not justification:
        raise InvalidProof(problem="the justification is empty")
    leaf = _leaf(blake2b(shard), justification[-1])
    _check_leaf(spec, package, leaf, justification[:-1], index)


def check_segment_shard(
    spec: ChainSpec,
    package: PackageSpec,
    shard: bytes,
    justification: Sequence[bytes],
    *,
    index: int,
    segment: int,
) -> None:
    """InvalidProof unless this is the shard of this index of a segment (CE 140)."""
    _check_size(spec, shard, SEGMENT_BYTES)
    outer = _levels(index, spec.validator_count)
    if len(justification) <= outer:
        problem = f"the justification has {len(justification)} nodes; more than {outer} are needed"
        raise InvalidProof(problem=problem)
    root = well_balanced_root_from_co_path(
        shard,
        justification[outer + 1 :],
        index=segment,
        count=coded_segment_count(package.exports_count),
    )
    _check_leaf(spec, package, _leaf(justification[outer], root), justification[:outer], index)


def reconstruct_bundle(
    spec: ChainSpec, package: PackageSpec, shards: Iterable[tuple[int, bytes]]
) -> bytes:
    """The bundle, from R or more shards that were checked."""
    data = decode(spec, shards)
    if len(data) != spec.recovery_count * shard_bytes(spec, package.length):
        problem = f"they hold {len(data)} bytes, and the bundle has {package.length}"
        raise InconsistentShards(problem=problem)
    if any(data[package.length :]):
        raise InconsistentShards(problem="the bundle is not followed by zeros")
    return data[: package.length]


def reconstruct_segments(
    spec: ChainSpec, shards: Iterable[tuple[int, Sequence[bytes]]]
) -> tuple[bytes, ...]:
    """Some segments or pages of proofs, from the shards that R or more indices have of all of
    them. They are proved by pages, or by justifications of the shards."""
    found = decode_together(spec, shards)
    wanted = spec.recovery_count * shard_bytes(spec, SEGMENT_BYTES)
    if any(len(data) != wanted for data in found):
        problem = f"they hold {len(found[0])} bytes, and a segment has {SEGMENT_BYTES}"
        raise InconsistentShards(problem=problem)
    return tuple(data[:SEGMENT_BYTES] for data in found)


def shard_bytes(spec: ChainSpec, length: int) -> int:
    """The size of each shard of data of this length."""
    return 2 * -(-length // spec.piece_bytes)


def _leaf(bundle_shard_hash: bytes, segment_shards_root: bytes) -> bytes:
    """A leaf of the tree under the erasure root."""
    for one in (bundle_shard_hash, segment_shards_root):
        if len(one) != HASH_BYTES:
            raise InvalidProof(problem=f"a node of {len(one)} bytes where a hash belongs")
    return bundle_shard_hash + segment_shards_root


def _check_leaf(
    spec: ChainSpec, package: PackageSpec, leaf: bytes, path: Sequence[bytes], index: int
) -> None:
    count = spec.validator_count
    found = well_balanced_root_from_co_path(leaf, path, index=index, count=count)
    if found != package.erasure_root:
        raise InvalidProof(problem=f"the shards {index} are not under the erasure root")


def _check_size(spec: ChainSpec, shard: bytes, length: int) -> None:
    wanted = shard_bytes(spec, length)
    if len(shard) != wanted:
        raise InvalidProof(problem=f"a shard of {len(shard)} bytes where {wanted} belong")


def _levels(index: int, count: int) -> int:
    """How many nodes the path to this leaf of a well-balanced tree has."""
    levels = 0
    while count > 1:
        left = (count + 1) // 2
        index, count = (index, left) if index < left else (index - left, count - left)
        levels += 1
    return levels
