"""Laws of what is kept of the blocks that were seen."""

import pytest

from laneway.chains import seen
from laneway.chains.seen import SeenBlocks


def test_what_was_seen_is_kept_of_the_latest_contracts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(seen, "CONTRACTS_SEEN_MAX", 2)
    blocks = SeenBlocks()
    for contract, number in (("a", 1), ("b", 2), ("a", 3), ("a", 2), ("c", 4)):
        blocks.saw(contract, number)
    assert [blocks.of(contract) for contract in "abc"] == [3, None, 4]
