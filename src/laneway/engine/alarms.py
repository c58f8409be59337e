"""When each lane must be woken: one heap entry a lane, nothing to cancel and nothing to lose.

An entry is moved only when it comes due too early, so a lane that sets a later deadline with
every job costs no entry at all.
"""

import heapq

from laneway.core.ids import LaneId
from laneway.engine.limits import ALARMS_SPARE_MAX
from laneway.engine.run import Run


class Alarms:
    """The next wake-up of every lane held."""

    def __init__(self, runs: dict[LaneId, Run]) -> None:
        self._runs = runs
        self._heap: list[tuple[int, LaneId]] = []

    def __len__(self) -> int:
        return len(self._heap)

    def set(self, run: Run, at_ms: int) -> None:
        """Wake this lane at `at_ms` at the latest."""
        if run.heap_ms is not None and run.heap_ms <= at_ms:
            return
        run.heap_ms = at_ms
        heapq.heappush(self._heap, (at_ms, run.id))
        if len(self._heap) > 2 * len(self._runs) + ALARMS_SPARE_MAX:
            self._compact()

    def next_ms(self) -> int | None:
        """When the first lane must be woken; entries that nobody waits for go away here."""
        heap = self._heap
        while heap:
            at_ms, lane = heap[0]
            run = self._runs.get(lane)
            if run is not None and run.heap_ms == at_ms:
                if run.wakes():
                    return at_ms
                run.heap_ms = None
            heapq.heappop(heap)
        return None

    def due(self, now_ms: int) -> list[Run]:
        """The lanes whose entry has come due; each must be set again if it still waits."""
        heap = self._heap
        due: list[Run] = []
        while heap and heap[0][0] <= now_ms:
            at_ms, lane = heapq.heappop(heap)
            run = self._runs.get(lane)
            if run is not None and run.heap_ms == at_ms:
                run.heap_ms = None
                due.append(run)
        return due

    def clear(self) -> None:
        self._heap.clear()

    def _compact(self) -> None:
        """Drop entries of lanes that were given up; what is left is at most one a lane."""
        runs = self._runs.values()
        self._heap = [(run.heap_ms, run.id) for run in runs if run.heap_ms is not None]
        heapq.heapify(self._heap)
