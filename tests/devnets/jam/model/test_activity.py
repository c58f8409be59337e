from tests.jam.rules.stage import ACTIVE, assurance, guarantee, report

from laneway.devnets.jam.model.activity import statistics_after
from laneway.jam.extrinsic import Extrinsic, Preimage
from laneway.jam.rules.activity import CoreActivity, CountAndSum
from laneway.jam.spec import TINY
from laneway.jam.state import Statistics, ValidatorActivity

IDLE = (ValidatorActivity(),) * 6
BEFORE = Statistics(
    current=tuple(ValidatorActivity(place) for place in range(6)),
    previous=IDLE,
    cores=(CoreActivity(),) * 2,
    services=(),
)


def counted(extrinsic: Extrinsic, *, is_new_epoch: bool = False) -> Statistics:
    signers = [one.validator_index for each in extrinsic.guarantees for one in each.signatures]
    return statistics_after(
        BEFORE,
        extrinsic,
        is_new_epoch=is_new_epoch,
        author=3,
        keys=ACTIVE,
        reporters=[ACTIVE[place] for place in signers],
        available=[report("old", core=1)],
        accumulated={8: CountAndSum(2, 30)},
        spec=TINY,
    )


def test_validators_are_counted_by_what_they_did() -> None:
    made = guarantee(report())
    extrinsic = Extrinsic(guarantees=(made,), assurances=(assurance(1, 0), assurance(2, 0)))
    after = counted(extrinsic).current
    signers = {one.validator_index for one in made.signatures}
    assert [one.blocks for one in after] == [0, 1, 2, 4, 4, 5]
    assert [one.assurances for one in after] == [0, 1, 1, 0, 0, 0]
    assert {place for place in range(6) if after[place].guarantees} == signers


def test_the_author_is_counted_the_preimages_it_brings() -> None:
    after = counted(
        Extrinsic(preimages=(Preimage(4, b"one"), Preimage(4, b"three"), Preimage(5, b"")))
    )
    assert (after.current[3].preimages, after.current[3].preimages_size) == (3, 8)
    assert sum(one.preimages for one in after.current) == 3
    services = {entry.service_id: entry.activity for entry in after.services}
    assert (services[4].provided_count, services[4].provided_size) == (2, 8)
    assert (services[5].provided_count, services[8].accumulate_count) == (1, 2)


def test_an_epoch_begins_at_zero_and_keeps_the_last_one() -> None:
    after = counted(Extrinsic(), is_new_epoch=True)
    assert after.previous == BEFORE.current
    assert sum(one.blocks for one in after.current) == after.current[3].blocks == 1
    assert counted(Extrinsic()).previous == BEFORE.previous


def test_cores_are_counted_by_what_is_reported_and_available_on_them() -> None:
    after = counted(Extrinsic(guarantees=(guarantee(report()),)))
    assert after.cores[0].bundle_size == 1000
    assert after.cores[1].da_load > 0
