"""Several EVM nodes: reads of one, of each, and of all that answer in time."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

from laneway.chains.evm.endpoint import EvmEndpoint
from laneway.chains.evm.limits import READ_GRACE_MS
from laneway.chains.nodes import NodeSet, gathered, worst_of
from laneway.core.errors import ChainError
from laneway.core.majority import final_quorum, look_quorum, reached
from laneway.wire.jsonrpc import RpcAnswerLost

T = TypeVar("T")


class EvmNodes(NodeSet[EvmEndpoint]):
    def highest(self) -> int:
        """The newest block that enough nodes spoke of lately. A head that no other node has does
        not make the others lag; of two nodes nobody can say which one is right, and the newer is
        taken."""
        return reached([node.binding_head() for node in self.all], look_quorum(len(self.all)))

    async def each(self, ask: Callable[[EvmEndpoint], Awaitable[T]]) -> list[T]:
        """The answers of all nodes that give one in time, in the order of the nodes.

        Those that failed lately are left alone while the others are a majority.
        """
        well = [node for node in self.all if not node.is_resting()]
        asked = well if len(well) >= final_quorum(len(self.all)) else self.all
        answers: dict[str, T] = {}

        async def ask_one(node: EvmEndpoint) -> None:
            try:
                answers[node.name] = await ask(node)
            except ChainError:
                pass
            except asyncio.CancelledError:
                node.rest_failed(RpcAnswerLost(node.name, "it is slower than the others"))
                raise

        await gathered(map(ask_one, asked), READ_GRACE_MS / 1000)
        return [answers[node.name] for node in asked if node.name in answers]

    async def answers(
        self, ask: Callable[[EvmEndpoint], Awaitable[T]], *, grace_ms: int
    ) -> list[T]:
        """The answers that come no later than `grace_ms` after the first one, in the order of the
        nodes; there is at least one. Those that failed a moment ago are asked only where no other
        is left."""
        asked = [node for node in self.all if not node.is_resting()] or list(self.all)
        if len(asked) == 1:
            return [await self.read(ask)]
        ended = await gathered(map(ask, asked), grace_ms / 1000)
        found = [one for one in ended if not isinstance(one, ChainError)]
        if found:
            return found
        if len(asked) < len(self.all):
            return [await self.read(ask)]
        raise worst_of([one for one in ended if isinstance(one, ChainError)])
