"""Laws of votes: enough of the right keys make the right block final, and nothing else does."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from laneway.jam.dev_keys import dev_keys
from laneway.jam.ed25519 import ZERO_KEY, HeldEd25519Key, verifies
from laneway.jam.errors import (
    BadVoteSignature,
    BrokenAncestry,
    InvalidJustification,
    MalformedEncoding,
    StrayVote,
    TooFewVotes,
    WrongTarget,
    WrongVoterSet,
)
from laneway.jam.header import Header, header_codec, header_hash
from laneway.jam.spec import FULL, TINY
from laneway.jam.votes import (
    Fragment,
    Justification,
    SignedVote,
    Target,
    Vote,
    VoteKind,
    fragment_codec,
    justification_codec,
    precommit,
    threshold,
    verify_justification,
    vote_message,
)

ROUND, SET = 77, 3
HELD = dev_keys(6)
KEYS = tuple(key.public_key for key in HELD)
STRANGER = HeldEd25519Key(b"stranger" * 4)
CODEC = justification_codec(TINY)


def made(parent: bytes, root: bytes, slot: int) -> Header:
    return Header(
        parent=parent,
        parent_state_root=root,
        extrinsic_hash=bytes(32),
        slot=slot,
        author_index=1,
        entropy_source=bytes(96),
        seal=bytes(96),
    )


def child(vote: Vote, slot: int, author: int = 1) -> Header:
    header = made(vote.target.header_hash, vote.target.state_root, slot)
    return replace(header, author_index=author)


def vote_for(header: Header, root: bytes) -> Vote:
    return Vote(Target(header_hash(header, TINY), root), header.slot)


HEADER = made(b"p" * 32, b"q" * 32, 10)
FINAL = vote_for(HEADER, b"r" * 32)
SON = child(FINAL, 11)
SON_VOTE = vote_for(SON, b"s" * 32)
GRANDSON = child(SON_VOTE, 14)
GRANDSON_VOTE = vote_for(GRANDSON, b"t" * 32)
COUSIN = child(FINAL, 12, author=2)
COUSIN_VOTE = vote_for(COUSIN, b"u" * 32)
SIBLING = replace(HEADER, author_index=4)
SIBLING_VOTE = vote_for(SIBLING, b"r" * 32)


def signed(*votes: Vote, held: tuple[HeldEd25519Key, ...] = HELD) -> tuple[SignedVote, ...]:
    """The votes, by one key after the other."""
    return tuple(precommit(key, vote, ROUND, SET) for key, vote in zip(held, votes, strict=False))


def justified(*precommits: SignedVote, ancestries: tuple[Header, ...] = ()) -> Justification:
    return Justification(
        round_number=ROUND,
        set_id=SET,
        final=FINAL,
        precommits=precommits,
        ancestries=ancestries,
    )


PLAIN = justified(*signed(*[FINAL] * 5))
"""As few votes as can be, all for the block itself."""
LINKED = justified(
    *signed(GRANDSON_VOTE, FINAL, COUSIN_VOTE, SON_VOTE, GRANDSON_VOTE),
    ancestries=(COUSIN, SON, GRANDSON),
)
"""As few votes as can be, for blocks of two forks that follow it."""


def verified(
    justification: Justification, header: Header = HEADER, keys: tuple[bytes, ...] = KEYS
) -> Target:
    return verify_justification(justification, header, set_id=SET, keys=keys, spec=TINY)


def test_a_vote_signs_its_kind_its_target_the_round_and_the_set() -> None:
    vote = Vote(Target(b"h" * 32, b"r" * 32), 0x04030201)
    message = vote_message(VoteKind.PRECOMMIT, vote, 0x0C0B0A0908070605, 0x100F0E0D)
    assert message == b"jam_grandpa_vote\x01" + b"h" * 32 + b"r" * 32 + bytes(range(1, 17))
    kinds = {vote_message(kind, vote, 1, 1)[16] for kind in VoteKind}
    assert kinds == {0, 1, 2}
    held = precommit(HELD[0], vote, 5, 6)
    assert verifies(KEYS[0], held.signature, vote_message(VoteKind.PRECOMMIT, vote, 5, 6))


def test_a_majority_is_five_of_six_and_683_of_1023() -> None:
    assert [threshold(count) for count in (1, 2, 3, 4, 6, 1023)] == [1, 2, 3, 3, 5, 683]


@given(st.integers(1, 2000))
def test_two_majorities_share_more_than_the_faulty(count: int) -> None:
    faulty = (count - 1) // 3
    assert 2 * threshold(count) - count > faulty
    assert threshold(count) <= count - faulty, "the honest alone are enough"


@pytest.mark.parametrize("justification", [PLAIN, LINKED], ids=["plain", "linked"])
def test_enough_votes_make_a_block_final_with_the_root_after_it(
    justification: Justification,
) -> None:
    assert verified(justification) == Target(header_hash(HEADER, TINY), b"r" * 32)


@pytest.mark.slow
def test_683_of_1023_are_enough_and_682_are_not() -> None:
    held = dev_keys(1023)
    keys = tuple(key.public_key for key in held)
    final = Vote(Target(header_hash(HEADER, FULL), b"r" * 32), 10)
    enough = replace(justified(*signed(*[final] * 683, held=held)), final=final)
    raw = justification_codec(FULL).encode(enough)
    assert len(raw) == 8 + 4 + 68 + 2 + 683 * 164 + 1
    read = justification_codec(FULL).decode(raw)
    proven = verify_justification(read, HEADER, set_id=SET, keys=keys, spec=FULL)
    assert proven == final.target
    short = replace(enough, precommits=enough.precommits[1:])
    with pytest.raises(TooFewVotes):
        verify_justification(short, HEADER, set_id=SET, keys=keys, spec=FULL)


@pytest.mark.parametrize("justification", [PLAIN, LINKED], ids=["plain", "linked"])
def test_a_justification_is_written_as_the_draft_says(justification: Justification) -> None:
    raw = CODEC.encode(justification)
    head = ROUND.to_bytes(8, "little") + SET.to_bytes(4, "little")
    final = FINAL.target.header_hash + b"r" * 32 + (10).to_bytes(4, "little")
    assert raw.startswith(head + final + b"\x05")
    headers = [header_codec(TINY).encode(header) for header in justification.ancestries]
    assert raw[len(head + final) + 1 + 5 * 164 :] == bytes([len(headers)]) + b"".join(headers)
    assert CODEC.decode(raw) == justification
    fragment = Fragment(HEADER, justification)
    whole = header_codec(TINY).encode(HEADER) + raw
    assert fragment_codec(TINY).encode(fragment) == whole
    assert fragment_codec(TINY).decode(whole) == fragment


def test_two_votes_a_validator_are_read_and_not_one_more() -> None:
    twelve = justified(*PLAIN.precommits[:1] * 12)
    raw = CODEC.encode(twelve)
    assert CODEC.decode(raw) == twelve
    more = raw[:80] + b"\x0d" + raw[81:-1] + raw[81 : 81 + 164] + b"\x00"
    with pytest.raises(MalformedEncoding, match="precommits"):
        CODEC.decode(more)


def test_a_justification_of_another_set_is_refused() -> None:
    with pytest.raises(WrongVoterSet) as trouble:
        verify_justification(PLAIN, HEADER, set_id=4, keys=KEYS, spec=TINY)
    assert trouble.value.operands == {"given": 3, "expected": 4}


def test_a_justification_of_another_block_is_refused() -> None:
    for header in (SIBLING, SON, replace(HEADER, slot=9)):
        with pytest.raises(WrongTarget):
            verified(PLAIN, header)
    with pytest.raises(WrongTarget):
        verified(replace(PLAIN, final=replace(FINAL, slot=9)))


def test_a_vote_less_is_too_few() -> None:
    with pytest.raises(TooFewVotes) as trouble:
        verified(justified(*PLAIN.precommits[1:]))
    assert trouble.value.operands == {"counted": 4, "needed": 5, "ignored": 0, "repeated": 0}


def test_a_repeated_vote_counts_once() -> None:
    with pytest.raises(TooFewVotes) as trouble:
        verified(justified(*PLAIN.precommits[:4], PLAIN.precommits[0]))
    assert trouble.value.operands == {"counted": 4, "needed": 5, "ignored": 0, "repeated": 1}


def test_one_who_votes_for_two_blocks_that_follow_counts_once_and_does_no_harm() -> None:
    again = precommit(HELD[0], SON_VOTE, ROUND, SET)
    assert verified(justified(*PLAIN.precommits, again, ancestries=(SON,))) == FINAL.target
    with pytest.raises(TooFewVotes):
        verified(justified(*PLAIN.precommits[:4], again, ancestries=(SON,)))


def test_a_key_outside_the_set_counts_for_nobody_and_does_no_harm() -> None:
    foreign = precommit(STRANGER, FINAL, ROUND, SET)
    assert verified(justified(foreign, *PLAIN.precommits)) == FINAL.target
    with pytest.raises(TooFewVotes) as trouble:
        verified(justified(foreign, *PLAIN.precommits[1:]))
    assert trouble.value.operands == {"counted": 4, "needed": 5, "ignored": 1, "repeated": 0}


@pytest.mark.parametrize("weak", [ZERO_KEY, b"\x01" + bytes(31)], ids=["zero", "identity"])
def test_a_key_that_anybody_can_sign_for_counts_for_nobody(weak: bytes) -> None:
    """The zero in an offender's place takes a vote away from the set and lowers no threshold."""
    keys = (weak, *KEYS[1:])
    forged = SignedVote(FINAL, b"\x01" + bytes(63), weak)
    message = vote_message(VoteKind.PRECOMMIT, FINAL, ROUND, SET)
    assert verifies(weak, forged.signature, message)
    with pytest.raises(TooFewVotes) as trouble:
        verified(justified(forged, *PLAIN.precommits[1:]), keys=keys)
    assert trouble.value.operands["ignored"] == 1
    whole = justified(forged, *signed(*[FINAL] * 6)[1:])
    assert verified(whole, keys=keys) == FINAL.target


