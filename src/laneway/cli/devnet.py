"""`laneway devnet`: a chain of one's own to try things on."""

import click

from laneway.cli.shared import SharedGroup


@click.group(cls=SharedGroup)
def devnet() -> None:
    """A chain of your own to try things on."""
