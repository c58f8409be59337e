"""What a node's answer proves about bytes that were offered to it."""

import pytest

from laneway.core.cosmos import OfferKind
from laneway.core.outcome import Outcome

KINDS = {
    Outcome.ACCEPTED: (OfferKind.TAKEN, OfferKind.IN_MEMPOOL),
    Outcome.UNKNOWN: (
        OfferKind.WRONG_SEQUENCE,
        OfferKind.RATE_LIMITED,
        OfferKind.SILENT,
        OfferKind.UNKNOWN,
    ),
}


@pytest.mark.parametrize("kind", OfferKind)
def test_bytes_that_a_node_may_know_are_never_refused(kind: OfferKind) -> None:
    told = [outcome for outcome, kinds in KINDS.items() if kind in kinds]
    assert [kind.outcome()] == (told or [Outcome.REFUSED])


def test_only_what_is_wrong_by_itself_is_final() -> None:
    """A gap is filled, funds come, fees fall, mempools empty."""
    assert all(kind.outcome() is Outcome.REFUSED for kind in OfferKind if kind.is_final())
    assert [kind.value for kind in OfferKind if kind.is_final()] == [
        "timed_out", "too_large", "malformed", "unauthorized", "out_of_gas", "bad_blob",
    ]  # fmt: skip
