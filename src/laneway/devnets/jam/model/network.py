"""Which blocks are seen, and when: by the sides of a partition, and by the nodes of builders.

Validators of one side see a block at once. A node is on one side, and may see its blocks late, or
not: nothing that it has seen is taken back.
"""

from collections.abc import Callable, Mapping, Sequence

from laneway.devnets.jam.model.faults import Faults, JamFault
from laneway.devnets.jam.model.tree import BlockTree, TreeEntry, TreeView


class NetworkNode:
    """A node: its own view, and the blocks of its side that it has not seen."""

    def __init__(self, view: TreeView) -> None:
        self.view = view
        self.side = 0
        self.waiting: list[TreeEntry] = []


class Network:
    def __init__(self, tree: BlockTree, genesis: TreeEntry, nodes: int, faults: Faults) -> None:
        self._tree = tree
        self._faults = faults
        self._sides_of: dict[int, int] = {}
        """Of the validators that are not on the first side."""
        self.sides = [TreeView(tree, genesis)]
        self.nodes = [NetworkNode(TreeView(tree, genesis)) for _ in range(nodes)]

    def side_of(self, validator: int) -> int:
        return self._sides_of.get(validator, 0)

    def members(self, side: int) -> Callable[[int], bool]:
        """Whether a validator is on this side."""
        return lambda validator: self.side_of(validator) == side

    def partition(
        self, groups: Sequence[Sequence[int]], nodes: Mapping[int, int], clock: int
    ) -> None:
        self.heal(clock)
        whole = self.sides[0]
        self.sides = [whole, *(whole.copy() for _ in groups[1:])]
        self._sides_of = {
            validator: side for side, group in enumerate(groups) for validator in group
        }
        for place, node in enumerate(self.nodes):
            node.side = nodes.get(place, 0)
            assert 0 <= node.side < len(self.sides)

    def heal(self, clock: int) -> None:
        whole = self.sides[0]
        for other in self.sides[1:]:
            whole.seen.update(other.seen)
        self.sides = [whole]
        self._sides_of = {}
        whole.final = self._tree.final
        whole.choose()
        for place, node in enumerate(self.nodes):
            node.side = 0
            node.waiting = [
                one
                for one in self._tree
                if one.hash in whole.seen and one.hash not in node.view.seen
            ]
            self.follow(place, clock)

    def spread(self, entry: TreeEntry, side: int, clock: int) -> None:
        """Show a new block to everybody on a side."""
        self.sides[side].see(entry)
        for place, node in enumerate(self.nodes):
            if node.side == side:
                node.waiting.append(entry)
                fault = self._hidden_by(place, entry, clock)
                if fault is not None:
                    self._faults.bit(fault)

    def prefer(self, entry: TreeEntry | None) -> None:
        for view in self._views():
            view.prefer(entry)

    def follow(self, place: int, clock: int) -> NetworkNode:
        """The node after it has seen what it may see by now."""
        node = self.nodes[place]
        if node.waiting:
            node.waiting = [one for one in node.waiting if not self._is_seen(place, one, clock)]
        final = self.sides[node.side].final
        if final is not node.view.final:
            # The newest final block that the node has seen, at least the one it knows to be final.
            newest = next(one for one in self._tree.lineage(final) if one.hash in node.view.seen)
            if newest is not node.view.final:
                node.view.finalise(newest)
        return node

    def lowest_final(self) -> int:
        """The height below which nobody looks."""
        return min(view.final.number for view in self._views())

    def forget(self, gone: Sequence[TreeEntry]) -> None:
        for view in self._views():
            for entry in gone:
                view.forget(entry.hash)

    def _views(self) -> tuple[TreeView, ...]:
        return (*self.sides, *(node.view for node in self.nodes))

    def _is_seen(self, place: int, entry: TreeEntry, clock: int) -> bool:
        view = self.nodes[place].view
        if entry.parent not in view.seen or self._hidden_by(place, entry, clock) is not None:
            return False
        view.see(entry)
        return True

    def _hidden_by(self, place: int, entry: TreeEntry, clock: int) -> JamFault | None:
        faults = self._faults
        if entry.hash in faults.hidden_blocks.get(place, ()):
            return JamFault.HIDDEN_BLOCK
        packages = faults.hidden_reports.get(place, ())
        if any(one.package_hash in packages for one in entry.made.reported):
            return JamFault.HIDDEN_REPORT
        if entry.slot + faults.lag_slots.get(place, 0) > clock:
            return JamFault.LAG
        if entry.slot > clock + faults.skew_slots.get(place, 0):
            return JamFault.SKEW
        return None
