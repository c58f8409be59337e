"""The parameters of a JIP-2 call, each read by its kind and strictly.

A kind takes the JSON value and gives what the methods work with: bytes for base64, whole numbers
within their bounds. What is of another kind is refused, never guessed at.
"""

import binascii
from typing import Any, Final

from laneway.jam.hashing import HASH_BYTES
from laneway.jam.state_keys import KEY_BYTES
from laneway.wire.rpc_codes import INVALID_PARAMS
from laneway.wire.rpc_server.methods import Kind, RpcRefused

TOO_MANY_SUBSCRIPTIONS: Final = -32006
"""The library that PolkaJam is served by has this one."""


def wrong(problem: str) -> RpcRefused:
    return RpcRefused(INVALID_PARAMS, f"Invalid params: {problem}")


def blob(value: object) -> bytes:
    if not isinstance(value, str):
        raise wrong("a blob is a string")
    try:
        raw = binascii.a2b_base64(value, strict_mode=True)
    except ValueError:
        raise wrong("not padded base64") from None
    # There is one text for every byte string: bits after the last byte are zero.
    if binascii.b2a_base64(raw, newline=False).decode() != value:
        raise wrong("not padded base64")
    return raw


def hash_(value: object) -> bytes:
    raw = blob(value)
    if len(raw) != HASH_BYTES:
        raise wrong("Invalid hash length.")
    return raw


def state_key(value: object) -> bytes:
    raw = blob(value)
    if len(raw) != KEY_BYTES:
        raise wrong(f"a state key has {KEY_BYTES} bytes")
    return raw


def below(bound: int) -> Kind:
    def whole(value: object) -> int:
        if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < bound:
            raise wrong("not a number in range")
        return value

    return whole


number: Final = below(1 << 32)
index: Final = below(1 << 16)
"""Of a core, a validator, a shard or a segment."""


def flag(value: object) -> bool:
    if not isinstance(value, bool):
        raise wrong("not a boolean")
    return value


def any_of(kind: Kind, most: int) -> Kind:
    """A list of things of one kind."""

    def many(value: object) -> list[Any]:
        if not isinstance(value, list):
            raise wrong("not an array")
        if len(value) > most:
            raise wrong(f"{len(value)} are given, and at most {most} are taken")
        return [kind(one) for one in value]

    return many


def one_of(*names: str) -> Kind:
    def name(value: object) -> str:
        if value not in names:
            raise wrong(f"none of {', '.join(names)}")
        return str(value)

    return name


def fields(**kinds: Kind) -> Kind:
    """An object with some of these members, and no other."""

    def named(value: object) -> dict[str, Any]:
        if not isinstance(value, dict):
            raise wrong("not an object")
        unknown = sorted(str(name) for name in value if name not in kinds)
        if unknown:
            raise wrong(f"unknown: {', '.join(unknown)[:100]}")
        return {name: kinds[name](one) for name, one in value.items()}

    return named
