import pytest

from laneway.devnets.jam.limits import DISPERSALS_KEPT_MAX, PACKAGES_KEPT_MAX
from laneway.devnets.jam.model.shards import KeptShards, ShardStore
from laneway.devnets.jam.model.values import SegmentUnavailable, ShardUnavailable
from laneway.jam.availability import (
    check_holding,
    reconstruct_bundle,
    reconstruct_segments,
    shard_index,
)
from laneway.jam.hashing import blake2b
from laneway.jam.segments import check_import
from laneway.jam.spec import SEGMENT_BYTES, TINY

BUNDLE = b"a bundle of some bytes"
SEGMENTS = tuple(bytes([place]) * SEGMENT_BYTES for place in range(70))


def kept(
    store: ShardStore, name: bytes = b"name", segments: tuple[bytes, ...] = SEGMENTS
) -> KeptShards:
    hashed = blake2b(name)
    package = store.described(hashed, BUNDLE + name, segments)
    made = KeptShards(package=package, core=1, bundle=BUNDLE + name, segments=segments)
    store.keep(made)
    return made


def test_any_two_validators_give_a_package_back() -> None:
    store = ShardStore(TINY, codes=True)
    made = kept(store)
    root = made.package.erasure_root
    holdings = [store.holding(validator, root) for validator in (1, 4)]
    for validator, holding in zip((1, 4), holdings, strict=True):
        assert holding.index == shard_index(TINY, core=1, validator=validator)
        check_holding(TINY, made.package, holding)
    shards = [(one.index, one.bundle_shard) for one in holdings]
    assert reconstruct_bundle(TINY, made.package, shards) == made.bundle
    found = reconstruct_segments(TINY, [(one.index, one.segment_shards) for one in holdings])
    assert found[:70] == SEGMENTS


def test_shards_are_made_again_when_they_are_asked_for() -> None:
    store = ShardStore(TINY, codes=True)
    first = kept(store)
    before = store.holding(0, first.package.erasure_root)
    for number in range(DISPERSALS_KEPT_MAX + 1):
        kept(store, bytes([number]), ())
    assert store.holding(0, first.package.erasure_root) == before
    assert store.get(first.package.erasure_root) == first


def test_without_coding_there_is_a_root_and_no_shards() -> None:
    store = ShardStore(TINY, codes=False)
    made = kept(store)
    coded = ShardStore(TINY, codes=True).described(made.package.hash, made.bundle, SEGMENTS)
    assert made.package.exports_root == coded.exports_root
    assert made.package.erasure_root != coded.erasure_root
    with pytest.raises(ShardUnavailable):
        store.holding(0, made.package.erasure_root)
    assert store.segments(made.package.hash, [3]) == (SEGMENTS[3],)


def test_segments_are_found_by_their_root_and_by_their_package() -> None:
    store = ShardStore(TINY, codes=True)
    package = kept(store).package
    for name in (package.exports_root, package.hash):
        assert store.segments(name, [69, 0]) == (SEGMENTS[69], SEGMENTS[0])
        with pytest.raises(SegmentUnavailable):
            store.segments(name, [70])
    with pytest.raises(SegmentUnavailable):
        store.segments(blake2b(b"?"), [])
    with pytest.raises(ShardUnavailable):
        store.holding(0, blake2b(b"?"))


def test_a_segment_comes_with_its_path() -> None:
    store = ShardStore(TINY, codes=True)
    package = kept(store).package
    for index in (0, 63, 64, 69):
        segment, path = store.proved_segment(package.exports_root, index)
        check_import(segment, path, root=package.exports_root, index=index, count=70)


def test_the_oldest_packages_are_forgotten() -> None:
    store = ShardStore(TINY, codes=False)
    first = kept(store, b"first", SEGMENTS[:1])
    same = kept(store, b"same exports", SEGMENTS[:1])
    for number in range(PACKAGES_KEPT_MAX - 1):
        kept(store, b"%d" % number, ())
    assert store.get(first.package.erasure_root) is None
    with pytest.raises(SegmentUnavailable):
        store.segments(first.package.hash, [])
    assert store.segments(first.package.exports_root, [0]) == SEGMENTS[:1]
    assert store.exported(same.package.hash) == same


def test_a_package_that_is_kept_again_is_the_newest() -> None:
    store = ShardStore(TINY, codes=False)
    first = kept(store, b"first", ())
    for number in range(PACKAGES_KEPT_MAX - 1):
        kept(store, b"%d" % number, ())
    kept(store, b"first", ())
    kept(store, b"last", ())
    assert store.get(first.package.erasure_root) == first
