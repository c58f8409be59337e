"""JAM values in the JSON form of the vectors, and back, driven by the names of fields.

Bytes are hex behind 0x, numbers are numbers, sequences are arrays, and a missing thing is null.
Two of our values are shaped otherwise: an outcome is an object with one word, and an import's kind
is the highest bit of its index. Reading is strict: a field too many or too few is an error.
"""

import types
import typing
from typing import Any

from msgspec import Struct

from laneway.jam.package import BY_PACKAGE_BIT, ImportSpec
from laneway.jam.report import Ok, Outcome, WorkError

OUTCOME_WORDS = {error.name.lower(): error for error in WorkError} | {
    # Older schemas called it so.
    "report_oversize": WorkError.OUTPUT_OVERSIZE,
}


class JsonMismatch(Exception):
    """The JSON is not of the kind that was expected."""


def to_json(value: Any) -> Any:
    """The JSON form of a value."""
    match value:
        case None | bool() | int():
            return value
        case bytes():
            return "0x" + value.hex()
        case tuple() | list():
            return [to_json(item) for item in value]
        case Ok(output=output):
            return {"ok": to_json(output)}
        case WorkError():
            return {value.name.lower(): None}
        case ImportSpec(tree_root=tree_root, index=index, by_package=by_package):
            return {"tree_root": to_json(tree_root), "index": index | BY_PACKAGE_BIT * by_package}
        case Struct():
            return {name: to_json(getattr(value, name)) for name in value.__struct_fields__}
        case _:
            raise JsonMismatch(f"no JSON form of {type(value).__name__} is known")


def from_json(kind: Any, given: Any) -> Any:
    """The value of this kind that the JSON says: `from_json(Header, parsed)`.

    A kind is a type as in an annotation: bytes, int, bool, a Struct, tuple[X, ...], X | None.
    """
    if kind == Outcome:
        return _outcome(given)
    origin = typing.get_origin(kind)
    if origin in (types.UnionType, typing.Union):
        return _optional(kind, given)
    if origin is tuple:
        return _items(kind, given)
    if kind is bytes:
        return _octets(given)
    if kind in (int, bool):
        return _expected(kind, given)
    if kind is ImportSpec:
        return _import(given)
    if isinstance(kind, type) and issubclass(kind, Struct):
        return _fields(kind, given)
    raise JsonMismatch(f"no value of {kind} can be read")


def _expected(kind: type, given: Any) -> Any:
    if type(given) is not kind:
        raise JsonMismatch(f"{kind.__name__} is expected and {given!r:.80} is there")
    return given


def _octets(given: Any) -> bytes:
    text: str = _expected(str, given)
    if not text.startswith("0x"):
        raise JsonMismatch(f"{text!r:.80} is no hex")
    return bytes.fromhex(text[2:])


def _optional(kind: Any, given: Any) -> Any:
    inner = [part for part in typing.get_args(kind) if part is not type(None)]
    if len(inner) != 1:
        raise JsonMismatch(f"one kind of {kind} must be chosen")
    return None if given is None else from_json(inner[0], given)


def _items(kind: Any, given: Any) -> tuple[Any, ...]:
    item, rest = typing.get_args(kind)
    if rest is not Ellipsis:
        raise JsonMismatch(f"{kind} is no sequence of one kind")
    return tuple(from_json(item, one) for one in _expected(list, given))


def _fields(kind: type[Struct], given: Any) -> Any:
    names = _named(kind.__name__, given, kind.__struct_fields__)
    hints = typing.get_type_hints(kind)
    return kind(**{name: from_json(hints[name], names[name]) for name in names})


def _named(what: str, given: Any, names: tuple[str, ...]) -> dict[str, Any]:
    found: dict[str, Any] = _expected(dict, given)
    if sorted(found) != sorted(names):
        raise JsonMismatch(f"{what} has the fields {sorted(names)}, and {sorted(found)} are there")
    return found


def _outcome(given: Any) -> Outcome:
    found: dict[str, Any] = _expected(dict, given)
    if len(found) != 1:
        raise JsonMismatch(f"{found!r:.80} is no outcome")
    (word, output), *_ = found.items()
    if word == "ok":
        return Ok(_octets(output))
    if word not in OUTCOME_WORDS or output is not None:
        raise JsonMismatch(f"{found!r:.80} is no outcome")
    return OUTCOME_WORDS[word]


def _import(given: Any) -> ImportSpec:
    names = _named("ImportSpec", given, ("tree_root", "index"))
    index: int = _expected(int, names["index"])
    by_package = index >= BY_PACKAGE_BIT
    root = _octets(names["tree_root"])
    return ImportSpec(root, index - BY_PACKAGE_BIT * by_package, by_package)
