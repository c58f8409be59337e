"""Laws of where a package stands: its service's storage says it, and says why."""

from tests.jam.service.stage import Line, line, operand

from laneway.jam.report import WorkError
from laneway.jam.service.limits import HELD_SLOTS_MAX
from laneway.jam.service.standing import Stand, Standing
from laneway.jam.service.values import Reason

ONE, TWO, THREE = line(3)


def test_an_applied_package_has_its_blocks_number() -> None:
    stage = Line()
    stage.take(operand("p", ONE))
    assert stage.standing("p", number=1) == Standing(stand=Stand.APPLIED, number=1)


def test_a_package_that_brought_a_block_is_applied_whatever_else_was_refused_of_it() -> None:
    stage = Line()
    stage.take(operand("p", ONE), operand("p", TWO), operand("p", WorkError.PANIC))
    assert stage.standing("p", number=2) == Standing(stand=Stand.APPLIED, number=1)


def test_a_held_package_waits_until_its_last_slot() -> None:
    stage = Line()
    stage.take(operand("other", THREE, tail=b"rival"), slot=9)
    stage.take(operand("p", TWO), slot=10)
    last = 10 + HELD_SLOTS_MAX
    held = Standing(stand=Stand.HELD, number=2, slot_max=last)
    assert stage.standing("p", number=2, slot=10) == held
    assert stage.standing("p", number=2, slot=last - 1) == held
    dead = Standing(stand=Stand.REFUSED, number=2, reason=Reason.EXPIRED)
    assert stage.standing("p", number=2, slot=last) == dead


def test_what_the_standing_says_of_the_last_slot_is_what_happens() -> None:
    for late, applied in ((0, 2), (1, 1)):
        stage = Line()
        stage.take(operand("p", TWO), slot=10)
        done = stage.take(operand("q", ONE), slot=10 + HELD_SLOTS_MAX + late)
        assert len(done.applied) == applied


def test_a_refused_package_has_its_reason() -> None:
    stage = Line()
    stage.take(operand("p", WorkError.PANIC), operand("q", ONE), operand("r", ONE))
    assert stage.standing("p", number=1) == Standing(
        stand=Stand.REFUSED, reason=Reason.REFINE_FAILED
    )
    assert stage.standing("r", number=1) == Standing(
        stand=Stand.REFUSED, number=1, reason=Reason.SAME_BLOCK_APPLIED
    )


def test_of_a_package_that_did_not_accumulate_nothing_is_known() -> None:
    stage = Line()
    stage.take(operand("p", TWO))
    assert stage.standing("q", number=2) == Standing(stand=Stand.UNKNOWN)
