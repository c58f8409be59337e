from typing import Any

import pytest
from tests.devnets.jam.stage import best, chain, made, produce, run

from laneway.devnets.jam.limits import FRAGMENTS_KEPT_MAX
from laneway.devnets.jam.model.chain import JamModel
from laneway.devnets.jam.model.faults import JamFault
from laneway.jam.errors import InvalidJustification
from laneway.jam.header import Header, header_codec
from laneway.jam.spec import TINY
from laneway.jam.validators import finalised, genesis_sets, warped
from laneway.jam.votes import justification_codec, verify_justification


def header(model: JamModel, block: bytes) -> Header:
    return header_codec(TINY).decode(model.header(0, block))


def check(model: JamModel, block: bytes) -> None:
    """The block's justification holds, for the set that votes."""
    found = model.justification(0, block)
    assert found is not None
    again = justification_codec(TINY).decode(justification_codec(TINY).encode(found))
    sets = model.voters()
    target = verify_justification(
        again, header(model, block), set_id=sets.set_id, keys=sets.current_keys, spec=TINY
    )
    assert (target.header_hash, target.state_root) == (block, model.state_root(0, block))


@pytest.mark.parametrize("lag", [0, 2])
def test_a_block_is_final_when_so_many_stand_upon_it(lag: int) -> None:
    model = chain(0, finality_lag_blocks=lag)
    for slot in range(1, 8):
        done = run(model)
        assert [one.slot for one in done.finalised] == ([slot - lag] if slot > lag else [])
        assert model.finalized(0).slot == max(slot - lag, 0)
    check(model, model.finalized(0).header_hash)


def test_the_genesis_is_final_without_votes_and_the_head_is_not() -> None:
    model = chain(5)
    assert model.justification(0, model.genesis) is None
    assert model.justification(0, best(model)) is None


def test_blocks_below_a_final_one_are_proved_by_its_votes() -> None:
    model = chain(3)
    model.faults.is_finality_stalled = True
    run(model, 6)
    assert model.finalized(0).slot == 1
    assert model.faults.bites[JamFault.STALLED] == 6
    model.faults.is_finality_stalled = False
    done = run(model)
    assert [one.slot for one in done.finalised] == list(range(2, 9))
    for one in done.finalised:
        check(model, one.header_hash)
    below = model.justification(0, done.finalised[0].header_hash)
    assert below is not None
    assert len(below.ancestries) == 6


def test_too_few_voters_make_nothing_final() -> None:
    model = chain(3)
    model.faults.silent_voters = {0}
    run(model)
    assert model.finalized(0).slot == 2
    model.faults.silent_voters = {0, 1}
    run(model, 2)
    assert model.finalized(0).slot == 2
    assert model.faults.bites[JamFault.SILENT_VOTER] == 1 + 2 * 2
    model.faults.silent_voters = set()
    run(model)
    assert model.finalized(0).slot == 5


def test_only_a_side_with_enough_voters_makes_blocks_final() -> None:
    model = chain(3, nodes=2)
    model.partition([[0, 1, 2, 3, 4], [5]], {1: 1})
    run(model, 12)
    assert model.finalized(0).slot > 1
    assert model.finalized(1).slot == 1
    assert model.faults.bites[JamFault.PARTITION] > 0
    model.heal()
    assert model.finalized(1) == model.finalized(0)


def test_a_light_client_follows_the_sets_by_their_fragments() -> None:
    model = chain(0, validator_pool_count=9)
    mark = header(model, model.genesis).epoch_mark
    assert mark is not None
    sets = genesis_sets(mark)
    while model.voters().set_id < 4:
        run(model)
    assert [one.header.slot for one in model.fragments(0)] == [12, 24, 36, 48]
    told = warped(sets, model.fragments(0), TINY)
    assert told == model.voters()
    assert told.current_keys != sets.current_keys
    for fragment in model.fragments(3):
        assert fragment.justification.set_id == 3
    with pytest.raises(InvalidJustification):
        finalised(sets, model.fragments(1)[0], TINY)


def test_a_set_changes_in_the_middle_of_a_long_stall() -> None:
    model = chain(3)
    model.faults.is_finality_stalled = True
    run(model, 30)
    model.faults.is_finality_stalled = False
    done = run(model)
    assert done.finalised[-1].slot == model.slot - 2
    assert model.voters().set_id == 2
    sets = {one.slot: model.justification(0, one.header_hash) for one in done.finalised}
    assert {slot: found and found.set_id for slot, found in sets.items()} == {
        slot: 0 if slot <= 12 else 1 if slot <= 24 else 2 for slot in range(2, model.slot - 1)
    }


@pytest.mark.slow
def test_only_so_many_fragments_are_kept() -> None:
    model = chain(0, finality_lag_blocks=0, signs=False)
    for _ in range(FRAGMENTS_KEPT_MAX + 2):
        model.step(model.slot + 12)
    assert len(model.fragments(0)) == FRAGMENTS_KEPT_MAX
    assert model.fragments(0)[0].justification.set_id == 2


def test_votes_can_be_asked_for_by_hand() -> None:
    model = chain(0, is_voting=False)
    run(model, 4)
    assert model.finalized(0).slot == 0
    assert [one.slot for one in model.vote()] == [1, 2]
    assert model.vote() == ()
    done: Any = produce(model)
    assert made(done).slot == 5
