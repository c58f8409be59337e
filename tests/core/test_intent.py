"""What a caller wants done once."""

from laneway.core.ids import IntentId, lane_id
from laneway.core.intent import Arrival, IntentRow, placed


def test_an_arrival_keeps_all_it_said_when_it_gets_its_place() -> None:
    lane = lane_id("contract", "Qm1")
    arrival = Arrival(
        IntentId("tx_1"), lane, b"call", b"digest", 7, "order-7", "scope", 2, 9, fast_size=1
    )
    row = placed(arrival, 4)
    assert row == IntentRow(
        IntentId("tx_1"), lane, 4, 2, 7, 9, "order-7", "scope", b"digest", b"call"
    )


def test_the_size_of_an_intent_is_that_of_its_bytes() -> None:
    arrival = Arrival(IntentId("tx_1"), lane_id("contract", "Qm1"), b"12345", b"", 0)
    assert placed(arrival, 1).size() == 5
