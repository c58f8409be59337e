"""Which of the living processes a lane belongs to. Everyone computes the same, and nobody asks."""

from collections.abc import Sequence
from hashlib import blake2b

from laneway.core.ids import LaneId, Owner


def home(lane: LaneId, peers: Sequence[Owner]) -> Owner:
    """The process with the highest hash for this lane.

    When one dies or comes, only the lanes that it had or gets move; all others stay.
    """
    return max(peers, key=lambda owner: blake2b(f"{owner}\0{lane}".encode()).digest())


class Fleet:
    """One process among those that live."""

    def __init__(self, owner: Owner) -> None:
        self._owner = owner
        self._peers: tuple[Owner, ...] = (owner,)

    def joined(self, peers: tuple[Owner, ...]) -> bool:
        """Take note of who lives; True if that changed."""
        changed = peers != self._peers
        self._peers = peers
        return changed

    def is_ours(self, lane: LaneId) -> bool:
        return len(self._peers) < 2 or home(lane, self._peers) == self._owner
