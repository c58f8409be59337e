"""The parameters of a call, read strictly; and the node's no, with anvil's codes."""

from collections.abc import Sequence

from laneway.wire.hex import read_octets, read_quantity
from laneway.wire.limits import WEI_MAX

METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
INTERNAL = -32603
NOT_FOUND = -32001
REVERTED = 3


class RpcRefused(Exception):
    """A JSON-RPC error."""

    def __init__(self, code: int, message: str, data: str | None = None) -> None:
        self.code = code
        self.message = message
        self.data = data
        super().__init__(f"{code} {message}")


class Given:
    def __init__(self, params: Sequence[object]) -> None:
        self._params = params

    def __len__(self) -> int:
        return len(self._params)

    def at(self, place: int) -> object:
        if place >= len(self._params):
            raise RpcRefused(
                INVALID_PARAMS,
                f"invalid length {len(self._params)}, expected at least {place + 1} elements",
            )
        return self._params[place]

    def octets(self, place: int, size: int | None = None) -> bytes:
        return octets_of(self.at(place), size)

    def address(self, place: int) -> bytes:
        return self.octets(place, 20)

    def digest(self, place: int) -> bytes:
        return self.octets(place, 32)

    def number(self, place: int) -> int:
        return number_of(self.at(place))

    def flag(self, place: int) -> bool:
        value = self.at(place)
        if not isinstance(value, bool):
            raise RpcRefused(INVALID_PARAMS, "invalid type, expected a boolean")
        return value

    def rows(self, place: int) -> list[object]:
        value = self.at(place)
        if not isinstance(value, list):
            raise RpcRefused(INVALID_PARAMS, "invalid type, expected a sequence")
        return value

    def fields(self, place: int) -> dict[str, object]:
        value = self.at(place)
        if not isinstance(value, dict):
            raise RpcRefused(INVALID_PARAMS, "invalid type, expected a map")
        return value


def octets_of(value: object, size: int | None = None) -> bytes:
    if not isinstance(value, str):
        raise RpcRefused(INVALID_PARAMS, "invalid type, expected a hex string")
    try:
        content = read_octets(value)
    except ValueError as error:
        raise RpcRefused(INVALID_PARAMS, f"invalid value: {error}") from error
    if size is not None and len(content) != size:
        raise RpcRefused(INVALID_PARAMS, "invalid string length")
    return content


def number_of(value: object) -> int:
    """A quantity, or a plain number, which anvil takes as well."""
    if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
        return value
    if not isinstance(value, str):
        raise RpcRefused(INVALID_PARAMS, "invalid number")
    try:
        return read_quantity(value, WEI_MAX)
    except ValueError as error:
        raise RpcRefused(INVALID_PARAMS, "invalid digit found in string") from error
