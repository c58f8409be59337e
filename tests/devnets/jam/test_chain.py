import pytest
from msgspec.structs import replace
from tests.devnets.jam.stage import setup

from laneway.devnets.jam.chain import BlockTree, Entry, View, rank
from laneway.devnets.jam.genesis import begun
from laneway.devnets.jam.keyring import Keyring
from laneway.devnets.jam.limits import BLOCKS_KEPT_MAX
from laneway.devnets.jam.values import Descriptor, StepReport
from laneway.jam.block import Block
from laneway.jam.hashing import blake2b
from laneway.jam.spec import TINY

BLOCK, STATE = begun(setup(), Keyring(TINY, 0, signs=False))


class Forest:
    """A tree that is grown by names; states are all the same one."""

    def __init__(self, lookup_slots_max: int = 24) -> None:
        self.genesis = entry(b"genesis", BLOCK, 0)
        self.tree = BlockTree(self.genesis, lookup_slots_max)
        self.view = View(self.tree, self.genesis)

    def grow(self, parent: Entry, *slots: int, name: bytes = b"") -> Entry:
        """A line of blocks at these slots; its last one."""
        for slot in slots:
            header = replace(BLOCK.header, parent=parent.hash, slot=slot)
            block = Block(header=header, extrinsic=BLOCK.extrinsic)
            parent = entry(name + b"%d upon %s" % (slot, parent.hash), block, parent.number + 1)
            self.tree.add(parent)
            self.view.see(parent)
        return parent


def entry(name: bytes, block: Block, number: int) -> Entry:
    made = StepReport(slot=block.header.slot, number=number)
    return Entry(block, blake2b(name), STATE, made)


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
    other = View(forest.tree, forest.genesis)
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
