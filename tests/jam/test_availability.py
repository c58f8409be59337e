"""Laws of availability: a shard is what the root says or refused, and any R validators suffice."""

from collections.abc import Sequence
from functools import cache
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from laneway.jam.availability import (
    Dispersal,
    Holding,
    check_bundle_shard,
    check_holding,
    check_segment_shard,
    coded_segment_count,
    disperse,
    justify_bundle_shard,
    justify_segment_shard,
    reconstruct_bundle,
    reconstruct_segments,
    shard_bytes,
    shard_holder,
    shard_index,
)
from laneway.jam.erasure import encode
from laneway.jam.errors import InconsistentShards, InvalidProof, TooFewShards
from laneway.jam.hashing import ZERO_HASH, blake2b
from laneway.jam.segments import check_segment, exports_root, proof_pages
from laneway.jam.spec import FULL, SEGMENT_BYTES, TINY, ChainSpec
from laneway.jam.trees import co_path, well_balanced_root

BUNDLE = Random(1).randbytes(5_000)
PACKAGE = blake2b(b"package")
both = pytest.mark.parametrize("spec", [TINY, FULL])


def segments_of(count: int) -> list[bytes]:
    random = Random(count)
    return [random.randbytes(SEGMENT_BYTES) for _ in range(count)]


@cache
def dispersed(spec: ChainSpec, count: int = 3) -> Dispersal:
    return disperse(spec, PACKAGE, BUNDLE, segments_of(count))


def some(spec: ChainSpec, holdings: Sequence[Holding], seed: int) -> list[Holding]:
    return Random(seed).sample(holdings, spec.recovery_count)


def flipped(raw: bytes, place: int) -> bytes:
    place %= len(raw)
    return raw[:place] + bytes([raw[place] ^ 1]) + raw[place + 1 :]


@both
@settings(max_examples=30)
@given(data=st.data())
def test_each_validator_keeps_other_shards(spec: ChainSpec, data: st.DataObject) -> None:
    core = data.draw(st.integers(0, spec.core_count - 1))
    validator = data.draw(st.integers(0, spec.validator_count - 1))
    index = shard_index(spec, core=core, validator=validator)
    assert index == (core * spec.recovery_count + validator) % spec.validator_count
    assert shard_holder(spec, core=core, index=index) == validator


@both
def test_the_roots_are_those_of_the_definition(spec: ChainSpec) -> None:
    found, segments = dispersed(spec), segments_of(3)
    coded = [encode(spec, part) for part in (*segments, *proof_pages(segments))]
    leaves = [
        blake2b(shard) + well_balanced_root([part[index] for part in coded])
        for index, shard in enumerate(encode(spec, BUNDLE))
    ]
    assert found.package.erasure_root == well_balanced_root(leaves)
    assert found.package.exports_root == exports_root(segments)
    assert found.package.hash == PACKAGE
    assert found.package.length == len(BUNDLE)
    assert found.package.exports_count == 3
    holding = found.holdings[4]
    assert holding.index == 4
    assert holding.bundle_shard == encode(spec, BUNDLE)[4]
    assert holding.segment_shards == tuple(part[4] for part in coded)
    assert holding.path == co_path(leaves, 4)
    root = well_balanced_root(holding.segment_shards)
    assert justify_bundle_shard(holding) == (*holding.path, root)
    inner = co_path(holding.segment_shards, 2)
    outer = (*holding.path, blake2b(holding.bundle_shard))
    assert justify_segment_shard(holding, 2) == outer + inner


@both
def test_the_roots_do_not_depend_on_who_computes_them(spec: ChainSpec) -> None:
    assert disperse(spec, PACKAGE, BUNDLE, segments_of(3)).package == dispersed(spec).package


@pytest.mark.parametrize(("exports", "coded"), [(0, 0), (1, 2), (64, 65), (65, 67), (70, 72)])
def test_segments_are_coded_with_their_pages(exports: int, coded: int) -> None:
    assert coded_segment_count(exports) == coded
    assert len(dispersed(TINY, exports).holdings[0].segment_shards) == coded


