"""`laneway audit`: who did what, and why."""

from collections import deque
from typing import TYPE_CHECKING

import click

from laneway.cli.remote import Output, remote

if TYPE_CHECKING:
    from collections.abc import Sequence

    from laneway.client.blocking import Client
    from laneway.wire.values import AuditEntry

HEAD = ("at", "actor", "action", "target", "outcome", "why", "what")


@click.command()
@click.option("--lane", help="Only what concerns this lane.")
@click.option(
    "--last",
    type=click.IntRange(0),
    default=50,
    show_default=True,
    help="So many, the newest at the end; 0 is all.",
)
@remote
def audit(client: "Client", output: Output, lane: str | None, last: int) -> None:
    """Who paused, cancelled or retried what, and why.

    Each act has two entries: "asked" before anything is done, and one with what came of it.
    """
    entries = client.audit(lane)
    output.table(deque(entries, last) if last else entries, HEAD, row)


def row(entry: "AuditEntry") -> "Sequence[str]":
    at = entry.at.isoformat(timespec="seconds")
    target = entry.tx or entry.lane or entry.api_key or ""
    return (at, entry.actor, entry.action, target, entry.outcome, entry.reason, entry.detail)
