"""How every command prints: a line of text, or a value as JSON.

Text of nodes, callers and receivers is escaped here, so that it controls no terminal and begins no
line of its own.
"""

from typing import TextIO

import click

from laneway.core.text import printable, printable_json


def say(line: str = "", *, err: bool = False, file: TextIO | None = None) -> None:
    """Print one line."""
    click.echo(printable(line), err=err, file=file)


def say_json(value: object, *, indent: int | None = None) -> None:
    """Print a value as JSON: on one line, or indented for people."""
    from msgspec import json

    encoded = json.encode(value)
    text = encoded if indent is None else json.format(encoded, indent=indent)
    click.echo(printable_json(text.decode()))
