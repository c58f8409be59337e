"""Looks while two nodes disagree, at their worst: as when each of them can be asked now and then.

The adapter lets less through (`chains/jam/agreement.py`, `verdicts.py`): where both answer it takes
no end of a package, no line and no final block that the other one contradicts. Here a package that
a node calls failed has no record on the other one either, and a line that is not as expected is
shown by both; all else is believed of one, and so is a death that the other node has no record
against, since the service takes one block of each number: the laws let another version of that
block go out.

Of one thing worlds know nothing: a line that a node makes up while no other one can be asked. The
adapter believes it, and the lane gives up blocks that may land; an intent of such a block can be
cancelled then, and be executed all the same. So such a line is left out of the look here.
"""

from collections import Counter
from collections.abc import Callable, Sequence

from msgspec.structs import replace

from laneway.core.errors import ChainUnreachable, ChainUnreadable
from laneway.core.jam import (
    Accumulated,
    Failed,
    JamBlockRef,
    JamBlocksSeen,
    LineAsked,
    LineSeen,
    ServiceRefused,
    Watched,
)
from laneway.devnets.jam.model.values import BlockUnavailable
from laneway.sim.bundle.doubts import Doubt, DoubtfulView
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
        self._check_deaths(view, found, packages)
        if found.line is None or line is None or line.expects(found.line):
            return found
        return replace(found, line=self._confirmed(view, found.line, line))

    def _check_deaths(
        self, view: NodeView, found: JamBlocksSeen, packages: Sequence[Watched]
    ) -> None:
        deaths = {
            one.package_hash: seen.block
            for seen in found.blocks
            for one in seen.seen
            if isinstance(one.fact, Failed)
        }
        if not deaths:
            return
        block = max(deaths.values(), key=lambda one: one.slot)
        dead = [one for one in packages if deaths.get(one.package_hash) == block]
        for other in self._probes.others(view, self._is_reached):
            try:
                shown = other.shown(block, dead)
            except BlockUnavailable:
                continue
            if not shown.is_readable:
                continue
            facts = [one.fact for one in shown.seen]
            if any(isinstance(fact, Accumulated | ServiceRefused) for fact in facts):
                raise ChainUnreadable(view.name, f"no record of a package, and {other.name} has it")
            break
        if isinstance(view, DoubtfulView) and view.doubt is Doubt.FALSE_DEATHS:
            self._seen["a false death was believed"] += 1
            self._maker.lost |= dict.fromkeys(deaths)

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
