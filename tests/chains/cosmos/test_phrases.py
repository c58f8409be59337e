"""Numbers first, then words: what nodes say against a transaction."""

import pytest

from laneway.chains.cosmos.phrases import CosmosPhrases, expected_in, read_rows
from laneway.core.cosmos import OfferKind


@pytest.mark.parametrize(
    ("code", "codespace", "log", "kind"),
    [
        (32, "sdk", "", OfferKind.WRONG_SEQUENCE),
        (20, "sdk", "", OfferKind.MEMPOOL_FULL),
        (19, "sdk", "", OfferKind.IN_MEMPOOL),
        (21, "", "", OfferKind.TOO_LARGE),
        (13, "sdk", "anything", OfferKind.FEE_TOO_LOW),
        (30, "sdk", "", OfferKind.TIMED_OUT),
        (11_113, "blob", "sizes differ", OfferKind.BAD_BLOB),
        (5, "wasm", "out of its own luck", OfferKind.REFUSED),
        (1, "undefined", "mempool is full", OfferKind.MEMPOOL_FULL),
        (99, "sdk", "whatever", OfferKind.REFUSED),
    ],
)
def test_the_number_counts_where_its_codespace_is_known(
    code: int, codespace: str, log: str, kind: OfferKind
) -> None:
    assert CosmosPhrases().of_code(code, codespace, log) is kind


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("Internal error: tx already exists in mempool", OfferKind.IN_MEMPOOL),
        ("tx already exists in cache", OfferKind.IN_MEMPOOL),
        (
            "rejected valid incoming transaction; mempool is full (AB). Size: (3:9)",
            OfferKind.MEMPOOL_FULL,
        ),
        ("Tx too large. Max size is 2000, but got 3195", OfferKind.TOO_LARGE),
        ("codespace sdk code 32: incorrect account sequence", OfferKind.WRONG_SEQUENCE),
        ("429 Too Many Requests", OfferKind.RATE_LIMITED),
        ("the node has a headache", OfferKind.UNKNOWN),
    ],
)
def test_a_nodes_own_words_are_looked_for(text: str, kind: OfferKind) -> None:
    assert CosmosPhrases().of_error(text) is kind


def test_a_chains_own_words_come_first() -> None:
    words = CosmosPhrases(read_rows([("mempool_full", "headache")]))
    assert words.of_error("the node has a Headache") is OfferKind.MEMPOOL_FULL
    assert words.of_code(13, "sdk", "of a headache") is OfferKind.MEMPOOL_FULL
    assert words.of_code(13, "sdk", "of its own") is OfferKind.FEE_TOO_LOW


def test_a_mismatch_says_both_numbers_or_none() -> None:
    told = "account sequence mismatch, expected 12, got 9: incorrect account sequence"
    assert expected_in(told) == (12, 9)
    assert expected_in(": incorrect account sequence") is None
    for odd in ("9" * 5_000, "٣", "9" * 16, "-1"):
        assert expected_in(f"account sequence mismatch, expected {odd}, got 1") is None
        assert expected_in(f"account sequence mismatch, expected 1, got {odd}") is None
