"""Blocks that are executed once more without being an order: final ones that others brought, and
open ones whose states are not here.

Each has the time of an order, and a thread is left with one that takes longer. It is not begun a
second time while it goes on, so that no more threads are left with it; and if it ends after all,
its state is taken.
"""

from concurrent.futures import Future
from functools import partial
from typing import Generic

from laneway.builder.execution import FIX_RULES, replayed
from laneway.builder.jobs import settle
from laneway.builder.orders import guarded
from laneway.builder.snapshots import Snapshot
from laneway.builder.thread import BuilderThread, TooLong
from laneway.core.errors import BuildFailed
from laneway.rollups.rules import B, RollupRules, S, SealedBlock


class Replays(Generic[S, B]):
    def __init__(self, rollup: RollupRules[S, B], thread: BuilderThread) -> None:
        self._rollup = rollup
        self._thread = thread
        self._late: dict[bytes, Future[Snapshot[S, B]]] = {}
        """Blocks that took too long, by their hash."""

    async def made(self, ground: Snapshot[S, B], sealed: SealedBlock, block: B) -> Snapshot[S, B]:
        """The snapshot of a block on the one before it. BuildFailed names a block that takes too
        long, and needs help: only other rules end that."""
        late = self._late.pop(sealed.hash, None)
        if late is None:
            return await self._begun(ground, sealed, block)
        if late.done():
            return late.result()
        raise self._left(sealed, late)

    async def _begun(self, ground: Snapshot[S, B], sealed: SealedBlock, block: B) -> Snapshot[S, B]:
        answer: Future[Snapshot[S, B]] = Future()
        replay = partial(replayed, self._rollup, ground, block)

        def run() -> Snapshot[S, B]:
            settle(answer, partial(guarded, replay, final=False))
            return answer.result()

        try:
            return await self._thread.in_time(run)
        except TooLong as error:
            raise self._left(sealed, answer) from error

    def _left(self, sealed: SealedBlock, answer: Future[Snapshot[S, B]]) -> BuildFailed:
        self._late = {name: one for name, one in self._late.items() if not one.done()}
        self._late[sealed.hash] = answer
        problem = f"block {sealed.number} is on the line, and takes too long to execute here"
        return BuildFailed(f"{problem}; {FIX_RULES}", needs_help=True)
