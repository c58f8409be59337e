"""Every reason has words in both clients."""

from laneway.devnets.evm.words import ANVIL, GETH, Reason


def test_no_reason_is_without_words() -> None:
    assert list(ANVIL) == list(GETH) == list(Reason)


def test_anvils_words_are_the_recorded_ones() -> None:
    assert ANVIL[Reason.KNOWN] == (-32003, "transaction already imported")
    assert ANVIL[Reason.NONCE_TOO_LOW] == (-32003, "nonce too low")
    assert ANVIL[Reason.MALFORMED] == (-32602, "Failed to decode transaction")
