"""Keeps the state after the newest final block beside the builder's file, now and then.

A state never changes, so a thread of its own writes it while blocks are built on it. What cannot be
written is logged and tried again with a later block: nothing depends on it while the file is there.
"""

import logging
import time
from collections.abc import Callable
from concurrent.futures import Future, wait
from functools import partial
from threading import Event
from typing import Generic

from laneway.builder.jobs import JobThread
from laneway.builder.limits import (
    CLOSE_FILE_S_MAX,
    STATE_AGE_S_MAX,
    STATE_BLOCKS_DEFAULT,
    STATE_PAUSE_S,
)
from laneway.builder.orders import guarded
from laneway.builder.past import newest
from laneway.builder.shelf import Shelf
from laneway.builder.snapshots import Snapshot
from laneway.builder.states import SavedState
from laneway.core.errors import BuildFailed, StoreError
from laneway.rollups.rules import B, RollupRules, S

log = logging.getLogger("laneway.builder")


class StateKeeper(Generic[S, B]):
    """Writes states beside the builder's file. It is called by one thread at a time."""

    def __init__(
        self,
        rollup: RollupRules[S, B],
        shelf: Shelf,
        base: int,
        *,
        blocks: int = STATE_BLOCKS_DEFAULT,
        age_s_max: float = STATE_AGE_S_MAX,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """`base`: the number of the newest final block. `blocks`: how many there are from one state
        to the next."""
        assert blocks > 0
        self._rollup = rollup
        self._shelf = shelf
        self._files = shelf.states
        self._about = shelf.identity() if shelf.states.is_kept() else None
        self._blocks = blocks
        self._age_s_max = age_s_max
        self._clock = clock
        self._number, self._tried_s = self._newest(base)
        """Of the newest state that was written, or could not be."""
        self._stop = Event()
        self._thread = JobThread("laneway-states")
        self._writing: Future[None] | None = None

    def offer(self, base: Snapshot[S, B]) -> None:
        """Write the state after the newest final block, if it is due and none is being written."""
        is_busy = self._writing is not None and not self._writing.done()
        if self._about is None or is_busy or not self._is_due(base.sealed.number):
            return
        self._number, self._tried_s = base.sealed.number, self._clock()
        self._writing = self._thread.submit(partial(self._write, base))

    def close(self) -> None:
        """Give up what is being written: it has no name yet."""
        self._stop.set()
        self._thread.shutdown()
        if self._writing is not None:
            wait((self._writing,), timeout=CLOSE_FILE_S_MAX)

    def _is_due(self, number: int) -> bool:
        if number - self._number >= self._blocks:
            return True
        return number > self._number and self._clock() - self._tried_s >= self._age_s_max

    def _newest(self, base: int) -> tuple[int, float]:
        """Number and time of the newest state of this rollup. One above the base is of a chain
        that began anew."""
        for number in self._files.numbers():
            try:
                about = self._files.about(number)
            except BuildFailed:
                continue  # It is damaged: another one is due.
            if number <= base and (about.kind, about.identity) == self._about:
                return number, self._files.saved_s(number)
        return 0, 0.0

    def _write(self, base: Snapshot[S, B]) -> None:
        try:
            guarded(partial(self._saved, base))
        except (BuildFailed, StoreError) as error:
            number = base.sealed.number
            log.warning("The state after block %d is not kept beside the file: %s", number, error)

    def _saved(self, base: Snapshot[S, B]) -> None:
        assert self._about is not None
        kind, identity = self._about
        state = SavedState(
            kind=kind,
            identity=identity,
            number=base.sealed.number,
            block=base.sealed.hash,
            root=base.sealed.post_root,
            payload=self._rollup.encode(base.block),
        )
        entries, past = self._rollup.entries(base.state), newest(self._shelf.past(state.number))
        self._files.save(state, entries, partial(self._stop.wait, STATE_PAUSE_S), past)
