"""Refusals are told in the words that were recorded, or that the SDK has."""

import pytest

from laneway.devnets.cosmos.model import verdicts
from laneway.devnets.cosmos.model.verdicts import AppVerdict

RECORDED_HASH = "CDA2B24FD441E56E8E1ECAE1A411524A06A20FBC3A62BF96DCF5178AEAFA54DD"
RECORDED_NAME = (
    "54784B65797B434441324232344644343431453536453845314543414531413431313532344130364132304642"
    "433341363242463936444346353137384145414641353444447D"
)


@pytest.mark.parametrize(
    ("verdict", "code", "log"),
    [
        (verdicts.PARSE, 2, "tx parse error: tx parse error"),
        (
            verdicts.not_signed(7, 3, "dev"),
            4,
            "signature verification failed; please verify account number (7), sequence (3) "
            "and chain-id (dev): unauthorized",
        ),
        (verdicts.no_funds("4utia", "5utia"), 5, "4utia is smaller than 5utia: insufficient funds"),
        (
            verdicts.no_account("celestia1x"),
            9,
            "account celestia1x does not exist: unknown address",
        ),
        (
            verdicts.out_of_gas(10, 11),
            11,
            "out of gas in location: txSize; gasWanted: 10, gasUsed: 11: out of gas",
        ),
        (
            verdicts.fee_too_low("400utia", "800utia"),
            13,
            "insufficient fees; got: 400utia required: 800utia: insufficient fee",
        ),
        (verdicts.timed_out(5, 4), 30, "block height: 5, timeout height: 4: tx timeout height"),
        (
            verdicts.wrong_sequence(1, 0),
            32,
            "account sequence mismatch, expected 1, got 0: incorrect account sequence",
        ),
        (
            verdicts.no_grant("rich", "poor"),
            38,
            "rich does not allow to pay fees for poor: fee-grant not found: not found",
        ),
    ],
)
def test_the_sdk_refuses_with_a_code_and_its_words(
    verdict: AppVerdict, code: int, log: str
) -> None:
    assert verdict == AppVerdict(code, log, "sdk")


def test_other_modules_refuse_in_their_own_name() -> None:
    spent = "fee allowance: basic allowance: fee limit exceeded"
    assert AppVerdict(2, spent, "feegrant") == verdicts.GRANT_SPENT
    assert verdicts.bad_blob(11_131, "no blobs") == AppVerdict(11_131, "no blobs", "blob")


def test_an_unknown_message_cannot_be_parsed() -> None:
    verdict = verdicts.unknown_message("/test.v1.MsgNoop")
    assert (verdict.code, verdict.codespace) == (2, "sdk")
    assert "/test.v1.MsgNoop" in verdict.log


def test_coins_that_are_none_are_told() -> None:
    assert verdicts.bad_coins("-5utia") == AppVerdict(10, "-5utia: invalid coins", "sdk")


def test_a_yes_has_no_words() -> None:
    assert AppVerdict(0, "", "") == verdicts.OK


def test_a_full_mempool_names_the_key_as_it_was_recorded() -> None:
    told = verdicts.mempool_full(bytes.fromhex(RECORDED_HASH), 3, 3_270)
    begin = "rejected valid incoming transaction; mempool is full"
    assert told == f"{begin} ({RECORDED_NAME}). Size: (3:3270)"


def test_a_node_tells_its_limits_as_they_were_recorded() -> None:
    assert verdicts.IN_MEMPOOL == "tx already exists in mempool"
    assert verdicts.too_large(2_000, 3_195) == "Tx too large. Max size is 2000, but got 3195"
    many = "batch request exceeds maximum (20) allowed number of transaction hashes"
    assert verdicts.too_many(20) == many
    key = "failed to get tx key from hash: incorrect tx key size. Expected 32 bytes, got 3"
    assert verdicts.bad_key(3) == key
