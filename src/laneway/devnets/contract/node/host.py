"""The contract devnet inside the process: a host on the event loop, without a socket.

`Rounds` drives a chain by the loop's clock and is shared with the socket. A chain has one driver
at a time; after `close` the next one goes on where it stopped.
"""

import asyncio
from collections.abc import Callable

from laneway.core.errors import ChainUnreachable
from laneway.core.outcome import Outcome
from laneway.devnets.contract.journal import BlockJournal
from laneway.devnets.contract.model import ContractChain, RequestFault, RoundEnded
from laneway.ports import ChainFinding, ContractCall, Execution, HostTraits

CONFLICT = Execution(Outcome.REFUSED, stale=True, reason="the parent is no longer the latest block")
FAILED = Execution(Outcome.REFUSED, reason="the consensus failed; nothing was written")
CLOSED = Execution(Outcome.UNKNOWN, reason="the host was closed before an answer came")


class Rounds:
    """Runs a chain's rounds on the event loop: one timer, set to the next end."""

    def __init__(self, chain: ContractChain, journal: BlockJournal | None = None) -> None:
        self._chain = chain
        self._journal = journal
        self._waiting: dict[int, _Request] = {}
        self._timer: asyncio.TimerHandle | None = None
        self._due_ms = 0
        self._now_ms = 0

    def run(
        self, call: ContractCall, parent: int | None, fault: RequestFault
    ) -> asyncio.Future[RoundEnded]:
        """Begin a request. The future is the end that is answered, or the last of the others."""
        loop = asyncio.get_running_loop()
        begun = self._chain.begin(call, parent, self.step(), fault)
        request = _Request(loop.create_future(), len(begun))
        for number in begun:
            self._waiting[number] = request
        self._arm(loop)
        return request.ended

    def step(self) -> int:
        """End the rounds that are due, which reads need; returns the time."""
        self._now_ms = max(self._now_ms, int(asyncio.get_running_loop().time() * 1000))
        self._end(self._chain.step(self._now_ms))
        return self._now_ms

    def restart(self) -> None:
        """The node dies and comes back: running rounds write nothing and answer nobody."""
        self._end(self._chain.restart(self.step()))

    def close(self) -> None:
        """Stop the clock; callers who still wait get an end that is not answered."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        waiting, self._waiting = self._waiting, {}
        for number, request in waiting.items():
            request.settle(RoundEnded(number, "", failed=True, is_answered=False))

    def _arm(self, loop: asyncio.AbstractEventLoop) -> None:
        next_ms = self._chain.next_ms()
        if next_ms is None or (self._timer is not None and self._due_ms <= next_ms):
            return
        if self._timer is not None:
            self._timer.cancel()
        self._due_ms = next_ms
        self._timer = loop.call_at(next_ms / 1000, self._fire, loop)

    def _fire(self, loop: asyncio.AbstractEventLoop) -> None:
        self._timer = None
        # A timer may fire a hair early and seconds are floats: it is due because it fired.
        self._now_ms = max(self._now_ms, self._due_ms)
        self._end(self._chain.step(self._now_ms))
        self._arm(loop)

    def _end(self, ended: list[RoundEnded]) -> None:
        if self._journal is not None:
            self._journal.write(self._chain, ended)
        for end in ended:
            # None: a round that an earlier driver of this chain began.
            request = self._waiting.pop(end.round, None)
            if request is not None:
                request.settle(end)


class _Request:
    """One request of a caller, delivered once or twice, answered once."""

    def __init__(self, ended: asyncio.Future[RoundEnded], open_count: int) -> None:
        self.ended = ended
        self._open_count = open_count

    def settle(self, end: RoundEnded) -> None:
        self._open_count -= 1
        # It may be done already: answered by the other delivery, or given up by its caller.
        if (end.is_answered or self._open_count == 0) and not self.ended.done():
            self.ended.set_result(end)


class EmbeddedHost:
    """A ContractHost over the model in this process. A caller without an answer waits for ever."""

    def __init__(
        self,
        chain: ContractChain,
        *,
        takes_parent: bool = True,
        fault: Callable[[ContractCall], RequestFault] | None = None,
        journal: BlockJournal | None = None,
    ) -> None:
        self.traits = HostTraits(takes_parent=takes_parent)
        self._journal = journal
        self._loaded = journal is None
        self._chain = chain
        self._fault = fault
        self._rounds = Rounds(chain, journal)
        self._closed = asyncio.Event()

    async def latest_block(self, contract: str) -> int:
        self._check_open()
        self._rounds.step()
        return self._chain.latest(contract)

    async def execute(self, call: ContractCall, parent: int) -> Execution:
        self._check_open()
        fault = RequestFault.NONE if self._fault is None else self._fault(call)
        named = parent if self.traits.takes_parent else None
        end = await self._rounds.run(call, named, fault)
        if not end.is_answered:
            # Silence is the fault's point; the caller has its own deadline.
            await self._closed.wait()
            return CLOSED
        return execution_of(end)

    async def find(self, call: ContractCall, parent: int) -> ChainFinding:
        self._check_open()
        self._rounds.step()
        block = self._chain.find(call, parent, self.traits.takes_parent)
        return ChainFinding(self._chain.latest(call.contract), block)

    def restart(self) -> None:
        """Kill all running rounds, as a restart of the node would."""
        self._rounds.restart()

    async def close(self) -> None:
        self._closed.set()
        self._rounds.close()
        if self._journal is not None:
            self._journal.close()

    def _check_open(self) -> None:
        if self._closed.is_set():
            raise ChainUnreachable("the embedded host", "it was closed")
        if not self._loaded:
            assert self._journal is not None
            # Not sooner: an earlier owner of the file may have lived until the database was ours.
            self._journal.load(self._chain)
            self._loaded = True


def execution_of(end: RoundEnded) -> Execution:
    """The execution that the end of a round proves to a caller who is answered."""
    if end.block is not None:
        return Execution(Outcome.ACCEPTED, block=end.block)
    if end.conflict:
        return CONFLICT
    if end.refused is not None:
        return Execution(Outcome.REFUSED, final=True, reason=end.refused)
    return FAILED
