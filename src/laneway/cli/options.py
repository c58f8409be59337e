"""Options that several commands share: where the configuration comes from."""

import os
from collections.abc import Callable
from datetime import datetime
from functools import wraps
from typing import TypeVar

import click

from laneway.console.printing import say
from laneway.core.urls import shown_url
from laneway.wiring.config import load

T = TypeVar("T")


def configured(command: Callable[..., T]) -> Callable[..., T]:
    """Give a command the configuration as its first argument."""

    @click.option("--config", "file", metavar="FILE", help="Default: laneway.toml, if it is here.")
    @click.option("--preset", metavar="NAME", help="Defaults of a seed, for example seed-004.")
    @click.option("--db", metavar="PATH", help="The database; the same as --set store.path=PATH.")
    @click.option(
        "--set",
        "settings",
        metavar="KEY=VALUE",
        multiple=True,
        help="One key of the configuration, for example contract.fast_size=8. May be repeated.",
    )
    @wraps(command)
    def run(
        file: str | None,
        preset: str | None,
        db: str | None,
        settings: tuple[str, ...],
        **others: object,
    ) -> T:
        flags = dict(split(text) for text in settings)
        if preset is not None:
            flags["preset"] = preset
        if db is not None:
            flags["store.path"] = db
        if isinstance(listen := others.pop("listen", None), str):
            flags["server.listen"] = listen
        configuration = load(file, os.environ, flags)
        for warning in configuration.warnings:
            say(f"laneway: warning: {warning}", err=True)
        return command(configuration, **others)

    return run


def split(text: str) -> tuple[str, str]:
    path, equals, value = text.partition("=")
    if not equals:
        raise click.UsageError(
            f"--set {shown_url(text)}: say KEY=VALUE, for example contract.fast_size=8"
        )
    return path.strip(), value


def moment(option: str, text: str) -> datetime:
    try:
        parsed = datetime.fromisoformat(text)
    except ValueError:
        parsed = None
    if parsed is None or parsed.tzinfo is None:
        raise click.UsageError(f"{option}: a time like 2026-11-15T12:00:00Z")
    return parsed
