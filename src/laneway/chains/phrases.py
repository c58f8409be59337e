"""Error messages that nodes are known to send, as rows of data: what each means, by its client.

Messages that nobody listed are UNKNOWN, which proves nothing: it counts as sent.
"""

import re
import tomllib
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from importlib.resources import files
from typing import Any, Generic, TypeVar

from msgspec import Struct

from laneway.chains.limits import UNKNOWN_MESSAGES_MAX
from laneway.core.errors import BadRequest
from laneway.core.limits import REASON_CHARS_MAX

ANY = "any"
"""The table of what several clients say."""

OTHERS = "others"
"""Where messages beyond the bound are counted."""

Kind = TypeVar("Kind", bound=Enum)


class Phrase(Struct, Generic[Kind], frozen=True):
    """A pattern that a message is searched for, and the kind of answer that it means."""

    kind: Kind
    words: re.Pattern[str]
    code: int | None = None

    def fits(self, code: int, message: str) -> bool:
        return (self.code is None or self.code == code) and self.is_in(message)

    def is_in(self, message: str) -> bool:
        """Whether the pattern is found in the part of the message that is shown. Patterns take a
        time that grows with the cube of a text's length, so they are never searched for in all of
        what a node may send."""
        return self.words.search(shorten(message)) is not None


def read_rows(
    kinds: type[Kind], rows: Sequence[Sequence[object]], where: str = "words"
) -> tuple[Phrase[Kind], ...]:
    """Rows as a file has them: `[kind, pattern]` or `[kind, pattern, code]`."""
    return tuple(read_row(kinds, row, where) for row in rows)


def read_row(kinds: type[Kind], row: Sequence[object], where: str) -> Phrase[Kind]:
    match row:
        case [str(kind), str(words)]:
            code = None
        case [str(kind), str(words), int(code)]:
            pass
        case _:
            raise BadRequest(where, f"{row!r} is not [kind, words] or [kind, words, code]")
    try:
        return Phrase(kinds(kind), re.compile(words, re.I), code)
    except (ValueError, re.error) as error:
        raise BadRequest(where, f"{row!r}: {error}") from error


class ClientPhrases(Generic[Kind]):
    """The rows for one client, in the order in which they are searched."""

    def __init__(
        self,
        tables: Mapping[str, Sequence[Phrase[Kind]]],
        client: str,
        overrides: Sequence[Phrase[Kind]],
        is_final: Callable[[Kind], bool],
        unknown: Kind,
    ) -> None:
        others = [name for name in tables if name not in (client, ANY)]
        order = [client] * (client in tables) + [ANY, *others]
        rows = [row for name in order for row in tables[name]]
        # A final refusal gives up bytes or their nonce, so it is believed only when no row reads
        # the message softer.
        self._rows = (*overrides, *sorted(rows, key=lambda row: is_final(row.kind)))
        self._unknown = unknown

    def kind(self, code: int, message: str) -> Kind:
        fitting = (row.kind for row in self._rows if row.fits(code, message))
        return next(fitting, self._unknown)


class UnknownMessages(Counter[str]):
    """How often nodes sent each message that no table knows."""

    def count_one(self, message: str) -> None:
        is_counted = message in self or len(self) < UNKNOWN_MESSAGES_MAX
        self[message if is_counted else OTHERS] += 1


def shipped_toml(package: str) -> dict[str, Any]:
    """The phrases.toml of a package."""
    return tomllib.loads(files(package).joinpath("phrases.toml").read_text())


def shorten(message: str) -> str:
    return message[:REASON_CHARS_MAX]
