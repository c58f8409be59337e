"""An operator's word."""

from tests.lanes.eoa.stage import World, begun, chain, make_all, receipt, refuse, take

from laneway.core.ids import IntentId
from laneway.core.intent import IntentRow
from laneway.core.rows import Command
from laneway.lanes.eoa.commands import judge_command
from laneway.lanes.eoa.limits import ATTEMPTS_MAX
from laneway.lanes.eoa.values import CommandRefused


def told(world: World, verb: str, row: IntentRow | None = None) -> str:
    """Why it was refused; empty if it was not."""
    command = Command(1, world.lane.id, verb, world.now_ms, "why", "ann")
    if row is not None:
        command = Command(
            1, world.lane.id, verb, world.now_ms, "why", "ann", row.id, row.seq, 0, row.size()
        )
    decision = judge_command(world.lane, command, world.now_ms)
    refusals = [one.reason for one in decision.records if isinstance(one, CommandRefused)]
    if not refusals:
        world.tell(verb, row)
    return refusals[0] if refusals else ""


def first(world: World) -> IntentRow:
    return next(iter(world.accepted.values()))


def test_a_paused_lane_says_by_whom_and_goes_on_when_told() -> None:
    world = begun(0)
    assert told(world, "pause") == ""
    assert (world.lane.head.mode, world.lane.head.by) == ("paused", "ann")
    assert told(world, "resume") == ""
    assert world.lane.head.mode == "running"
    assert "dance" in told(world, "dance")


def test_who_waits_is_taken_back_without_a_number() -> None:
    world = begun(17)
    last = list(world.accepted.values())[-1]
    assert told(world, "cancel", last) == ""
    assert world.results[last.id].status == "cancelled"


def test_who_was_returned_is_taken_back() -> None:
    world = begun(2)
    make_all(world)
    refuse(world, 1, 1)
    row = first(world)
    assert told(world, "cancel", row) == ""
    assert world.results[row.id].status == "cancelled"
    assert world.lane.returned == {}


def test_what_was_never_offered_falls_out() -> None:
    world = begun(2)
    row = first(world)
    assert told(world, "cancel", row) == ""
    assert world.results[row.id].status == "cancelled"
    assert list(world.lane.nonces) == [0]


def test_what_is_out_is_taken_back_by_a_no_op_at_its_number() -> None:
    world = begun(1)
    make_all(world)
    take(world, 1)
    assert "nothing" in told(
        world, "bump", IntentRow(IntentId("x"), world.lane.id, 9, 0, 0, None, None, "", b"", b"")
    )
    assert told(world, "cancel", first(world)) == ""
    assert "already" in told(world, "cancel", first(world))
    make_all(world)
    assert [one.purpose for one in world.lane.attempts[1].values()] == ["intent", "cancel"]
    chain(world, 1, 1, receipt(world, 1, 2, 1))
    chain(world, 1, 9)
    assert world.results[first(world).id].status == "cancelled"


def test_what_is_being_made_dearer_is_not_taken_back_in_that_moment() -> None:
    world = begun(1)
    make_all(world)
    take(world, 1)
    assert told(world, "bump", first(world)) == ""
    assert "being made" in told(world, "bump", first(world))
    assert "being made" in told(world, "cancel", first(world))


def test_what_was_mined_is_neither_taken_back_nor_made_dearer() -> None:
    world = begun(1)
    make_all(world)
    take(world, 1)
    chain(world, 1, 1, receipt(world, 1, 1, 1))
    assert "mined" in told(world, "cancel", first(world))
    assert "mined" in told(world, "bump", first(world))


def test_a_reset_never_goes_below_a_number_that_is_bound() -> None:
    world = World(1)
    assert "not read" in told(world, "reset-nonce")
    world = begun(3)
    make_all(world)
    assert told(world, "reset-nonce") == ""
    assert world.lane.head.nonce_next == 3
    world = begun(0)
    assert told(world, "reset-nonce") == ""
    assert (world.lane.head.nonce_next, len(world.lane.head.health.resets_ms)) == (0, 1)


def test_what_is_final_is_not_taken_back_again() -> None:
    """A cancel may wait in the mailbox while its intent gets its answer."""
    world = begun(1)
    row = first(world)
    assert told(world, "cancel", row) == ""
    assert told(world, "cancel", row) == "it is final already"


def test_a_word_on_an_intent_names_one() -> None:
    world = begun(1)
    assert told(world, "cancel") == "it names no intent"
    assert told(world, "bump") == "it names no intent"


def test_a_number_with_all_its_attempts_is_made_no_dearer() -> None:
    world = begun(1)
    make_all(world)
    row = first(world)
    for _ in range(1, ATTEMPTS_MAX):
        assert told(world, "bump", row) == ""
        make_all(world)
    assert told(world, "bump", row) == f"it has {ATTEMPTS_MAX} attempts; no dearer one is made"
    assert told(world, "cancel", row) == "", "its number can still be given to a no-op"
