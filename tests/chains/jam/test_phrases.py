"""Laws of what nodes say: every word has one meaning, and what nobody listed proves nothing."""

import tomllib
from importlib.resources import files
from typing import Any

import pytest
from tests.chains.jam.stage import ref

from laneway.chains.jam.phrases import (
    JamPhrases,
    answer_of,
    fact_name,
    may_after,
    read_rows,
    read_table,
    shipped,
)
from laneway.core.errors import BadRequest
from laneway.core.jam import (
    Accumulated,
    Failed,
    Finalised,
    May,
    PackageFact,
    PackageKind,
    Ready,
    Reportable,
    Reported,
    ServiceRefused,
)
from laneway.core.outcome import Outcome

NOBODY = "Failed to submit work-package to even a single proxy/guarantor"
NO_PARAMS = "Invalid params:\n[] Too big: expected array to have <0 items"
FACTS: dict[str, PackageFact] = {
    "reportable": Reportable(2),
    "reportable_stale": Reportable(1),
    "reported": Reported(ref("a1"), 0, b""),
    "ready": Ready(ref("a1"), 0, b"", ref("a2")),
    "failed": Failed(PackageKind.UNKNOWN, "who knows"),
    "accumulated": Accumulated(7),
    "service_refused": ServiceRefused("wrong_parent", 7),
    "finalised": Finalised(ref("a1")),
}


def raw_table() -> dict[str, Any]:
    return tomllib.loads(files("laneway.chains.jam").joinpath("phrases.toml").read_text())


@pytest.mark.parametrize(
    ("client", "code", "message", "kind"),
    [
        ("polkajam", 0, NOBODY, "no_guarantor"),
        ("polkajam", -32006, "Too many subscriptions on the connection", "too_many_subscriptions"),
        ("javajam", 0, "", "unknown"),
        ("javajam", 0, "core 1 is busy", "core_busy"),
        ("typeberry", 0, "Method not implemented", "unsupported"),
        ("typeberry", -32601, "Method not found: nope", "unsupported"),
        ("typeberry", -32602, NO_PARAMS, "unsupported"),
        ("typeberry", -32602, "Invalid params:\n[0] Invalid hash length.", "unknown"),
        ("typeberry", 0, "Refine error: Authorization error: CodeNotFound: Auth", "unauthorized"),
        ("typeberry", 0, "Refine error: State at anchor block 0x00 is missing.", "anchor_unknown"),
        ("typeberry", 0, "Refine error: something else", "refine_failed"),
        ("typeberry", 0, "Attempting to decode more data than there is left.", "malformed"),
        ("typeberry", 0, "Anchor block 0x11 not found in recent blocks.", "anchor_not_recent"),
        ("typeberry", 0, "Lookup anchor slot's too old. Got: 3, minimal: 6", "lookup_too_old"),
        ("typeberry", 0, "Report pending availability at core: 0", "core_busy"),
        ("typeberry", 0, "The same work package hash found in the pipeline", "already_known"),
        ("typeberry", 0, "Missing work package 0x1 in current extrinsic", "dependency_missing"),
        ("typeberry", 0, "Report at 1 has too many dependencies.", "too_many_dependencies"),
        ("typeberry", 0, "Total gas too high. Got: 10000001 (ovfl: 0), maximal: 10000000", "gas"),
        ("jamduna", 0, "G15", "anchor_not_recent"),
        ("jamduna", 0, "ErrGAnchorNotRecent", "anchor_not_recent"),
        ("jamduna", 0, "ErrGReportEpochBeforeLast", "guarantee_too_old"),
        ("jamduna", 0, "core_engaged", "core_busy"),
        ("laneway", 0, "core 7 does not exist; the chain has 2", "wrong_core"),
        ("laneway", 0, "the guarantors of core 0 hold 64 packages", "queue_full"),
        ("laneway", 0, "package.items[0], byte 7: 3 bytes are expected", "malformed"),
        ("laneway", 0, "extrinsic 1 of the bundle is not what", "bad_extrinsics"),
        ("laneway", 0, "the authorizer refuses what is not signed with the key", "refine_failed"),
        ("laneway", 0, "service 7 waits for no preimage of these 3 bytes", "not_requested"),
        ("", 429, "Too Many Requests", "rate_limited"),
    ],
)
def test_each_clients_words_have_a_meaning_whoever_speaks(
    client: str, code: int, message: str, kind: str
) -> None:
    assert JamPhrases(client).kind(code, message) is PackageKind(kind)
    assert JamPhrases().kind(code, message) is PackageKind(kind), "a gateway does not say who it is"


