"""Time and randomness, asked for by name so that a world of one seed can answer."""

from typing import Protocol


class Clock(Protocol):
    """Wall time orders nothing; it is only shown, stored and compared with deadlines."""

    def now_ms(self) -> int: ...
    def monotonic_ms(self) -> int: ...


class Entropy(Protocol):
    def token(self, size: int) -> bytes: ...