@pytest.mark.parametrize("kind", [VoteKind.PREVOTE, VoteKind.PRIMARY])
def test_a_vote_of_another_kind_is_no_precommit(kind: VoteKind) -> None:
    signature = HELD[0].sign(vote_message(kind, FINAL, ROUND, SET))
    with pytest.raises(BadVoteSignature) as trouble:
        verified(justified(SignedVote(FINAL, signature, KEYS[0]), *PLAIN.precommits[1:]))
    assert trouble.value.operands == {"place": 0}


def test_a_vote_of_another_round_set_or_key_is_not_signed() -> None:
    for vote in (
        precommit(HELD[5], FINAL, ROUND + 1, SET),
        precommit(HELD[5], FINAL, ROUND, SET + 1),
        replace(precommit(HELD[4], FINAL, ROUND, SET), key=KEYS[5]),
    ):
        with pytest.raises(BadVoteSignature):
            verified(justified(*PLAIN.precommits, vote))


@pytest.mark.parametrize(
    "vote",
    [
        SIBLING_VOTE,
        replace(FINAL, target=replace(FINAL.target, state_root=b"x" * 32)),
        replace(FINAL, slot=9),
        SON_VOTE,
        vote_for(made(b"p" * 32, b"q" * 32, 4), b"r" * 32),
    ],
    ids=["sibling", "root", "slot", "unlinked", "ancestor"],
)
def test_a_vote_for_another_block_root_or_slot_is_refused(vote: Vote) -> None:
    """Also a sixth that nobody needs: an honest voter's would not be there."""
    astray = precommit(HELD[5], vote, ROUND, SET)
    with pytest.raises(StrayVote) as trouble:
        verified(justified(*PLAIN.precommits, astray))
    assert trouble.value.operands["place"] == 5
    with pytest.raises(StrayVote):
        verified(justified(astray, *PLAIN.precommits[1:]))


