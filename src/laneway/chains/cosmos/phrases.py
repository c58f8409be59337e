"""What nodes say against a transaction: numbers first, then words. Data, and overridable."""

import re
from collections.abc import Sequence
from functools import partial

from laneway.chains import phrases
from laneway.core.cosmos import OfferKind

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


Row = phrases.Phrase[OfferKind]
read_rows = partial(phrases.read_rows, OfferKind)
"""Rows as a configuration has them, `[kind, pattern]`."""

ROWS = read_rows(
    (
        ("wrong_sequence", "incorrect account sequence|account sequence mismatch"),
        ("in_mempool", "already exists in (the )?(cache|mempool)|in mempool cache"),
        ("mempool_full", "mempool is full"),
        ("too_large", "tx too large|transaction is too large"),
        ("fee_too_low", "insufficient fee"),
        ("no_funds", "insufficient funds"),
        ("timed_out", "tx timeout height"),
        ("out_of_gas", "out of gas"),
        ("unauthorized", "signature verification failed|unauthorized"),
        ("malformed", "tx parse error"),
        ("rate_limited", "rate limit|too many requests"),
    )
)
"""The first that is found counts."""

SEQUENCES = re.compile(
    r"account sequence mismatch[,:] expected ([0-9]{1,15}), got ([0-9]{1,15})(?![0-9])"
)
"""Fifteen digits are a number that every row holds."""


class CosmosPhrases:
    def __init__(self, overrides: Sequence[Row] = ()) -> None:
        self._overrides = overrides
        self._rows = (*overrides, *ROWS)

    def of_code(self, code: int, codespace: str, log: str) -> OfferKind:
        """What the application says of a transaction that it did not take."""
        found = self._found(log, self._overrides)
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

    def _found(self, text: str, rows: Sequence[Row]) -> OfferKind | None:
        return next((row.kind for row in rows if row.is_in(text)), None)


def expected_in(text: str) -> tuple[int, int] | None:
    """The sequence that a node wants, and the one it got, where it says both."""
    found = SEQUENCES.search(text)
    return None if found is None else (int(found[1]), int(found[2]))
