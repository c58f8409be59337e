import pytest
from msgspec.structs import replace
from tests.devnets.jam.stage import (
    best,
    chain,
    made,
    produce,
    run,
    send,
    setup,
    submit,
    work_package,
)

from laneway.devnets.jam.limits import BLOCKS_KEPT_MAX
from laneway.devnets.jam.model.chain import JamModel
from laneway.devnets.jam.model.genesis import begun
from laneway.devnets.jam.model.keyring import Keyring
from laneway.devnets.jam.model.tree import (
    OTHER_FORK,
    TOO_OLD,
    UNAVAILABLE,
    BlockTree,
    TreeEntry,
    TreeView,
    rank,
)
from laneway.devnets.jam.model.values import (
    BlockUnavailable,
    Descriptor,
    PackageReady,
    PackageReportable,
    PackageReported,
    Status,
    StepReport,
)
from laneway.jam.hashing import blake2b
from laneway.jam.header import Block
from laneway.jam.spec import TINY

BLOCK, STATE = begun(setup(), Keyring(TINY, 0, signs=False))


class Forest:
    """A tree that is grown by names; states are all the same one."""

    def __init__(self, lookup_slots_max: int = 24) -> None:
        self.genesis = entry(b"genesis", BLOCK, 0)
        self.tree = BlockTree(self.genesis, lookup_slots_max)
        self.view = TreeView(self.tree, self.genesis)

    def grow(self, parent: TreeEntry, *slots: int, name: bytes = b"") -> TreeEntry:
        """A line of blocks at these slots; its last one."""
        for slot in slots:
            header = replace(BLOCK.header, parent=parent.hash, slot=slot)
            block = Block(header=header, extrinsic=BLOCK.extrinsic)
            parent = entry(name + b"%d upon %s" % (slot, parent.hash), block, parent.number + 1)
            self.tree.add(parent)
            self.view.see(parent)
        return parent


def entry(name: bytes, block: Block, number: int) -> TreeEntry:
    made = StepReport(slot=block.header.slot, number=number)
    return TreeEntry(block, blake2b(name), STATE, made)


@pytest.fixture
def forest() -> Forest:
    return Forest()


def test_the_best_block_is_the_highest(forest: Forest) -> None:
    left = forest.grow(forest.genesis, 1, 2)
    assert forest.view.best is left
    right = forest.grow(forest.genesis, 3, 4)
    assert forest.view.best is left, "of two of one height the earlier one is better"
    right = forest.grow(right, 5)
    assert forest.view.best is right
    assert right.descriptor == Descriptor(right.hash, 5)


def test_a_hash_decides_between_blocks_of_one_slot_and_height(forest: Forest) -> None:
    pair = [forest.grow(forest.genesis, 1, name=name) for name in (b"a", b"b")]
    assert forest.view.best is max(pair, key=rank)
    assert {one.hash for one in pair} <= set(forest.view.seen)


def test_blocks_know_what_is_before_them(forest: Forest) -> None:
    fork = forest.grow(forest.genesis, 1, 2)
    left, right = forest.grow(fork, 3, 4), forest.grow(fork, 5)
    tree = forest.tree
    assert tree.is_ancestor(fork, left)
    assert tree.is_ancestor(left, left)
    assert not tree.is_ancestor(right, left)
    assert not tree.is_ancestor(left, right)
    assert tree.ancestor(left, 1).slot == 1
    assert [one.slot for one in tree.between(fork, left)] == [3, 4]
    assert tree.between(left, left) == []
    assert [one.slot for one in tree.lineage(right)] == [5, 2, 1, 0]
    assert tree.get(left.hash) is left
    assert tree.get(blake2b(b"?")) is None
    assert [one.number for one in tree] == [0, 1, 2, 3, 4, 3]


def test_lookup_anchors_are_blocks_of_the_same_fork(forest: Forest) -> None:
    fork = forest.grow(forest.genesis, 1)
    left, right = forest.grow(fork, 3, 4), forest.grow(fork, 5)
    assert forest.tree.slot_before(fork.hash, left) == 1
    assert forest.tree.slot_before(right.hash, left) is None
    assert forest.tree.slot_before(blake2b(b"?"), left) is None


def test_a_final_block_is_a_lookup_anchor_when_it_is_forgotten_but_not_for_ever() -> None:
    forest = Forest(lookup_slots_max=100)
    first = forest.grow(forest.genesis, 1)
    last = forest.grow(first, *range(2, 100))
    forest.tree.finalise(last)
    forest.view.finalise(last)
    gone = forest.tree.forget(last.number)
    assert len(gone) == last.number - BLOCKS_KEPT_MAX - 1
    assert forest.tree.get(first.hash) is None
    assert forest.tree.get(forest.genesis.hash) is forest.genesis
    assert forest.tree.is_ancestor(forest.genesis, last)
    assert forest.tree.slot_before(first.hash, last) == 1
    forest.tree.finalise(forest.grow(last, 102))
    assert forest.tree.slot_before(first.hash, last) is None


