"""Why a connection failed, in words that an operator knows."""

import socket
from errno import ECONNREFUSED

import pytest

from laneway.wire.trouble import no_answer, trouble_of


class Wrapped(Exception):
    """As aiohttp has it: with the cause in it."""

    os_error = OSError(ECONNREFUSED, "Connect call failed ('127.0.0.1', 1)")


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (Wrapped(), "connection refused"),
        (OSError(ECONNREFUSED, "x"), "connection refused"),
        (TimeoutError(), "no connection within 5 s"),
        (socket.gaierror(-2, "Name or service not known"), "name or service not known"),
        (ValueError("x"), "ValueError"),
    ],
)
def test_a_failure_is_named_by_its_cause(error: Exception, words: str) -> None:
    assert trouble_of(error, 5.0) == words


def test_silence_is_named_with_its_bound() -> None:
    assert no_answer(1_500) == "no answer within 1.5 s"
