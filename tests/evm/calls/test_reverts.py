"""What a revert says."""

import pytest

from laneway.evm.calls.reverts import ERROR_SELECTOR, PANIC_SELECTOR, reason_of


def word(number: int) -> bytes:
    return number.to_bytes(32, "big")


def test_an_error_with_a_text_says_it() -> None:
    output = ERROR_SELECTOR + word(32) + word(10) + b"user error".ljust(32, b"\0")
    reason = reason_of(output)
    assert (reason.text, reason.message()) == ("user error", "execution reverted: user error")
    assert reason.selector() == ERROR_SELECTOR


def test_a_text_needs_no_padding_and_no_valid_encoding() -> None:
    """A node of go-ethereum answers such texts too (conformance data of eth_call)."""
    assert reason_of(ERROR_SELECTOR + word(32) + word(2) + b"a\xff").text == "a\ufffd"


@pytest.mark.parametrize(
    "body", [b"", word(32), word(1 << 255), word(32) + word(3) + b"ab", word(31)]
)
def test_a_text_that_is_not_all_there_is_none(body: bytes) -> None:
    reason = reason_of(ERROR_SELECTOR + body)
    assert (reason.text, reason.message()) == (None, "execution reverted")


def test_a_panic_says_what_its_code_means() -> None:
    reason = reason_of(PANIC_SELECTOR + word(0x11))
    assert reason.panic == 0x11
    assert reason.message() == ("execution reverted: an arithmetic operation left its range (0x11)")
    assert reason_of(PANIC_SELECTOR + word(0x99)).meaning() == "unknown panic (0x99)"
    assert reason_of(PANIC_SELECTOR + b"\1").panic is None


def test_an_error_of_a_contract_is_known_by_its_selector() -> None:
    assert reason_of(b"\1\2\3\4\5").selector() == b"\1\2\3\4"
    assert reason_of(b"\1\2\3").selector() is None
    assert reason_of(b"").meaning() == ""
