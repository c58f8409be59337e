"""What a crash leaves of a store: all that was flushed (S1), or what a disk kept (S2)."""

from copy import deepcopy
from random import Random

from laneway.stores.book import Book
from laneway.stores.memory import MemoryBook


class MemoryDisk:
    """A store that outlives processes. A group that was handed over when its process died is kept:
    nobody was answered, and it is true."""

    def __init__(self) -> None:
        self._book = MemoryBook()

    def open(self) -> Book:
        return self._book

    def crash(self) -> None:
        self._book.sync()

    def close(self) -> None:
        pass

    def copy(self) -> MemoryBook:
        """All that is in the store now."""
        return deepcopy(self._book)

    def put_back(self, book: MemoryBook) -> None:
        """The store is this copy from now on."""
        self._book = book


class SqliteDisk:
    """The real SQLite store on a disk that drops or tears what was not synced."""

    def __init__(self, seed: int) -> None:
        from laneway.sim.disk import SimDisk

        self._dice = Random(f"{seed}/disk")
        self._disk = SimDisk()
        self._books: list[Book] = []

    def open(self) -> Book:
        from laneway.stores.sqlite import SqliteBook

        book = SqliteBook("world.db", vfs=self._disk.name, exclusive=True)
        self._books.append(book)
        return book

    def crash(self) -> None:
        self._disk.crash(self._dice)

    def close(self) -> None:
        self._disk.close()
