"""A kind of another distribution, as far as configuration, doctor and commands know one."""

from collections.abc import Iterator, Mapping, MutableMapping, Sequence
from importlib.metadata import EntryPoint
from typing import Any

import click
import pytest
from msgspec import Struct

from laneway.kinds import installed as plugins
from laneway.kinds import registry
from laneway.kinds.command_line import CommandLine
from laneway.kinds.config import ConfigError, ConfigPart, Conflict, FreeTexts
from laneway.kinds.findings import Finding
from laneway.kinds.kind import Kind

MODULE = __name__


class PlaySection(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    speed: int = 3
    secret: str | None = None


class ToySection(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    name: str
    node: str = ""


class ToyConfig(ConfigPart):
    sections = {"play": PlaySection}
    tables = {"toys": ToySection}
    presets = {"quick": {"play": {"speed": 9}}}
    free_texts = FreeTexts(
        secrets=frozenset(("play.secret",)),
        addresses=frozenset(("toys.node",)),
        harmless=frozenset(("toys.name",)),
    )

    def conflicts(self, config: Any) -> Iterator[Conflict]:
        if config.play.speed > 9:
            yield "play.speed", "play.speed", "no toy is so quick"

    def variables(self, config: Any) -> Iterator[str]:
        return (one.name for one in config.toys)

    def remarks(self, configuration: Any, table: ToySection) -> Mapping[str, tuple[object, str]]:
        return {"length": (len(table.name), f"a name of {len(table.name)} letters")}


@click.command()
def toy() -> None:
    """Play with toys."""
    click.echo("played")


@click.command()
@click.argument("lane")
def wind(lane: str) -> None:
    """Wind a toy up."""
    click.echo(f"wound {lane}")


class ToyCommandLine(CommandLine):
    verbs = {"lane": (wind,)}
    send_options = (click.Option(["--jump", "jumps"], type=int, multiple=True, help="Toys."),)
    words = {"jumps": list[int]}
    content = ("jumps",)
    up_options = (click.Option(["--wound"], is_flag=True, help="Toys: begin at once."),)

    def read_options(self, options: MutableMapping[str, Any]) -> None:
        options["jumps"] = list(options["jumps"]) or None


class ToyKind(Kind):
    name = "toy"
    commands = {"toy": (f"{MODULE}:toy", "Play with toys."), "up": (f"{MODULE}:toy", "Never.")}

    def configuration(self) -> ConfigPart:
        return ToyConfig()

    def command_line(self) -> CommandLine:
        return ToyCommandLine()

    async def examine(self, configuration: Any, states: Mapping[str, bytes]) -> Sequence[Finding]:
        return [Finding("toy", True, f"{len(configuration.config.toys)} toys")]


class PlainKind(Kind):
    """One that adds nothing to any command."""

    name = "plain"


class Twin(Kind):
    """One with a section that another kind has."""

    name = "twin"

    def configuration(self) -> ConfigPart:
        return ToyConfig()


class RivalCommandLine(CommandLine):
    send_options = (click.Option(["--hop", "jumps"], type=int, help="Rivals."),)


class Rival(Kind):
    """One with an option whose name another kind has."""

    name = "rival"

    def command_line(self) -> CommandLine:
        return RivalCommandLine()


class Numbered(Kind):
    """One whose lanes no request could name."""

    name = "toy2"


class Broken(Kind):
    def __init__(self) -> None:
        raise ConfigError("toy", "no battery")


def installed(monkeypatch: pytest.MonkeyPatch, *names: str) -> None:
    """The registry with these kinds of this file, until the test ends."""
    points = [EntryPoint(name, f"{MODULE}:{name}", registry.GROUP) for name in names]
    found = {registry.GROUP: points}
    monkeypatch.setattr(plugins, "entry_points", lambda group: found.get(group, []))
    registry.kinds.cache_clear()
