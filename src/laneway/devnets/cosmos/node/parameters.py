"""The parameters of a call as CometBFT reads them: by name or by place, bytes in base64, numbers as
numbers or as digits; and how a node refuses."""

import binascii
import re
from collections.abc import Mapping, Sequence

from msgspec import json

from laneway.wire.rpc_codes import (
    INTERNAL,
    INVALID_PARAMS,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    PARSE_ERROR,
)
from laneway.wire.rpc_server.methods import RpcRefused

NUMBER = re.compile(r"-?[0-9]{1,18}")
LETTERS = re.compile(r"[A-Za-z0-9+/]*")
PADDED = re.compile(r"[A-Za-z0-9+/]*={0,2}")

MESSAGES = {
    PARSE_ERROR: "Parse error. Invalid JSON",
    INVALID_REQUEST: "Invalid Request",
    METHOD_NOT_FOUND: "Method not found",
    INVALID_PARAMS: "Invalid params",
    INTERNAL: "Internal error",
}


class CometRefused(RpcRefused):
    """CometBFT has one message for each code, and says the rest in `data`."""

    data: str

    def __init__(self, code: int, data: str = "") -> None:
        super().__init__(code, MESSAGES[code], data)


class CometParameters:
    """The parameters of one call; refusals name the way in which they came: json or http."""

    def __init__(self, params: Mapping[str, object], way: str = "json") -> None:
        self._params = params
        self._way = way

    def bad(self, problem: str) -> CometRefused:
        return CometRefused(
            INVALID_PARAMS, f"error converting {self._way} params to arguments: {problem}"
        )

    def _mistyped(self, value: object, wanted: str) -> CometRefused:
        return self.bad(f"json: cannot unmarshal {kind_of(value)} into Go value of type {wanted}")

    def octets(self, name: str) -> bytes:
        """Bytes in base64, or in hex after 0x in a URI; empty if the parameter is missing."""
        value = self._params.get(name)
        if value is None:
            return b""
        if self._way != "http" or not isinstance(value, str):
            return self._base64(value)
        # In a URI what is quoted stands for itself.
        return self._hex(value[2:]) if value[:2] in ("0x", "0X") else value.encode()

    def many_octets(self, name: str) -> list[bytes]:
        value = self._params.get(name)
        if value is None:
            return []
        if not isinstance(value, list):
            raise self._mistyped(value, "[]json.RawMessage")
        return [self._base64(one) for one in value]

    def _base64(self, value: object) -> bytes:
        if not isinstance(value, str):
            raise self._mistyped(value, "[]uint8")
        try:
            return read_base64(value)
        except ValueError as error:
            raise self.bad(str(error)) from None

    def text(self, name: str) -> str:
        value = self._params.get(name)
        if value is None:
            return ""
        if not isinstance(value, str):
            raise self._mistyped(value, "string")
        return value

    def hex_octets(self, name: str) -> bytes:
        """Bytes in plain hex, as CometBFT's own HexBytes are."""
        return self._hex(self.text(name).removeprefix("0x"))

    def _hex(self, text: str) -> bytes:
        try:
            return binascii.unhexlify(text)
        except ValueError:
            raise self.bad("encoding/hex: invalid byte") from None

    def number(self, name: str, otherwise: int) -> int:
        value = self._params.get(name)
        if value is None:
            return otherwise
        if isinstance(value, str):
            if NUMBER.fullmatch(value) is None:
                raise self.bad(f'strconv.ParseInt: parsing "{value[:20]}": invalid syntax')
            return int(value)
        if isinstance(value, int) and not isinstance(value, bool) and self._way == "http":
            return value
        # As posted JSON numbers are texts, for there are languages with less than 64 bits.
        written = json.encode(value).decode()
        raise self.bad(f'invalid 64-bit integer encoding "{written}", expected string')


GO_NAMES = {bool: "bool", int: "number", float: "number", str: "string", list: "array"}


def kind_of(value: object) -> str:
    """Go's name for the kind of a JSON value."""
    return GO_NAMES.get(type(value), "object")


def by_name(params: object, names: Sequence[str]) -> dict[str, object]:
    """The parameters by their names, also of a call that lists them in order."""
    if params is None:
        return {}
    if isinstance(params, dict):
        return params
    assert isinstance(params, list)
    if len(params) != len(names):
        listed = f"[{' '.join(names)}]"
        expected = f"expected {len(names)} parameters ({listed}), got {len(params)}"
        raise CometRefused(INVALID_PARAMS, f"error converting json params to arguments: {expected}")
    return dict(zip(names, params, strict=True))


def read_base64(text: str) -> bytes:
    """The bytes as Go reads them: padding is required and line ends are passed over. ValueError
    names the place of the first fault."""
    clean = text.replace("\r", "").replace("\n", "")
    if len(clean) % 4 or PADDED.fullmatch(clean) is None:
        raise ValueError(f"illegal base64 data at input byte {fault_place(text, clean)}")
    return binascii.a2b_base64(clean)


def fault_place(text: str, clean: str) -> int:
    """The place of the first fault in a text; `clean` is the text without line ends."""
    places = [place for place, letter in enumerate(text) if letter not in "\r\n"] + [len(text)]
    matched = LETTERS.match(clean)
    assert matched is not None
    count = matched.end()
    over = count % 4
    if count == len(clean):
        return len(text) - over
    if clean[count] != "=" or over < 2:
        return places[count]
    # One letter of padding follows three letters, and two follow two.
    if over == 2 and clean[count + 1 : count + 2] != "=":
        return places[count + 1] - (count + 1 < len(clean))
    return places[count + 4 - over]
