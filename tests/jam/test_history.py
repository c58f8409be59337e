"""Laws of the recent history: eight blocks, and a state root that only the child can tell."""

from tests.jam.lookups import reported_package

from laneway.jam.hashing import ZERO_HASH, blake2b
from laneway.jam.history import EMPTY, advanced, corrected
from laneway.jam.roots import beefy_root, belt_with
from laneway.jam.rules.checks import ReportedPackage
from laneway.jam.state import RecentHistory


def hashed(*names: object) -> bytes:
    return blake2b(repr(names).encode())


def package(number: int) -> ReportedPackage:
    return ReportedPackage(hashed("package", number), hashed("exports", number))


def history_of(count: int) -> RecentHistory:
    found = EMPTY
    for number in range(count):
        found = advanced(
            found,
            header_hash=hashed("header", number),
            parent_state_root=hashed("state", number - 1),
            accumulate_root=hashed("outputs", number),
            reported=[package(number)],
        )
    return found


def test_a_first_block_has_no_parent_to_correct() -> None:
    assert corrected(EMPTY, hashed("state")) == EMPTY
    (block,) = history_of(1).blocks
    assert block.state_root == ZERO_HASH


def test_a_state_root_is_known_from_the_next_block_on() -> None:
    *earlier, newest = history_of(5).blocks
    assert [block.state_root for block in earlier] == [hashed("state", n) for n in range(4)]
    assert newest.state_root == ZERO_HASH


def test_a_correction_touches_the_newest_block_alone() -> None:
    before = history_of(3)
    after = corrected(before, hashed("told"))
    assert after.blocks[:-1] == before.blocks[:-1]
    assert after.blocks[-1].state_root == hashed("told")
    assert after.belt == before.belt


def test_eight_blocks_are_kept_and_the_belt_keeps_all() -> None:
    blocks = history_of(11).blocks
    assert [block.header_hash for block in blocks] == [hashed("header", n) for n in range(3, 11)]
    belt = EMPTY.belt
    for number in range(11):
        belt = belt_with(belt, hashed("outputs", number))
    assert history_of(11).belt == belt
    assert blocks[-1].beefy_root == beefy_root(belt)


def test_packages_stand_in_ascending_order() -> None:
    packages = [package(number) for number in range(6)]
    after = advanced(
        EMPTY,
        header_hash=ZERO_HASH,
        parent_state_root=ZERO_HASH,
        accumulate_root=ZERO_HASH,
        reported=packages,
    )
    found = after.blocks[0].reported
    assert [one.hash for one in found] == sorted(one.hash for one in packages)
    assert packages != sorted(packages, key=lambda one: one.hash)


def test_a_package_is_remembered_for_eight_blocks() -> None:
    history = history_of(11)
    assert reported_package(history, package(3).hash) == package(3)
    assert reported_package(history, package(10).hash) == package(10)
    assert reported_package(history, package(2).hash) is None
    assert reported_package(EMPTY, package(2).hash) is None
