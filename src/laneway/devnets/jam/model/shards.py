"""What validators keep of packages: bundles and exported segments, in shards, for a while.

Kept is what the shards are made from, and they are made again when one is asked for: the same
bytes give the same shards. The oldest packages are forgotten first.
"""

from collections.abc import Sequence

from msgspec import Struct

from laneway.devnets.jam.limits import DISPERSALS_KEPT_MAX, PACKAGES_KEPT_MAX
from laneway.devnets.jam.model.values import SegmentUnavailable, ShardUnavailable
from laneway.jam.availability import Dispersal, Holding, disperse, shard_index
from laneway.jam.hashing import blake2b
from laneway.jam.report import PackageSpec
from laneway.jam.segments import PAGE_SEGMENTS, exports_root, import_proof, proof_pages
from laneway.jam.spec import ChainSpec

UNCODED_ROOT = b"laneway devnet: erasure root of "


class KeptShards(Struct, frozen=True, kw_only=True):
    package: PackageSpec
    core: int
    bundle: bytes
    segments: tuple[bytes, ...]


class ShardStore:
    """All validators' stores in one."""

    def __init__(self, spec: ChainSpec, *, codes: bool) -> None:
        self._spec = spec
        self._codes = codes
        self._kept: dict[bytes, KeptShards] = {}
        """By erasure root; the oldest is first."""
        self._by_exports: dict[bytes, bytes] = {}
        """Erasure roots, by segments root and by package hash."""
        self._dispersals: dict[bytes, Dispersal] = {}

    def described(
        self, package_hash: bytes, bundle: bytes, segments: Sequence[bytes]
    ) -> PackageSpec:
        """What a report says of the package; its shards are made for that."""
        if not self._codes:
            root = exports_root(segments)
            return PackageSpec(
                hash=package_hash,
                length=len(bundle),
                erasure_root=blake2b(UNCODED_ROOT + blake2b(bundle) + root),
                exports_root=root,
                exports_count=len(segments),
            )
        return self._dispersed(disperse(self._spec, package_hash, bundle, segments)).package

    def keep(self, kept: KeptShards) -> None:
        """Keep a package that was reported."""
        root = kept.package.erasure_root
        self._kept.pop(root, None)
        self._kept[root] = kept
        self._by_exports[kept.package.hash] = root
        if kept.segments:
            self._by_exports[kept.package.exports_root] = root
        if len(self._kept) > PACKAGES_KEPT_MAX:
            self._drop(self._kept.pop(next(iter(self._kept))))

    def get(self, erasure_root: bytes) -> KeptShards | None:
        return self._kept.get(erasure_root)

    def exported(self, root: bytes) -> KeptShards | None:
        """The package whose segments stand under this root, or that has this hash."""
        return self._kept.get(self._by_exports.get(root, b""))

    def holding(self, validator: int, erasure_root: bytes) -> Holding:
        """What the validator in this place keeps of a package."""
        kept = self._kept.get(erasure_root)
        if kept is None or not self._codes:
            raise ShardUnavailable(erasure_root)
        made = self._dispersals.get(erasure_root)
        if made is None:
            hashed = kept.package.hash
            made = self._dispersed(disperse(self._spec, hashed, kept.bundle, kept.segments))
        return made.holdings[shard_index(self._spec, core=kept.core, validator=validator)]

    def segments(self, root: bytes, indices: Sequence[int]) -> tuple[bytes, ...]:
        kept = self.exported(root)
        if kept is None or any(not 0 <= index < len(kept.segments) for index in indices):
            raise SegmentUnavailable(root)
        return tuple(kept.segments[index] for index in indices)

    def proved_segment(self, root: bytes, index: int) -> tuple[bytes, tuple[bytes, ...]]:
        """An exported segment and its path, as a bundle carries them."""
        (segment,) = self.segments(root, (index,))
        kept = self.exported(root)
        assert kept is not None
        pages = proof_pages(kept.segments)
        package = kept.package
        path = import_proof(
            pages[index // PAGE_SEGMENTS],
            root=package.exports_root,
            index=index,
            count=package.exports_count,
        )
        return segment, path

    def _dispersed(self, made: Dispersal) -> Dispersal:
        if len(self._dispersals) >= DISPERSALS_KEPT_MAX:
            self._dispersals.pop(next(iter(self._dispersals)))
        self._dispersals[made.package.erasure_root] = made
        return made

    def _drop(self, gone: KeptShards) -> None:
        for name in (gone.package.hash, gone.package.exports_root):
            if self._by_exports.get(name) == gone.package.erasure_root:
                del self._by_exports[name]
