"""A service's storage while it accumulates: what was there, and what was written above it."""

from collections.abc import Mapping, MutableMapping

from laneway.jam.service.interface import StorageView

Writes = tuple[tuple[bytes, bytes | None], ...]


class Stored:
    """A mapping, seen as storage."""

    def __init__(self, records: Mapping[bytes, bytes]) -> None:
        self._records = records

    def read(self, key: bytes, /) -> bytes | None:
        return self._records.get(key)


class Overlay:
    """Reads see what was written; what lies below stays as it is."""

    def __init__(self, below: StorageView) -> None:
        self._below = below
        self._written: dict[bytes, bytes | None] = {}

    def read(self, key: bytes, /) -> bytes | None:
        if key in self._written:
            return self._written[key]
        return self._below.read(key)

    def write(self, key: bytes, value: bytes | None) -> None:
        self._written[key] = value

    def writes(self) -> Writes:
        """What changed, by key: a record that is as it was is left out."""
        return tuple(
            (key, value)
            for key, value in sorted(self._written.items(), key=lambda item: item[0])
            if value != self._below.read(key)
        )


def put(records: MutableMapping[bytes, bytes], writes: Writes) -> None:
    """Carry the writes out."""
    for key, value in writes:
        if value is None:
            records.pop(key, None)
        else:
            records[key] = value
