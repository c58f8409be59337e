"""Laws of what a node's answer proves."""

import pytest

from laneway.core.facts import SendKind, sent
from laneway.core.outcome import Outcome


@pytest.mark.parametrize(
    "kind",
    [
        SendKind.NONCE_TOO_LOW,
        SendKind.ALREADY_KNOWN,
        SendKind.SILENT,
        SendKind.UNKNOWN,
        SendKind.RATE_LIMITED,
    ],
)
def test_bytes_that_a_node_may_know_are_never_refused(kind: SendKind) -> None:
    assert kind.outcome() is not Outcome.REFUSED
    assert not kind.is_final()


@pytest.mark.parametrize("kind", list(SendKind))
def test_only_a_refusal_is_final(kind: SendKind) -> None:
    assert kind.outcome() is Outcome.REFUSED or not kind.is_final()


@pytest.mark.parametrize(
    "kind",
    [
        SendKind.NONCE_TOO_HIGH,
        SendKind.REPLACEMENT_UNDERPRICED,
        SendKind.UNDERPRICED,
        SendKind.FEE_CAP_TOO_LOW,
        SendKind.INSUFFICIENT_FUNDS,
        SendKind.POOL_FULL,
        SendKind.ACCOUNT_LIMIT,
        SendKind.UNREACHABLE,
        SendKind.NOT_SERVED,
        SendKind.REVERTED,
    ],
)
def test_a_refusal_that_time_can_change_is_not_final(kind: SendKind) -> None:
    assert kind.outcome() is Outcome.REFUSED
    assert not kind.is_final()


def test_a_nodes_own_rule_says_nothing_of_the_bytes() -> None:
    policies = [kind for kind in SendKind if kind.is_policy()]
    assert [kind.value for kind in policies] == [
        "unsupported", "node_fee_cap", "gas_limit", "oversized",
    ]  # fmt: skip
    assert all(kind.is_final() for kind in policies)


def test_an_answer_says_what_its_kind_proves() -> None:
    taken = sent("a", SendKind.TAKEN)
    assert (taken.outcome, taken.final, taken.reason) == (Outcome.ACCEPTED, False, "")
    wrong = sent("b", SendKind.MALFORMED, "bad bytes")
    assert (wrong.outcome, wrong.final, wrong.reason) == (Outcome.REFUSED, True, "bad bytes")
