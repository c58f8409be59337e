"""RLPTests of ethereum/tests: what is valid has one form, what is invalid is refused."""

from typing import Any

import pytest
from tests.vectors.folder import rows, unhex

from laneway.evm.errors import MalformedRlp
from laneway.evm.rlp import Value, decode, encode

pytestmark = pytest.mark.vectors


@pytest.mark.parametrize("case", rows("evm", "ethtests", "RLPTests"))
def test_rlp_is_read_and_written_as_the_vectors_say(case: dict[str, Any]) -> None:
    raw = unhex(case["out"])
    if case["in"] == "INVALID":
        with pytest.raises(MalformedRlp):
            decode(raw)
        return
    assert encode(decode(raw)) == raw
    if case["in"] != "VALID":
        assert encode(value(case["in"])) == raw


def value(given: Any) -> Value:
    """The vectors write a large integer as # and its decimal digits."""
    if isinstance(given, str):
        return int(given[1:]) if given.startswith("#") else given.encode()
    if isinstance(given, list):
        return [value(item) for item in given]
    assert isinstance(given, int)
    return given
