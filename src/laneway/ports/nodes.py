"""How the nodes of a chain stand, for everything that shows it: an adapter keeps it, and nothing
that decides reads it."""

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from msgspec import Struct

UNREACHABLE = "node_unreachable"
"""It refuses connections, or does not answer."""
WRONG_CHAIN = "wrong_chain"
"""It answers for another chain than the configured one."""
UNREADABLE = "node_unreadable"
"""It answers, but not as a node of this kind does."""
BUSY = "node_busy"
"""It asks for fewer requests."""


class NodeStanding(Struct, frozen=True):
    """What came of the last question to one node."""

    node: str
    """Its address, without secrets."""
    trouble: str = ""
    """One of the names above; empty while it answers."""
    problem: str = ""
    """What is wrong, with its operands, to be read after the address."""
    since_ms: int = 0
    """Since when, by the wall clock; 0 while it answers."""

    def words(self) -> str:
        return f"node {self.node} {self.problem}"


@runtime_checkable
class NodesKnown(Protocol):
    """A chain's adapter that keeps how each of its nodes stands."""

    def standings(self) -> Sequence[NodeStanding]: ...

    async def probe(self, timeout_ms: int, heard_ms: int) -> None:
        """Ask each node for its chain, unless it answered within the last `heard_ms`. It raises
        nothing: what came of it is in the standings."""


@runtime_checkable
class Witnessed(Protocol):
    """An adapter whose nodes do not name their chain."""

    witness: tuple[str, int] | None
    """A contract and a block of it that was seen; None while none is known."""
