"""The kinds of rollups of this installation."""

from laneway.kinds.rollup.registry import rollup_kinds
from laneway.rollups.default import DEFAULT


def test_the_ledger_is_laneways_own() -> None:
    assert rollup_kinds()["ledger"] is DEFAULT