def test_two_roots_after_one_block_are_two_targets() -> None:
    other = replace(SON_VOTE, target=replace(SON_VOTE.target, state_root=b"x" * 32))
    votes = signed(FINAL, FINAL, FINAL, SON_VOTE, other)
    with pytest.raises(StrayVote, match=r"precommit 4 .* another state root"):
        verified(justified(*votes, ancestries=(SON,)))
    votes = signed(FINAL, FINAL, FINAL, other, GRANDSON_VOTE)
    with pytest.raises(StrayVote, match=r"precommit 4 .* another state root"):
        verified(justified(*votes, ancestries=(SON, GRANDSON)))


def test_the_child_must_say_the_root_that_the_votes_say() -> None:
    son = replace(SON, parent_state_root=b"x" * 32)
    votes = signed(*[FINAL] * 4, vote_for(son, b"s" * 32))
    with pytest.raises(StrayVote, match="another state root"):
        verified(justified(*votes, ancestries=(son,)))


def test_a_vote_names_the_slot_of_its_block() -> None:
    votes = signed(*[FINAL] * 4, replace(SON_VOTE, slot=12))
    with pytest.raises(StrayVote, match="not that of its block"):
        verified(justified(*votes, ancestries=(SON,)))


@pytest.mark.parametrize("slot", [9, 10])
def test_a_block_follows_its_parent_in_time(slot: int) -> None:
    early = child(FINAL, slot)
    votes = signed(*[FINAL] * 4, vote_for(early, b"s" * 32))
    with pytest.raises(StrayVote, match="not after its parent"):
        verified(justified(*votes, ancestries=(early,)))


