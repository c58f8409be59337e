"""How the nodes of this process's chains stand, beside everything that is shown of their lanes.

A lane that has work asks its nodes all the time, so a node that fails is known within two polls. A
lane that rests asks nothing: its nodes are asked when readiness is, and by `laneway up` at its
start and every half minute.
"""

import asyncio
from collections.abc import Mapping, Sequence

from laneway.core.errors import LaneNotFound
from laneway.core.ids import LaneId, lane_kind
from laneway.kinds.limits import PROBE_EVERY_MS, PROBE_S_MAX
from laneway.kinds.outlook import Outlook, joined, outlook_of
from laneway.kinds.served import Served
from laneway.ports.nodes import NodesKnown, NodeStanding
from laneway.wire.values import Check


class ProcessNodes:
    """The chains of one process, by the names of their checks."""

    def __init__(self, kinds: Mapping[str, Served]) -> None:
        self._kinds = kinds

    def _looks(self) -> list[Outlook]:
        return [
            outlook_of(chain) for kind in self._kinds.values() for chain in kind.chains().values()
        ]

    def of(self, lane: LaneId) -> Outlook:
        """Of the chain that a lane works on; of one that is not configured nothing is known."""
        kind = self._kinds.get(lane_kind(lane))
        try:
            return Outlook() if kind is None else outlook_of(kind.chain(lane))
        except LaneNotFound:
            return Outlook()

    def bad(self) -> list[NodeStanding]:
        """All that fail."""
        return [one for look in self._looks() for one in look.bad]

    def checks(self, known: Sequence[Check]) -> list[Check]:
        """Whether each chain has a node that answers, beside what is `known` of some."""
        found = {check.name: check for check in known}
        for kind in self._kinds.values():
            for name, chain in kind.chains().items():
                look, check = outlook_of(chain), found.get(name)
                if check is None:
                    found[name] = kind.node_check(name, look)
                elif look.bad:
                    ok = check.ok and not look.is_blocked()
                    found[name] = Check(name, ok, joined(look.words(), check.what))
        return list(found.values())

    async def probe(self, heard_ms: int = PROBE_EVERY_MS) -> None:
        """Ask every node that has not answered for this long; their standings hold the result."""
        chains = [one for kind in self._kinds.values() for one in kind.chains().values()]
        known = [one for one in chains if isinstance(one, NodesKnown)]
        # Of a chain without a node that answers each is asked again, whatever it answered lately.
        asked = [(one, 0 if outlook_of(one).is_blocked() else heard_ms) for one in known]
        await asyncio.gather(*(one.probe(int(1000 * PROBE_S_MAX), since) for one, since in asked))

    def is_blocked_since(self, at_ms: int) -> bool:
        """Whether the last node of some chain has failed after this time."""
        bad = [one for look in self._looks() if look.is_blocked() for one in look.bad]
        return any(one.since_ms > at_ms for one in bad)
