"""Laws of what a service commits to: leaf, range and records, to the byte."""

import pytest
from tests.jam.service.stage import GENESIS, GENESIS_ROOT, Line, claim, line, named, operand

from laneway.jam.errors import MalformedEncoding, Unencodable
from laneway.jam.hashing import keccak
from laneway.jam.limits import PEAK_COUNT_MAX
from laneway.jam.mmr import Mmr, Mountains, super_peak
from laneway.jam.report import WorkError
from laneway.jam.service.commitment import (
    HEAD_KEY,
    PEAKS,
    PEAKS_KEY,
    ServiceStanding,
    Stand,
    authorizer_records,
    authorizers_of,
    block_key,
    block_of,
    genesis_records,
    grown,
    head_of,
    leaf,
    may_move,
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
from laneway.jam.service.interface import Stored
from laneway.jam.service.limits import AUTHORIZER_COUNT_MAX, HELD_SLOTS_MAX, REFUSAL_COUNT_MAX
from laneway.jam.service.values import AppliedBlock, NoEffectReason, ServiceHead

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
    assert head_of(view) == ServiceHead(number=0, block=GENESIS, state_root=GENESIS_ROOT, slot=0)
    assert peaks_of(view) == ()


def test_a_genesis_names_the_authorizers_that_may_move_the_line() -> None:
    """Each once and in order, so that one list has one genesis."""
    one, two = sorted([named("one"), named("two")])
    view = Stored(genesis_records(GENESIS, GENESIS_ROOT, [two, one, two]))
    assert view.read(b"auth") == b"\2" + one + two
    assert authorizers_of(view) == (one, two)
    assert [may_move((one, two), who) for who in (one, two, named("three"))] == [True, True, False]


def test_without_authorizers_a_genesis_is_the_one_of_earlier_releases_and_all_may() -> None:
    records = genesis_records(GENESIS, GENESIS_ROOT)
    assert sorted(records) == [b"h", b"m"]
    assert authorizers_of(Stored(records)) == ()
    assert may_move((), named("anybody"))


def test_a_list_of_authorizers_is_bounded() -> None:
    names = [named(str(place)) for place in range(AUTHORIZER_COUNT_MAX + 1)]
    assert len(authorizers_of(Stored(authorizer_records(names[1:])))) == AUTHORIZER_COUNT_MAX
    with pytest.raises(Unencodable):
        authorizer_records(names)


def test_the_range_grows_by_a_leaf_for_each_block() -> None:
    records = [
        AppliedBlock(package_hash=named(f"p{n}"), exports_root=named("e"), block=named("b"), slot=n)
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
    assert head_of(view) == ServiceHead(number=1, block=one.block, state_root=one.post_root, slot=4)
    assert block_of(view, 1) == AppliedBlock(
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
    assert refusal.reason is NoEffectReason.SAME_BLOCK_APPLIED
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


ONE, TWO, THREE = line(3)


def test_an_applied_package_has_its_blocks_number() -> None:
    stage = Line()
    stage.take(operand("p", ONE))
    assert stage.standing("p", number=1) == ServiceStanding(stand=Stand.APPLIED, number=1)


def test_a_package_that_brought_a_block_is_applied_whatever_else_was_refused_of_it() -> None:
    stage = Line()
    stage.take(operand("p", ONE), operand("p", TWO), operand("p", WorkError.PANIC))
    assert stage.standing("p", number=2) == ServiceStanding(stand=Stand.APPLIED, number=1)


def test_a_held_package_waits_until_its_last_slot() -> None:
    stage = Line()
    stage.take(operand("other", THREE, tail=b"rival"), slot=9)
    stage.take(operand("p", TWO), slot=10)
    last = 10 + HELD_SLOTS_MAX
    held = ServiceStanding(stand=Stand.HELD, number=2, slot_max=last)
    assert stage.standing("p", number=2, slot=10) == held
    assert stage.standing("p", number=2, slot=last - 1) == held
    dead = ServiceStanding(stand=Stand.REFUSED, number=2, reason=NoEffectReason.EXPIRED)
    assert stage.standing("p", number=2, slot=last) == dead


def test_what_the_standing_says_of_the_last_slot_is_what_happens() -> None:
    for late, applied in ((0, 2), (1, 1)):
        stage = Line()
        stage.take(operand("p", TWO), slot=10)
        done = stage.take(operand("q", ONE), slot=10 + HELD_SLOTS_MAX + late)
        assert len(done.applied) == applied


def test_a_refused_package_has_its_reason() -> None:
    stage = Line()
    stage.take(operand("p", WorkError.PANIC), operand("q", ONE), operand("r", ONE))
    assert stage.standing("p", number=1) == ServiceStanding(
        stand=Stand.REFUSED, reason=NoEffectReason.REFINE_FAILED
    )
    assert stage.standing("r", number=1) == ServiceStanding(
        stand=Stand.REFUSED, number=1, reason=NoEffectReason.SAME_BLOCK_APPLIED
    )


def test_of_a_package_that_did_not_accumulate_nothing_is_known() -> None:
    stage = Line()
    stage.take(operand("p", TWO))
    assert stage.standing("q", number=2) == ServiceStanding(stand=Stand.UNKNOWN)
