"""Human-readable signatures, as ethers and viem made them common, and as Solidity declares them:
`transfer(address,uint256)`, `function transfer(address to, uint256 amount) returns (bool)`,
`event Transfer(address indexed from, address indexed to, uint256 value)`, `error Paused()`,
`constructor(string name)`.
"""

import re
from typing import Final

from laneway.core.errors import BadRequest
from laneway.evm.abi.items import CONSTRUCTOR, EVENT, FUNCTION, KINDS, LOCATIONS, AbiItem
from laneway.evm.abi.limits import (
    ITEM_CHARS_MAX,
    NESTING_MAX,
    PARAMETERS_MAX,
    SHOWN_CHARS_MAX,
)
from laneway.evm.abi.types import TUPLE, AbiParameter, AbiType, array_sizes, checked, elementary

WORD: Final = re.compile(r"[A-Za-z_$][A-Za-z0-9_$]*")
PART: Final = re.compile(r"\s*([A-Za-z_$][A-Za-z0-9_$]*|(?:\[[0-9]*\])+|[(),;])")
MODIFIERS: Final = (
    *("external", "public", "view", "pure", "payable", "nonpayable", "constant"),
    *("virtual", "override"),
)
"""Words after a function's parameters that change nothing about its call."""


def read_signature(text: str) -> AbiItem:
    """BadRequest if it is not a signature. Without a word before the name it is a function."""
    if len(text) > ITEM_CHARS_MAX:
        raise BadRequest("abi", f"a signature has at most {ITEM_CHARS_MAX} characters")
    return SignatureParts(text).item()


class SignatureParts:
    """The words and marks of one signature, read from the left."""

    def __init__(self, text: str) -> None:
        self._text = text.strip()
        self._parts: list[str] = []
        at = 0
        while at < len(self._text):
            found = PART.match(self._text, at)
            if found is None:
                raise self._wrong(f"{self._text[at : at + 10]!r} does not belong there")
            self._parts.append(found[1])
            at = found.end()
        self._parts.reverse()

    def item(self) -> AbiItem:
        kind, name = FUNCTION, self._word("a name")
        if name == CONSTRUCTOR and self._next() == "(":
            kind, name = CONSTRUCTOR, ""
        elif name in KINDS and self._next() != "(":
            kind, name = name, self._word("a name")
        inputs = self._parameters(0, indexed=kind == EVENT)
        return AbiItem(kind, name, inputs, self._tail(kind))

    def _tail(self, kind: str) -> bool:
        """Read what follows the parameters; True for an anonymous event."""
        is_anonymous = False
        while (part := self._next()) and part != ";":
            if kind == EVENT and part == "anonymous":
                is_anonymous = True
            elif kind == FUNCTION and part == "returns":
                self._take()
                self._parameters(0)
                continue
            elif kind not in (FUNCTION, CONSTRUCTOR) or part not in MODIFIERS:
                raise self._wrong(f"{part!r} does not belong there")
            self._take()
        if self._parts not in ([], [";"]):
            raise self._wrong("nothing follows the semicolon")
        return is_anonymous

    def _parameters(self, depth: int, *, indexed: bool = False) -> tuple[AbiParameter, ...]:
        if depth > NESTING_MAX:
            raise self._wrong(f"it is nested deeper than {NESTING_MAX}")
        self._expect("(")
        found: list[AbiParameter] = []
        while self._next() != ")":
            if found:
                self._expect(",")
            found.append(self._parameter(depth, indexed=indexed))
            if len(found) > PARAMETERS_MAX:
                raise self._wrong(f"it has more than {PARAMETERS_MAX} parameters")
        self._take()
        return tuple(found)

    def _parameter(self, depth: int, *, indexed: bool) -> AbiParameter:
        kind = self._type(depth)
        name, is_indexed = "", False
        while WORD.fullmatch(self._next()):
            word = self._take()
            if name:
                raise self._wrong(f"{word!r} does not belong there")
            if word not in LOCATIONS:
                name = word
            elif word == "indexed":
                if not indexed:
                    raise self._wrong("only parameters of events are indexed")
                is_indexed = True
        return AbiParameter(kind, name, is_indexed)

    def _type(self, depth: int) -> AbiType:
        base = TUPLE
        parts: tuple[AbiParameter, ...] = ()
        if self._next() == TUPLE:
            self._take()
        if self._next() == "(":
            parts = self._parameters(depth + 1)
        else:
            base = elementary(self._word("a type"))
        sizes = array_sizes(self._take()) if self._next().startswith("[") else ()
        return checked(AbiType(base, parts, sizes))

    def _next(self) -> str:
        """The next part, or nothing at the end."""
        return self._parts[-1] if self._parts else ""

    def _take(self) -> str:
        return self._parts.pop()

    def _word(self, what: str) -> str:
        if not WORD.fullmatch(self._next()):
            raise self._wrong(f"{what} is missing")
        return self._take()

    def _expect(self, mark: str) -> None:
        if self._next() != mark:
            raise self._wrong(f"{mark!r} is missing")
        self._take()

    def _wrong(self, problem: str) -> BadRequest:
        return BadRequest(
            "abi",
            f"{self._text[:SHOWN_CHARS_MAX]!r} is not a signature like "
            f"transfer(address,uint256): {problem}",
        )
