"""Counts the rare states of lanes, from their records."""

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any


class Tally(ABC):
    named: Mapping[type, str | Callable[[Any], str]] = {}
    """The state that a record of a class shows, or a function of the record; empty: none."""

    def __init__(self, seen: Counter[str]) -> None:
        self._seen = seen

    def count(self, lane: Any, records: Sequence[Any]) -> None:
        for record in records:
            self._seen.update(self._states(lane, record))

    @abstractmethod
    def _states(self, lane: Any, record: Any) -> list[str]:
        """The states that a record of a lane shows."""

    def _by_class(self, record: Any) -> list[str]:
        name = self.named.get(type(record), "")
        state = name if isinstance(name, str) else name(record)
        return [state] if state else []
