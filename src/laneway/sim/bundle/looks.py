"""Looks while two nodes disagree, at their worst: as when each of them can be asked now and then.

Where both answer, the adapter takes no end of a package and no line that the other one contradicts
(`chains/jam/verdicts.py`), and so do these looks. In all else the adapter compares more than they
do (`chains/jam/agreement.py`): here one node is believed about which blocks there are, what is
final and what a package is on its way, and where the other one cannot be asked, about its end.

Of one thing worlds know nothing: a line that a node makes up while no other one can be asked. The
adapter believes it, and the lane gives up blocks that may land; an intent of such a block can be
cancelled then, and be executed all the same. So such a line is left out of the look here.
"""

from collections import Counter
from collections.abc import Callable, Sequence

from msgspec.structs import replace

from laneway.chains.jam.ends import Facts, are_same, first_shown
from laneway.core.errors import ChainUnreachable, ChainUnreadable
from laneway.core.jam import (
    Failed,
    JamBlockRef,
    JamBlocksSeen,
    LineAsked,
    LineSeen,
    Watched,
)
from laneway.devnets.jam.model.values import BlockUnavailable
from laneway.sim.bundle.doubts import WITHOUT_RECORDS, Doubt, DoubtfulView
from laneway.sim.bundle.maker import Maker
from laneway.sim.bundle.node_view import NodeView
from laneway.sim.bundle.probes import Probes


class ComparedLooks:
    """One process's looks. `is_reached` says of a node whether it answers now."""

    def __init__(
        self, probes: Probes, maker: Maker, is_reached: Callable[[int], bool], seen: Counter[str]
    ) -> None:
        self._probes = probes
        self._maker = maker
        self._is_reached = is_reached
        self._seen = seen

    def look(
        self,
        known: Sequence[JamBlockRef],
        packages: Sequence[Watched],
        limit: int,
        line: LineAsked | None = None,
    ) -> JamBlocksSeen:
        """By the first node that no other contradicts."""
        trouble = ChainUnreachable("the nodes", "lost on the way")
        error: ChainUnreachable | ChainUnreadable = trouble
        for view in self._probes.answering(self._is_reached):
            try:
                return self._look(view, known, packages, limit, line)
            except ChainUnreadable as problem:
                self._seen["a node was contradicted"] += 1
                error = problem
        self._seen["look failed"] += 1
        raise error

    def _look(
        self,
        view: NodeView,
        known: Sequence[JamBlockRef],
        packages: Sequence[Watched],
        limit: int,
        line: LineAsked | None,
    ) -> JamBlocksSeen:
        if isinstance(view, DoubtfulView):
            if not view.has_state(view.head().best):
                raise ChainUnreadable(view.name, "no state of its best block")
            self._seen[f"a node showed {view.doubt.value}"] += 1
        found = view.look(known, packages, limit, line)
        self._check_ends(view, found, packages)
        if found.line is None or line is None or line.expects(found.line):
            return found
        return replace(found, line=self._confirmed(view, found.line, line))

    def _check_ends(
        self, view: NodeView, found: JamBlocksSeen, packages: Sequence[Watched]
    ) -> None:
        """Each end at the block that is the first to show it. A node without records contradicts
        nobody."""
        for block, ends in first_shown(found.blocks):
            self._check_at(view, block, ends, packages)

    def _check_at(
        self, view: NodeView, block: JamBlockRef, ends: Facts, packages: Sequence[Watched]
    ) -> None:
        ended = [one for one in packages if one.package_hash in ends]
        for other in self._probes.others(view, self._is_reached):
            if isinstance(other, DoubtfulView) and other.doubt in WITHOUT_RECORDS:
                continue
            try:
                shown = other.shown(block, ended)
            except BlockUnavailable:
                continue
            if not shown.is_readable:
                continue
            if are_same(ends, {one.package_hash: one.fact for one in shown.seen}):
                return
            raise ChainUnreadable(view.name, f"{other.name} shows another end of a package")
        if isinstance(view, DoubtfulView) and view.doubt is Doubt.FALSE_DEATHS:
            self._seen["a false death was believed"] += 1
            self._maker.lost |= {
                name: None for name, fact in ends.items() if isinstance(fact, Failed)
            }

    def _confirmed(self, view: NodeView, found: LineSeen, line: LineAsked) -> LineSeen | None:
        for other in self._probes.others(view, self._is_reached):
            try:
                shown = other.line(found.at, line)
            except BlockUnavailable:
                continue
            self._seen["a line was not confirmed"] += shown != found
            return found if shown == found else None
        if isinstance(view, DoubtfulView) and view.doubt is Doubt.FALSE_LINE:
            self._seen["a false line was left out"] += 1
            return None
        return found
