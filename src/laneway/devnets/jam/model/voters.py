"""The voters: validators that make blocks final, one round after the other, and prove it.

A round is played in one go: all voters that can be reached precommit to the same block, the one
that has that many upon it, and it is final if they are enough. A block with an epoch's mark is made
final by itself, by the old set, before the new set votes.
"""

from collections.abc import Callable

from msgspec.structs import replace

from laneway.devnets.jam.limits import FRAGMENTS_KEPT_MAX
from laneway.devnets.jam.model.faults import Faults, JamFault
from laneway.devnets.jam.model.keyring import Keyring
from laneway.devnets.jam.model.tree import BlockTree, TreeEntry, TreeView
from laneway.jam.header import Header
from laneway.jam.validators import ValidatorSets, advanced
from laneway.jam.votes import (
    Fragment,
    Justification,
    SignedVote,
    Target,
    Vote,
    VoteKind,
    threshold,
    vote_message,
)


class Voters:
    """The voters of all sides; whichever side votes, there is one chain of final blocks."""

    def __init__(
        self, tree: BlockTree, keyring: Keyring, faults: Faults, first: ValidatorSets
    ) -> None:
        self._tree = tree
        self._keyring = keyring
        self._faults = faults
        self.sets = first
        self._round = 0
        self._fragments: dict[int, Fragment] = {}
        """By the set that voted."""

    def vote(
        self, view: TreeView, has_member: Callable[[int], bool], lag_blocks: int
    ) -> list[TreeEntry]:
        """Make final what stands `lag_blocks` below the best block that this side sees; all blocks
        that became final by it, oldest first."""
        found: list[TreeEntry] = []
        number = view.best.number - lag_blocks
        if number <= view.final.number:
            return found
        if self._faults.is_finality_stalled:
            self._faults.bit(JamFault.STALLED)
            return found
        path = self._tree.between(view.final, self._tree.ancestor(view.best, number))
        while path:
            count = _first_round(path)
            if not self._finalise(path[:count], has_member):
                break
            view.finalise(path[count - 1])
            found += path[:count]
            path = path[count:]
        return found

    def justification(self, entry: TreeEntry) -> Justification | None:
        """Why it is final. The votes may be for a block above it: then the headers that lead down
        to it are with them."""
        if entry.finality is None:
            return None
        voted, votes = entry.finality
        if voted == entry.hash:
            return votes
        above = self._tree.get(voted)
        assert above is not None
        ancestries = tuple(one.block.header for one in self._tree.between(entry, above))
        return replace(votes, final=vote_for(entry), ancestries=ancestries)

    def fragments(self, set_id: int) -> tuple[Fragment, ...]:
        return tuple(one for number, one in self._fragments.items() if number >= set_id)

    def _finalise(self, path: list[TreeEntry], has_member: Callable[[int], bool]) -> bool:
        """Vote for the last block of the path."""
        target = path[-1]
        precommits = self._precommits(vote_for(target), has_member)
        if len(precommits) < threshold(len(self.sets.current_keys)):
            return False
        votes = Justification(
            round_number=self._round,
            set_id=self.sets.set_id,
            final=vote_for(target),
            precommits=precommits,
        )
        self._round += 1
        for one in path:
            one.finality = (target.hash, votes)
        self._tree.finalise(target)
        self._advance(target.block.header, votes)
        return True

    def _precommits(self, vote: Vote, has_member: Callable[[int], bool]) -> tuple[SignedVote, ...]:
        message = vote_message(VoteKind.PRECOMMIT, vote, self._round, self.sets.set_id)
        voters = ((key, self._keyring.number(key)) for key in self.sets.current_keys)
        return tuple(
            SignedVote(vote, self._keyring.sign_as(validator, message), key)
            for key, validator in voters
            if self._faults.takes_part(validator, has_member, JamFault.SILENT_VOTER)
        )

    def _advance(self, header: Header, votes: Justification) -> None:
        before = self.sets
        self.sets = advanced(before, header)
        if self.sets.set_id > before.set_id:
            self._round = 0
            self._fragments[before.set_id] = Fragment(header, votes)
            if len(self._fragments) > FRAGMENTS_KEPT_MAX:
                del self._fragments[next(iter(self._fragments))]


def vote_for(entry: TreeEntry) -> Vote:
    return Vote(Target(entry.hash, entry.state.trie.root), entry.slot)


def _first_round(path: list[TreeEntry]) -> int:
    """How many blocks of the path one round takes: up to the first change of the set."""
    for count, entry in enumerate(path, 1):
        if entry.block.header.epoch_mark is not None:
            return count
    return len(path)
