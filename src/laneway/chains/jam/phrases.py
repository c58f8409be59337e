"""What the error messages of JAM nodes prove: one table of data, and the operator's own rows.

Messages that nobody listed are UNKNOWN, which counts as sent.
"""

from collections.abc import Mapping, Sequence
from functools import cache, partial
from typing import Any, assert_never

from msgspec import Struct, ValidationError, convert

from laneway.chains import phrases
from laneway.chains.jam.limits import STALE_BLOCKS_MIN
from laneway.chains.phrases import ANY
from laneway.core.errors import BadRequest
from laneway.core.jam import (
    Accumulated,
    Failed,
    Finalised,
    May,
    PackageAnswer,
    PackageFact,
    PackageKind,
    Ready,
    Reportable,
    Reported,
    ServiceRefused,
)
from laneway.core.outcome import Outcome


class Meaning(Struct, frozen=True, forbid_unknown_fields=True):
    """What a kind of answer proves, and what may be done after it."""

    outcome: Outcome
    may: tuple[May, ...]
    final: bool = False

    def __post_init__(self) -> None:
        if self.final and self.outcome is not Outcome.REFUSED:
            raise ValueError("only a refusal is final")


class SeedRow(Struct, frozen=True, forbid_unknown_fields=True):
    """A row of the first queue's tables, and the kinds and facts that it is known by here."""

    table: str
    row: str
    cause: str
    says: str
    kinds: tuple[PackageKind, ...]
    facts: tuple[str, ...]


Row = phrases.Phrase[PackageKind]
read_rows = partial(phrases.read_rows, PackageKind)
"""Rows as a file has them: `[kind, pattern]` or `[kind, pattern, code]`."""


class PhraseTable(Struct, frozen=True):
    """The file as it is read."""

    meanings: Mapping[PackageKind, Meaning]
    facts: Mapping[str, tuple[May, ...]]
    rows: Mapping[str, tuple[Row, ...]]
    seed: tuple[SeedRow, ...]


class JamPhrases(phrases.ClientPhrases[PackageKind]):
    def __init__(self, client: str = "", overrides: Sequence[Row] = ()) -> None:
        table = shipped()
        if client and client not in table.rows:
            known = ", ".join(name for name in table.rows if name != ANY)
            raise BadRequest("client", f"{client!r} is none of {known}")

        def is_final(kind: PackageKind) -> bool:
            return table.meanings[kind].final

        super().__init__(table.rows, client, overrides, is_final, PackageKind.UNKNOWN)


@cache
def shipped() -> PhraseTable:
    """The table that comes with the package."""
    return read_table(phrases.shipped_toml("laneway.chains.jam"))


def read_table(content: Mapping[str, Any]) -> PhraseTable:
    try:
        meanings = convert(content["kinds"], dict[PackageKind, Meaning])
        facts = convert(content["facts"], dict[str, tuple[May, ...]])
        seed = convert(content["seed"], tuple[SeedRow, ...])
    except ValidationError as error:
        raise BadRequest("words", str(error)) from error
    if missing := [kind.value for kind in PackageKind if kind not in meanings]:
        raise BadRequest("words", f"it says nothing of {', '.join(missing)}")
    tables = {client: read_rows(rows, client) for client, rows in content["words"].items()}
    return PhraseTable(meanings, facts, tables, seed)


def answer_of(node: str, core: int | None, kind: PackageKind, words: str = "") -> PackageAnswer:
    meaning = shipped().meanings[kind]
    return PackageAnswer(
        node=node,
        core=core,
        kind=kind,
        outcome=meaning.outcome,
        final=meaning.final,
        may=meaning.may,
        words=phrases.shorten(words),
    )


def fact_name(fact: PackageFact) -> str:
    """The row of the table of facts that this one is."""
    match fact:
        case Reportable(remaining_blocks=remaining):
            return "reportable_stale" if remaining < STALE_BLOCKS_MIN else "reportable"
        case Reported():
            return "reported"
        case Ready():
            return "ready"
        case Failed():
            return "failed"
        case Accumulated():
            return "accumulated"
        case ServiceRefused():
            return "service_refused"
        case Finalised():
            return "finalised"
        case _:
            assert_never(fact)


def may_after(fact: PackageFact) -> tuple[May, ...]:
    """What may be done after it, by the table."""
    table = shipped()
    may = table.facts[fact_name(fact)]
    if isinstance(fact, Failed) and fact.kind is not PackageKind.UNKNOWN:
        meaning = table.meanings[fact.kind]
        # A node may call a package failed that is in the pipeline: then nothing is to be done.
        return meaning.may if meaning.outcome is Outcome.ACCEPTED else may
    return may
