"""`laneway lanes` and `laneway lane`: what is queued, in flight and stuck, and words to a lane."""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, TypeVar

import click

from laneway.cli.remote import LANE_HEAD, Output, age, lane_row, reasoned, remote

if TYPE_CHECKING:
    from laneway.client.blocking import Client

T = TypeVar("T")


@click.command()
@remote
def lanes(client: "Client", output: Output) -> None:
    """List lanes: what is queued, in flight, stuck."""
    output.table(client.lanes(), LANE_HEAD, lane_row)


@click.group()
def lane() -> None:
    """Show one lane, or tell it to pause, resume or drain."""


@lane.command()
@click.argument("lane")
@remote
def show(client: "Client", output: Output, lane: str) -> None:
    """Where a lane is, and why."""
    found = client.lane(lane)
    queue = found.queue
    running = None if found.running_ms is None else age(found.running_ms)
    oldest = None if found.oldest_waiting_ms is None else age(found.oldest_waiting_ms)
    output.facts(
        found,
        (
            ("lane", found.id),
            ("state", found.state),
            ("why", found.reason),
            ("by", found.by),
            ("since", found.since and found.since.isoformat()),
            ("next attempt", found.next_attempt_at and found.next_attempt_at.isoformat()),
            ("waiting", found.waiting),
            ("oldest", oldest),
            ("running", found.running),
            ("running for", running),
            ("failures", found.failures),
            ("enqueued", queue.enqueued),
            ("executed", queue.executed),
            ("dropped", queue.dropped),
            ("fast/slow", f"{queue.fast}/{queue.slow} now"),
            ("hits", f"{queue.fast_hits}/{queue.slow_hits}"),
        ),
    )


def named(command: Callable[..., T]) -> Callable[..., T]:
    """One lane, or all that there are."""
    command = click.option("--all", "every", is_flag=True, help="Every lane instead of one.")(
        command
    )
    return click.argument("lane", required=False)(command)


def chosen(client: "Client", lane: str | None, every: bool) -> Iterator[str]:
    if every == (lane is not None):
        raise click.UsageError("say which LANE, or --all")
    if lane is not None:
        yield lane
        return
    for found in client.lanes():
        yield found.id


@lane.command()
@named
@reasoned
@remote
def pause(
    client: "Client", output: Output, lane: str | None, every: bool, reason: str, dry_run: bool
) -> None:
    """Start nothing more; what runs is finished."""
    for name in chosen(client, lane, every):
        output.action(client.pause(name, reason=reason, dry_run=dry_run))


@lane.command()
@named
@reasoned
@remote
def resume(
    client: "Client", output: Output, lane: str | None, every: bool, reason: str, dry_run: bool
) -> None:
    """Go on after a pause, a drain or a halt."""
    for name in chosen(client, lane, every):
        output.action(client.resume(name, reason=reason, dry_run=dry_run))


@lane.command()
@click.argument("lane")
@click.option(
    "--mode",
    type=click.Choice(["queue", "running"]),
    default="queue",
    show_default=True,
    help="Finish what waits now, or only what runs.",
)
@reasoned
@remote
def drain(
    client: "Client", output: Output, lane: str, mode: str, reason: str, dry_run: bool
) -> None:
    """Finish what waits now, or only what runs; then pause."""
    output.action(client.drain(lane, mode, reason=reason, dry_run=dry_run))
