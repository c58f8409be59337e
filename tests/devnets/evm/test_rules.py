"""How pools behave, client by client."""

from laneway.devnets.evm.rules import ANVIL, GETH
from laneway.devnets.evm.words import Reason


def test_anvil_is_laxer_than_geth_about_replacement() -> None:
    assert (ANVIL.bump_percent, GETH.bump_percent) == (0, 10)


def test_each_client_speaks_its_own_words() -> None:
    assert ANVIL.words[Reason.KNOWN] != GETH.words[Reason.KNOWN]
    assert ANVIL.pool_count_max is None
    assert GETH.pool_count_max == 6_144
