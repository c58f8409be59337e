"""Votes of GRANDPA on a JAM chain, and justifications: who says that a block is final (JAMNP-S
draft of CE 130, 149, 150 and 153; Gray Paper, section 19).

A vote names a block together with the state root after it, so that a block under another root is
another target. A justification is judged for one header and one set of validators; who votes now is
decided by `validators`. Rounds are not played here: no vote is chosen, kept or sent.
"""

from collections.abc import Sequence
from enum import IntEnum
from functools import cache
from typing import Final

import msgspec

from laneway.jam.codec import HASH, U8, U32, U64, Codec, Hash, Many, Octets, Record, Uint32, record
from laneway.jam.ed25519 import SIGNATURE_BYTES, HeldEd25519Key, is_weak, verifies
from laneway.jam.errors import (
    BadVoteSignature,
    BrokenAncestry,
    StrayVote,
    TooFewVotes,
    WrongTarget,
    WrongVoterSet,
)
from laneway.jam.header import Header, header_codec, header_hash
from laneway.jam.limits import ANCESTRY_COUNT_MAX, VOTES_PER_VALIDATOR_MAX
from laneway.jam.spec import ChainSpec

VOTE_CONTEXT: Final = b"jam_grandpa_vote"


class VoteKind(IntEnum):
    PREVOTE = 0
    PRECOMMIT = 1
    PRIMARY = 2


class Target(msgspec.Struct, frozen=True):
    header_hash: Hash
    state_root: Hash
    """After the block: its own header does not have it."""


class Vote(msgspec.Struct, frozen=True):
    target: Target
    slot: Uint32
    """Of the target's header."""


class SignedVote(msgspec.Struct, frozen=True):
    vote: Vote
    signature: bytes
    key: bytes


class Justification(msgspec.Struct, frozen=True, kw_only=True):
    """Precommits that make a block final, and the headers that lead from it to their blocks."""

    round_number: int
    set_id: int
    final: Vote
    precommits: tuple[SignedVote, ...]
    ancestries: tuple[Header, ...] = ()


class Fragment(msgspec.Struct, frozen=True):
    """A header and why it is final: a step of a light client (CE 153)."""

    header: Header
    justification: Justification


SIGNATURE: Final = Octets(SIGNATURE_BYTES)
VOTE: Final = record(Vote)
SIGNED_VOTE: Final = Record(SignedVote, vote=VOTE, signature=SIGNATURE, key=HASH)


@cache
def justification_codec(spec: ChainSpec) -> Codec[Justification]:
    return Record(
        Justification,
        round_number=U64,
        set_id=U32,
        final=VOTE,
        precommits=Many(SIGNED_VOTE, VOTES_PER_VALIDATOR_MAX * spec.validator_count),
        ancestries=Many(header_codec(spec), ANCESTRY_COUNT_MAX),
    )


@cache
def fragment_codec(spec: ChainSpec) -> Codec[Fragment]:
    justification = justification_codec(spec)
    return Record(Fragment, header=header_codec(spec), justification=justification)


def threshold(voter_count: int) -> int:
    """The votes with which any two majorities share an honest voter: 5 of 6, 683 of 1,023."""
    return voter_count - (voter_count - 1) // 3


def vote_message(kind: VoteKind, vote: Vote, round_number: int, set_id: int) -> bytes:
    """The 97 bytes that a voter signs."""
    voted = VOTE_CONTEXT + U8.encode(kind) + VOTE.encode(vote)
    return voted + U64.encode(round_number) + U32.encode(set_id)


def precommit(key: HeldEd25519Key, vote: Vote, round_number: int, set_id: int) -> SignedVote:
    message = vote_message(VoteKind.PRECOMMIT, vote, round_number, set_id)
    return SignedVote(vote, key.sign(message), key.public_key)


