"""An ABI as people have it → its items; and the one function that a caller means.

It is taken as compilers write it (a list of JSON objects, or the artifact that holds one), as
human-readable signatures, or as a mixture of the two.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from msgspec import DecodeError, json

from laneway.core.errors import BadRequest
from laneway.core.nesting import bounded
from laneway.evm.abi.items import CONSTRUCTOR, ERROR, EVENT, FUNCTION, KINDS, AbiItem
from laneway.evm.abi.limits import (
    CANDIDATES_MAX,
    ITEMS_MAX,
    JSON_CHARS_MAX,
    KEPT_BYTES_MAX,
    NESTING_MAX,
    PARAMETERS_MAX,
    SHOWN_CHARS_MAX,
)
from laneway.evm.abi.signatures import WORD, read_signature
from laneway.evm.abi.types import TUPLE, AbiParameter, AbiType, array_sizes, checked, elementary

Items = tuple[AbiItem, ...]
IGNORED: Final = ("fallback", "receive")
"""Entries of an ABI that have no name to call them by."""


def read_abi(source: object) -> Items:
    """BadRequest with the place of what is wrong."""
    if isinstance(source, str):
        source = from_text(source)
    if isinstance(source, Mapping):
        source = source.get("abi", [source])
    if not isinstance(source, Sequence) or isinstance(source, str | bytes):
        raise BadRequest("abi", "a list of its entries, or of signatures")
    if len(source) > ITEMS_MAX:
        raise BadRequest("abi", f"it has {len(source)} entries, more than {ITEMS_MAX}")
    found = [item_at(entry, f"abi[{place}]") for place, entry in enumerate(source)]
    return tuple(item for item in found if item is not None)


def from_text(text: str) -> object:
    """JSON, or signatures on lines of their own."""
    if len(text) > JSON_CHARS_MAX:
        raise BadRequest("abi", f"it has more than {JSON_CHARS_MAX} characters")
    if text.lstrip()[:1] in ("[", "{"):
        return read_json(text, "abi")
    return [line for line in text.splitlines() if line.strip()]


def read_json(text: str, at: str) -> object:
    try:
        return json.decode(bounded(text.encode()))
    except (DecodeError, UnicodeEncodeError) as error:
        raise BadRequest(at, f"it is not JSON: {error}") from None


def item_at(entry: object, at: str) -> AbiItem | None:
    """One entry; None for what nobody calls by a name."""
    try:
        if isinstance(entry, str):
            return read_signature(entry)
        return None if is_ignored(entry) else item_of(fields_of(entry))
    except BadRequest as error:
        raise BadRequest(at, error.problem) from None


def is_ignored(entry: object) -> bool:
    return isinstance(entry, Mapping) and entry.get("type") in IGNORED


def fields_of(entry: object) -> Mapping[str, Any]:
    if not isinstance(entry, Mapping):
        raise BadRequest("abi", "an object of an ABI, or a signature")
    return entry


def item_of(entry: Mapping[str, Any]) -> AbiItem:
    kind, name = entry.get("type", FUNCTION), entry.get("name", "")
    if kind not in KINDS:
        raise BadRequest("abi", f"{str(kind)[:SHOWN_CHARS_MAX]!r} is no kind of entry of an ABI")
    is_named = isinstance(name, str) and WORD.fullmatch(name) is not None
    if not is_named and kind != CONSTRUCTOR:
        raise BadRequest("abi", f"a {kind} needs a name")
    inputs = parameters_of(entry.get("inputs", []), 0)
    if kind == CONSTRUCTOR:
        return AbiItem(kind, "", inputs)
    return AbiItem(kind, name, inputs, kind == EVENT and entry.get("anonymous") is True)


def parameters_of(listed: object, depth: int) -> tuple[AbiParameter, ...]:
    if not isinstance(listed, list | tuple) or len(listed) > PARAMETERS_MAX:
        raise BadRequest("abi", f"`inputs` and `components` are lists of up to {PARAMETERS_MAX}")
    if depth > NESTING_MAX:
        raise BadRequest("abi", f"it is nested deeper than {NESTING_MAX}")
    return tuple(parameter_of(fields_of(entry), depth) for entry in listed)


def parameter_of(entry: Mapping[str, Any], depth: int) -> AbiParameter:
    written, name = entry.get("type"), entry.get("name", "")
    if not isinstance(written, str) or not isinstance(name, str):
        raise BadRequest("abi", "a parameter has a `type` and a `name`, both texts")
    base, mark, sizes = written.partition("[")
    parts: tuple[AbiParameter, ...] = ()
    if base == TUPLE:
        parts = parameters_of(entry.get("components"), depth + 1)
    else:
        base = elementary(base)
    kind = checked(AbiType(base, parts, array_sizes(mark + sizes)))
    # A name that is none is left out: it says nothing about the bytes.
    name = name if WORD.fullmatch(name) else ""
    return AbiParameter(kind, name, entry.get("indexed") is True)


# Which of them is meant.


def called(call: str, abi: Items | None) -> AbiItem:
    """The function that `call` names: a signature, or a name that the ABI has once."""
    if "(" not in call:
        return named(call.strip(), abi)
    meant = read_call(call)
    if meant.kind != FUNCTION:
        raise BadRequest("call", f"{meant.text()} is no function")
    if abi is None:
        return meant
    functions = [item for item in abi if item.kind == FUNCTION]
    found = [item for item in functions if item.signature() == meant.signature()]
    if not found:
        raise unknown(meant.signature(), meant.name, functions)
    return found[0]


def read_call(call: str) -> AbiItem:
    try:
        return read_signature(call)
    except BadRequest as error:
        raise BadRequest("call", error.problem) from None


def named(name: str, abi: Items | None) -> AbiItem:
    shown = name[:SHOWN_CHARS_MAX]
    if abi is None:
        problem = f"{shown!r} alone does not say how it is called; write {shown}(address,uint256)"
        raise BadRequest("call", f"{problem} or so, or give its ABI")
    functions = [item for item in abi if item.kind == FUNCTION]
    found = {item.signature(): item for item in functions if item.name == name}
    if not found:
        raise unknown(shown, name, functions)
    if len(found) > 1:
        raise BadRequest("call", f"{shown} is ambiguous; write one of {listing(list(found))}")
    return next(iter(found.values()))


def unknown(shown: str, name: str, functions: Sequence[AbiItem]) -> BadRequest:
    """Nothing has this signature; what comes nearest is named."""
    same = [item.signature() for item in functions if item.name == name]
    others = same or [item.signature() for item in functions]
    return BadRequest("call", f"the ABI has no function {shown}; it has {listing(others)}")


def listing(signatures: Sequence[str]) -> str:
    shown = list(dict.fromkeys(signatures))
    rest = len(shown) - CANDIDATES_MAX
    more = f" and {rest} more" if rest > 0 else ""
    return (", ".join(shown[:CANDIDATES_MAX]) or "none") + more


def constructor(call: str | None, abi: Items | None) -> AbiItem:
    """The constructor of a contract; without a word about it, one that takes nothing."""
    known = [item for item in abi or () if item.kind == CONSTRUCTOR]
    if call is not None:
        meant = read_call(call)
        if meant.kind != CONSTRUCTOR:
            raise BadRequest("call", f"{meant.text()} is no constructor, and a deployment runs one")
        if abi is not None and meant.signature() not in [item.signature() for item in known]:
            listed = listing([item.signature() for item in known])
            raise BadRequest("call", f"the ABI has no {meant.signature()}; it has {listed}")
        return next((one for one in known if one.signature() == meant.signature()), meant)
    if len(known) > 1:
        listed = listing([item.signature() for item in known])
        raise BadRequest("abi", f"it has several constructors: {listed}")
    return known[0] if known else AbiItem(CONSTRUCTOR)


# What is kept of it.


def kept(meant: AbiItem | None, abi: Items | None) -> tuple[str, ...]:
    """Signatures that show the call in words later: what is called, then errors, then events, as
    many as fit."""
    first = () if meant is None else (meant,)
    others = [item for kind in (ERROR, EVENT) for item in abi or () if item.kind == kind]
    found: list[str] = []
    left = KEPT_BYTES_MAX
    for text in dict.fromkeys(item.text() for item in (*first, *others)):
        if len(text) <= left:
            left -= len(text)
            found.append(text)
    return tuple(found)
