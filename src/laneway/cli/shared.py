"""Groups and commands to which every kind of lane adds its own."""

from typing import Any

import click

from laneway.kinds.command_line import command_lines
from laneway.kinds.config import ConfigError


class SharedGroup(click.Group):
    """A group with commands of all kinds, which add theirs under its name."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted({*super().list_commands(ctx), *self._verbs()})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        return super().get_command(ctx, cmd_name) or self._verbs().get(cmd_name)

    def _verbs(self) -> dict[str, click.Command]:
        found = [one for line in command_lines() for one in line.verbs.get(self.name or "", ())]
        return {one.name or "": one for one in found}


class SharedCommand(click.Command):
    """A command with options of all kinds, which stand after its own one called `after`."""

    def __init__(self, *arguments: Any, after: str, **more: Any) -> None:
        super().__init__(*arguments, **more)
        self.after = after

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        own = super().get_params(ctx)
        place = [one.name for one in own].index(self.after) + 1
        known = {one.name: one for one in own}
        added: dict[str | None, click.Parameter] = {}
        for line in command_lines():
            for option in getattr(line, f"{self.name}_options"):
                first = known.get(option.name) or added.setdefault(option.name, option)
                if first.opts != option.opts:
                    problem = f"its option {option.opts[0]} has the name of {first.opts[0]}"
                    raise ConfigError(type(line).__module__, f"{problem}, which is another's")
        return [*own[:place], *added.values(), *own[place:]]
