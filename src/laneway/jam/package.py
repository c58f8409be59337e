"""Work packages: what a builder asks a core to refine, as values, bytes and hashes.

The bytes are those of Gray Paper 0.7.2, appendix C. Whether a package is allowed to be that large
is `package_problem`'s to say: what is too large can still be read. Nothing here knows a chain's
state, so nothing here says whether an anchor is recent or an authorizer is in its pool.
"""

from collections.abc import Iterator
from enum import Enum
from typing import Final

import msgspec

from laneway.jam.codec import (
    HASH,
    U16,
    U32,
    Bytes,
    Codec,
    Hash,
    Many,
    Mapped,
    Record,
    Uint16,
    Uint32,
    Uint64,
    record,
)
from laneway.jam.errors import ForbiddenPackage, Unencodable
from laneway.jam.hashing import blake2b
from laneway.jam.spec import (
    ACCUMULATE_GAS_MAX,
    BUNDLE_BYTES_MAX,
    EXTRINSIC_COUNT_MAX,
    IMPORT_COUNT_MAX,
    SEGMENT_BYTES,
    WORK_ITEM_COUNT_MAX,
    ChainSpec,
)

BY_PACKAGE_BIT: Final = 1 << 15
"""Set in an import's index when its root is the hash of the exporting package."""
SEGMENT_FOOTPRINT_BYTES: Final = SEGMENT_BYTES + 32 * (IMPORT_COUNT_MAX - 1).bit_length()
"""What an import counts for in a bundle: the segment and the longest proof of it."""


class GrayPaper(Enum):
    """The versions of the Gray Paper whose packages can be written."""

    V0_7_2 = "0.7.2"
    V0_8_0 = "0.8.0"
    """Unverified: no vector or node of this version was at hand."""


class RefineContext(msgspec.Struct, frozen=True, kw_only=True):
    """The blocks that a package leans on: its anchor, and where preimages are looked up."""

    anchor: Hash
    state_root: Hash
    beefy_root: Hash
    lookup_anchor: Hash
    lookup_anchor_slot: Uint32
    prerequisites: tuple[Hash, ...] = ()
    """Hashes of packages that must be reported before or with this one."""


class RefineContextV080(RefineContext, frozen=True, kw_only=True):
    """The context of Gray Paper 0.8.0, *unverified*: it also dates the anchor, and says what state
    the lookup anchor left."""

    anchor_slot: int
    lookup_anchor_state_root: bytes


class ImportSpec(msgspec.Struct, frozen=True):
    """A segment that was exported before: the root it stands under, and its place there."""

    tree_root: bytes
    index: int
    by_package: bool = False
    """The root is the exporting package's hash; guarantors look the segments' root up."""


class ExtrinsicSpec(msgspec.Struct, frozen=True):
    """A byte string that comes with the package: its hash and length."""

    hash: Hash
    len: Uint32


class WorkItem(msgspec.Struct, frozen=True, kw_only=True):
    """One call of a service's refine function."""

    service: Uint32
    code_hash: Hash
    refine_gas_limit: Uint64
    accumulate_gas_limit: Uint64
    export_count: Uint16 = 0
    payload: Bytes = b""
    import_segments: tuple[ImportSpec, ...] = ()
    extrinsic: tuple[ExtrinsicSpec, ...] = ()


class WorkPackage(msgspec.Struct, frozen=True, kw_only=True):
    auth_code_host: Uint32
    auth_code_hash: Hash
    context: RefineContext
    authorization: Bytes = b""
    authorizer_config: Bytes = b""
    items: tuple[WorkItem, ...]


class _Context(Record[RefineContext]):
    """A context of exactly one version: a field that is left out must not go unnoticed."""

    def write(self, out: bytearray, value: RefineContext) -> None:
        if type(value) is not self.made:
            raise Unencodable(problem=f"a {type(value).__name__} is of another Gray Paper")
        super().write(out, value)


def _import_inward(value: ImportSpec) -> ImportSpec:
    if not 0 <= value.index < BY_PACKAGE_BIT:
        raise Unencodable(problem=f"the index {value.index} does not fit into 15 bits")
    return ImportSpec(value.tree_root, value.index | BY_PACKAGE_BIT * value.by_package)


