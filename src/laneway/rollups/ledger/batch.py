"""Which transfers of a batch make a block, and in which order.

They keep the order of the batch, with one exception: a transfer that comes before
another of its sender with a lower nonce stands right after that one. What cannot be in the block
now may be in a later one (its nonce is too high), or in none (its nonce was used).
"""

from collections.abc import Callable, Sequence

from msgspec import Struct

from laneway.rollups.ledger.account import AMOUNT_MAX
from laneway.rollups.ledger.transfer import Transfer, account_id


class Arranged(Struct, frozen=True):
    """Places in the batch."""

    inside: tuple[int, ...]
    """In the order of the block."""
    used: dict[int, int]
    """Those whose nonce was used, with the nonce that is next."""
    early: dict[int, int]
    """Those whose nonce is too high, with the nonce that is next."""


def arranged(transfers: Sequence[Transfer], next_nonce: Callable[[bytes], int]) -> Arranged:
    """Each transfer once; signatures are not looked at. `next_nonce` is of an account's id, before
    the block."""
    batch = _Batch(transfers, next_nonce)
    for place in range(len(transfers)):
        batch.take(place)
    return batch.close()


class _Batch:
    def __init__(self, transfers: Sequence[Transfer], next_nonce: Callable[[bytes], int]) -> None:
        self._transfers = transfers
        self._next_nonce = next_nonce
        self._next: dict[bytes, int] = {}
        """By sender, with what is inside."""
        self._waiting: dict[tuple[bytes, int], list[int]] = {}
        self._inside: list[int] = []
        self._used: dict[int, int] = {}

    def take(self, place: int) -> None:
        transfer = self._transfers[place]
        sender, nonce = transfer.sender, transfer.nonce
        following = self._following(sender)
        if nonce > following:
            self._waiting.setdefault((sender, nonce), []).append(place)
        elif nonce < following or nonce == AMOUNT_MAX:
            # The last nonce of all is never used: there is no next one to say that it was.
            self._used[place] = following
        else:
            self._put(sender, place)

    def close(self) -> Arranged:
        early: dict[int, int] = {}
        for (sender, nonce), places in self._waiting.items():
            following = self._next[sender]
            for place in places:
                (self._used if nonce < following else early)[place] = following
        return Arranged(tuple(self._inside), self._used, early)

    def _following(self, sender: bytes) -> int:
        found = self._next.get(sender)
        if found is None:
            found = self._next[sender] = self._next_nonce(account_id(sender))
        return found

    def _put(self, sender: bytes, place: int) -> None:
        """It is inside, and with it those that waited for it."""
        while True:
            self._inside.append(place)
            self._next[sender] += 1
            waiting = self._waiting.get((sender, self._next[sender]))
            if not waiting or self._next[sender] == AMOUNT_MAX:
                return
            place = waiting.pop(0)
