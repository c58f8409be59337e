"""The parameters of a call as CometBFT reads them: by name or by place, bytes in base64, numbers as
numbers or as digits; and the node's no."""

import binascii
import re
import string
from collections.abc import Mapping, Sequence

from msgspec import json

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
INTERNAL = -32603

NUMBER = re.compile(r"-?[0-9]{1,18}")
PLAIN = re.compile(r"[A-Za-z0-9+/]*={0,2}")

MESSAGES = {
    PARSE_ERROR: "Parse error. Invalid JSON",
    INVALID_REQUEST: "Invalid Request",
    METHOD_NOT_FOUND: "Method not found",
    INVALID_PARAMS: "Invalid params",
    INTERNAL: "Internal error",
}

ALPHABET = {
    letter: value
    for value, letter in enumerate(
        string.ascii_uppercase + string.ascii_lowercase + string.digits + "+/"
    )
}


class RpcRefused(Exception):
    """A JSON-RPC error."""

    def __init__(self, code: int, data: str = "") -> None:
        self.code = code
        self.data = data
        super().__init__(f"{code} {MESSAGES[code]}: {data}")


class Given:
    """`way` is how they came, and stands in what is said against them."""

    def __init__(self, params: Mapping[str, object], way: str = "json") -> None:
        self._params = params
        self._way = way

    def bad(self, problem: str) -> RpcRefused:
        return RpcRefused(
            INVALID_PARAMS, f"error converting {self._way} params to arguments: {problem}"
        )

    def octets(self, name: str) -> bytes:
        """Bytes in base64, or in hex where a URI says 0x; none where it is missing."""
        value = self._params.get(name)
        if value is None:
            return b""
        if not isinstance(value, str):
            raise self.bad(f"json: cannot unmarshal {kind_of(value)} into Go value of type []uint8")
        if self._way != "http":
            return self._base64(value)
        # In a URI what is quoted stands for itself.
        return self._hex(value[2:]) if value[:2] in ("0x", "0X") else value.encode()

    def many_octets(self, name: str) -> list[bytes]:
        value = self._params.get(name)
        if value is None:
            return []
        if not isinstance(value, list):
            raise self.bad(
                f"json: cannot unmarshal {kind_of(value)} into Go value of type []json.RawMessage"
            )
        found = []
        for one in value:
            if not isinstance(one, str):
                raise self.bad(
                    f"json: cannot unmarshal {kind_of(one)} into Go value of type []uint8"
                )
            found.append(self._base64(one))
        return found

    def _base64(self, text: str) -> bytes:
        try:
            return read_base64(text)
        except ValueError as error:
            raise self.bad(str(error)) from None

    def text(self, name: str) -> str:
        value = self._params.get(name)
        if value is None:
            return ""
        if not isinstance(value, str):
            raise self.bad(f"json: cannot unmarshal {kind_of(value)} into Go value of type string")
        return value

    def hex_octets(self, name: str) -> bytes:
        """Bytes in plain hex, as CometBFT's own HexBytes are."""
        return self._hex(self.text(name).removeprefix("0x"))

    def _hex(self, text: str) -> bytes:
        if not text.isalnum() and text:
            raise self.bad("encoding/hex: invalid byte")
        try:
            return bytes.fromhex(text)
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
        told = json.encode(value).decode()
        raise self.bad(f'invalid 64-bit integer encoding "{told}", expected string')


def kind_of(value: object) -> str:
    """As Go calls it."""
    if isinstance(value, bool):
        return "bool"
    if isinstance(value, int | float):
        return "number"
    if isinstance(value, str):
        return "string"
    return "array" if isinstance(value, list) else "object"


def by_name(params: object, names: Sequence[str]) -> dict[str, object]:
    """Parameters that came as a list, by the names of their places."""
    if params is None:
        return {}
    if isinstance(params, dict):
        return params
    assert isinstance(params, list)
    if len(params) != len(names):
        listed = f"[{' '.join(names)}]"
        expected = f"expected {len(names)} parameters ({listed}), got {len(params)}"
        raise RpcRefused(INVALID_PARAMS, f"error converting json params to arguments: {expected}")
    return dict(zip(names, params, strict=True))


def read_base64(text: str) -> bytes:
    """As Go reads it: padding is required, and what is wrong is told by its place."""
    if len(text) % 4 == 0 and PLAIN.fullmatch(text):
        return binascii.a2b_base64(text)
    return read_letters(text)


def read_letters(text: str) -> bytes:
    """The same letter by letter, for line ends are passed over and a fault has a place."""
    found = bytearray()
    values: list[int] = []
    place = 0
    while place < len(text):
        letter = text[place]
        if letter in "\r\n":
            place += 1
        elif letter in ALPHABET:
            values.append(ALPHABET[letter])
            place += 1
            if len(values) == 4:
                found += octets_of(values)
                values = []
        elif letter == "=" and len(values) >= 2:
            end = past_newlines(text, place + 1)
            if len(values) == 2:
                if end == len(text):
                    raise ValueError(f"illegal base64 data at input byte {end}")
                if text[end] != "=":
                    raise ValueError(f"illegal base64 data at input byte {end - 1}")
                end = past_newlines(text, end + 1)
            if end < len(text):
                raise ValueError(f"illegal base64 data at input byte {end}")
            return bytes(found + octets_of(values))
        else:
            raise ValueError(f"illegal base64 data at input byte {place}")
    if values:
        raise ValueError(f"illegal base64 data at input byte {len(text) - len(values)}")
    return bytes(found)


def past_newlines(text: str, place: int) -> int:
    while text[place : place + 1] in ("\r", "\n"):
        place += 1
    return place


def octets_of(values: Sequence[int]) -> bytes:
    """Of two, three or four letters: one, two or three bytes."""
    padded = [*values, *[0] * (4 - len(values))]
    number = padded[0] << 18 | padded[1] << 12 | padded[2] << 6 | padded[3]
    return number.to_bytes(3, "big")[: len(values) - 1]
