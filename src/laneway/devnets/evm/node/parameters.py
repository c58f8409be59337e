"""The parameters of a call, each read by its kind and strictly, in anvil's phrases."""

from collections.abc import Callable
from typing import Final, TypeVar

from laneway.wire.hex import octets, read_octets, read_quantity
from laneway.wire.limits import WEI_MAX
from laneway.wire.rpc_codes import INVALID_PARAMS
from laneway.wire.rpc_server.methods import RpcRefused

T = TypeVar("T")


def anything(value: object) -> object:
    return value


def octets_of(value: object, size: int | None = None) -> bytes:
    if not isinstance(value, str):
        raise wrong("invalid type, expected a hex string")
    try:
        content = read_octets(value)
    except ValueError as error:
        raise wrong(f"invalid value: {error}") from error
    if size is not None and len(content) != size:
        raise wrong("invalid string length")
    return content


def address_of(value: object) -> bytes:
    return octets_of(value, 20)


def digest_of(value: object) -> bytes:
    return octets_of(value, 32)


def block_hash_of(value: object) -> str:
    """As it was, if it is one."""
    return octets(digest_of(value))


def number_of(value: object) -> int:
    """A quantity, or a plain number, which anvil takes as well."""
    if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
        return value
    if not isinstance(value, str):
        raise wrong("invalid number")
    try:
        return read_quantity(value, WEI_MAX)
    except ValueError as error:
        raise wrong("invalid digit found in string") from error


def typed(kind: type[T], name: str) -> Callable[[object], T]:
    """A reader of values of one JSON type."""

    def read(value: object) -> T:
        if not isinstance(value, kind):
            raise wrong(f"invalid type, expected {name}")
        return value

    return read


flag_of: Final = typed(bool, "a boolean")
rows_of: Final = typed(list, "a sequence")
fields_of: Final = typed(dict, "a map")


def wrong(problem: str) -> RpcRefused:
    return RpcRefused(INVALID_PARAMS, problem)