def test_what_is_not_upon_the_final_block_never_leads(forest: Forest) -> None:
    left = forest.grow(forest.genesis, 1, 2)
    right = forest.grow(forest.genesis, 3)
    forest.tree.finalise(right)
    forest.view.finalise(right)
    assert forest.view.best is right
    forest.grow(left, 4, 5)
    assert forest.view.best is right
    forest.view.finalise(right)
    assert forest.view.best is right


def test_a_preferred_block_is_followed_whatever_is_longer(forest: Forest) -> None:
    left = forest.grow(forest.genesis, 1, 2, 3)
    right = forest.grow(forest.genesis, 4)
    forest.view.prefer(right)
    assert forest.view.best is right
    forest.grow(left, 5)
    assert forest.view.best is right
    right = forest.grow(right, 6)
    assert forest.view.best is right
    forest.view.prefer(None)
    assert forest.view.best.number == 4


def test_a_preferred_block_counts_once_it_is_seen(forest: Forest) -> None:
    left = forest.grow(forest.genesis, 1, 2, 3)
    other = TreeView(forest.tree, forest.genesis)
    right = forest.grow(forest.genesis, 4)
    other.prefer(right)
    for one in forest.tree.between(forest.genesis, left):
        other.see(one)
    assert other.best is left
    other.see(right)
    assert other.best is right


def test_a_preferred_block_that_finality_passed_by_counts_no_more(forest: Forest) -> None:
    right = forest.grow(forest.genesis, 4)
    forest.view.prefer(right)
    left = forest.grow(forest.genesis, 1, 2, 3)
    forest.tree.finalise(left)
    forest.view.finalise(left)
    assert forest.view.best is left
    assert forest.grow(left, 7) is forest.view.best


def test_a_copy_of_a_view_goes_its_own_way(forest: Forest) -> None:
    first = forest.grow(forest.genesis, 1)
    copy = forest.view.copy()
    forest.grow(first, 2)
    assert copy.best is first
    assert len(copy.seen) == 2
    copy.forget(first.hash)
    copy.forget(first.hash)
    assert first.hash in forest.view.seen
    assert first.hash not in copy.seen


def status(model: JamModel, package: bytes, anchor: bytes) -> Status:
    return model.status(0, best(model), package, anchor)


def test_a_package_goes_from_reportable_to_ready() -> None:
    model = chain(3)
    anchor, package = best(model), send(model, core=1)
    other = send(model, b"\0other", core=0)
    assert status(model, package, anchor) == PackageReportable(8)
    done = produce(model)
    reported_in = made(done)
    work = next(one for one in done.reported if one.package_hash == package)
    assert status(model, package, anchor) == PackageReported(
        reported_in=reported_in, core=1, report_hash=work.report_hash
    )
    ready_in = made(produce(model))
    ready = PackageReady(
        reported_in=reported_in, core=1, report_hash=work.report_hash, ready_in=ready_in
    )
    assert status(model, package, anchor) == ready
    produce(model, 11)
    assert status(model, package, anchor) == ready
    assert model.is_accumulated(0, best(model), package)
    assert model.is_accumulated(0, best(model), other)


def test_a_report_that_is_not_made_available_has_failed() -> None:
    model = chain(3)
    anchor, package = best(model), send(model)
    produce(model, 5, unassured_cores=[0])
    assert isinstance(status(model, package, anchor), PackageReported)
    produce(model, unassured_cores=[0])
    assert status(model, package, anchor) == UNAVAILABLE


def test_a_package_that_nobody_reports_in_time_has_failed() -> None:
    model = chain(3)
    anchor, package = best(model), send(model)
    produce(model, 7, guarantees=False)
    assert status(model, package, anchor) == PackageReportable(1)
    produce(model, guarantees=False)
    assert status(model, package, anchor) == TOO_OLD


def test_an_anchor_of_another_fork_is_none() -> None:
    model = chain(3, is_voting=False)
    common = best(model)
    anchor = made(produce(model)).header_hash
    package = submit(model, work_package(model))
    fork = made(produce(model, slot=9, parent=common, guarantees=False)).header_hash
    assert model.status(0, fork, package, anchor) == OTHER_FORK
    assert model.status(0, anchor, package, common) == PackageReportable(7)


def test_of_blocks_that_are_forgotten_nothing_is_said() -> None:
    """The genesis is remembered for ever, and what came right behind it is not."""
    model = chain(0, signs=False, codes_shards=False)
    package = send(model)
    run(model, 2)
    assert isinstance(status(model, package, model.genesis), PackageReady)
    run(model, BLOCKS_KEPT_MAX + 2)
    with pytest.raises(BlockUnavailable):
        status(model, package, model.genesis)
