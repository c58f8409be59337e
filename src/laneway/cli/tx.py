"""`laneway tx`: one transaction, or a list of them."""

from itertools import islice
from typing import TYPE_CHECKING, get_args

import click

from laneway.cli.remote import Output, ended, reasoned, remote
from laneway.wire.values import StatusWord

if TYPE_CHECKING:
    from laneway.client.blocking import Client
    from laneway.wire.values import Tx

ID = click.argument("intent", metavar="ID")


@click.group()
def tx() -> None:
    """Show, list, wait for, retry or cancel transactions.

    ID is tx_…, or key: and an idempotency key.
    """


@tx.command()
@ID
@remote
def show(client: "Client", output: Output, intent: str) -> None:
    """Where one is, and why."""
    output_tx(output, client.tx(intent))


@tx.command("list")
@click.option("--lane", help="Only of this lane, in its order.")
@click.option("--status", type=click.Choice(get_args(StatusWord)))
@click.option(
    "--limit", type=click.IntRange(0), default=50, show_default=True, help="At most; 0 is all."
)
@remote
def list_(
    client: "Client", output: Output, lane: str | None, status: str | None, limit: int
) -> None:
    """List transactions: of a lane in its order, or of a status."""
    page = min(limit, 200) or 200
    for found in islice(client.transactions(lane, status, page=page), limit or None):
        output.tx(found)


@tx.command()
@ID
@click.option("--timeout", type=click.FloatRange(0), help="Seconds; exits 75 after.")
@remote
def wait(client: "Client", output: Output, intent: str, timeout: float | None) -> int:
    """Wait until one is final; exits 0 only if it is confirmed."""
    done = client.wait(intent, timeout)
    output.tx(done)
    return ended([done])


@tx.command()
@ID
@reasoned
@remote
def cancel(client: "Client", output: Output, intent: str, reason: str, dry_run: bool) -> None:
    """Take back one that waits; one that runs cannot be called back."""
    output.action(client.cancel(intent, reason=reason, dry_run=dry_run))


@tx.command()
@ID
@reasoned
@remote
def retry(client: "Client", output: Output, intent: str, reason: str, dry_run: bool) -> None:
    """Queue a new one in the place of one that is proven dead.

    Refused, expired, cancelled and dead ones may be retried; confirmed and indeterminate ones may
    not, for that could do it twice. Run again, it finds the one it made the first time.
    """
    output.action(client.retry(intent, reason=reason, dry_run=dry_run))


def output_tx(output: Output, found: "Tx") -> None:
    payload = found.payload
    output.facts(
        found,
        (
            ("tx", found.id),
            ("lane", f"{found.lane} #{found.seq}"),
            ("status", found.status),
            ("why", found.reason),
            ("block", found.block),
            ("next attempt", found.next_attempt_at and found.next_attempt_at.isoformat()),
            ("key", found.idempotency_key),
            ("retry of", found.retry_of),
            ("accepted", found.accepted_at.isoformat()),
            ("settled", found.settled_at and found.settled_at.isoformat()),
            ("valid until", found.valid_until and found.valid_until.isoformat()),
            ("priority", found.priority or None),
            ("trace", found.traceparent),
            ("executor", payload and payload.executor),
            ("data", payload and payload.data),
            ("comment", payload and payload.comment),
        ),
    )
