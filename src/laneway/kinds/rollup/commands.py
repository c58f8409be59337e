"""`laneway rollup`: a rollup's blocks on their way to finality, and transactions for it."""

from collections.abc import Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any, get_args

import click

from laneway.console.exits import EXIT_FAILED
from laneway.console.printing import say
from laneway.console.remote import Output, ended, remote
from laneway.kinds.command_line import Facts, joined, output_tx, tx_line
from laneway.kinds.rollup import command_requests as requests
from laneway.rollups.default import DEFAULT
from laneway.wire import rollup as wire
from laneway.wire.hex import octets

if TYPE_CHECKING:
    from laneway.console.remote import Client, SentTx


@click.group()
def rollup() -> None:
    """Show a rollup and its blocks, a receipt or an account, or send a transaction.

    Commands to its lane are those of every lane: laneway lane pause rollup:NAME, resume, drain; a
    transaction in no block is taken back by laneway tx cancel.
    """


chosen = click.option(
    "--rollup",
    "name",
    metavar="NAME",
    help="rollup:SERVICE, its name or the number of its service; left out where there is one "
    "alone.",
)


def only(client: "Client", name: str | None) -> str:
    if name is not None:
        return name
    found = [one.lane for one in client.rollups()]
    if len(found) == 1:
        return found[0]
    if not found:
        raise click.UsageError(f"the server has no rollup; try: laneway up --rollup {DEFAULT.name}")
    raise click.UsageError(f"say which: --rollup {' or '.join(found)}")


@rollup.command("list")
@remote
def list_(client: "Client", output: Output) -> None:
    """List rollups."""
    output.table(client.rollups(), HEAD, row)


HEAD = ("rollup", "name", "kind", "state", "open", "final", "waiting", "why")


def row(one: wire.Rollup) -> Sequence[str]:
    counts = (str(one.open), str(one.finalised), str(one.total))
    return (one.lane, one.name, one.kind, one.state, *counts, one.reason)


@rollup.command()
@chosen
@remote
def status(client: "Client", output: Output, name: str | None) -> None:
    """Blocks by their state, counters and clocks, and why the next one waits."""
    found = client.rollup(only(client, name))
    output.facts(found, [*about(found), *drawn(found), *numbers(found)])


def about(found: wire.RollupStatus) -> Facts:
    one = found.rollup
    by = f" (by {one.by})" if one.by else ""
    return [
        ("rollup", f"{one.lane} ({one.name}): {one.kind}, service {one.service}"),
        ("state", one.state),
        ("why", one.reason + by),
        ("elsewhere", found.elsewhere),
    ]


def core_ranges(cores: Sequence[int]) -> str:
    """Cores in their order, those that follow one another as a range: a chain may have 341."""
    runs: list[list[int]] = []
    for core in cores:
        if runs and core == runs[-1][-1] + 1:
            runs[-1].append(core)
        else:
            runs.append([core])
    return ", ".join(
        f"{run[0]}-{run[-1]}" if len(run) > 2 else joined(", ", *map(str, run)) for run in runs
    )


def drawn(found: wire.RollupStatus) -> Facts:
    """The queue as seed 001 draws it."""
    seen = found.picture
    if seen is None:
        return [("open", found.rollup.open), ("queued", found.rollup.queued)]
    return [
        ("Queued", ", ".join(seen.queued) or "-"),
        ("Submitted", ", ".join(seen.submitted) or "-"),
        ("Guaranteed", ", ".join(seen.guaranteed) or "-"),
        ("  (stale)", ", ".join(seen.stale)),
        ("Accumulated", ", ".join(seen.accumulated) or "-"),
        ("Finalised", ", ".join(seen.finalised) or "-"),
        ("in flight", f"{seen.inflight}, can submit: {'yes' if seen.can_submit else 'no'}"),
        ("waits", found.waits),
    ]


