"""Reads a node's words, and says what they prove: one table of data, and the operator's own rows.

Words nobody listed are UNKNOWN, which counts as sent.
"""

import re
import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any, assert_never

from msgspec import Struct, ValidationError, convert

from laneway.chains.jam.limits import STALE_BLOCKS_MIN
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
from laneway.core.limits import REASON_CHARS_MAX
from laneway.core.outcome import Outcome

ANY = "any"


class Meaning(Struct, frozen=True, forbid_unknown_fields=True):
    """What a kind of answer proves, and what may be done after it."""

    outcome: Outcome
    may: tuple[May, ...]
    final: bool = False

    def __post_init__(self) -> None:
        if self.final and self.outcome is not Outcome.REFUSED:
            raise ValueError("only a refusal is final")


class SeedRow(Struct, frozen=True, forbid_unknown_fields=True):
    """A row of the first queue's tables, and by what it is known here."""

    table: str
    row: str
    cause: str
    says: str
    kinds: tuple[PackageKind, ...]
    facts: tuple[str, ...]


class Row(Struct, frozen=True):
    kind: PackageKind
    words: re.Pattern[str]
    code: int | None = None

    def fits(self, code: int, message: str) -> bool:
        return (self.code is None or self.code == code) and bool(self.words.search(message))


class Table(Struct, frozen=True):
    """The file as it is read."""

    meanings: Mapping[PackageKind, Meaning]
    facts: Mapping[str, tuple[May, ...]]
    rows: Mapping[str, tuple[Row, ...]]
    seed: tuple[SeedRow, ...]


class Words:
    """The rows for one client, in the order in which they are asked."""

    def __init__(self, client: str = "", overrides: Sequence[Row] = ()) -> None:
        table = shipped()
        if client and client not in table.rows:
            known = ", ".join(name for name in table.rows if name != ANY)
            raise BadRequest("client", f"{client!r} is none of {known}")
        others = [name for name in table.rows if name not in (client, ANY)]
        order = [client] * bool(client) + [ANY, *others]
        rows = [row for name in order for row in table.rows[name]]
        # A final refusal gives the bytes up, so it is believed only when no row reads it softer.
        rows.sort(key=lambda row: table.meanings[row.kind].final)
        self._rows = (*overrides, *rows)

    def kind(self, code: int, message: str) -> PackageKind:
        for row in self._rows:
            if row.fits(code, message):
                return row.kind
        return PackageKind.UNKNOWN


@cache
def shipped() -> Table:
    """The table that comes with the package."""
    text = files("laneway.chains.jam").joinpath("words.toml").read_text()
    return read_table(tomllib.loads(text))


def read_table(told: Mapping[str, Any]) -> Table:
    try:
        meanings = convert(told["kinds"], dict[PackageKind, Meaning])
        facts = convert(told["facts"], dict[str, tuple[May, ...]])
        seed = convert(told["seed"], tuple[SeedRow, ...])
    except ValidationError as error:
        raise BadRequest("words", str(error)) from error
    if missing := [kind.value for kind in PackageKind if kind not in meanings]:
        raise BadRequest("words", f"it says nothing of {', '.join(missing)}")
    rows = {client: read_rows(given, client) for client, given in told["words"].items()}
    return Table(meanings, facts, rows, seed)


def read_rows(rows: Sequence[Sequence[object]], where: str = "words") -> tuple[Row, ...]:
    """Rows as a file has them, `[kind, words]` or `[kind, words, code]`."""
    return tuple(read_row(row, where) for row in rows)


def read_row(row: Sequence[object], where: str) -> Row:
    match row:
        case [str(kind), str(words)]:
            code = None
        case [str(kind), str(words), int(code)]:
            pass
        case _:
            raise BadRequest(where, f"{row!r} is not [kind, words] or [kind, words, code]")
    try:
        return Row(PackageKind(kind), re.compile(words, re.I), code)
    except (ValueError, re.error) as error:
        raise BadRequest(where, f"{row!r}: {error}") from error


def answer_of(node: str, core: int | None, kind: PackageKind, words: str = "") -> PackageAnswer:
    meaning = shipped().meanings[kind]
    return PackageAnswer(
        node=node,
        core=core,
        kind=kind,
        outcome=meaning.outcome,
        final=meaning.final,
        may=meaning.may,
        words=words[:REASON_CHARS_MAX],
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
