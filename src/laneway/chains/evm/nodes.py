"""Several nodes as one source of facts: reads never go back in time while another node could tell.

A read goes to the next node when one cannot be reached, does not answer, answers nonsense or is
behind; never because of what it says of a nonce.
"""

from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

from laneway.chains.evm.endpoint import Endpoint
from laneway.core.errors import BadRequest, ChainError, ChainUnreachable, ChainUnreadable

T = TypeVar("T")


class Nodes:
    def __init__(self, endpoints: Sequence[Endpoint]) -> None:
        names = [endpoint.name for endpoint in endpoints]
        if not names:
            raise BadRequest("nodes", "a chain needs at least one node")
        if len(set(names)) < len(names):
            raise BadRequest("nodes", f"two nodes have one name: {', '.join(names)}")
        self.all = tuple(endpoints)

    def highest(self) -> int:
        """The number of the newest block that any node spoke of lately."""
        return max(node.binding_head() for node in self.all)

    async def read(self, ask: Callable[[Endpoint], Awaitable[T]], *, at_least: int = -1) -> T:
        """The first answer of a node that is not behind; `ask` notes the node's head.

        The only node is believed whatever its head is, unless the caller needs a certain block.
        """
        floor = max(at_least, self.highest())
        troubles: list[ChainError] = []
        for node in self._order(floor):
            try:
                seen = await ask(node)
            except ChainError as error:
                troubles.append(error)
                continue
            needed = at_least if len(self.all) == 1 else floor
            if node.head_number >= needed:
                return seen
            troubles.append(Behind(node.name, node.head_number, needed))
        # What all of them agree on is said; otherwise the one that says most of the trouble.
        worst = next((error for error in troubles if not isinstance(error, ChainUnreachable)), None)
        raise worst or troubles[0]

    def _order(self, floor: int) -> list[Endpoint]:
        """Those that are well and not known to be behind first, else as they were configured."""
        return sorted(self.all, key=lambda node: (node.is_resting(), node.head_number < floor))

    async def close(self) -> None:
        for node in self.all:
            await node.client.close()


class Behind(ChainUnreadable):
    """A node that has not seen a block which is known to exist."""

    code = "chain_behind"

    def __init__(self, node: str, head: int, needed: int) -> None:
        self.head = head
        self.needed = needed
        super().__init__(node, f"its newest block is {head}, and block {needed} is known")
