"""Messages as the REST gateway reads them: protobuf's JSON, with the names of fields in either
spelling, and what is inside an Any beside its `@type`."""

import base64
import binascii
from typing import Any, TypeVar

from laneway.cosmos.errors import MalformedTransaction
from laneway.cosmos.messages import (
    DIRECT,
    AuthInfo,
    MsgPayForBlobs,
    MsgSend,
    PubKey,
    TxBody,
    TxRaw,
)
from laneway.cosmos.messages import Any as Packed
from laneway.cosmos.protobuf import Message, encode, fields_of

M = TypeVar("M", bound=Message)

KNOWN: dict[str, type[Message]] = {
    MsgSend.url: MsgSend,
    MsgPayForBlobs.url: MsgPayForBlobs,
    PubKey.url: PubKey,
}
MODES = {"SIGN_MODE_DIRECT": DIRECT}
DIGITS_MAX = 20
"""Of 64 bits."""


def raw_tx(value: object) -> bytes:
    """The bytes of a transaction that is written in JSON; MalformedTransaction else."""
    if not isinstance(value, dict):
        raise MalformedTransaction(problem="it is no object")
    body = message_of(TxBody, value.get("body", {}))
    auth = message_of(AuthInfo, value.get("authInfo", value.get("auth_info", {})))
    signatures = tuple(octets(one) for one in value.get("signatures", ()))
    return encode(TxRaw(encode(body), encode(auth), signatures))


def message_of(kind: type[M], value: object) -> M:
    if not isinstance(value, dict):
        raise MalformedTransaction(problem=f"{kind.__name__} is no object")
    values: dict[str, Any] = {}
    for field in fields_of(kind):
        found = value.get(field.name, value.get(camel(field.name)))
        if found is None:
            continue
        if field.many:
            values[field.name] = tuple(value_of(field.kind, one) for one in listed(found))
        else:
            values[field.name] = value_of(field.kind, found)
    return kind(**values)


def value_of(kind: str | type[Message], value: object) -> Any:
    if kind is Packed:
        return packed_of(value)
    if not isinstance(kind, str):
        return message_of(kind, value)
    if kind == "bytes":
        return octets(value)
    if kind == "uint":
        return number(value)
    if kind == "bool":
        return value is True
    if not isinstance(value, str):
        raise MalformedTransaction(problem=f"{value!r} is no text")
    return value


def packed_of(value: object) -> Packed:
    if not isinstance(value, dict) or not isinstance(value.get("@type"), str):
        raise MalformedTransaction(problem="a message without its @type")
    url = value["@type"]
    kind = KNOWN.get(url)
    if kind is None:
        raise MalformedTransaction(problem=f"unable to resolve {url}")
    return Packed(url, encode(message_of(kind, value)))


def octets(value: object) -> bytes:
    if not isinstance(value, str):
        raise MalformedTransaction(problem=f"{value!r} is no base64")
    try:
        return base64.b64decode(value, validate=True)
    except binascii.Error:
        raise MalformedTransaction(problem=f"{value!r} is no base64") from None


def number(value: object) -> int:
    if isinstance(value, str) and value in MODES:
        return MODES[value]
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) <= DIGITS_MAX:
        return int(value)
    if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
        return value
    raise MalformedTransaction(problem=f"{value!r} is no number")


def listed(value: object) -> list[object]:
    if not isinstance(value, list):
        raise MalformedTransaction(problem=f"{value!r} is no list")
    return value


def camel(name: str) -> str:
    first, *more = name.split("_")
    return first + "".join(part.capitalize() for part in more)
