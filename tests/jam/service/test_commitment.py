"""Laws of what a service commits to: leaf, range and records, to the byte."""

import pytest
from tests.jam.service.stage import GENESIS, GENESIS_ROOT, Line, claim, line, named, operand

from laneway.jam.errors import MalformedEncoding
from laneway.jam.hashing import keccak
from laneway.jam.mmr import Mmr, Mountains, super_peak
from laneway.jam.service.commitment import (
    HEAD_KEY,
    PEAKS,
    PEAKS_KEY,
    block_key,
    block_of,
    genesis_records,
    grown,
    head_of,
    leaf,
    number_of,
    package_key,
    peaks_of,
    refusal_count_of,
    refusal_key,
    refusal_of,
    refused_at,
    ring_key,
    rivals_key,
    rivals_of,
)
from laneway.jam.service.limits import PEAK_COUNT_MAX, REFUSAL_COUNT_MAX
from laneway.jam.service.storage import Stored
from laneway.jam.service.values import BlockRecord, Head, Reason

NOTHING = Stored({})


def test_the_leaf_of_a_block_to_the_byte() -> None:
    made = leaf(package_hash=named("p"), exports_root=named("e"), number=258, block=named("b"))
    fields = named("p") + named("e") + b"\2\1\0\0\0\0\0\0" + named("b")
    assert made == keccak(b"jamroll-block/1" + fields)


def test_the_keys_to_the_byte() -> None:
    number = b"\2\1\0\0\0\0\0\0"
    assert block_key(258) == b"b" + number
    assert package_key(named("p")) == b"w" + named("p")
    assert rivals_key(258) == b"r" + number
    assert refusal_key(named("p")) == b"x" + named("p")
    assert ring_key(258) == ring_key(258 + REFUSAL_COUNT_MAX) == b"q\2\1\0\0"
    assert (HEAD_KEY, PEAKS_KEY) == (b"h", b"m")


def test_peaks_are_written_as_the_chain_writes_its_own() -> None:
    assert PEAKS.encode((named("low"), None, named("high"))) == (
        b"\3" + b"\1" + named("low") + b"\0" + b"\1" + named("high")
    )
    with pytest.raises(MalformedEncoding):
        PEAKS.decode(bytes([PEAK_COUNT_MAX + 1]) + bytes(PEAK_COUNT_MAX + 1))


def test_a_service_begins_with_a_head_and_no_peaks() -> None:
    view = Stored(genesis_records(GENESIS, GENESIS_ROOT))
    assert head_of(view) == Head(number=0, block=GENESIS, state_root=GENESIS_ROOT, slot=0)
    assert peaks_of(view) == ()


def test_the_range_grows_by_a_leaf_for_each_block() -> None:
    records = [
        BlockRecord(package_hash=named(f"p{n}"), exports_root=named("e"), block=named("b"), slot=n)
        for n in range(1, 6)
    ]
    peaks: Mmr = ()
    mountains = Mountains()
    for number, record in enumerate(records, 1):
        peaks = grown(peaks, number, record)
        mountains.append(
            leaf(
                package_hash=record.package_hash,
                exports_root=record.exports_root,
                number=number,
                block=record.block,
            )
        )
        assert peaks == mountains.peaks()


def test_records_are_read_as_they_were_written() -> None:
    stage = Line()
    one, two, three = line(3)
    done = stage.take(operand("p1", one), slot=4)
    stage.take(operand("p3", three), operand("q1", one), slot=5)
    view = stage.view
    assert head_of(view) == Head(number=1, block=one.block, state_root=one.post_root, slot=4)
    assert block_of(view, 1) == BlockRecord(
        package_hash=named("p1"), exports_root=named("exports p1"), block=one.block, slot=4
    )
    assert stage.records[block_key(1)] == (
        named("p1") + named("exports p1") + one.block + b"\4\0\0\0"
    )
    assert stage.records[package_key(named("p1"))] == b"\1\0\0\0\0\0\0\0"
    assert number_of(view, named("p1")) == 1
    assert done.yield_hash == super_peak(peaks_of(view), keccak)
    assert [held.claim for held in rivals_of(view, 3)] == [three]
    refusal = refusal_of(view, named("q1"))
    assert refusal is not None
    assert refusal.reason is Reason.SAME_BLOCK_APPLIED
    assert refusal_count_of(view) == 1
    assert refused_at(view, 0) == named("q1")
    assert two not in [held.claim for held in rivals_of(view, 2)]


def test_nothing_is_read_where_nothing_was_written() -> None:
    one = claim("1")
    assert head_of(NOTHING) is None
    assert peaks_of(NOTHING) == ()
    assert block_of(NOTHING, 1) is None
    assert number_of(NOTHING, one.block) is None
    assert rivals_of(NOTHING, 1) == ()
    assert refusal_of(NOTHING, one.block) is None
    assert refusal_count_of(NOTHING) == 0
    assert refused_at(NOTHING, 0) is None
