"""What the engine knows of a lane kind."""

import msgspec
import pytest

from laneway.core.ids import LaneId
from laneway.lanes.contract import ContractSettings, contract_kind
from laneway.lanes.kind import LaneKind, LaneState, PerLane


def test_a_kind_is_a_value() -> None:
    kind = contract_kind(ContractSettings())
    with pytest.raises(AttributeError):
        kind.name = "other"  # type: ignore[misc]
    assert {field.name for field in msgspec.structs.fields(LaneKind)} >= {
        "decide",
        "evolve",
        "resume",
        "wants",
        "deadline",
    }


def test_a_state_says_at_least_its_word_and_why() -> None:
    assert LaneState("idle", "", 0) == LaneState(word="idle", reason="", since_ms=0, running=0)


def test_settings_are_those_of_all_lanes_or_of_each() -> None:
    one, other = LaneId("evm:1:a"), LaneId("evm:1:b")
    alike: PerLane[str] = PerLane("same")
    assert (alike.of(one), alike.serves(other)) == ("same", True)
    each: PerLane[str] = PerLane({one: "its own"})
    assert (each.of(one), each.serves(one), each.serves(other)) == ("its own", True, False)
