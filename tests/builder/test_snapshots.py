"""Chained snapshots: what is committed, taken back, invalidated with all on it, and final."""

import pytest

from laneway.builder.limits import SNAPSHOTS_MAX
from laneway.builder.snapshots import Snapshot, Snapshots
from laneway.core.errors import BuildFailed
from laneway.lanes.bundle.limits import SLOTS_OPEN_MAX
from laneway.rollups.rules import SealedBlock

Shot = Snapshot[str, str]


def shot(name: str, parent: Shot | None = None) -> Shot:
    """A block that is named by a letter, with a state that is named as well."""
    sealed = SealedBlock(
        number=0 if parent is None else parent.sealed.number + 1,
        hash=name.encode(),
        parent=b"" if parent is None else parent.sealed.hash,
        pre_root=b"" if parent is None else parent.sealed.post_root,
        post_root=b"root " + name.encode(),
    )
    return Snapshot(sealed, f"block {name}", f"state {name}")


BASE = shot("g")
A = shot("a", BASE)
B = shot("b", A)
C = shot("c", B)
RIVAL = shot("r", A)
ON_RIVAL = shot("s", RIVAL)


def chain(*shots: Shot, most: int = 16) -> Snapshots[str, str]:
    snapshots = Snapshots(BASE, most)
    for one in shots:
        snapshots.put(one)
    return snapshots


def names(shots: object) -> list[str]:
    return [one.sealed.hash.decode() for one in shots]  # type: ignore[attr-defined]


def test_blocks_stand_on_each_other_and_the_highest_is_the_newest() -> None:
    snapshots = chain()
    assert snapshots.newest() is snapshots.base is BASE
    for one in (A, B, C):
        snapshots.put(one)
        assert snapshots.newest() is one
    assert snapshots.get(b"b") is B
    assert snapshots.get(b"g") is BASE
    assert snapshots.get(b"x") is None
    assert (len(snapshots), names(snapshots)) == (3, ["a", "b", "c"])


def test_of_two_blocks_of_one_number_the_last_that_was_made_is_the_newest() -> None:
    assert chain(A, B, RIVAL).newest() is RIVAL
    assert chain(A, RIVAL, B).newest() is B
    assert chain(A, B, C, RIVAL).newest() is C


def test_a_block_that_is_put_twice_is_there_once() -> None:
    snapshots = chain(A, B, A)
    assert names(snapshots) == ["a", "b"]


def test_a_block_needs_its_parent_with_the_state_that_it_says() -> None:
    with pytest.raises(AssertionError):
        chain(B)
    with pytest.raises(AssertionError):
        chain(shot("a", shot("g", shot("h"))))
    forged = SealedBlock(number=1, hash=b"a", parent=b"g", pre_root=b"other", post_root=b"")
    with pytest.raises(AssertionError):
        chain(Snapshot(forged, "", ""))


def test_what_is_accumulated_is_canonical_until_that_is_taken_back() -> None:
    snapshots = chain(A, B)
    assert snapshots.accumulated() is BASE
    assert snapshots.is_canonical(b"g")
    for _ in range(2):
        snapshots.commit(b"b")
        snapshots.commit(b"a")
        assert snapshots.accumulated() is B
    for _ in range(2):
        snapshots.restore(b"b")
        assert snapshots.accumulated() is A
    assert (snapshots.is_canonical(b"a"), snapshots.is_canonical(b"b")) == (True, False)
    assert snapshots.get(b"b") is B, "its block may still land"


def test_an_accumulation_is_remembered_for_a_block_that_is_not_here_yet() -> None:
    snapshots = chain(A)
    snapshots.commit(b"b")
    assert snapshots.accumulated() is BASE
    snapshots.put(B)
    assert snapshots.accumulated() is B


def test_only_so_many_accumulations_are_remembered() -> None:
    snapshots = chain(most=3)
    for name in (b"1", b"2", b"3", b"4"):
        snapshots.commit(name)
    assert [snapshots.is_canonical(name) for name in (b"1", b"2", b"4")] == [False, True, True]


def test_a_failed_block_takes_with_it_all_that_stands_on_it() -> None:
    snapshots = chain(A, B, RIVAL, C, ON_RIVAL)
    snapshots.commit(b"c")
    assert names(snapshots.invalidate(b"b")) == ["b", "c"]
    assert names(snapshots) == ["a", "r", "s"]
    assert not snapshots.is_canonical(b"c")
    assert snapshots.invalidate(b"b") == ()
    assert names(snapshots.invalidate(b"a")) == ["a", "r", "s"]
    assert (len(snapshots), snapshots.newest()) == (0, BASE)


def test_what_is_final_cannot_fail() -> None:
    snapshots = chain(A)
    assert snapshots.invalidate(b"g") == ()
    assert snapshots.get(b"g") is BASE


def test_a_final_block_is_the_base_and_what_is_not_on_it_is_dropped() -> None:
    snapshots = chain(A, B, RIVAL, C, ON_RIVAL)
    for name in (b"a", b"b", b"r", b"c"):
        snapshots.commit(name)
    assert names(snapshots.way(b"b")) == ["a", "b"]
    snapshots.finalise(b"b")
    assert snapshots.base is B
    assert names(snapshots) == ["c"]
    assert snapshots.accumulated() is C
    assert not snapshots.is_canonical(b"r")
    assert [snapshots.get(name) for name in (b"g", b"a", b"r", b"s")] == [None] * 4
    for name in (b"b", b"a", b"x"):
        assert snapshots.way(name) == ()
        snapshots.finalise(name)
    assert snapshots.base is B
    assert names(snapshots.way(b"c")) == ["c"]
    snapshots.finalise(b"c")
    assert (len(snapshots), snapshots.newest()) == (0, C)
    snapshots.commit(b"c")
    assert snapshots.accumulated() is C


def test_with_too_many_the_first_goes_that_nothing_stands_on() -> None:
    snapshots = chain(A, RIVAL, B, most=4)
    snapshots.put(C)
    assert names(snapshots) == ["a", "b", "c"]
    other = shot("o", A)
    snapshots.put(other)
    assert names(snapshots) == ["a", "b", "o"]


def test_all_open_blocks_of_a_lane_may_stand_in_one_line() -> None:
    assert SLOTS_OPEN_MAX < SNAPSHOTS_MAX - 1
    snapshots = Snapshots(BASE)
    parent = BASE
    for number in range(SLOTS_OPEN_MAX):
        parent = shot(f"{number:04}", parent)
        snapshots.put(parent)
    assert len(snapshots) == SLOTS_OPEN_MAX


def test_nothing_is_pushed_out_that_the_next_block_stands_on() -> None:
    snapshots = chain(A, B, most=3)
    with pytest.raises(BuildFailed, match="2 blocks stand on the last final one") as failed:
        snapshots.put(C)
    assert not failed.value.final
    assert names(snapshots) == ["a", "b"]


def test_the_package_of_an_accumulated_block_is_remembered_and_never_forgotten_for_none() -> None:
    snapshots = chain(A)
    assert snapshots.package_of(b"a") == b""
    for package, known in ((b"", b""), (b"1", b"1"), (b"", b"1"), (b"2", b"2")):
        snapshots.commit(b"a", package)
        assert snapshots.package_of(b"a") == known
    snapshots.restore(b"a")
    assert snapshots.package_of(b"a") == b"", "it has to be brought again"
