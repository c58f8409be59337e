"""What a counter lane asks of the world, and the world: counters in files of a folder."""

import fcntl
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

import msgspec
from msgspec import Struct

from laneway.core.errors import ChainUnreachable
from laneway.core.outcome import Outcome

AMOUNT_MAX = 1_000
"""A counter's own rule: it never takes more at once."""


class Entry(Struct, frozen=True):
    """One addition to a counter."""

    mark: str
    """Who made it: the id of an intent."""
    amount: int


class Answer(Struct, frozen=True):
    """What came of an addition."""

    outcome: Outcome
    final: bool = False
    reason: str = ""


class CounterChain(Protocol):
    """The port. Whatever cannot be known is `Outcome.UNKNOWN` or a ChainError."""

    async def add(self, name: str, place: int, entry: Entry) -> Answer:
        """Add it if the counter has exactly `place` additions; otherwise refuse it."""

    async def entries(self, name: str) -> Sequence[Entry]:
        """All additions in their order; ChainError."""


class Counters:
    """Counters in memory: the rules, without a place to keep anything."""

    def __init__(self) -> None:
        self._entries: dict[str, list[Entry]] = {}

    def read(self, name: str) -> list[Entry]:
        return list(self._entries.get(name, ()))

    def append(self, name: str, place: int, entry: Entry) -> Answer:
        answer = judged(len(self.read(name)), place, entry)
        if answer.outcome is Outcome.ACCEPTED:
            self._entries.setdefault(name, []).append(entry)
        return answer


def judged(count: int, place: int, entry: Entry) -> Answer:
    """Whether a counter with this many additions takes this one at a place."""
    if abs(entry.amount) > AMOUNT_MAX:
        return Answer(Outcome.REFUSED, True, f"a counter takes at most {AMOUNT_MAX} at once")
    if place != count:
        return Answer(Outcome.REFUSED, False, f"place {place} is not the next one")
    return Answer(Outcome.ACCEPTED)


class FileCounters:
    """A file for each counter, a line for each addition; any number of processes may share it."""

    def __init__(self, folder: str) -> None:
        self.folder = Path(folder)

    async def add(self, name: str, place: int, entry: Entry) -> Answer:
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            with (self.folder / name).open("a+b") as file:
                fcntl.flock(file, fcntl.LOCK_EX)
                file.seek(0)
                answer = judged(len(file.readlines()), place, entry)
                if answer.outcome is Outcome.ACCEPTED:
                    file.write(msgspec.json.encode(entry) + b"\n")
                    file.flush()
                    os.fsync(file.fileno())
                return answer
        except OSError as error:
            return Answer(Outcome.UNKNOWN, reason=f"{self.folder}: {error.strerror}")

    async def entries(self, name: str) -> Sequence[Entry]:
        try:
            lines = (self.folder / name).read_bytes().splitlines()
        except FileNotFoundError:
            return ()
        except OSError as error:
            raise ChainUnreachable(str(self.folder), error.strerror or "unreadable") from error
        return [msgspec.json.decode(line, type=Entry) for line in lines]

    def problem(self) -> str:
        """Why no addition can be made; empty if nothing is known to be wrong."""
        above = next(one for one in (self.folder, *self.folder.parents) if one.exists())
        return "" if os.access(above, os.W_OK) else f"{above} cannot be written"
