"""`laneway init`: a configuration to begin with."""

from importlib.resources import files
from pathlib import Path

import click

from laneway.console.printing import say
from laneway.core.errors import BadRequest


class FileThere(BadRequest):
    code = "file_exists"


@click.command()
@click.argument("path", default="laneway.toml")
def init(path: str) -> None:
    """Write a commented laneway.toml.

    Every key is in it, commented out, with its default. A file that is there is never overwritten.
    """
    text = files("laneway.wiring").joinpath("template.toml").read_text()
    try:
        with Path(path).open("x") as opened:
            opened.write(text)
    except FileExistsError:
        raise FileThere(path, "it is there already and was left as it is") from None
    say(f"wrote {path}; 'laneway config check' reads it, 'laneway up' runs by it")
