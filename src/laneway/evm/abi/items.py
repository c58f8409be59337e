"""What an ABI consists of: functions, events, errors and constructors, with their selectors."""

from typing import Final

from msgspec import Struct

from laneway.evm.abi.types import TUPLE, AbiParameter, AbiType, joined

FUNCTION: Final = "function"
EVENT: Final = "event"
ERROR: Final = "error"
CONSTRUCTOR: Final = "constructor"
KINDS: Final = (FUNCTION, EVENT, ERROR, CONSTRUCTOR)

LOCATIONS: Final = ("memory", "calldata", "storage", "payable", "indexed")
"""Words that may stand between a type and a name. A parameter of another language that is called
so is written without its name, for it would be read as one of these."""


class AbiItem(Struct, frozen=True):
    """One entry of an ABI."""

    kind: str
    name: str = ""
    inputs: tuple[AbiParameter, ...] = ()
    anonymous: bool = False
    """Of an event: its logs do not say which event they are."""

    def signature(self) -> str:
        """The canonical signature, which is hashed."""
        return (self.name or self.kind) + joined(self.inputs)

    def text(self) -> str:
        """In human-readable form, with the names; reading it gives the same item."""
        inputs = ", ".join(map(parameter_text, self.inputs))
        named = f"{self.kind} {self.name}".rstrip()
        return f"{named}({inputs}){' anonymous' if self.anonymous else ''}"

    def topic(self) -> bytes:
        """The first topic of an event's logs."""
        # Imported late: the hash is an extra, and a signature can be read without it.
        from laneway.evm.keccak import keccak

        return keccak(self.signature().encode())

    def selector(self) -> bytes:
        """The first four bytes of a call of this function, or of what this error returns."""
        return self.topic()[:4]


def parameter_text(parameter: AbiParameter) -> str:
    name = "" if parameter.name in LOCATIONS else parameter.name
    indexed = "indexed" if parameter.indexed else ""
    return " ".join(part for part in (type_text(parameter.type), indexed, name) if part)


def type_text(kind: AbiType) -> str:
    if kind.base != TUPLE:
        return kind.text()
    return f"({', '.join(map(parameter_text, kind.parts))}){kind.brackets()}"
