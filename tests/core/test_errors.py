"""Every error says whose fault it is, whether anything changed, and whether to try again."""

import pytest

from laneway.core.errors import (
    AccountNotFound,
    BadRequest,
    Bug,
    BuildFailed,
    BundleNotFound,
    CallerError,
    ChainError,
    ChainUnreachable,
    ChainUnreadable,
    CommandUnfit,
    DeclaredDead,
    Draining,
    HeldElsewhere,
    IntentConflict,
    IntentFinal,
    IntentNotFound,
    InvalidValue,
    LaneFull,
    LaneNotFound,
    LanewayError,
    LeaseLost,
    NoRoom,
    RetryUnfit,
    RollupBehind,
    SignerError,
    SignerRefused,
    SignerUnreachable,
    StoreBusy,
    StoreClosed,
    StoreCorrupt,
    StoreError,
    StoreFull,
    StoreRefused,
    StoreUnknown,
    WebhookNotFound,
)

ERRORS: list[tuple[LanewayError, type[LanewayError], str, bool | None]] = [
    (BadRequest("data", "too long"), CallerError, "never", False),
    (IntentConflict("order-7", "tx_1"), CallerError, "never", False),
    (IntentNotFound("tx_1"), CallerError, "never", False),
    (IntentFinal("tx_1", "confirmed"), BadRequest, "never", False),
    (LaneNotFound("contract:Q"), CallerError, "never", False),
    (RetryUnfit("tx_1", "it is confirmed"), CallerError, "never", False),
    (CommandUnfit("contract:Q", "resume", "unknown"), CallerError, "never", False),
    (
        LaneFull("contract:Q", bound="intents", limit=3, retry_after_s=30),
        CallerError,
        "later",
        False,
    ),
    (NoRoom("sequence.process_bytes_max", 1_000, 2.5), CallerError, "later", False),
    (Draining(), CallerError, "later", False),
    (ChainUnreachable("http://node", "no route"), ChainError, "later", False),
    (ChainUnreadable("http://node", "<html>"), ChainError, "after_check", None),
    (RollupBehind("rollup:1", "it has block 1"), ChainError, "later", False),
    (SignerRefused("kms:1", "not allowed"), SignerError, "never", False),
    (SignerUnreachable("kms:1", "HTTP 500"), SignerError, "later", False),
    (StoreBusy("locked"), StoreError, "later", False),
    (StoreFull("a.db"), StoreError, "later", False),
    (StoreRefused("a.db", "read-only"), StoreError, "never", False),
    (LeaseLost("contract:Q", 2, 7), StoreError, "never", False),
    (DeclaredDead("process-1"), StoreError, "later", False),
    (StoreUnknown("no answer"), StoreError, "after_check", None),
    (StoreCorrupt("a.db", "page 3"), StoreError, "never", None),
    (StoreClosed("a.db", "EIO"), StoreError, "after_check", None),
    (Bug("two slots"), LanewayError, "never", False),
]


@pytest.mark.parametrize(("error", "family", "retry", "changed"), ERRORS, ids=lambda v: str(v)[:20])
def test_an_error_answers_whose_fault_whether_changed_and_whether_to_retry(
    error: LanewayError, family: type[LanewayError], retry: str, changed: bool | None
) -> None:
    assert isinstance(error, family)
    assert error.retry == retry
    assert error.changed is changed


def test_codes_are_stable_and_tell_the_classes_apart() -> None:
    codes = [error.code for error, *_ in ERRORS]
    assert len(set(codes)) == len(codes)
    assert codes[0] == "bad_request"
    assert IntentConflict.code == "idempotency_conflict"


