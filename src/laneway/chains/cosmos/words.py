"""What nodes say against a transaction: numbers first, then words. Data, and overridable."""

import re
from collections.abc import Sequence

from msgspec import Struct

from laneway.core.cosmos import OfferKind
from laneway.core.errors import BadRequest

SDK, BLOB = "sdk", "blob"

CODES: dict[int, OfferKind] = {
    2: OfferKind.MALFORMED,
    4: OfferKind.UNAUTHORIZED,
    5: OfferKind.NO_FUNDS,
    8: OfferKind.UNAUTHORIZED,
    9: OfferKind.NO_ACCOUNT,
    11: OfferKind.OUT_OF_GAS,
    13: OfferKind.FEE_TOO_LOW,
    19: OfferKind.IN_MEMPOOL,
    20: OfferKind.MEMPOOL_FULL,
    21: OfferKind.TOO_LARGE,
    30: OfferKind.TIMED_OUT,
    32: OfferKind.WRONG_SEQUENCE,
}
"""Of the SDK's own codespace."""


class Row(Struct, frozen=True):
    """A pattern, and what it means."""

    pattern: str
    kind: OfferKind


ROWS = (
    Row("incorrect account sequence|account sequence mismatch", OfferKind.WRONG_SEQUENCE),
    Row("already exists in (the )?(cache|mempool)|in mempool cache", OfferKind.IN_MEMPOOL),
    Row("mempool is full", OfferKind.MEMPOOL_FULL),
    Row("tx too large|transaction is too large", OfferKind.TOO_LARGE),
    Row("insufficient fee", OfferKind.FEE_TOO_LOW),
    Row("insufficient funds", OfferKind.NO_FUNDS),
    Row("tx timeout height", OfferKind.TIMED_OUT),
    Row("out of gas", OfferKind.OUT_OF_GAS),
    Row("signature verification failed|unauthorized", OfferKind.UNAUTHORIZED),
    Row("tx parse error", OfferKind.MALFORMED),
    Row("rate limit|too many requests", OfferKind.RATE_LIMITED),
)
"""The first that is found counts."""

SEQUENCES = re.compile(
    r"account sequence mismatch[,:] expected ([0-9]{1,15}), got ([0-9]{1,15})(?![0-9])"
)
"""Fifteen digits are a number that every row holds."""


def read_rows(rows: Sequence[Sequence[str]], where: str) -> tuple[Row, ...]:
    """Rows as a configuration has them, `[kind, pattern]`."""
    return tuple(read_row(row, where) for row in rows)


def read_row(row: Sequence[str], where: str) -> Row:
    try:
        kind, pattern = row
        re.compile(pattern)
        return Row(pattern, OfferKind(kind))
    except (ValueError, re.error) as error:
        raise BadRequest(where, f"{row!r}: {error}") from error


class Words:
    def __init__(self, overrides: Sequence[Row] = ()) -> None:
        rows = (*overrides, *ROWS)
        self._rows = [(re.compile(row.pattern, re.IGNORECASE), row.kind) for row in rows]
        self._count = len(overrides)

    def of_code(self, code: int, codespace: str, log: str) -> OfferKind:
        """What the application says of a transaction that it did not take."""
        found = self._found(log, self._rows[: self._count])
        if found is not None:
            return found
        if codespace in (SDK, "") and code in CODES:
            return CODES[code]
        if codespace == BLOB:
            return OfferKind.BAD_BLOB
        return self._found(log, self._rows) or OfferKind.REFUSED

    def of_error(self, message: str) -> OfferKind:
        """What a node says by itself."""
        return self._found(message, self._rows) or OfferKind.UNKNOWN

    def _found(
        self, text: str, rows: Sequence[tuple[re.Pattern[str], OfferKind]]
    ) -> OfferKind | None:
        return next((kind for pattern, kind in rows if pattern.search(text)), None)


def expected_in(text: str) -> tuple[int, int] | None:
    """The sequence that a node wants, and the one it got, where it says both."""
    found = SEQUENCES.search(text)
    return None if found is None else (int(found[1]), int(found[2]))
