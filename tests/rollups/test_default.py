"""The kind that is meant where none is named."""

from laneway.rollups.default import DEFAULT


def test_it_is_the_ledger() -> None:
    assert DEFAULT.name == "ledger"
