"""Every reason has a code of its own, and its message is made of its operands."""

import inspect

from laneway.jam import errors
from laneway.jam.errors import InvalidJam, MalformedEncoding

KINDS = [
    kind for _, kind in inspect.getmembers(errors, inspect.isclass) if issubclass(kind, InvalidJam)
]


def test_codes_are_different() -> None:
    codes = [kind.code for kind in KINDS]
    assert len(set(codes)) == len(codes) > 5


def test_each_reason_stands_in_the_tree_of_the_docstring() -> None:
    assert errors.__doc__
    assert [kind.__name__ for kind in KINDS if kind.__name__ not in errors.__doc__] == []


def test_a_message_is_made_of_its_operands() -> None:
    said = MalformedEncoding(path="block.header", at=3, problem="short")
    assert str(said) == "block.header, byte 3: short"
    assert said.operands == {"path": "block.header", "at": 3, "problem": "short"}


def test_trouble_is_told_with_the_names_of_what_it_is_in() -> None:
    trouble = MalformedEncoding.at(9, "short").within("hash").within("[2]").within("items")
    assert trouble.operands == {"path": "items[2].hash", "at": 9, "problem": "short"}
