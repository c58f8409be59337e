"""How a sequence lane behaves."""

import msgspec
import pytest

from laneway.lanes.sequence.settings import SequenceSettings


def test_bytes_end_before_a_mempool_forgets_the_account() -> None:
    """celestia-app's mempool drops an account's transactions after 36 blocks."""
    assert SequenceSettings().timeout_blocks < 36


def test_an_unknown_setting_is_no_setting() -> None:
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert({"window": 3}, SequenceSettings)