def numbers(found: wire.RollupStatus) -> Facts:
    pool, counted, clock = found.pool, found.counters, found.clock
    waiting = f"{pool.total} not final"
    if pool.pending is not None:
        waiting = f"{pool.pending} pending, {pool.in_blocks} in blocks"
    skew = None
    if clock is not None and clock.skew_ms is not None:
        skew = f"{clock.skew_ms} ms{', nothing is submitted' if clock.is_held_up else ''}"
    return [
        ("pool", waiting + (f", {pool.returned} returned" if pool.returned else "")),
        ("limits", f"{found.max_inflight} in flight, {found.max_queue_depth} queued"),
        ("cores", core_ranges(found.cores)),
        ("JAM best", found.best and f"slot {found.best.slot}  {found.best.hash}"),
        ("JAM final", found.final and f"slot {found.final.slot}  {found.final.hash}"),
        ("slot", clock and f"{clock.slot_ms} ms"),
        ("clock skew", skew),
        ("final blocks", counted.finalised),
        ("duplicates", f"{counted.duplicate_guarantees_rejected} guarantees and "
         f"{counted.duplicate_accumulates_rejected} accumulations rejected"),
        ("cancelled", f"{counted.non_winning_versions_canceled} versions that did not win"),
        ("overruled", counted.overruled or None),
        ("brought by others", counted.foreign_blocks or None),
        ("dropped", f"{counted.drops}, {counted.drops_in_a_row} in a row" if counted.drops
         else None),
    ]  # fmt: skip


@rollup.command()
@chosen
@click.option(
    "--state", type=click.Choice(get_args(wire.BundleState)), help="Only blocks that are here."
)
@click.option(
    "--limit", type=click.IntRange(0), default=20, show_default=True, help="At most; 0 is all."
)
@remote
def bundles(
    client: "Client", output: Output, name: str | None, state: str | None, limit: int
) -> None:
    """List blocks: open ones, the lowest first, then the newest final ones."""
    found = client.bundles(only(client, name), state)
    output.table(islice(found, limit or None), BUNDLE_HEAD, bundle_row)


BUNDLE_HEAD = ("bundle", "block", "state", "version", "txs", "package", "why")


def bundle_row(one: wire.Bundle) -> Sequence[str]:
    number = str(one.number) if one.canonical else f"{one.number}?"
    package = (one.package or "")[:18]
    return one.id, number, one.state, str(one.version), str(one.count), package, one.wait_reason


@rollup.command()
@click.argument("bundle", metavar="NUMBER")
@chosen
@remote
def bundle(client: "Client", output: Output, name: str | None, bundle: str) -> None:
    """One block with its versions and transactions; NUMBER, or B- and its id."""
    found = client.bundle(only(client, name), bundle)
    output.facts(found, [*block_facts(found), *version_facts(found), *tx_facts(found)])


def block_facts(found: wire.BundleShown) -> Facts:
    one = found.bundle
    landed = one.accumulated_in
    return [
        ("bundle", one.id),
        ("number", f"{one.number}{'' if one.canonical else ' (provisional)'}"),
        ("state", one.state),
        ("why", one.wait_reason),
        ("block", one.block),
        ("parent", found.parent),
        ("state after", found.post_root),
        ("transactions", one.count),
        ("begun", one.begun_at.isoformat()),
        ("queued", found.queued_at and found.queued_at.isoformat()),
        ("accumulated", landed and f"slot {landed.slot}  {landed.hash}"),
        ("finalised", one.finalised_at and one.finalised_at.isoformat()),
        ("package", one.package and f"v{one.version}  {one.package}"),
        ("faults", found.faults or None),
        ("overdue", found.overdue or None),
    ]


def version_facts(found: wire.BundleShown) -> Facts:
    facts: Facts = []
    for one in found.versions:
        facts += [
            (f"version {one.version}", version_line(one)),
            ("  anchor", f"slot {one.anchor.slot}  {one.anchor.hash}"),
            *(("  names", named) for named in one.prerequisites),
            *(("  answer", joined(" ", said.node, said.kind, said.words)) for said in one.answers),
            *(("  seen", fact_line(fact)) for fact in one.facts),
        ]
    return facts


def version_line(one: wire.BundleVersion) -> str:
    flags = [word for word in ("wins", "stale", "dead") if getattr(one, word)]
    sends = f"submitted {one.submissions} times" if one.submissions else "not submitted"
    return "  ".join([one.package, f"core {one.core}", sends, f"{one.size} bytes", *flags])


def fact_line(fact: wire.BundleFact) -> str:
    words = f": {fact.words}" if fact.words else ""
    return f"{fact.kind} in slot {fact.at.slot}{words}"


