"""How pools behave and refuse, client by client."""

from laneway.devnets.evm.model.rules import ANVIL, GETH, RefusalReason


def test_anvil_is_laxer_than_geth_about_replacement() -> None:
    assert (ANVIL.bump_percent, GETH.bump_percent) == (0, 10)


def test_each_client_has_its_own_messages() -> None:
    assert ANVIL.refusals[RefusalReason.KNOWN] != GETH.refusals[RefusalReason.KNOWN]
    assert ANVIL.pool_count_max is None
    assert GETH.pool_count_max == 6_144


def test_no_reason_is_without_a_message() -> None:
    assert list(ANVIL.refusals) == list(GETH.refusals) == list(RefusalReason)


def test_anvils_messages_are_the_recorded_ones() -> None:
    assert ANVIL.refusals[RefusalReason.KNOWN] == (-32003, "transaction already imported")
    assert ANVIL.refusals[RefusalReason.NONCE_TOO_LOW] == (-32003, "nonce too low")
    assert ANVIL.refusals[RefusalReason.MALFORMED] == (-32602, "Failed to decode transaction")
