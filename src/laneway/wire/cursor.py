"""Keyset cursors: where a page ended, wrapped so that nobody is tempted to read or build one."""

from base64 import urlsafe_b64decode, urlsafe_b64encode
from binascii import Error
from typing import Annotated, TypeVar

import msgspec

from laneway.core.errors import BadRequest
from laneway.wire.limits import CURSOR_CHARS_MAX, NUMBER_MAX

T = TypeVar("T", bound=msgspec.Struct)


class TxPlace(msgspec.Struct, frozen=True, tag="t", array_like=True, forbid_unknown_fields=True):
    """The intent after which a page goes on, and its lane."""

    lane: str
    intent: str


class LanePlace(msgspec.Struct, frozen=True, tag="l", array_like=True, forbid_unknown_fields=True):
    lane: str


class BundlePlace(
    msgspec.Struct, frozen=True, tag="b", array_like=True, forbid_unknown_fields=True
):
    """The block after which a page goes on: whether it is final, and its number."""

    final: bool
    number: Annotated[int, msgspec.Meta(ge=0, le=NUMBER_MAX)]


def wrap(place: TxPlace | LanePlace | BundlePlace) -> str:
    return urlsafe_b64encode(msgspec.msgpack.encode(place)).decode().rstrip("=")


def unwrap(text: str, kind: type[T]) -> T:
    if len(text) <= CURSOR_CHARS_MAX:
        try:
            padded = text + "=" * (-len(text) % 4)
            return msgspec.msgpack.decode(urlsafe_b64decode(padded), type=kind)
        except (Error, ValueError, msgspec.DecodeError):
            pass
    raise BadRequest("cursor", "not a cursor of this list; leave it out to begin again")