@pytest.mark.parametrize("missing", [0, 1, 2])
def test_no_header_of_the_way_may_be_missing(missing: int) -> None:
    left = tuple(one for place, one in enumerate(LINKED.ancestries) if place != missing)
    with pytest.raises(StrayVote, match="no header leads"):
        verified(replace(LINKED, ancestries=left))


def test_a_chain_that_leads_past_the_block_is_none() -> None:
    """Headers that follow one another but end at a sibling."""
    son = child(SIBLING_VOTE, 11)
    votes = signed(*[FINAL] * 4, vote_for(son, b"s" * 32))
    with pytest.raises(StrayVote, match="no header leads"):
        verified(justified(*votes, ancestries=(son, SIBLING)))


def test_headers_that_no_vote_needs_are_refused() -> None:
    for ancestries, problem in (
        ((SON,), "leads from no vote"),
        ((HEADER,), "leads from no vote"),
        ((SON, SON), "comes twice"),
    ):
        with pytest.raises(BrokenAncestry, match=problem):
            verified(replace(PLAIN, ancestries=ancestries))
    with pytest.raises(BrokenAncestry):
        verified(replace(LINKED, ancestries=(*LINKED.ancestries, child(GRANDSON_VOTE, 15))))


def test_the_order_of_votes_and_headers_does_not_matter() -> None:
    turned = replace(LINKED, precommits=LINKED.precommits[::-1], ancestries=LINKED.ancestries[::-1])
    assert verified(turned) == verified(LINKED)


def judged(raw: bytes) -> Target:
    return verified(CODEC.decode(raw))


FLIPS = [
    pytest.param(CODEC.encode(justification), id=name)
    for name, justification in (("plain", PLAIN), ("linked", LINKED))
]


@pytest.mark.parametrize("raw", FLIPS)
@settings(max_examples=30, deadline=None)
@given(where=st.data())
def test_no_bit_of_a_tight_justification_can_be_changed(raw: bytes, where: st.DataObject) -> None:
    bit = where.draw(st.integers(0, len(raw) * 8 - 1))
    changed = bytearray(raw)
    changed[bit // 8] ^= 1 << bit % 8
    with pytest.raises((InvalidJustification, MalformedEncoding)):
        judged(bytes(changed))


@pytest.mark.slow
@pytest.mark.parametrize("raw", FLIPS)
def test_no_byte_of_a_tight_justification_can_be_changed(raw: bytes) -> None:
    assert judged(raw) == FINAL.target
    reasons: dict[str, int] = {}
    for place in range(len(raw)):
        changed = bytearray(raw)
        changed[place] ^= 1 << place % 8
        with pytest.raises((InvalidJustification, MalformedEncoding)) as trouble:
            judged(bytes(changed))
        reasons[trouble.value.code] = reasons.get(trouble.value.code, 0) + 1
    assert reasons["justification_signature_bad"] >= 5 * 64
    assert reasons["justification_votes_too_few"] >= 5 * 32
    assert reasons["justification_set_wrong"] == 4
    assert reasons["justification_target_wrong"] >= 36


HONEST = signed(*[FINAL, SON_VOTE, GRANDSON_VOTE] * 2)


@settings(max_examples=30, deadline=None)
@given(st.data())
def test_whatever_is_done_to_votes_no_other_target_is_proven(where: st.DataObject) -> None:
    """Votes of a whole set are dropped, doubled, swapped and spoilt: refused, or the same block."""
    votes = list(HONEST)
    for _ in range(where.draw(st.integers(1, 3))):
        place = where.draw(st.integers(0, 5))
        one, other = votes[place], where.draw(st.sampled_from(votes))
        spoilt = [
            other,
            replace(one, key=other.key),
            replace(one, key=ZERO_KEY),
            replace(one, key=STRANGER.public_key),
            replace(one, signature=other.signature),
            replace(one, signature=one.signature[::-1]),
            replace(one, vote=other.vote),
            replace(one, vote=SIBLING_VOTE),
        ]
        votes[place] = where.draw(st.sampled_from(spoilt))
    headers = tuple(where.draw(st.permutations([SON, GRANDSON])))
    voters = {vote.key for vote in votes if vote in HONEST}
    proven = proven_or_none(justified(*votes, ancestries=headers))
    assert proven is None or (proven == FINAL.target and len(voters) >= 5)


def proven_or_none(justification: Justification) -> Target | None:
    try:
        return verified(justification)
    except InvalidJustification:
        return None
