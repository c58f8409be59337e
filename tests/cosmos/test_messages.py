"""Laws of the descriptors: each class's fields are its own, in order, once."""

import inspect

import pytest

from laneway.cosmos import messages
from laneway.cosmos.protobuf import Message, decode, encode, fields_of

KINDS = [
    kind
    for _, kind in inspect.getmembers(messages, inspect.isclass)
    if issubclass(kind, Message) and kind is not Message
]


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_fields_are_numbered_upwards_and_named_as_the_struct_has_them(kind: type[Message]) -> None:
    numbers = [field.number for field in fields_of(kind)]
    assert numbers == sorted(set(numbers))
    assert tuple(field.name for field in fields_of(kind)) == kind.__struct_fields__
    assert decode(kind, encode(kind())) == kind()
