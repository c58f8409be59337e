"""`laneway lanes` and `laneway lane`: what is queued, in flight or stuck; commands to a lane."""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, TypeVar

import click

from laneway.cli.options import configured
from laneway.cli.shared import SharedGroup
from laneway.console.exits import EXIT_FAILED
from laneway.console.late import find
from laneway.console.printing import say, say_json
from laneway.console.remote import LANE_HEAD, Output, age, lane_row, reasoned, remote
from laneway.kinds.command_line import command_line
from laneway.wiring.config import Configuration

if TYPE_CHECKING:
    from laneway.client.blocking import Client

T = TypeVar("T")


@click.command()
@remote
def lanes(client: "Client", output: Output) -> None:
    """List lanes: what is queued, in flight, stuck."""
    output.table(client.lanes(), LANE_HEAD, lane_row)


@click.group(cls=SharedGroup)
def lane() -> None:
    """Show one lane and its health, or pause, resume, drain, revive, reset, set or adopt it."""


lane.add_command(lanes, "list")


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
            *command_line(found.id).lane_facts(found),
        ),
    )


@lane.command()
@click.argument("lane")
@remote
def health(client: "Client", output: Output, lane: str) -> int:
    """Whether a lane goes on by itself; exits 1 if a person should look at it."""
    found = client.health(lane)
    facts = [
        ("lane", found.lane),
        ("health", "good" if found.healthy else "; ".join(found.problems)),
        *command_line(found.lane).lane_facts(found),
    ]
    output.facts(found, facts)
    return 0 if found.healthy else EXIT_FAILED


def named(command: Callable[..., T]) -> Callable[..., T]:
    """Arguments that name one lane, or all."""
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


def add_verb(verb: str, purpose: str) -> None:
    """A command for one lane or for all, which calls the client's method of that name."""

    @lane.command(verb, help=purpose)
    @named
    @reasoned
    @remote
    def run(
        client: "Client", output: Output, lane: str | None, every: bool, reason: str, dry_run: bool
    ) -> None:
        for name in chosen(client, lane, every):
            output.action(getattr(client, verb)(name, reason=reason, dry_run=dry_run))


add_verb("pause", "Start nothing more; what runs is finished.")
add_verb("resume", "Go on after a pause, a drain or a halt.")


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


@lane.command()
@click.argument("lane")
@click.option("--tx", metavar="ID", help="What is put aside, if not the one that is named.")
@click.option("--keep", is_flag=True, help="Put no transaction aside.")
@reasoned
@remote
def revive(
    client: "Client",
    output: Output,
    *,
    lane: str,
    tx: str | None,
    keep: bool,
    reason: str,
    dry_run: bool,
) -> None:
    """Go on with a lane that a bug stopped, without what stopped it.

    Try it with --dry-run first: it shows the evidence and what would be put aside. A transaction
    that a node may have stays bound and is watched.
    """
    output.action(client.revive(lane, tx=tx, keep=keep, reason=reason, dry_run=dry_run))


@lane.command()
@click.argument("lane")
@click.option("--dry-run", is_flag=True, help="Say what would be taken over; change nothing.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
@configured
def adopt(configuration: Configuration, lane: str, dry_run: bool, as_json: bool) -> int:
    """Take over an account that engine-core ran, from the Redis that is the store.

    Its worker and every laneway process must be stopped. What waits becomes transactions in its
    order; what is out keeps its nonce and is watched.
    """
    adopt_lane = find("lane adopt", "laneway.wiring.opening", "adopt_lane")
    found = adopt_lane(configuration, lane, dry_run=dry_run)
    is_taken = not (dry_run or found.problems)
    if as_json:
        say_json({"taken_over": is_taken, "found": found})
    else:
        for line in (*found.lines(), "taken over" if is_taken else "nothing was changed"):
            say(line)
    return EXIT_FAILED if found.problems else 0
