"""`laneway lanes` and `laneway lane`: what is queued, in flight and stuck, and words to a lane."""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, TypeVar

import click

from laneway.cli.late import find
from laneway.cli.options import configured
from laneway.cli.printing import say, say_json
from laneway.cli.remote import LANE_HEAD, Output, age, lane_row, reasoned, remote
from laneway.wiring.config import Configuration
from laneway.wiring.process import EXIT_FAILED

if TYPE_CHECKING:
    from laneway.client.blocking import Client
    from laneway.wire.cosmos import CosmosLane, CosmosNode
    from laneway.wire.evm import EvmLane
    from laneway.wire.rollup import RollupLane
    from laneway.wire.values import Lane, LaneHealth

T = TypeVar("T")


@click.command()
@remote
def lanes(client: "Client", output: Output) -> None:
    """List lanes: what is queued, in flight, stuck."""
    output.table(client.lanes(), LANE_HEAD, lane_row)


@click.group()
def lane() -> None:
    """Show one lane and its health, or pause, resume, drain, revive, reset, set or adopt it."""


@lane.command("list")
@remote
def list_(client: "Client", output: Output) -> None:
    """List lanes: what is queued, in flight, stuck."""
    output.table(client.lanes(), LANE_HEAD, lane_row)


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
            *numbers(found),
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
        *numbers(found),
    ]
    output.facts(found, facts)
    return 0 if found.healthy else EXIT_FAILED


def numbers(found: "Lane | LaneHealth") -> list[tuple[str, object]]:
    """Those of an account, whichever chain it is on, or of a rollup."""
    if found.evm is not None:
        return account_facts(found.evm)
    if found.rollup is not None:
        return rollup_facts(found.rollup)
    return [] if found.cosmos is None else cosmos_facts(found.cosmos)


def rollup_facts(rollup: "RollupLane") -> list[tuple[str, object]]:
    return [
        ("rollup", f"rollup:{rollup.service} ({rollup.name}): {rollup.kind}"),
        ("held here", "yes" if rollup.held else "no"),
        ("open blocks", rollup.open),
        ("queued", rollup.queued),
        ("returned", rollup.returned or None),
        ("final", rollup.finalised),
        ("dropped", rollup.drops or None),
        ("clock skew", None if rollup.skew_ms is None else f"{rollup.skew_ms} ms"),
    ]


def cosmos_facts(cosmos: "CosmosLane") -> list[tuple[str, object]]:
    done = cosmos.last_confirmation_at
    place = f"{cosmos.address} on {cosmos.chain} ({cosmos.chain_id})"
    missing = "; it does not exist there yet" if cosmos.account_missing else ""
    return [
        ("account", f"{cosmos.account} {place}{missing}"),
        ("worker of", cosmos.worker_of),
        ("next sequence", cosmos.sequence_next),
        ("committed", cosmos.committed),
        ("height", cosmos.height),
        ("in flight", f"{cosmos.bound} of {cosmos.window}"),
        ("pending", cosmos.pending),
        ("fillers", cosmos.fillers or None),
        ("indeterminate", cosmos.watched or None),
        ("bytes held", f"{cosmos.held_bytes} of {cosmos.held_bytes_max}"),
        ("confirmed", done and done.isoformat()),
        *((f"node {node.name}", node_line(node)) for node in cosmos.nodes),
    ]


def node_line(node: "CosmosNode") -> str:
    where = f"next {node.next}, height {node.height}"
    if not node.recovering:
        return where
    wants = "" if node.ours is None else f"; expects {node.expected}, ours {node.ours}"
    return f"{where}; recovering: {node.reason}{wants}; {node.then}"


def account_facts(evm: "EvmLane") -> list[tuple[str, object]]:
    balance = None if evm.balance is None else f"{evm.balance} wei"
    moved, done = evm.last_nonce_movement_at, evm.last_confirmation_at
    return [
        ("account", f"{evm.account} {evm.address} on {evm.chain} ({evm.chain_id})"),
        ("balance", balance),
        ("threshold", None if evm.balance_threshold == "0" else f"{evm.balance_threshold} wei"),
        ("out of funds", "yes" if evm.out_of_funds else None),
        ("needed", None if evm.balance_needed is None else f"{evm.balance_needed} wei"),
        ("next nonce", evm.nonce_next),
        ("chain's count", evm.latest),
        ("in flight", f"{evm.inflight} of {evm.window}"),
        ("pending", evm.pending),
        ("borrowed", evm.borrowed),
        ("submitted", evm.submitted),
        ("recycled", f"{evm.recycled} of {evm.max_recycled_nonces}"),
        ("moved", moved and moved.isoformat()),
        ("confirmed", done and done.isoformat()),
        ("resets", ", ".join(at.isoformat() for at in evm.nonce_resets)),
    ]


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


@lane.command("reset-nonce")
@click.argument("lane")
@reasoned
@remote
def reset_nonce(client: "Client", output: Output, lane: str, reason: str, dry_run: bool) -> None:
    """Set an EVM account's next nonce back to what the chain says, never below a bound one."""
    output.action(client.reset_nonce(lane, reason=reason, dry_run=dry_run))


@lane.command("set-sequence")
@click.argument("lane")
@click.argument("sequence", type=click.IntRange(0), required=False)
@reasoned
@remote
def set_sequence(
    client: "Client",
    output: Output,
    lane: str,
    sequence: int | None,
    reason: str,
    dry_run: bool,
) -> None:
    """Set where a Cosmos account's sequences go on; without SEQUENCE, at what the chain says.

    Never at one that is used, or that someone may still use: a dry run shows the numbers.
    """
    output.action(client.set_sequence(lane, sequence, reason=reason, dry_run=dry_run))


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
    told = find("lane adopt", "laneway.wiring.adoption", "adopt_account")(
        configuration, lane, dry_run=dry_run
    )
    if as_json:
        say_json({"taken_over": not (dry_run or told.problems), "found": told})
    else:
        for line in told.lines():
            say(line)
        say("nothing was changed" if dry_run or told.problems else "taken over")
    return EXIT_FAILED if told.problems else 0