@pytest.mark.parametrize("words", ["", "oops", "internal error", "G150", "too late"])
def test_words_that_nobody_listed_are_unknown_and_count_as_sent(words: str) -> None:
    answer = answer_of("node", 0, JamPhrases().kind(0, words), words)
    assert (answer.kind, answer.outcome) == (PackageKind.UNKNOWN, Outcome.UNKNOWN)
    assert answer.may == (May.SAME_BYTES,)


def test_a_final_refusal_is_believed_only_when_no_row_reads_it_softer() -> None:
    both = "Report pending availability at core: 0; Total gas too high"
    assert JamPhrases("typeberry").kind(0, both) is PackageKind.CORE_BUSY


def test_an_operators_row_comes_first() -> None:
    rows = read_rows([["core_busy", "oops", 7]])
    assert JamPhrases("", rows).kind(7, "Oops") is PackageKind.CORE_BUSY
    assert JamPhrases("", rows).kind(8, "Oops") is PackageKind.UNKNOWN


@pytest.mark.parametrize(
    "row",
    [
        ["core_busy"],
        ["core_busy", 7],
        ["nope", "x"],
        ["core_busy", "("],
        [1, "x"],
        ["core_busy", "x", "y"],
    ],
)
def test_a_row_that_cannot_be_read_is_refused(row: list[Any]) -> None:
    with pytest.raises(BadRequest):
        read_rows([row])


def test_a_client_that_is_not_known_is_refused() -> None:
    with pytest.raises(BadRequest, match="polkajam"):
        JamPhrases("geth")


def test_the_table_says_something_of_every_kind_and_fact() -> None:
    table = shipped()
    assert set(table.meanings) == set(PackageKind)
    assert set(table.facts) == set(FACTS)
    assert all(meaning.may for meaning in table.meanings.values())
    spoken = {row.kind for rows in table.rows.values() for row in rows}
    unspoken = set(PackageKind) - spoken
    assert unspoken == {
        PackageKind.TAKEN,
        PackageKind.UNREACHABLE,
        PackageKind.SILENT,
        PackageKind.UNKNOWN,
    }


def test_only_a_refusal_is_final_and_it_leaves_nothing_to_do_with_the_same_bytes() -> None:
    for kind, meaning in shipped().meanings.items():
        if meaning.final:
            assert meaning.outcome is Outcome.REFUSED, kind
            assert May.SAME_BYTES not in meaning.may, kind
        if meaning.outcome is Outcome.UNKNOWN:
            assert meaning.may == (May.SAME_BYTES,), "doubt allows nothing else"


def test_a_table_that_contradicts_itself_is_refused() -> None:
    table = raw_table()
    del table["kinds"]["gas"]
    with pytest.raises(BadRequest, match="gas"):
        read_table(table)
    table["kinds"]["gas"] = {"outcome": "accepted", "final": True, "may": ["wait"]}
    with pytest.raises(BadRequest, match="final"):
        read_table(table)
    table["kinds"]["gas"] = {"outcome": "refused", "may": ["pray"]}
    with pytest.raises(BadRequest, match="pray"):
        read_table(table)


@pytest.mark.parametrize("name", FACTS)
def test_every_fact_has_its_row(name: str) -> None:
    assert fact_name(FACTS[name]) == name
    assert may_after(FACTS[name]) == shipped().facts[name]


def test_what_is_in_the_pipeline_has_not_failed() -> None:
    known = Failed(PackageKind.ALREADY_KNOWN, "the same work package hash found in the pipeline")
    assert may_after(known) == (May.WAIT,)
    assert may_after(Failed(PackageKind.CORE_BUSY, "")) == (May.REBUILD,), "nothing comes of it"


def test_the_seeds_tables_are_here_row_by_row() -> None:
    rows = [(row.table, row.row) for row in shipped().seed]
    assert rows == [
        ("Error Handling", "G15 (AnchorNotRecent)"),
        ("Error Handling", "Guarantee Timeout"),
        ("Error Handling", "Network Error"),
        ("Error Handling", "Max Retries Exceeded"),
        ("Requeue Triggers", "Guarantee Timeout"),
        ("Requeue Triggers", "Stale Anchor"),
        ("Requeue Triggers", "Network Failure"),
        ("Signals Tracked", "E_G (Guarantee Extrinsic)"),
        ("Signals Tracked", "E_A (Accumulation Extrinsic)"),
        ("Signals Tracked", "Timeout (18s)"),
        ("Signals Tracked", "Anchor Staleness"),
    ]
    for row in shipped().seed:
        assert row.kinds or row.facts
        assert set(row.facts) <= set(FACTS)
