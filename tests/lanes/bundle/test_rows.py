"""A bundle lane's rows."""

import msgspec
import pytest
from tests.lanes.bundle.chain import digest
from tests.lanes.bundle.stage import queued, submitted

from laneway.core.jam import JamBlockRef, SlotClock
from laneway.lanes.bundle.limits import (
    ANSWERS_KEPT_MAX,
    HEAD_REASONS_BYTES_MAX,
    REASON_KEPT_BYTES_MAX,
    TROUBLE_BYTES_MAX,
    WORDS_BYTES_MAX,
)
from laneway.lanes.bundle.rows import (
    Answered,
    BundleHead,
    Fact,
    FactKind,
    Making,
    Slot,
    Tell,
    Tip,
    Version,
)

encode = msgspec.msgpack.encode
BLOCK = JamBlockRef(digest("block"), 2**31)
WORDS = "w" * WORDS_BYTES_MAX


def version(*facts: Fact, **fields: object) -> Version:
    plain = Version(1, 1, digest("p"), BLOCK, BLOCK, 0, (), 0, 0, facts=facts)
    return msgspec.structs.replace(plain, **fields)


def fact(kind: str, number: int | None = None) -> Fact:
    return Fact(kind, BLOCK, 1, number)


def test_a_bundle_has_the_seeds_name() -> None:
    assert queued().named(1).bundle_id() == "B-1"


def test_a_version_is_sent_when_a_node_may_know_of_it() -> None:
    assert not version().is_sent()
    assert version(first_ms=1).is_sent()


def test_what_is_refused_by_all_is_dead_and_what_the_chain_says_is() -> None:
    assert not version().is_dead()
    assert version(is_refused=True).is_dead()
    assert version(fact(FactKind.DEAD)).is_dead()


def test_a_report_in_vain_is_none() -> None:
    assert not version().is_reported()
    assert version(fact(FactKind.REPORTED)).is_reported()
    assert not version(fact(FactKind.REPORTED), fact(FactKind.FAILED)).is_reported()


@pytest.mark.parametrize(
    ("number", "with_records", "without"), [(7, True, True), (None, False, True)]
)
def test_a_service_that_keeps_records_says_which_block_had_its_effect(
    number: int | None, with_records: bool, without: bool
) -> None:
    one = version(fact(FactKind.ACCUMULATED, number))
    assert one.is_accumulated(True) is with_records
    assert one.is_accumulated(False) is without
    assert not version().is_accumulated(False)


def test_rows_that_change_stay_small() -> None:
    stage = submitted(2)
    stage.slot(stage.hash_of(1))
    small = [row for row in stage.rows.values() if row.table in ("slot", "attempt")]
    assert all(len(row.body) < 1_024 for row in small)
    answer = Answered("node-with-a-long-name", 340, "dependency_missing", "refused", True, WORDS)
    fullest = version(
        Fact(FactKind.REPORTED, BLOCK, 2**31, 2**31),
        Fact(FactKind.READY, BLOCK, 2**31),
        *[Fact(kind, BLOCK, 2**31, 2**31, WORDS) for kind in (FactKind.REFUSED, FactKind.DEAD)],
        Fact(FactKind.ACCUMULATED, BLOCK, 2**31, 2**31),
        prerequisites=(digest("q"),),
        nodes=("node-with-a-long-name",) * 3,
        answers=(answer,) * ANSWERS_KEPT_MAX,
    )
    assert len(encode(fullest)) < 1_024
    making = Making(2**31, 9, (digest("p"),), 340, 6, 2**41)
    hashes = {name: digest(name) for name in ("digest", "block", "parent", "pre_root", "post_root")}
    slot = Slot(2**31, 2**31, 2**31, 2**41, 2**41, 2**31, 512, 2**20, making=making, **hashes)  # type: ignore[arg-type]
    reason = "r" * REASON_KEPT_BYTES_MAX
    assert len(encode(msgspec.structs.replace(slot, wait_reason=reason))) < 1_024
    clock = SlotClock(slot_ms=6_000, slot=2**31, heard_ms=2**41, begin_ms=2**41, skew_ms=-(2**20))
    head = BundleHead(
        reason="r" * 300,
        by="b" * 100,
        clock=clock,
        best=BLOCK,
        finalised=BLOCK,
        tip=Tip(2**31, digest("t"), digest("r")),
        waits="w" * (HEAD_REASONS_BYTES_MAX - 300 - 2 * TROUBLE_BYTES_MAX),
        heard=2**31,
        hearing=2**31,
        hear_ms=2**41,
        tell_reason="t" * TROUBLE_BYTES_MAX,
        look_reason="l" * TROUBLE_BYTES_MAX,
        settled_bytes=2**40,
        cursors=(2**31,) * 4,
    )
    assert len(encode(head)) < 1_024


def test_a_block_that_another_package_brought_names_none() -> None:
    version = submitted().version(1)
    assert version.brought() == version.package_hash
    done = Fact(FactKind.ACCUMULATED, BLOCK, 1, 1)
    assert msgspec.structs.replace(version, facts=(done,)).brought() == version.package_hash
    other = Fact(FactKind.ACCUMULATED, BLOCK, 1, 1, words="same_block_applied")
    assert msgspec.structs.replace(version, facts=(other,)).brought() == b""


def test_no_two_notifications_have_one_key_and_what_ended_has_one_for_ever() -> None:
    """A store that was put back from a copy gives ids again, at another time."""
    words = ("submitted", "guaranteed", "accumulated", "restored", "failed", "finalised")
    tells = [
        Tell(number, word, 1, 1, version, b"", digest(block), b"", (), at_ms)
        for number in (1, 2)
        for word in words
        for version in (1, 2)
        for block in ("a", "b")
        for at_ms in (5, 6)
    ]
    keys: dict[bytes, set[tuple[bytes, str]]] = {}
    for one in tells:
        keys.setdefault(one.key(), set()).add((one.block, one.word))
    assert all(len(meanings) == 1 for meanings in keys.values())
    assert len(keys) == 2 * 2 * 2 * 2 * 4 + 2 * 2
