"""An account's request with Python's own values → as the wire has it."""

import re
from collections.abc import Mapping
from os import PathLike, fspath
from pathlib import Path

from laneway.core.errors import BadRequest
from laneway.core.units import read_wei
from laneway.wire.evm import EvmPayload
from laneway.wire.limits import ABI_BYTES_MAX

AMOUNTS = ("value", "max_fee_per_gas", "max_priority_fee_per_gas", "max_cost")
WORDS = ("call", "args", "abi", "deploy")
"""What says a call in words, in place of calldata."""
INLINE_ABI = re.compile(r"\s*[\[{]|.*\(", re.DOTALL)
INLINE_CODE = re.compile(r"\s*(0x|{)")
"""How texts begin, or what they hold, that are no names of files."""


def evm_payload(data: str | bytes | None, options: Mapping[str, object]) -> EvmPayload:
    fields: dict[str, object] = {
        name: value for name, value in options.items() if value is not None
    }
    for name in AMOUNTS:
        if name in fields:
            fields[name] = wei(fields[name])
    for name, value in (("to", fields.get("to")), ("data", data)):
        if isinstance(value, bytes):
            fields[name] = "0x" + value.hex()
        elif value is not None:
            fields[name] = value
    return EvmPayload(**fields)  # type: ignore[arg-type]


def wei(value: object) -> str:
    """Whole wei, from a number or from a text like "1 gwei"; hexadecimal digits go as they are."""
    text = str(value)
    return text if text.startswith("0x") else str(read_wei(text))


def abi_source(source: object) -> object:
    """An ABI as callers have it; the file's text where they name one. A text that is JSON, or has a
    signature's bracket, is no name of a file."""
    is_inline = isinstance(source, str) and INLINE_ABI.match(source) is not None
    return source if is_inline else file_text(source, "abi")


def code_source(source: object) -> object:
    """A contract's code as callers have it; the file's text where they name one. A text that begins
    with 0x is the code itself."""
    is_inline = isinstance(source, str) and INLINE_CODE.match(source) is not None
    return source if is_inline else file_text(source, "deploy")


def file_text(source: object, at: str) -> object:
    """The text of a file; what is no name of a file comes back."""
    if not isinstance(source, str | PathLike):
        return source
    name = fspath(source)
    try:
        with Path(name).open("rb") as file:
            raw = file.read(ABI_BYTES_MAX + 1)
        if len(raw) > ABI_BYTES_MAX:
            raise BadRequest(at, f"the file {name!r} has more than {ABI_BYTES_MAX} bytes")
        return raw.decode()
    except OSError as error:
        raise BadRequest(at, f"the file {name!r}: {error.strerror or error}") from None
    except ValueError as error:
        raise BadRequest(at, f"the file {name!r} is no text: {error}") from None
