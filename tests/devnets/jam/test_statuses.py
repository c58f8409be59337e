import pytest
from tests.devnets.jam.stage import best, chain, made, produce, run, send, submit, work_package

from laneway.devnets.jam.limits import BLOCKS_KEPT_MAX
from laneway.devnets.jam.model import JamModel
from laneway.devnets.jam.statuses import OTHER_FORK, TOO_OLD, UNAVAILABLE
from laneway.devnets.jam.values import BlockUnavailable, Ready, Reportable, Reported, Status


def status(model: JamModel, package: bytes, anchor: bytes) -> Status:
    return model.status(0, best(model), package, anchor)


def test_a_package_goes_from_reportable_to_ready() -> None:
    model = chain(3)
    anchor, package = best(model), send(model, core=1)
    other = send(model, b"\0other", core=0)
    assert status(model, package, anchor) == Reportable(8)
    done = produce(model)
    reported_in = made(done)
    work = next(one for one in done.reported if one.package_hash == package)
    assert status(model, package, anchor) == Reported(
        reported_in=reported_in, core=1, report_hash=work.report_hash
    )
    ready_in = made(produce(model))
    ready = Ready(reported_in=reported_in, core=1, report_hash=work.report_hash, ready_in=ready_in)
    assert status(model, package, anchor) == ready
    produce(model, 11)
    assert status(model, package, anchor) == ready
    assert model.is_accumulated(0, best(model), package)
    assert model.is_accumulated(0, best(model), other)


def test_a_report_that_is_not_made_available_has_failed() -> None:
    model = chain(3)
    anchor, package = best(model), send(model)
    produce(model, 5, unassured_cores=[0])
    assert isinstance(status(model, package, anchor), Reported)
    produce(model, unassured_cores=[0])
    assert status(model, package, anchor) == UNAVAILABLE


def test_a_package_that_nobody_reports_in_time_has_failed() -> None:
    model = chain(3)
    anchor, package = best(model), send(model)
    produce(model, 7, guarantees=False)
    assert status(model, package, anchor) == Reportable(1)
    produce(model, guarantees=False)
    assert status(model, package, anchor) == TOO_OLD


def test_an_anchor_of_another_fork_is_none() -> None:
    model = chain(3, is_voting=False)
    common = best(model)
    anchor = made(produce(model)).header_hash
    package = submit(model, work_package(model))
    fork = made(model.produce(9, parent=common, guarantees=False)).header_hash
    assert model.status(0, fork, package, anchor) == OTHER_FORK
    assert model.status(0, anchor, package, common) == Reportable(7)


def test_of_blocks_that_are_forgotten_nothing_is_said() -> None:
    """The genesis is remembered for ever, and what came right behind it is not."""
    model = chain(0, signs=False, codes_shards=False)
    package = send(model)
    run(model, 2)
    assert isinstance(status(model, package, model.genesis), Ready)
    run(model, BLOCKS_KEPT_MAX + 2)
    with pytest.raises(BlockUnavailable):
        status(model, package, model.genesis)
