"""What the engine knows of a lane kind."""

import msgspec
import pytest

from laneway.lanes.contract import ContractSettings, contract_kind
from laneway.lanes.kind import LaneKind, LaneState


def test_a_kind_that_sends_no_messages_has_no_event_for_their_delivery() -> None:
    assert contract_kind(ContractSettings()).passed is None


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
