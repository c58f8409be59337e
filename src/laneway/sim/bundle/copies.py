"""A copy of the store that is put back later: after a disk died, or by an operator's mistake.

What was committed since the copy was made is forgotten, and true all the same: blocks that were
submitted since may land or be final, callers have answers that the store does not know, and they
send again what it does not have. A copy that is a few steps old is a last commit that was lost.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias

from laneway.sim.disks import MemoryDisk
from laneway.stores.memory import MemoryBook

if TYPE_CHECKING:
    from laneway.sim.bundle.world import RollupWorld

Undo: TypeAlias = Callable[[], None]

RENEWED = 0.15
"""How often in a slot the copy is made anew, so that it is of any age."""

PUT_BACK_MAX = 3
"""Copies that are put back in one world: each one begins what is open anew."""


class StoreCopies:
    """The newest copy of a world's store, with all that laws know of what it holds."""

    def __init__(self, world: "RollupWorld") -> None:
        self._world = world
        self._dice = world.plan.rng("copies")
        self._left = PUT_BACK_MAX
        self._undo: list[Undo] = []
        self.keepers: list[Callable[[], Undo]] = [self._keep_store, self._keep_logs]
        """What is copied with the store: each returns what puts its part back."""

    def act(self) -> None:
        """What happens in a slot, where copies are put back."""
        world = self._world
        if self._undo and self._left and self._dice.random() < world.plan.faults.restore:
            self._put_back()
        elif not self._undo or self._dice.random() < RENEWED:
            self._undo = [keep() for keep in self.keepers]

    def _put_back(self) -> None:
        world = self._world
        self._left -= 1
        world.seen["copy put back"] += 1
        world.note("the store is put back from a copy, and all processes start again")
        count = sum([process.alive for process in world.processes])
        for process in world.processes:
            process.end()
        committed = self._committed()
        for undo in self._undo:
            undo()
        world.seen["last commit lost"] += committed - self._committed() in (1, 2)
        self._undo = []
        for _ in range(max(1, count)):
            world.after(self._dice.randint(1, 400), "boot", world.boot)
        world.client.forgotten()

    def _committed(self) -> int:
        """How many commits the store holds."""
        book = self._world.book
        assert isinstance(book, MemoryBook)
        return len(book.entries)

    def _keep_store(self) -> Undo:
        disk = self._world.disk
        assert isinstance(disk, MemoryDisk)
        kept = disk.copy()

        def undo() -> None:
            disk.put_back(kept)
            self._world.book = disk.open()
            self._world.is_written = True

        return undo

    def _keep_logs(self) -> Undo:
        """A receiver is notified again of what the store forgot, and gives ids anew. Receivers keep
        all that they received, by its keys."""
        logs = (self._world.user_log, self._world.builder_log)
        kept = [dict(log.tells) for log in logs]

        def undo() -> None:
            for log, tells in zip(logs, kept, strict=True):
                log.tells = dict(tells)

        return undo
