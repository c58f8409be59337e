"""The pool's door, and what people ask of it. The pool itself is the lane's backlog: nothing waits
here, and what is remembered of transactions is their hashes."""

from collections.abc import Callable, Iterable
from threading import Lock
from typing import TypeAlias

from msgspec import Struct

from laneway.builder.limits import KNOWN_HASHES_MAX

Check: TypeAlias = Callable[[bytes], bytes]
"""The hash of a transaction; BadRequest for one that can be in no block any more."""

WAITING = "waiting"
BUILT = "built"
REMOVED = "removed"


class PoolView(Struct, frozen=True, kw_only=True):
    """As far as this process has seen them."""

    waiting: int
    """Let in, and in no block yet."""
    built: int
    """In a block that is not accumulated."""
    removed: int
    """In a block that is accumulated: they come back if that is taken back before it is final."""


class Pool:
    """Transactions by their hashes; the oldest are forgotten first. The door is asked by one
    thread, and another one notifies it of what becomes of blocks."""

    def __init__(self, check: Check, most: int = KNOWN_HASHES_MAX) -> None:
        self._check = check
        self._most = most
        self._places: dict[bytes, str] = {}
        self._counts = {WAITING: 0, BUILT: 0, REMOVED: 0}
        self._lock = Lock()

    def check(self, raw: bytes) -> bytes:
        """Let a transaction in: its hash, by which it is asked for. BadRequest says why not."""
        hashed = self._check(raw)
        with self._lock:
            if hashed not in self._places:
                self._put(hashed, WAITING)
        return hashed

    def view(self) -> PoolView:
        with self._lock:
            return PoolView(**self._counts)

    def is_known(self, hashed: bytes) -> bool:
        return hashed in self._places

    # What becomes of blocks. Each says of how many that was news.

    def built(self, hashes: Iterable[bytes]) -> int:
        """They are in a block. One that is in an accumulated block, too, stays there."""
        return self._move(hashes, BUILT, but=REMOVED)

    def removed(self, hashes: Iterable[bytes]) -> int:
        """Their block is accumulated."""
        return self._move(hashes, REMOVED)

    def restored(self, hashes: Iterable[bytes]) -> int:
        """That was taken back."""
        return self._move(hashes, BUILT)

    def returned(self, hashes: Iterable[bytes]) -> int:
        """Their block failed, and they wait for another."""
        return self._move(hashes, WAITING)

    def refused(self, hashes: Iterable[bytes]) -> int:
        """They can be in no block. What is in one already came twice, and stays there."""
        with self._lock:
            waiting = [one for one in hashes if self._places.get(one) == WAITING]
            return sum([self._drop(hashed) for hashed in waiting])

    def forget(self, hashes: Iterable[bytes]) -> int:
        """Their block is final."""
        with self._lock:
            return sum([self._drop(hashed) for hashed in hashes])

    def _move(self, hashes: Iterable[bytes], place: str, but: str = "") -> int:
        count = 0
        with self._lock:
            for hashed in hashes:
                # What is no transaction has no hash.
                if hashed and self._places.get(hashed) not in (place, but):
                    self._drop(hashed)
                    self._put(hashed, place)
                    count += 1
        return count

    def _put(self, hashed: bytes, place: str) -> None:
        if len(self._places) >= self._most:
            self._drop(next(iter(self._places)))
        self._places[hashed] = place
        self._counts[place] += 1

    def _drop(self, hashed: bytes) -> bool:
        place = self._places.pop(hashed, None)
        if place is None:
            return False
        self._counts[place] -= 1
        return True
