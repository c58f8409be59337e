"""What rules answer that have no accounts."""

import pytest
from tests.rollups.log_kind import LogRules, LogState

from laneway.core.errors import BadRequest
from laneway.rollups.domain import Domain


def test_a_rollup_without_accounts_says_so_and_spends_no_nonce() -> None:
    rules = LogRules(Domain(bytes(32), 1))
    assert rules.spent(b"line") is None
    with pytest.raises(BadRequest, match="this rollup has no accounts"):
        rules.account(LogState(), b"a" * 32)