def test_the_message_is_built_from_the_operands() -> None:
    full = LaneFull("contract:Q", bound="intents", limit=3, retry_after_s=30)
    assert (full.lane, full.bound, full.limit, full.retry_after_s) == (
        "contract:Q",
        "intents",
        3,
        30,
    )
    assert "limit of 3 intents" in str(full)
    conflict = IntentConflict("order-7", "tx_1")
    assert (conflict.key, conflict.intent) == ("order-7", "tx_1")
    assert "order-7" in str(conflict)
    lost = LeaseLost("contract:Q", 2, 7)
    assert (lost.lane, lost.fence, lost.version) == ("contract:Q", 2, 7)
    assert "fence 2" in str(lost)
    bad = BadRequest("data", "too long")
    assert (bad.field, bad.problem, str(bad)) == ("data", "too long", "data: too long")
    assert IntentNotFound("tx_1").intent == "tx_1"
    final = IntentFinal("tx_1", "confirmed")
    assert (final.intent, final.status, final.field) == ("tx_1", "confirmed", "intent")
    assert LaneNotFound("contract:Q").lane == "contract:Q"
    unfit = CommandUnfit("contract:Q", "resume", "in doubt")
    assert (unfit.lane, unfit.verb, unfit.reason) == ("contract:Q", "resume", "in doubt")
    assert str(unfit) == "contract:Q cannot resume: in doubt"
    second = RetryUnfit("tx_1", "it is confirmed")
    assert (second.intent, second.reason) == ("tx_1", "it is confirmed")
    gone = ChainUnreachable("http://node", "no route")
    assert (gone.endpoint, gone.problem) == ("http://node", "no route")
    refused = SignerRefused("kms:1", "not allowed")
    assert (refused.signer, refused.problem) == ("kms:1", "not allowed")
    away = SignerUnreachable("kms:1", "HTTP 500")
    assert (away.signer, away.problem) == ("kms:1", "HTTP 500")
    assert StoreRefused("a.db", "read-only").path == "a.db"
    assert StoreCorrupt("a.db", "page 3").problem == "page 3"
    assert StoreClosed("a.db", "EIO").path == "a.db"
    assert StoreFull("a.db").path == "a.db"
    assert StoreUnknown("no answer").problem == "no answer"


def test_a_foreign_answer_is_cut_before_it_is_shown() -> None:
    error = ChainUnreadable("http://node", "x" * 10_000)
    assert error.answer == "x" * 10_000
    assert len(str(error)) < 300


def test_what_a_failed_sync_closed_is_in_doubt_like_any_unknown_write() -> None:
    assert issubclass(StoreClosed, StoreUnknown)
    assert issubclass(StoreFull, StoreBusy)


def test_an_account_that_is_not_configured_says_so() -> None:
    error = AccountNotFound("evm:dev:cold")
    assert isinstance(error, LaneNotFound)
    assert (error.lane, error.code) == ("evm:dev:cold", "lane_not_found")
    assert "no account evm:dev:cold is configured" in str(error)


def test_a_rollup_that_is_not_configured_says_how_rollups_are_named() -> None:
    assert str(AccountNotFound("rollup:9", "rollup", "rollup:NAME or its service")) == (
        "no rollup rollup:9 is configured here; say rollup:NAME or its service"
    )


def test_what_a_process_does_not_know_of_a_rollup_says_who_does() -> None:
    gone = BundleNotFound("rollup:1", "block 7")
    assert (gone.lane, gone.name) == ("rollup:1", "block 7")
    assert str(gone) == "rollup:1 has no block 7, or keeps it no longer"
    elsewhere = HeldElsewhere("rollup:1", "block 7")
    assert elsewhere.retry == "later"
    assert str(elsewhere) == (
        "block 7 of rollup:1 is known to the process that holds the lane, and not to this one; "
        "ask that one"
    )


@pytest.mark.parametrize("final", [False, True])
def test_a_builder_says_whether_it_will_ever_have_an_answer(final: bool) -> None:
    error = BuildFailed("no state", final=final)
    assert (str(error), error.final, error.changed) == ("no state", final, False)


def test_a_webhook_that_is_not_configured_is_named() -> None:
    assert WebhookNotFound("orders").webhook == "orders"


def test_who_found_no_room_hears_which_bound_it_was() -> None:
    error = NoRoom("sequence.process_bytes_max", 1_000, 2.5)
    assert (error.bound, error.limit, error.retry) == ("sequence.process_bytes_max", 1_000, "later")
    assert str(error).startswith("sequence.process_bytes_max is 1000 bytes")
    assert "for 2.5 s" in str(error)


def test_what_breaks_a_rule_of_its_chain_names_its_operands() -> None:
    class TooLong(InvalidValue):
        message = "{length} bytes, and {limit} are allowed"

    error = TooLong(length=9, limit=8)
    assert str(error) == "9 bytes, and 8 are allowed"
    assert error.operands == {"length": 9, "limit": 8}
    assert isinstance(error, CallerError)
