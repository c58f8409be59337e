"""All transitions of a sequence lane, in one place."""

from typing import Any

import pytest
from msgspec.structs import replace
from tests.lanes.sequence.stage import LANE, SETTINGS, Stage, begun, committed, offered, out

from laneway.core.ids import LaneId
from laneway.core.rows import Head, Rows
from laneway.lanes.sequence.machine import decide, resume, sequence_kind
from laneway.lanes.sequence.values import (
    AttemptSigned,
    MakeAttempt,
    OfferToNode,
    ProveSequence,
    SequenceProven,
)


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
    assert [type(effect) for effect in resume(stage.lane)] == [MakeAttempt, MakeAttempt]
    stage.fail()
    assert [type(effect) for effect in resume(stage.lane)] == [MakeAttempt]
    stage.tick(50)
    stage.make()
    again = resume(stage.lane)
    assert [type(effect) for effect in again] == [OfferToNode, OfferToNode]
    assert {effect.again for effect in again if isinstance(effect, OfferToNode)} == {
        stage.lane.life
    }


def test_who_used_a_number_is_asked_again_after_a_crash() -> None:
    stage = out(1)
    stage.all_look(6, 1)
    stage.crash()
    assert [type(effect) for effect in stage.out] == [ProveSequence]
    stage.post(SequenceProven(stage.now_ms, 0, ()))
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
    (signed,) = [one for one in stage.told if isinstance(one, AttemptSigned)]
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
