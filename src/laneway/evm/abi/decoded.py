"""Calldata and logs in words, where the ABI that is known has them."""

from collections.abc import Sequence
from typing import Any

from msgspec import Struct

from laneway.evm.abi.coding import decode
from laneway.evm.abi.interface import Items
from laneway.evm.abi.items import CONSTRUCTOR, EVENT, FUNCTION, AbiItem
from laneway.evm.abi.limits import SHOWN_CHARS_MAX
from laneway.evm.abi.types import AbiParameter
from laneway.evm.abi.values import shown_value

SELECTOR_BYTES = 4


class DecodedValue(Struct, frozen=True):
    """One argument."""

    name: str
    type: str
    value: Any
    """As JSON has it, and as an argument may be written."""
    hashed: bool = False
    """Of an event: only the hash of the value is known, and stands here."""


class DecodedItem(Struct, frozen=True):
    """A call, a log or an error in words."""

    signature: str
    values: tuple[DecodedValue, ...]

    def line(self) -> str:
        """As people read it, on a line."""
        name = self.signature.partition("(")[0]
        return f"{name}({', '.join(map(value_line, self.values))})"


def value_line(one: DecodedValue) -> str:
    text = written(one.value)
    return f"{one.name}={text}" if one.name else text


def written(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        return f"[{', '.join(map(written, value))}]"
    text = str(value)
    return text if len(text) <= SHOWN_CHARS_MAX else f"{text[:SHOWN_CHARS_MAX]}…"


def in_words(item: AbiItem, content: bytes) -> DecodedItem | None:
    """An item with what stands after its selector; None if that is something else."""
    values = decode(item.inputs, content)
    if values is None:
        return None
    pairs = zip(item.inputs, values, strict=True)
    return DecodedItem(item.signature(), tuple(named(one, value) for one, value in pairs))


def named(parameter: AbiParameter, value: object) -> DecodedValue:
    shown = shown_value(parameter.type, value)
    return DecodedValue(parameter.name, parameter.type.text(), shown)


def matching(items: Items, kind: str, selector: bytes) -> list[AbiItem]:
    return [item for item in items if item.kind == kind and item.selector() == selector]


def of_kind(items: Items, kind: str, content: bytes) -> DecodedItem | None:
    """Calldata, or what an error returned: its selector and values."""
    candidates = matching(items, kind, content[:SELECTOR_BYTES])
    found = (in_words(item, content[SELECTOR_BYTES:]) for item in candidates)
    return next((one for one in found if one is not None), None)


def decoded_call(items: Items, calldata: bytes) -> DecodedItem | None:
    return of_kind(items, FUNCTION, calldata)


def decoded_deployment(items: Items, initcode: bytes, arguments_at: int) -> DecodedItem | None:
    """The arguments of a constructor, which begin at this byte of the code."""
    known = [item for item in items if item.kind == CONSTRUCTOR]
    return in_words(known[0], initcode[arguments_at:]) if known else None


def decoded_log(items: Items, topics: Sequence[bytes], content: bytes) -> DecodedItem | None:
    """A log whose event is known. Two events may differ by what is indexed alone: the one fits
    whose number of topics is the log's."""
    for item in items:
        if item.kind != EVENT or item.anonymous or not topics or item.topic() != topics[0]:
            continue
        found = event_in_words(item, topics[1:], content)
        if found is not None:
            return found
    return None


def event_in_words(item: AbiItem, topics: Sequence[bytes], content: bytes) -> DecodedItem | None:
    indexed = [one for one in item.inputs if one.indexed]
    others = [one for one in item.inputs if not one.indexed]
    values = decode(others, content)
    if values is None or len(indexed) != len(topics):
        return None
    shown = iter([named(one, value) for one, value in zip(others, values, strict=True)])
    by_topic = iter([topic_value(one, topic) for one, topic in zip(indexed, topics, strict=True)])
    ordered = [next(by_topic if one.indexed else shown) for one in item.inputs]
    found = [one for one in ordered if one is not None]
    return DecodedItem(item.signature(), tuple(found)) if len(found) == len(ordered) else None


def topic_value(parameter: AbiParameter, topic: bytes) -> DecodedValue | None:
    """An indexed value; of what has no fixed size, and of arrays and tuples, the hash."""
    kind = parameter.type
    if kind.sizes or kind.parts or kind.base in ("bytes", "string"):
        return DecodedValue(parameter.name, kind.text(), f"0x{topic.hex()}", hashed=True)
    values = decode([parameter], topic)
    return None if values is None else named(parameter, values[0])
