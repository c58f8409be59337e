"""Laws of validator sets: they change by the marks of final blocks, one step at a time."""

import pytest
from msgspec.structs import replace

from laneway.jam.dev_keys import dev_key
from laneway.jam.ed25519 import HeldEd25519Key
from laneway.jam.errors import FinalityWentBack, TooFewVotes, WrongVoterSet
from laneway.jam.header import EpochMark, EpochMarkValidatorKeys, Header, header_hash
from laneway.jam.spec import TINY
from laneway.jam.validators import (
    ValidatorSets,
    advanced,
    finalised,
    genesis_sets,
    marked_keys,
    warped,
)
from laneway.jam.votes import Fragment, Justification, Target, Vote, precommit

ROOT = b"r" * 32


def held(epoch: int) -> tuple[HeldEd25519Key, ...]:
    """Each epoch has validators of its own."""
    return tuple(dev_key(6 * epoch + place) for place in range(6))


def keys(epoch: int) -> tuple[bytes, ...]:
    return tuple(key.public_key for key in held(epoch))


def mark(epoch: int) -> EpochMark:
    validators = tuple(EpochMarkValidatorKeys(b"b" * 32, key) for key in keys(epoch))
    return EpochMark(entropy=b"e" * 32, tickets_entropy=b"f" * 32, validators=validators)


def header(slot: int, marked: EpochMark | None = None) -> Header:
    return Header(
        parent=b"p" * 32,
        parent_state_root=b"q" * 32,
        extrinsic_hash=b"x" * 32,
        slot=slot,
        epoch_mark=marked,
        author_index=0,
        entropy_source=bytes(96),
        seal=bytes(96),
    )


def fragment(of: Header, set_id: int, voters: tuple[HeldEd25519Key, ...]) -> Fragment:
    final = Vote(Target(header_hash(of, TINY), ROOT), of.slot)
    votes = tuple(precommit(key, final, 1, set_id) for key in voters)
    return Fragment(of, Justification(round_number=1, set_id=set_id, final=final, precommits=votes))


GENESIS = ValidatorSets(set_id=0, current_keys=keys(0), next_keys=keys(1), slot=0)


def test_a_chain_begins_with_the_set_of_its_genesis_twice() -> None:
    begun = genesis_sets(mark(0))
    assert begun == ValidatorSets(set_id=0, current_keys=keys(0), next_keys=keys(0), slot=0)
    assert marked_keys(mark(3)) == keys(3)


def test_a_mark_names_the_set_after_the_next() -> None:
    first = advanced(GENESIS, header(12, mark(2)))
    assert first == ValidatorSets(set_id=1, current_keys=keys(1), next_keys=keys(2), slot=12)
    second = advanced(first, header(24, mark(3)))
    assert second == ValidatorSets(set_id=2, current_keys=keys(2), next_keys=keys(3), slot=24)


def test_a_header_without_a_mark_changes_no_set() -> None:
    assert advanced(GENESIS, header(5)) == replace(GENESIS, slot=5)


def test_an_epoch_without_a_block_is_no_change() -> None:
    """Twelve slots make an epoch: the mark of slot 60 is the first since that of slot 12."""
    late = advanced(advanced(GENESIS, header(12, mark(2))), header(60, mark(5)))
    assert (late.set_id, late.current_keys, late.next_keys) == (2, keys(2), keys(5))


@pytest.mark.parametrize("slot", [0, 11, 12])
def test_finality_does_not_go_back(slot: int) -> None:
    sets = advanced(GENESIS, header(12, mark(2)))
    with pytest.raises(FinalityWentBack) as trouble:
        advanced(sets, header(slot, mark(3)))
    assert trouble.value.operands == {"slot": slot, "final": 12}


def test_the_old_set_makes_the_change_final_and_the_new_one_what_follows() -> None:
    change, after = header(12, mark(2)), header(13)
    sets, target = finalised(GENESIS, fragment(change, 0, held(0)), TINY)
    assert target == Target(header_hash(change, TINY), ROOT)
    assert (sets.set_id, sets.current_keys) == (1, keys(1))
    sets, _ = finalised(sets, fragment(after, 1, held(1)), TINY)
    assert sets.slot == 13
    with pytest.raises(WrongVoterSet):
        finalised(sets, fragment(header(14), 0, held(0)), TINY)
    with pytest.raises(TooFewVotes):
        finalised(sets, fragment(header(14), 1, held(0)), TINY)
    with pytest.raises(TooFewVotes):
        finalised(GENESIS, fragment(change, 0, held(1)), TINY)


def test_fragments_lead_over_many_changes_and_none_may_be_missing() -> None:
    line = [
        fragment(header(12 * epoch, mark(epoch + 1)), epoch - 1, held(epoch - 1))
        for epoch in range(1, 6)
    ]
    assert warped(GENESIS, line, TINY) == ValidatorSets(
        set_id=5, current_keys=keys(5), next_keys=keys(6), slot=60
    )
    assert warped(GENESIS, [], TINY) == GENESIS
    with pytest.raises(WrongVoterSet):
        warped(GENESIS, [*line[:2], *line[3:]], TINY)
    with pytest.raises(WrongVoterSet):
        warped(GENESIS, [line[1], line[0]], TINY)