def tx_facts(found: wire.BundleShown) -> Facts:
    return [
        ("tx", joined("  ", one.tx, one.hash, one.verdict, one.reason))
        for one in found.transactions
    ]


@rollup.command()
@click.argument("hash_", metavar="HASH")
@chosen
@remote
def receipt(client: "Client", output: Output, name: str | None, hash_: str) -> None:
    """What became of a transaction, by its hash."""
    found = client.receipt(only(client, name), hash_)
    output.facts(
        found,
        [
            ("hash", found.hash),
            ("status", found.status),
            ("block", f"{found.number}, place {found.index}  {found.block}"),
            ("which is", found.state),
            ("package", found.package),
            ("tx", found.tx),
        ],
    )


@rollup.command(
    help="An account: what it has, and the nonce to sign with. "
    f"ACCOUNT is {requests.account_forms()}, or dev:N."
)
@click.argument("account", metavar="ACCOUNT")
@chosen
@remote
def account(client: "Client", output: Output, name: str | None, account: str) -> None:
    chosen_name = only(client, name)
    kind = requests.kind_of(client.rollup(chosen_name))
    found = client.rollup_account(chosen_name, octets(requests.account_named(kind, account)))
    output.facts(
        found,
        [
            ("account", found.account),
            ("balance", found.balance),
            ("nonce", found.nonce),
            ("next nonce", found.nonce_next),
            ("block", f"{found.block}, {found.at}"),
            ("elsewhere", found.elsewhere),
            ("final", f"balance {found.balance_final}, nonce {found.nonce_final}"),
        ],
    )


@rollup.command(
    help=requests.send_help("Send a transaction to a rollup; returns when it is durable.")
)
@requests.own_options
@click.option("--nonce", type=click.IntRange(0), help="Left out: the account's next one.")
@click.option(
    "--count", type=click.IntRange(1, 10_000), default=1, show_default=True,
    help="How many of them to send, each with its own nonce.",
)  # fmt: skip
@click.option("--raw", metavar="HEX", help="A signed transaction instead.")
@click.option("--key", help="Idempotency key; the same bytes are one transaction without it, too.")
@click.option("--wait", is_flag=True, help="Until it is final; exits 0 only if confirmed.")
@click.option("--timeout", type=click.FloatRange(0), help="Seconds of the wait; exits 75 after.")
@chosen
@remote
def send(
    client: "Client",
    output: Output,
    *,
    name: str | None,
    nonce: int | None,
    count: int,
    raw: str | None,
    key: str | None,
    wait: bool,
    timeout: float | None,
    **options: Any,
) -> int:
    if raw is None or any(value is not None for value in options.values()):
        requests.kinds_asked({**options, "raw": raw})
    chosen_name = only(client, name)
    if raw is None:
        raws = requests.transactions(client, chosen_name, options, nonce=nonce, count=count)
    else:
        raws = [raw]
    keys = [key if count == 1 or key is None else f"{key}:{place}" for place in range(len(raws))]
    sent: list[SentTx] = []
    before: SentTx | None = None
    for one, named in zip(raws, keys, strict=True):
        made = client.transfer(chosen_name, one, key=named)
        if raw is None and key is None and was_there(made):
            before = made
            break
        sent.append(made)
        if not wait:
            output_tx(output, made.tx)
    done = []
    for each in sent if wait else ():
        done.append(each.wait(timeout))
        output_tx(output, done[-1])
    if before is not None:
        say(not_sent(before, len(sent), count), err=True)
        return EXIT_FAILED
    return ended(done)


def was_there(made: "SentTx") -> bool:
    """Whether these bytes came before. An answer that was lost, and asked for again under the same
    key, is of this very command."""
    return made.replayed and made.tx.idempotency_key != made.key


def not_sent(before: "SentTx", sent: int, count: int) -> str:
    """Anyone who means to pay must not take an old payment for a new one."""
    nothing = "nothing new was sent" if not sent else f"{sent} of {count} were sent, and no more"
    return (
        f"laneway: these bytes were handed in before: {tx_line(before.tx)}; {nothing}. "
        "A new transfer has a nonce of its own: say --nonce, or ask the process that holds the lane"
    )
