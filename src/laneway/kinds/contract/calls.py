"""The library's short forms for contracts."""

from collections.abc import Sequence

from laneway.core.errors import BadRequest
from laneway.kinds.contract.served import SETTLED, ContractServed
from laneway.kinds.handle import Handle
from laneway.kinds.served import Calls
from laneway.lanes.contract.show import QueueMetrics
from laneway.ports import ContractCall, ContractHost


class ContractCalls(Calls):
    """A contract is named by itself, without `contract:`."""

    @property
    def contracts(self) -> ContractServed:
        return self._served(ContractServed)

    async def submit_many(
        self, calls: Sequence[ContractCall], keys: Sequence[str | None] | None = None
    ) -> list[Handle]:
        """Queue a batch in one write; returns when all of it is durable.

        A call that the door refuses does not take the others with it: its handle has the
        `refusal`, and asking it for a result raises that.
        """
        return await self.contracts.submit_many(calls, keys)

    async def settle(self, intent: str, word: str, *, reason: str = "", by: str = "") -> None:
        """Settle an execution that halted its lane: executed, not_executed or skip."""
        if word not in SETTLED:
            raise BadRequest("word", "one of executed, not_executed, skip")
        await self.command(intent, "settle", word, reason=reason, by=by)

    async def metrics(self) -> list[QueueMetrics]:
        """The seed's metrics, one row a contract."""
        return await self.contracts.queues()

    @property
    def host(self) -> ContractHost:
        """Who executes contracts."""
        return self.contracts.host
