"""`laneway tx`: one transaction, or a list of them."""

from itertools import islice
from typing import TYPE_CHECKING, get_args

import click

from laneway.cli.shared import SharedGroup
from laneway.console.remote import Output, ended, reasoned, remote
from laneway.kinds.command_line import command_line, output_tx
from laneway.wire.values import StatusWord

if TYPE_CHECKING:
    from laneway.client.blocking import Client

ID = click.argument("intent", metavar="ID")


@click.group(cls=SharedGroup)
def tx() -> None:
    """Show, list, wait for, cancel, bump, replace, settle or retry transactions.

    ID is tx_…, or key: and an idempotency key; of an account's transaction also the hash of an
    attempt, or LANE#NONCE and LANE#SEQUENCE.
    """


@tx.command()
@ID
@remote
def show(client: "Client", output: Output, intent: str) -> None:
    """Where one is, and why."""
    found = client.tx(intent)
    output.facts(found, command_line(found.lane).tx_facts(found))


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
        output_tx(output, found)


@tx.command()
@ID
@click.option("--timeout", type=click.FloatRange(0), help="Seconds; exits 75 after.")
@remote
def wait(client: "Client", output: Output, intent: str, timeout: float | None) -> int:
    """Wait until one is final; exits 0 only if it is confirmed."""
    done = client.wait(intent, timeout)
    output_tx(output, done)
    return ended([done])


@tx.command()
@ID
@reasoned
@remote
def cancel(client: "Client", output: Output, intent: str, reason: str, dry_run: bool) -> None:
    """Take back one that waits; an execution that runs cannot be called back.

    Of an EVM account's transaction that has a nonce a no-op takes the place, never a hole; a
    Cosmos account's is taken back only while no node can have it.
    """
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
