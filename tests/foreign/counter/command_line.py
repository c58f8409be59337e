"""Counters on the command line."""

from typing import TYPE_CHECKING

import click

from laneway.console.remote import Output, reasoned, remote
from laneway.kinds.command_line import CommandLine

if TYPE_CHECKING:
    from laneway.console.remote import Client


@click.command()
@click.argument("intent", metavar="ID")
@reasoned
@remote
def hurry(client: "Client", output: Output, intent: str, reason: str, dry_run: bool) -> None:
    """Read the counter now, for an addition that waits for its next try."""
    output.action(client.command(intent, "hurry", reason=reason, dry_run=dry_run))


@click.command()
@click.argument("lane")
@click.argument("retry_ms", type=int)
@reasoned
@remote
def tune(
    client: "Client", output: Output, lane: str, retry_ms: int, reason: str, dry_run: bool
) -> None:
    """Set how long a counter's lane waits between two tries."""
    made = client.command_lane(lane, "tune", reason=reason, dry_run=dry_run, retry_ms=retry_ms)
    output.action(made)


class CounterCommandLine(CommandLine):
    verbs = {"tx": (hurry,), "lane": (tune,)}
    send_options = (
        click.Option(["--add"], type=int, help="Counters: how much is added."),
        click.Option(["--note"], help="Counters: a word about it."),
    )
    words = {"add": int, "note": str}
    content = ("add",)
