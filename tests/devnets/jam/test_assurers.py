from tests.devnets.jam.stage import best, chain, produce, run, send

from laneway.devnets.jam.faults import Fault
from laneway.devnets.jam.model import JamModel
from laneway.jam.block import Block, block_codec
from laneway.jam.ed25519 import verifies
from laneway.jam.rules.assuring import assurance_message
from laneway.jam.spec import TINY


def block(model: JamModel) -> Block:
    return block_codec(TINY).decode(model.block(0, best(model)))


def reported() -> JamModel:
    """Both cores have a report that waits."""
    model = chain(3, is_voting=False)
    for core in range(2):
        send(model, bytes([0, core]), core=core)
    run(model)
    return model


def test_all_validators_assure_what_the_parent_reports() -> None:
    model = reported()
    done = run(model)
    said = block(model).extrinsic.assurances
    assert [one.validator_index for one in said] == list(range(6))
    assert all(one.vouches_for(0) and one.vouches_for(1) for one in said)
    keys = model.voters().current_keys
    for one in said:
        message = assurance_message(one.anchor, one.bitfield)
        assert verifies(keys[one.validator_index], one.signature, message)
    assert len(done.available) == 2


def test_nobody_says_that_it_has_nothing() -> None:
    model = chain(3)
    assert block(model).extrinsic.assurances == ()


def test_a_dark_core_is_left_out() -> None:
    model = reported()
    model.faults.unavailable_cores = {1}
    done = run(model)
    assert not block(model).extrinsic.assurances[0].vouches_for(1)
    assert len(done.available) == 1
    assert model.faults.bites[Fault.UNAVAILABLE] == 1
    assert produce(model, unassured_cores=[1]).available == ()


def test_silent_validators_can_be_too_many() -> None:
    for silent, available in (({0}, 2), ({0, 1}, 0)):
        model = reported()
        model.faults.silent_assurers = set(silent)
        assert len(run(model).available) == available
        assert model.faults.bites[Fault.SILENT_ASSURER] == len(silent)


def test_validators_on_the_other_side_of_a_partition_are_not_heard() -> None:
    model = reported()
    author = run(reported()).author
    assert author is not None
    model.partition([[author], [one for one in range(6) if one != author]])
    done = run(model)
    assert done.available == ()
    assert [one.validator_index for one in block(model).extrinsic.assurances] == [author]
    assert model.faults.bites[Fault.PARTITION] > 0