@both
def test_every_shard_holds_under_the_root(spec: ChainSpec) -> None:
    found = dispersed(spec)
    step = max(1, spec.validator_count // 50)
    for holding in (*found.holdings[::step], found.holdings[-1]):
        check_holding(spec, found.package, holding)
        check_bundle_shard(
            spec,
            found.package,
            holding.bundle_shard,
            justify_bundle_shard(holding),
            index=holding.index,
        )
        for segment, shard in enumerate(holding.segment_shards):
            check_segment_shard(
                spec,
                found.package,
                shard,
                justify_segment_shard(holding, segment),
                index=holding.index,
                segment=segment,
            )


@both
def test_a_package_without_exports_has_only_bundle_shards(spec: ChainSpec) -> None:
    found = dispersed(spec, 0)
    assert found.package.exports_root == ZERO_HASH
    holding = found.holdings[-1]
    assert holding.segment_shards == ()
    assert justify_bundle_shard(holding)[-1] == ZERO_HASH
    check_holding(spec, found.package, holding)
    with pytest.raises(InvalidProof, match="leaf 0 of 0 does not exist"):
        check_segment_shard(
            spec,
            found.package,
            bytes(shard_bytes(spec, SEGMENT_BYTES)),
            (*holding.path, blake2b(holding.bundle_shard)),
            index=holding.index,
            segment=0,
        )


@both
@settings(max_examples=30)
@given(index=st.integers(0, 5), place=st.integers(0, 2**16), node=st.integers(0, 2**16))
def test_a_forged_bundle_shard_or_proof_is_refused(
    spec: ChainSpec, index: int, place: int, node: int
) -> None:
    found = dispersed(spec)
    shard = found.holdings[index].bundle_shard
    path = justify_bundle_shard(found.holdings[index])
    node %= len(path)
    forged = (*path[:node], flipped(path[node], place), *path[node + 1 :])
    with pytest.raises(InvalidProof):
        check_bundle_shard(spec, found.package, flipped(shard, place), path, index=index)
    with pytest.raises(InvalidProof):
        check_bundle_shard(spec, found.package, shard, forged, index=index)
    with pytest.raises(InvalidProof):
        check_bundle_shard(spec, found.package, shard, path, index=index + 1)


@both
@settings(max_examples=30)
@given(
    index=st.integers(0, 5),
    segment=st.integers(0, 3),
    place=st.integers(0, 2**16),
    node=st.integers(0, 2**16),
)
def test_a_forged_segment_shard_or_proof_is_refused(
    spec: ChainSpec, index: int, segment: int, place: int, node: int
) -> None:
    found = dispersed(spec)
    package, holding = found.package, found.holdings[index]
    shard, path = holding.segment_shards[segment], justify_segment_shard(holding, segment)
    node %= len(path)
    forged = (*path[:node], flipped(path[node], place), *path[node + 1 :])
    for bad, proof, at, of in (
        (flipped(shard, place), path, index, segment),
        (shard, forged, index, segment),
        (shard, path, index + 1, segment),
        (shard, path, index, (segment + 1) % 4),
        (shard, path[:-1], index, segment),
        (shard, (*path, ZERO_HASH), index, segment),
    ):
        with pytest.raises(InvalidProof):
            check_segment_shard(spec, package, bad, proof, index=at, segment=of)


@both
def test_a_proof_of_another_form_is_refused(spec: ChainSpec) -> None:
    found = dispersed(spec)
    package, holding = found.package, found.holdings[1]
    shard, path = holding.bundle_shard, justify_bundle_shard(holding)
    for proof in ((), path[:-1], (*path[:-1], path[-1] + b"\0"), (*path[:-1], b"")):
        with pytest.raises(InvalidProof):
            check_bundle_shard(spec, package, shard, proof, index=1)
    with pytest.raises(InvalidProof, match=r"a shard of \d+ bytes where \d+ belong"):
        check_bundle_shard(spec, package, shard + bytes(2), path, index=1)
    for index in (-1, spec.validator_count):
        with pytest.raises(InvalidProof, match="does not exist"):
            check_bundle_shard(spec, package, shard, path, index=index)

    piece, inner = holding.segment_shards[0], justify_segment_shard(holding, 0)
    levels = len(holding.path)
    short = (*inner[:levels], inner[levels][:-1], *inner[levels + 1 :])
    for proof in ((), inner[:levels], short):
        with pytest.raises(InvalidProof):
            check_segment_shard(spec, package, piece, proof, index=1, segment=0)
    with pytest.raises(InvalidProof, match=r"a shard of \d+ bytes where \d+ belong"):
        check_segment_shard(spec, package, piece[:-2], inner, index=1, segment=0)


@both
def test_a_holding_with_anything_changed_is_refused(spec: ChainSpec) -> None:
    found = dispersed(spec)
    holding = found.holdings[2]
    shards = holding.segment_shards
    for other in (
        replace(holding, index=3),
        replace(holding, bundle_shard=flipped(holding.bundle_shard, 0)),
        replace(holding, segment_shards=shards[:-1]),
        replace(holding, segment_shards=(flipped(shards[0], 0), *shards[1:])),
        replace(holding, segment_shards=(shards[0][:-1], shards[0][-1:] + shards[1], *shards[2:])),
        replace(holding, path=holding.path[1:]),
    ):
        with pytest.raises(InvalidProof):
            check_holding(spec, found.package, other)


@both
def test_any_validators_that_are_enough_give_bundle_and_segments_back(spec: ChainSpec) -> None:
    found, segments = dispersed(spec), segments_of(3)
    for seed in range(3):
        holders = some(spec, found.holdings, seed)
        bundle = [(one.index, one.bundle_shard) for one in holders]
        assert reconstruct_bundle(spec, found.package, bundle) == BUNDLE
        pieces = [(one.index, one.segment_shards) for one in holders]
        assert reconstruct_segments(spec, pieces)[:3] == tuple(segments)
        with pytest.raises(TooFewShards):
            reconstruct_bundle(spec, found.package, bundle[1:])
        with pytest.raises(TooFewShards):
            reconstruct_segments(spec, pieces[1:])


@pytest.mark.slow
@both
def test_72_segments_come_back_and_are_proved_by_their_pages_alone(spec: ChainSpec) -> None:
    found, segments = dispersed(spec, 70), segments_of(70)
    package = found.package
    for seed in range(3):
        holders = some(spec, found.holdings, seed)
        back = reconstruct_segments(spec, [(one.index, one.segment_shards) for one in holders])
        assert back[:70] == tuple(segments)
        assert back[70:] == proof_pages(segments)
        for index in (0, 63, 64, 69):
            page = back[70 + index // 64]
            check_segment(back[index], page, root=package.exports_root, index=index, count=70)
        # Only one segment and its page, as a guarantor asks for them.
        wanted = [(one.index, (one.segment_shards[65], one.segment_shards[71])) for one in holders]
        segment, page = reconstruct_segments(spec, wanted)
        check_segment(segment, page, root=package.exports_root, index=65, count=70)


def test_a_forged_shard_gives_a_segment_that_its_page_does_not_prove() -> None:
    found = dispersed(TINY)
    pieces = [(one.index, list(one.segment_shards)) for one in found.holdings[2:4]]
    pieces[0][1][1] = flipped(pieces[0][1][1], 100)
    *segments, page = reconstruct_segments(TINY, pieces)
    root = found.package.exports_root
    check_segment(segments[0], page, root=root, index=0, count=3)
    with pytest.raises(InvalidProof):
        check_segment(segments[1], page, root=root, index=1, count=3)


def test_shards_of_another_length_than_promised_are_refused() -> None:
    found = dispersed(TINY)
    bundle = [(one.index, one.bundle_shard) for one in found.holdings]
    longer = replace(found.package, length=len(BUNDLE) + 100)
    with pytest.raises(InconsistentShards, match="they hold 5000 bytes"):
        reconstruct_bundle(TINY, longer, bundle)
    with pytest.raises(InconsistentShards, match="they hold 8 bytes"):
        reconstruct_segments(TINY, [(index, (b"abcd",)) for index in range(6)])


def test_a_bundle_that_is_not_followed_by_zeros_is_refused() -> None:
    package = replace(dispersed(TINY).package, length=7)
    with pytest.raises(InconsistentShards, match="not followed by zeros"):
        reconstruct_bundle(TINY, package, enumerate(encode(TINY, b"8 bytes!")))
    assert reconstruct_bundle(TINY, package, enumerate(encode(TINY, b"7 bytes"))) == b"7 bytes"