def verify_justification(
    justification: Justification,
    header: Header,
    *,
    set_id: int,
    keys: Sequence[bytes],
    spec: ChainSpec,
) -> Target:
    """The header's hash and the state root after it, if these keys made it final.

    Keys that are not of the set are ignored, and weak ones, of which the zero in an offender's
    place is one: they count for nobody. All others must have signed, for the block or one that
    follows it; each counts once, however often it votes. What is cheap to refuse is refused
    before the first signature is computed."""
    if justification.set_id != set_id:
        raise WrongVoterSet(given=justification.set_id, expected=set_id)
    final = justification.final
    if (final.target.header_hash, final.slot) != (header_hash(header, spec), header.slot):
        raise WrongTarget(given=final.slot, expected=header.slot)
    counted = _counted(justification, keys)
    _check_descent(justification, counted, spec)
    _check_signatures(justification, counted)
    return final.target


def _counted(justification: Justification, keys: Sequence[bytes]) -> dict[int, SignedVote]:
    """The votes of the set, by their place."""
    voters = frozenset(key for key in keys if not is_weak(key))
    votes = enumerate(justification.precommits)
    counted = {place: signed for place, signed in votes if signed.key in voters}
    distinct = len({signed.key for signed in counted.values()})
    needed = threshold(len(keys))
    if distinct < needed:
        ignored = len(justification.precommits) - len(counted)
        repeated = len(counted) - distinct
        raise TooFewVotes(counted=distinct, needed=needed, ignored=ignored, repeated=repeated)
    return counted


def _check_signatures(justification: Justification, counted: dict[int, SignedVote]) -> None:
    kind, number, set_id = VoteKind.PRECOMMIT, justification.round_number, justification.set_id
    messages: dict[Vote, bytes] = {}
    for place, signed in counted.items():
        message = messages.get(signed.vote)
        if message is None:
            message = messages[signed.vote] = vote_message(kind, signed.vote, number, set_id)
        if not verifies(signed.key, signed.signature, message):
            raise BadVoteSignature(place=place)


def _check_descent(
    justification: Justification, counted: dict[int, SignedVote], spec: ChainSpec
) -> None:
    """Every vote is for the final block or leads to it through the ancestries, and all of these
    are needed: otherwise one finality had many justifications."""
    headers = {header_hash(one, spec): one for one in justification.ancestries}
    if len(headers) < len(justification.ancestries):
        raise BrokenAncestry(problem="a header comes twice")
    final = justification.final
    linked = {final.target.header_hash: final}
    for place, signed in counted.items():
        if linked.get(signed.vote.target.header_hash) != signed.vote:
            _link(signed.vote, place, headers, linked)
    if len(linked) - 1 < len(headers):
        raise BrokenAncestry(problem="a header leads from no vote to the block")


def _link(vote: Vote, place: int, headers: dict[bytes, Header], linked: dict[bytes, Vote]) -> None:
    """Walk from a vote's block to one that is linked already, and link all in between."""
    passed: list[Vote] = []
    while (known := linked.get(vote.target.header_hash)) is None:
        header = headers.get(vote.target.header_hash)
        if header is None:
            raise StrayVote(place=place, problem="no header leads from its block to the final one")
        if header.slot != vote.slot:
            raise StrayVote(place=place, problem="its slot is not that of its block")
        passed.append(vote)
        # A header says what its parent is and which state root follows the parent, so the pair is
        # walked: the right block under another root is another target.
        parent = Target(header.parent, header.parent_state_root)
        vote = Vote(parent, _slot_of(header.parent, headers, linked))
        if vote.slot >= header.slot:
            raise StrayVote(place=place, problem="a slot on its way is not after its parent's")
    if known != vote:
        raise StrayVote(place=place, problem="it is for another state root or slot")
    for one in passed:
        linked[one.target.header_hash] = one


def _slot_of(block: bytes, headers: dict[bytes, Header], linked: dict[bytes, Vote]) -> int:
    """Of a block on the way; of an unknown one none is asked for, so any that is early will do."""
    if block in linked:
        return linked[block].slot
    return headers[block].slot if block in headers else -1
