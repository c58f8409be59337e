"""The kind of rollup that is meant where none is named."""

from typing import Final

from laneway.rollups.ledger.kind import LedgerKind

DEFAULT: Final = LedgerKind()
