"""`laneway audit`: who did what, and why."""

from typing import TYPE_CHECKING

import click

from laneway.console.remote import Output, last_of, newest, remote

if TYPE_CHECKING:
    from collections.abc import Sequence

    from laneway.console.remote import Client
    from laneway.wire.values import AuditEntry

HEAD = ("at", "actor", "action", "target", "outcome", "why", "what")


@click.command()
@click.option("--lane", help="Only what concerns this lane.")
@newest
@remote
def audit(client: "Client", output: Output, lane: str | None, last: int) -> None:
    """Who paused, cancelled or retried what, and why.

    Each act has two entries: "asked" before anything is done, and one with what came of it.
    """
    output.table(last_of(client.audit(lane), last), HEAD, row)


def row(entry: "AuditEntry") -> "Sequence[str]":
    at = entry.at.isoformat(timespec="seconds")
    target = entry.tx or entry.lane or entry.api_key or ""
    return (at, entry.actor, entry.action, target, entry.outcome, entry.reason, entry.detail)
