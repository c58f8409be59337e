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
from laneway.cosmos.protobuf import Message, encode

M = TypeVar("M", bound=Message)

KNOWN: dict[str, type[Message]] = {
    MsgSend.url: MsgSend,
    MsgPayForBlobs.url: MsgPayForBlobs,
    PubKey.url: PubKey,
}
MODES = {"SIGN_MODE_DIRECT": DIRECT}
DIGITS_MAX = 20
"""Of 64 bits."""


def raw_tx(told: object) -> bytes:
    """The bytes of a transaction that was told in JSON; MalformedTransaction else."""
    if not isinstance(told, dict):
        raise MalformedTransaction(problem="it is no object")
    body = message_of(TxBody, told.get("body", {}))
    auth = message_of(AuthInfo, told.get("authInfo", told.get("auth_info", {})))
    signatures = tuple(octets(one) for one in told.get("signatures", ()))
    return encode(TxRaw(encode(body), encode(auth), signatures))


def message_of(kind: type[M], told: object) -> M:
    if not isinstance(told, dict):
        raise MalformedTransaction(problem=f"{kind.__name__} is no object")
    values: dict[str, Any] = {}
    for field in kind.fields:
        value = told.get(field.name, told.get(camel(field.name)))
        if value is None:
            continue
        if field.many:
            values[field.name] = tuple(value_of(field.kind, one) for one in listed(value))
        else:
            values[field.name] = value_of(field.kind, value)
    return kind(**values)


def value_of(kind: str | type[Message], told: object) -> Any:
    if kind is Packed:
        return packed_of(told)
    if not isinstance(kind, str):
        return message_of(kind, told)
    if kind == "bytes":
        return octets(told)
    if kind == "uint":
        return number(told)
    if kind == "bool":
        return told is True
    if not isinstance(told, str):
        raise MalformedTransaction(problem=f"{told!r} is no text")
    return told


def packed_of(told: object) -> Packed:
    if not isinstance(told, dict) or not isinstance(told.get("@type"), str):
        raise MalformedTransaction(problem="a message without its @type")
    url = told["@type"]
    kind = KNOWN.get(url)
    if kind is None:
        raise MalformedTransaction(problem=f"unable to resolve {url}")
    return Packed(url, encode(message_of(kind, told)))


def octets(told: object) -> bytes:
    if not isinstance(told, str):
        raise MalformedTransaction(problem=f"{told!r} is no base64")
    try:
        return base64.b64decode(told, validate=True)
    except binascii.Error:
        raise MalformedTransaction(problem=f"{told!r} is no base64") from None


def number(told: object) -> int:
    if isinstance(told, str) and told in MODES:
        return MODES[told]
    if isinstance(told, str) and told.isascii() and told.isdigit() and len(told) <= DIGITS_MAX:
        return int(told)
    if isinstance(told, int) and not isinstance(told, bool) and told >= 0:
        return told
    raise MalformedTransaction(problem=f"{told!r} is no number")


def listed(told: object) -> list[object]:
    if not isinstance(told, list):
        raise MalformedTransaction(problem=f"{told!r} is no list")
    return told


def camel(name: str) -> str:
    first, *more = name.split("_")
    return first + "".join(word.capitalize() for word in more)
