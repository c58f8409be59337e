"""Every reason has a code of its own, and its message is made of its operands."""

import inspect

from laneway.cosmos import errors
from laneway.cosmos.errors import InvalidCosmos, MalformedAddress

KINDS = [
    kind
    for _, kind in inspect.getmembers(errors, inspect.isclass)
    if issubclass(kind, InvalidCosmos)
]


def test_codes_are_different() -> None:
    codes = [kind.code for kind in KINDS]
    assert len(set(codes)) == len(codes) > 5


def test_a_message_is_made_of_its_operands() -> None:
    said = MalformedAddress(address="x", problem="short")
    assert (str(said), said.operands) == (
        "'x' is no address: short", {"address": "x", "problem": "short"},
    )  # fmt: skip
