"""What a node's answer proves about bytes that were offered to it."""

import pytest

from laneway.core.cosmos import CommittedAccount, CosmosLook, OfferKind
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
    """A gap is filled, funds come, fees fall, mempools empty, and what is too late now was not
    always."""
    assert all(kind.outcome() is Outcome.REFUSED for kind in OfferKind if kind.is_final())
    assert [kind.value for kind in OfferKind if kind.is_final()] == [
        "too_large", "malformed", "unauthorized", "out_of_gas", "bad_blob",
    ]  # fmt: skip


def test_a_look_is_of_the_chain_and_the_account_that_were_asked_for() -> None:
    look = CosmosLook("a", 5, CommittedAccount(7, 500), (), "mine-1", "celestia1me")
    assert look.problem("mine-1", "celestia1me") == ""
    assert look.problem("mine-2", "celestia1me") == (
        "it serves chain mine-1, and this is chain mine-2"
    )
    assert look.problem("mine-1", "celestia1you") == (
        "it showed the account celestia1me, and celestia1you was asked for"
    )
    assert CosmosLook("a", 5, None, (), "mine-1").problem("mine-1", "celestia1you") == ""
