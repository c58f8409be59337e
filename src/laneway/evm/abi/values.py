"""Arguments as callers write them → the values that are encoded; and values → as they are shown.

A text is read by the type that it is for: whole numbers in decimal or hexadecimal digits or with a
unit ("1.5 ether", "30 gwei"), true and false, bytes as 0x and pairs of digits, arrays and tuples as
JSON. Nothing is guessed: what does not fit its type exactly is refused.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Final

from laneway.core.errors import BadRequest
from laneway.core.units import read_wei
from laneway.evm.abi.addresses import checksummed, read_address, read_bytes
from laneway.evm.abi.interface import read_json
from laneway.evm.abi.limits import SHOWN_CHARS_MAX, TEXT_CHARS_MAX
from laneway.evm.abi.types import TUPLE, AbiParameter, AbiType

DECIMAL: Final = re.compile(r"-?[0-9]{1,78}")
HEXADECIMAL: Final = re.compile(r"-?0x[0-9a-fA-F]{1,64}")
IN_UNITS: Final = re.compile(r"-?[0-9.]{1,100} ?(wei|gwei|ether)")
BOOLS: Final = {"true": True, "false": False}


def values_of(
    signature: str, parameters: Sequence[AbiParameter], args: Sequence[object]
) -> list[object]:
    """Each argument in the form that the coder takes; BadRequest names the first that is wrong."""
    if len(args) != len(parameters):
        problem = f"{signature} takes {counted(len(parameters))}, not {len(args)}"
        raise BadRequest("args", problem)
    pairs = zip(parameters, args, strict=True)
    return [argument_of(one, given, f"args[{place}]") for place, (one, given) in enumerate(pairs)]


def argument_of(parameter: AbiParameter, given: object, at: str) -> object:
    try:
        return value_of(parameter.type, given, at)
    except BadRequest as error:
        named = f"{parameter.name}: " if parameter.name else ""
        raise BadRequest(error.field, f"{named}{error.problem}") from None


def counted(count: int) -> str:
    return "no arguments" if count == 0 else f"{count} argument{'s' * (count > 1)}"


def value_of(kind: AbiType, given: object, at: str) -> object:
    if isinstance(given, str) and len(given) > TEXT_CHARS_MAX:
        raise BadRequest(at, f"it has more than {TEXT_CHARS_MAX} characters")
    if kind.sizes:
        return array_of(kind, given, at)
    if kind.base == TUPLE:
        return tuple_of(kind, given, at)
    if kind.base == "address":
        return address_of(given, at)
    if kind.base == "bool":
        return bool_of(given, at)
    if kind.base == "string":
        return text_of(given, at)
    if kind.base.startswith(("bytes", "function")):
        return bytes_of(kind, given, at)
    return integer_of(kind, given, at)


def shown(given: object) -> str:
    """A value that an error repeats."""
    text = given if isinstance(given, str) else f"{given!r}" if is_short(given) else ""
    return repr(text[:SHOWN_CHARS_MAX]) if text else f"a value of type {type(given).__name__}"


def is_short(given: object) -> bool:
    """Whether it is printed without much work: an integer may have a million digits."""
    if type(given) is int:
        return given.bit_length() <= 512
    return isinstance(given, bool | float | None)


def array_of(kind: AbiType, given: object, at: str) -> list[object]:
    size = kind.sizes[-1]
    if isinstance(given, str):
        given = read_json(given, at)
    if not isinstance(given, list | tuple):
        raise BadRequest(at, f"a list for {kind.text()}, not {shown(given)}")
    if size is not None and len(given) != size:
        raise BadRequest(at, f"{kind.text()} has {size} elements, not {len(given)}")
    element = kind.element()
    return [value_of(element, one, f"{at}[{place}]") for place, one in enumerate(given)]


def tuple_of(kind: AbiType, given: object, at: str) -> tuple[object, ...]:
    if isinstance(given, str):
        given = read_json(given, at)
    if isinstance(given, Mapping):
        given = members_of(kind, given, at)
    if not isinstance(given, list | tuple):
        raise BadRequest(at, f"a list or an object for {kind.text()}, not {shown(given)}")
    if len(given) != len(kind.parts):
        raise BadRequest(at, f"{kind.text()} has {len(kind.parts)} members, not {len(given)}")
    return tuple(
        value_of(part.type, one, f"{at}.{part.name or place}")
        for place, (part, one) in enumerate(zip(kind.parts, given, strict=True))
    )


def members_of(kind: AbiType, given: Mapping[object, object], at: str) -> list[object]:
    """The members of a tuple in their order, from an object that names all of them."""
    names = [part.name for part in kind.parts]
    if "" in names or len(dict.fromkeys(names)) < len(names):
        raise BadRequest(at, f"the members of {kind.text()} have no names of their own: a list")
    if given.keys() != frozenset(names):
        raise BadRequest(at, f"{kind.text()} has the members {', '.join(names)}, each once")
    return [given[name] for name in names]


def address_of(given: object, at: str) -> bytes:
    if not isinstance(given, str | bytes):
        raise BadRequest(at, f"an address as text, not {shown(given)}")
    return read_address(given, at)


def bool_of(given: object, at: str) -> bool:
    if isinstance(given, str):
        given = BOOLS.get(given, given)
    if type(given) is not bool:
        raise BadRequest(at, f"true or false, not {shown(given)}")
    return given


def text_of(given: object, at: str) -> str:
    if not isinstance(given, str):
        raise BadRequest(at, f"text, not {shown(given)}")
    try:
        given.encode()
    except UnicodeEncodeError:
        raise BadRequest(at, "it has half a character, which is no UTF-8") from None
    return given


def bytes_of(kind: AbiType, given: object, at: str) -> bytes:
    if not isinstance(given, str | bytes):
        raise BadRequest(at, f"bytes as 0x and digits, not {shown(given)}")
    found, length = read_bytes(given, at), kind.length()
    # The coder would fill up a shorter one, and nobody may have meant that.
    if length is not None and len(found) != length:
        raise BadRequest(at, f"{kind.base} has {length} bytes, not {len(found)}")
    return found


def integer_of(kind: AbiType, given: object, at: str) -> int:
    found = read_integer(given, at) if isinstance(given, str) else given
    if type(found) is not int:
        raise BadRequest(at, f"a whole number, not {shown(given)}")
    bounds = kind.range()
    if found not in bounds:
        problem = f"{shown(given)} is out of range: a {kind.base} is from {bounds.start} to"
        raise BadRequest(at, f"{problem} {bounds.stop - 1}")
    return found


def read_integer(text: str, at: str) -> int:
    if DECIMAL.fullmatch(text):
        return int(text)
    if HEXADECIMAL.fullmatch(text):
        return int(text, 16)
    if IN_UNITS.fullmatch(text):
        try:
            wei = read_wei(text.removeprefix("-"))
        except BadRequest as error:
            raise BadRequest(at, error.problem) from None
        return -wei if text.startswith("-") else wei
    problem = f"{shown(text)} is not a whole number like 1000, 0x3e8, 30 gwei or 0.5 ether"
    raise BadRequest(at, problem)


# As they are shown.


def shown_value(kind: AbiType, value: object) -> object:
    """As JSON has it, and as an argument may be written: whole numbers as decimal texts, bytes as
    0x and digits, tuples as lists."""
    if kind.sizes:
        assert isinstance(value, list | tuple)
        return [shown_value(kind.element(), one) for one in value]
    if kind.base == TUPLE:
        assert isinstance(value, list | tuple)
        pairs = zip(kind.parts, value, strict=True)
        return [shown_value(part.type, one) for part, one in pairs]
    if kind.base == "address":
        # The coder has it in small letters.
        return checksummed(bytes.fromhex(str(value)[2:]))
    if isinstance(value, bytes):
        return f"0x{value.hex()}"
    return value if isinstance(value, bool | str) else str(value)
