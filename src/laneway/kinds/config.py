"""A kind's part of the configuration, and what every one of them needs: the error, types of values,
which settings may hold a secret, and what an address must be."""

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, ClassVar
from urllib.parse import urlsplit

from msgspec import UNSET, Meta, Struct, to_builtins
from msgspec.structs import asdict

from laneway.core.errors import CallerError
from laneway.kinds.limits import COUNT_MAX, DURATION_MS_MAX

Duration = Annotated[int, Meta(ge=1, le=DURATION_MS_MAX)]
Count = Annotated[int, Meta(ge=1, le=COUNT_MAX)]
Text = Annotated[str, Meta(min_length=1)]
Name = Annotated[str, Meta(pattern=r"^[a-z][a-z0-9_-]{0,31}$")]
"""Not a number and no 0x: a lane is written with names or with what they stand for."""
NodeName = Annotated[str, Meta(pattern=r"^[A-Za-z0-9_.:-]{0,64}$")]

Conflict = tuple[str, str, str]
"""Keys of a configuration that contradict each other: the one to change, the other, and why."""
Preset = Mapping[str, Mapping[str, object]]
"""Values of a preset: section, key, value."""


class ConfigError(CallerError):
    """A configuration that cannot be used. Nothing was started."""

    code = "bad_configuration"

    def __init__(self, source: str, problem: str) -> None:
        self.source = source
        """The file, the environment variable or the flag to change."""
        self.problem = problem
        super().__init__(f"{source}: {problem}")


class FreeTexts(Struct, frozen=True, kw_only=True):
    """Paths of all settings that take any text, each in one of these sets."""

    secrets: frozenset[str] = frozenset()
    """Never shown, and not taken from the command line or the file."""
    signers: frozenset[str] = frozenset()
    """Where a key is; a key itself, written there by mistake, is not shown."""
    addresses: frozenset[str] = frozenset()
    """Each may carry a password or a key. Any other text is printed by the same function, which
    leaves alone what is no address."""
    harmless: frozenset[str] = frozenset()
    """Names of files, patterns, public addresses."""


class ConfigPart:
    """One kind's part of the configuration; this one of a kind without any."""

    sections: ClassVar[Mapping[str, type]] = {}
    """Sections by name: a Struct whose keys all have defaults."""
    sections_before: ClassVar[str] = ""
    """The section of the process in front of which its own are listed; empty: after them all."""
    tables: ClassVar[Mapping[str, type]] = {}
    """Arrays of tables by name, `[[NAME]]`: the Struct of one table."""
    presets: ClassVar[Mapping[str, Preset]] = {}
    free_texts: ClassVar[FreeTexts] = FreeTexts()
    """Its settings that take any text."""

    def conflicts(self, config: Any) -> Iterator[Conflict]:
        """What no single key of its sections can say is wrong."""
        return iter(())

    def variables(self, config: Any) -> Iterator[str]:
        """Environment variables that a configuration names."""
        return iter(())

    def plain_table(self, table: Any) -> dict[str, Any]:
        """One of its tables as plain values, in one spelling where there are several."""
        plain: dict[str, Any] = to_builtins(table)
        return plain

    def remarks(self, configuration: Any, table: Any) -> Mapping[str, tuple[object, str]]:
        """What follows from a table and stands in none of its keys, by name: for programs, and for
        people as one line."""
        return {}


def layered(section: Struct, *tables: Struct) -> dict[str, Any]:
    """The settings of a section, each as the last of these tables has it that sets it."""
    chosen = asdict(section)
    for own in map(asdict, tables):
        chosen |= {key: own[key] for key in chosen if own.get(key, UNSET) is not UNSET}
    return chosen


def is_node_url(url: str | None) -> bool:
    return is_url(url or "", "http", "https")


def is_socket_url(url: str) -> bool:
    return is_url(url, "ws", "wss")


def is_url(url: str, *schemes: str) -> bool:
    try:
        parts = urlsplit(url)
        return parts.scheme in schemes and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False
