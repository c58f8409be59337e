"""All transitions of a sequence lane, in one place."""

from typing import Any

import pytest
from msgspec.structs import replace
from tests.lanes.sequence.stage import HEIGHT, LANE, SETTINGS, Stage, begun, committed, offered, out

from laneway.core.cosmos import OfferKind, TxStanding
from laneway.core.ids import LaneId
from laneway.core.rows import Head, Rows
from laneway.lanes.common.values import ModeChanged
from laneway.lanes.sequence import values as v
from laneway.lanes.sequence.machine import deadline, decide, resume, sequence_kind


def test_an_intent_goes_from_the_backlog_into_a_block() -> None:
    stage = out(2)
    stage.all_look(6, 2, {1: committed(), 2: committed()})
    assert stage.statuses() == ["confirmed", "confirmed"]
    stage.look_later("a", 6, 2)
    assert (stage.rows, stage.wake_ms) == ({}, None)


def test_what_is_unknown_is_a_bug() -> None:
    with pytest.raises(AssertionError):
        decide(begun(1).lane, "an event")  # type: ignore[arg-type]


def test_what_a_crash_may_have_lost_is_ordered_again() -> None:
    stage = begun(2)
    assert [type(effect) for effect in resume(stage.lane)] == [v.MakeAttempt, v.MakeAttempt]
    stage.fail()
    assert [type(effect) for effect in resume(stage.lane)] == [v.MakeAttempt]
    stage.tick(50)
    stage.make()
    again = resume(stage.lane)
    assert [type(effect) for effect in again] == [v.OfferToNode, v.OfferToNode]
    assert {effect.again for effect in again if isinstance(effect, v.OfferToNode)} == {
        stage.lane.life
    }


def test_who_used_a_number_is_asked_again_after_a_crash() -> None:
    stage = out(1)
    stage.all_look(6, 1)
    stage.crash()
    assert [type(effect) for effect in stage.out] == [v.ProveSequence]
    stage.post(v.SequenceProven(stage.now_ms, 0, ()))
    assert resume(stage.lane) == ()


def test_a_look_that_failed_is_repeated() -> None:
    stage = out(1)
    stage.tick(100)
    stage.blind("a")
    assert stage.node("a").look_ms == stage.now_ms + 100


def test_an_engine_is_given_the_kind_with_settings_for_all_or_for_each() -> None:
    kind = sequence_kind(SETTINGS)
    assert kind.name == "cosmos"
    assert kind.serves(LANE)
    assert kind.empty(LANE).settings is SETTINGS
    assert kind.cursors(kind.empty(LANE)) == (0, 0, 0, 0)
    one = sequence_kind({LANE: SETTINGS})
    assert one.serves(LANE)
    assert not one.serves(LaneId("cosmos:test:other"))
    restored: Any = one.restore(Rows(Head(LANE), (), (), ()))
    assert restored.settings is SETTINGS


def test_records_are_read_as_they_were_written() -> None:
    stage = offered(1)
    kind = stage.kind
    assert kind.decode(kind.encode(tuple(stage.told))) == tuple(stage.told)
    assert kind.describe(stage.head).word == "running"


def test_the_feed_names_large_bytes_by_their_hash_alone() -> None:
    stage = offered(1)
    (signed,) = [one for one in stage.told if isinstance(one, v.AttemptSigned)]
    kind = stage.kind
    large = replace(signed, raw=bytes(10_000))
    assert kind.decode(kind.encode((large,))) == (replace(signed, raw=b""),)


def test_a_turn_may_be_told_a_command_and_the_time() -> None:
    stage = Stage()
    stage.tell("pause")
    stage.tick(1)
    assert stage.lane.head.mode == "paused"
    stage.accept(1)
    stage.pull()
    assert stage.out == []


def test_the_next_time_is_the_earliest_of_all() -> None:
    stage = begun(0)
    assert deadline(stage.lane) is None
    stage = offered(1)
    assert deadline(stage.lane) == stage.now_ms + 100
    stage.answer("a", OfferKind.SILENT)
    assert deadline(stage.lane) == stage.now_ms + 50


def test_nodes_are_looked_at_while_something_is_out() -> None:
    stage = out(1)
    stage.tick(99)
    assert stage.take(v.LookAtNode) == []
    stage.tick(1)
    assert [order.node for order in stage.take(v.LookAtNode)] == ["a", "b"]
    assert all(node.looking for node in stage.lane.nodes.values())
    assert deadline(stage.lane) is None


def test_a_silent_node_is_offered_the_same_bytes_again() -> None:
    stage = offered(1)
    order = stage.offered("a")
    stage.post(stage.returned(order, OfferKind.SILENT))
    stage.tick(49)
    assert stage.take(v.OfferToNode, node="a") == []
    stage.tick(1)
    again = stage.offered("a")
    assert (again.raws, again.serial) == (order.raws, order.serial + 1)


def test_delayed_bytes_are_made_together() -> None:
    stage = begun(2)
    stage.fail()
    stage.fail()
    stage.tick(50)
    assert [order.slot for order in stage.take(v.MakeAttempt)] == [1, 2]
    # What is delayed no more has no time.
    stage.lane.head.make_ms = 5
    assert deadline(stage.lane) != 5


def test_a_drained_lane_is_paused() -> None:
    stage = begun(1)
    stage.tell("drain", word="running")
    assert deadline(stage.lane) is None
    stage.fail(final=True)
    assert deadline(stage.lane) == stage.now_ms
    stage.tick(0)
    (told,) = stage.told
    assert isinstance(told, ModeChanged)
    assert (told.mode, told.reason, told.by) == ("paused", "why", "ann")


def test_nodes_that_come_and_go_are_told_of() -> None:
    stage = begun(0)
    stage.crash(nodes=("b", "c"))
    assert deadline(stage.lane) == 0
    stage.tick(0)
    assert [record.node.name for record in stage.told if isinstance(record, v.NodeChanged)] == [
        "b",
        "c",
    ]
    assert deadline(stage.lane) is None


def test_a_look_that_failed_is_repeated_later() -> None:
    stage = out(1)
    stage.tick(100)
    stage.blind("a")
    assert (stage.node("a").looking, stage.node("a").look_ms) == (False, stage.now_ms + 100)
    stage.post(v.LookFailed(stage.now_ms, "a"))
    assert stage.told == []
    stage.post(v.LookFailed(stage.now_ms, "c"))
    assert stage.told == []
    stage.look("b", HEIGHT + 1, 1, {1: TxStanding.COMMITTED})
    stage.look_later("a", HEIGHT + 1, 1, {1: TxStanding.COMMITTED})
    assert stage.statuses() == ["confirmed"]