def _import_outward(raw: ImportSpec) -> ImportSpec:
    by_package = raw.index >= BY_PACKAGE_BIT
    return ImportSpec(raw.tree_root, raw.index - BY_PACKAGE_BIT * by_package, by_package)


REFINE_CONTEXT: Final[Codec[RefineContext]] = _Context(
    RefineContext, **dict(record(RefineContext).fields)
)
REFINE_CONTEXT_V080: Final[Codec[RefineContext]] = _Context(
    RefineContextV080,
    anchor=HASH,
    anchor_slot=U32,
    state_root=HASH,
    beefy_root=HASH,
    lookup_anchor=HASH,
    lookup_anchor_slot=U32,
    lookup_anchor_state_root=HASH,
    prerequisites=Many(HASH),
)
IMPORT_SPEC: Final[Codec[ImportSpec]] = Mapped(
    Record(ImportSpec, tree_root=HASH, index=U16), _import_inward, _import_outward
)
WORK_ITEM: Final = record(WorkItem, import_segments=Many(IMPORT_SPEC))


WORK_PACKAGE: Final = record(WorkPackage, context=REFINE_CONTEXT, items=Many(WORK_ITEM))
WORK_PACKAGE_V080: Final = record(WorkPackage, context=REFINE_CONTEXT_V080, items=Many(WORK_ITEM))


def work_package_codec(version: GrayPaper = GrayPaper.V0_7_2) -> Codec[WorkPackage]:
    """Packages of one version; those of 0.8.0 are *unverified*."""
    return WORK_PACKAGE if version is GrayPaper.V0_7_2 else WORK_PACKAGE_V080


def package_hash(package: WorkPackage, version: GrayPaper = GrayPaper.V0_7_2) -> bytes:
    return blake2b(work_package_codec(version).encode(package))


def authorizer_hash(code_hash: bytes, config: bytes) -> bytes:
    """What a core's pool lists an authorizer by."""
    return blake2b(code_hash + config)


def bundle_bytes_bound(package: WorkPackage) -> int:
    """What the package counts for against W_B, before its bundle is there."""
    return (
        len(package.authorization)
        + len(package.authorizer_config)
        + sum(len(item.payload) for item in package.items)
        + sum(len(item.import_segments) for item in package.items) * SEGMENT_FOOTPRINT_BYTES
        + sum(spec.len for item in package.items for spec in item.extrinsic)
    )


def package_problem(package: WorkPackage, spec: ChainSpec) -> ForbiddenPackage | None:
    """Why no guarantor takes the package, whatever the chain's state is; None if it is allowed."""
    for what, count, least, most in _measures(package, spec):
        if not least <= count <= most:
            return ForbiddenPackage(what=what, given=count, least=least, most=most)
    return None


def _measures(package: WorkPackage, spec: ChainSpec) -> Iterator[tuple[str, int, int, int]]:
    """What is counted, the count, and its bounds (section 14, "Packages and Items")."""
    items = package.items
    imports = sum(len(item.import_segments) for item in items)
    extrinsics = sum(len(item.extrinsic) for item in items)
    yield "work items", len(items), 1, WORK_ITEM_COUNT_MAX
    yield "imported segments", imports, 0, IMPORT_COUNT_MAX
    yield "exported segments", sum(item.export_count for item in items), 0, IMPORT_COUNT_MAX
    yield "extrinsics", extrinsics, 0, EXTRINSIC_COUNT_MAX
    yield "bytes of its bundle", bundle_bytes_bound(package), 0, BUNDLE_BYTES_MAX
    # The prose says "at most" and the formula says "less": what is less is taken either way.
    refine_gas = sum(item.refine_gas_limit for item in items)
    yield "gas to refine", refine_gas, 0, spec.refine_gas_max - 1
    accumulate_gas = sum(item.accumulate_gas_limit for item in items)
    yield "gas to accumulate", accumulate_gas, 0, ACCUMULATE_GAS_MAX - 1
