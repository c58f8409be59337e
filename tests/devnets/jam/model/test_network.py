from tests.devnets.jam.model.test_tree import Forest

from laneway.devnets.jam.model.faults import Faults, JamFault
from laneway.devnets.jam.model.network import Network
from laneway.devnets.jam.model.tree import TreeEntry
from laneway.devnets.jam.model.values import ReportedWork

PACKAGE = b"p" * 32


class World:
    """A network of two nodes on a tree that grows."""

    def __init__(self) -> None:
        self.forest = Forest()
        self.faults = Faults()
        self.network = Network(self.forest.tree, self.forest.genesis, 2, self.faults)
        self.clock = 0

    def grow(self, parent: TreeEntry, slot: int, side: int = 0, *packages: bytes) -> TreeEntry:
        made = self.forest.grow(parent, slot)
        made.made = type(made.made)(
            slot=slot,
            number=made.number,
            reported=tuple(ReportedWork(one, 0, b"") for one in packages),
        )
        self.clock = max(self.clock, slot)
        self.network.spread(made, side, self.clock)
        return made

    def best(self, node: int) -> TreeEntry:
        return self.network.follow(node, self.clock).view.best


def test_everybody_sees_a_block_at_once() -> None:
    world = World()
    made = world.grow(world.forest.genesis, 1)
    assert world.best(0) is world.best(1) is world.network.sides[0].best is made


def test_a_lagging_node_sees_blocks_late() -> None:
    world = World()
    world.faults.lag_slots = {1: 2}
    first = world.grow(world.forest.genesis, 1)
    second = world.grow(first, 2)
    assert (world.best(0), world.best(1)) == (second, world.forest.genesis)
    assert world.faults.bites[JamFault.LAG] == 2
    world.clock = 3
    assert world.best(1) is first
    world.faults.lag_slots = {}
    assert world.best(1) is second


def test_a_node_with_a_slow_clock_takes_no_block_from_its_future() -> None:
    world = World()
    world.faults.skew_slots = {0: -1, 1: 5}
    first = world.grow(world.forest.genesis, 1)
    assert (world.best(0), world.best(1)) == (world.forest.genesis, first)
    assert world.faults.bites[JamFault.SKEW] == 1
    world.clock = 2
    assert world.best(0) is first


def test_a_hidden_block_hides_what_stands_upon_it() -> None:
    world = World()
    first = world.forest.grow(world.forest.genesis, 1)
    world.faults.hidden_blocks = {1: {first.hash}}
    world.clock = 1
    world.network.spread(first, 0, 1)
    second = world.grow(first, 2)
    assert (world.best(0), world.best(1)) == (second, world.forest.genesis)
    assert world.faults.bites[JamFault.HIDDEN_BLOCK] == 1
    world.faults.hidden_blocks = {}
    assert world.best(1) is second


def test_a_node_may_not_see_who_reports_a_package_and_sees_another_fork() -> None:
    world = World()
    world.faults.hidden_reports = {1: {PACKAGE}}
    first = world.grow(world.forest.genesis, 1, 0, PACKAGE)
    other = world.grow(world.forest.genesis, 2)
    assert (world.best(0), world.best(1)) == (first, other)
    assert world.faults.bites[JamFault.HIDDEN_REPORT] == 1


def test_what_was_seen_is_not_taken_back() -> None:
    world = World()
    first = world.grow(world.forest.genesis, 1)
    assert world.best(1) is first
    world.faults.hidden_blocks = {1: {first.hash}}
    world.faults.lag_slots = {1: 9}
    assert world.best(1) is first


def test_a_node_follows_finality_as_far_as_it_sees() -> None:
    world = World()
    network, tree = world.network, world.forest.tree
    world.faults.lag_slots = {1: 2}
    first = world.grow(world.forest.genesis, 1)
    second = world.grow(first, 2)
    third = world.grow(second, 3)
    tree.finalise(third)
    network.sides[0].finalise(third)
    assert network.follow(0, 3).view.final is third
    assert network.follow(1, 3).view.final is first
    assert network.follow(1, 3).view.final is first
    assert network.lowest_final() == 1
    network.forget([world.forest.genesis])
    assert world.forest.genesis.hash not in network.nodes[1].view.seen


def test_the_sides_of_a_partition_see_their_own_blocks_until_it_heals() -> None:
    world = World()
    network = world.network
    first = world.grow(world.forest.genesis, 1)
    network.partition([[0, 1], [2, 3]], {1: 1}, 1)
    assert [network.side_of(validator) for validator in range(5)] == [0, 0, 1, 1, 0]
    assert network.members(1)(2)
    assert not network.members(1)(0)
    left = world.grow(first, 2, 0)
    right = world.grow(world.grow(first, 3, 1), 4, 1)
    assert (world.best(0), world.best(1)) == (left, right)
    assert network.sides[0].best is left
    network.heal(4)
    assert world.best(0) is world.best(1) is network.sides[0].best is right
    assert network.side_of(2) == 0


def test_one_partition_may_follow_another() -> None:
    world = World()
    first = world.grow(world.forest.genesis, 1)
    world.network.partition([[0], [1]], {}, 1)
    second = world.grow(first, 2, 1)
    world.network.partition([[1], [0]], {}, 2)
    assert all(view.best is second for view in world.network.sides)


def test_a_preferred_block_leads_everywhere() -> None:
    world = World()
    world.grow(world.grow(world.forest.genesis, 1), 2)
    other = world.grow(world.forest.genesis, 3)
    world.network.prefer(other)
    assert world.best(0) is world.best(1) is world.network.sides[0].best is other
