"""`laneway tx`: one transaction, or a list of them."""

from base64 import b64encode
from itertools import islice
from typing import TYPE_CHECKING, Any, get_args

import click

from laneway.cli.options import evm_options
from laneway.cli.remote import Output, ended, reasoned, remote
from laneway.wire.values import SettleWord, StatusWord

if TYPE_CHECKING:
    from laneway.client.blocking import Client
    from laneway.wire.cosmos import CosmosAttempt, CosmosTx
    from laneway.wire.evm import EvmAttempt, EvmPayload, EvmTx
    from laneway.wire.rollup import RollupTx
    from laneway.wire.values import Tx

ID = click.argument("intent", metavar="ID")


@click.group()
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
    """Take back one that waits; an execution that runs cannot be called back.

    Of an EVM account's transaction that has a nonce a no-op takes the place, never a hole; a
    Cosmos account's is taken back only while no node can have it.
    """
    output.action(client.cancel(intent, reason=reason, dry_run=dry_run))


@tx.command()
@ID
@reasoned
@remote
def bump(client: "Client", output: Output, intent: str, reason: str, dry_run: bool) -> None:
    """Offer more for an EVM account's transaction, at the same nonce."""
    output.action(client.bump(intent, reason=reason, dry_run=dry_run))


@tx.command()
@ID
@click.option("--data", metavar="HEX", help="Of the new content.")
@evm_options
@reasoned
@remote
def replace(
    client: "Client",
    output: Output,
    *,
    intent: str,
    data: str | None,
    reason: str,
    dry_run: bool,
    **options: Any,
) -> None:
    """Put other content in the place of an EVM account's transaction, at the same nonce.

    What was sent before may be mined instead: whichever is decides. The new content is all that is
    said here; nothing of the old one is kept.
    """
    if data is None and options["to"] is None:
        raise click.UsageError("say the whole new content: --to, --value, --data")
    output.action(client.replace(intent, data, reason=reason, dry_run=dry_run, **options))


@tx.command()
@ID
@click.argument("word", type=click.Choice(get_args(SettleWord)))
@reasoned
@remote
def settle(
    client: "Client", output: Output, *, intent: str, word: SettleWord, reason: str, dry_run: bool
) -> None:
    """Say what became of a contract's execution whose lane is halted.

    Look at the chain first: executed of one that is not there loses it, not_executed of one that
    is there does it twice. skip gives up one of which every try was refused.
    """
    output.action(client.settle(intent, word, reason=reason, dry_run=dry_run))


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
    if found.evm is not None:
        output_evm(output, found, found.evm)
        return
    if found.cosmos is not None:
        output_cosmos(output, found, found.cosmos)
        return
    if found.rollup is not None:
        output_rollup(output, found, found.rollup)
        return
    output.facts(
        found,
        (
            *where(found),
            ("block", found.block),
            ("next attempt", found.next_attempt_at and found.next_attempt_at.isoformat()),
            *whence(found),
            ("priority", found.priority or None),
            ("executor", payload and payload.executor),
            ("data", payload and payload.data),
            ("comment", payload and payload.comment),
        ),
    )


Facts = list[tuple[str, object]]


def where(found: "Tx") -> Facts:
    return [
        ("tx", found.id),
        ("lane", f"{found.lane} #{found.seq}"),
        ("status", found.status),
        ("why", found.reason),
    ]


def whence(found: "Tx") -> Facts:
    return [
        ("key", found.idempotency_key),
        ("retry of", found.retry_of),
        ("accepted", found.accepted_at.isoformat()),
        ("settled", found.settled_at and found.settled_at.isoformat()),
        ("valid until", found.valid_until and found.valid_until.isoformat()),
        ("trace", found.traceparent),
    ]


def output_rollup(output: Output, found: "Tx", rollup: "RollupTx") -> None:
    landed = rollup.accumulated_in
    version = rollup.package and f"v{rollup.package_version}  {rollup.package}"
    output.facts(
        found,
        (
            *where(found),
            ("hash", found.hash),
            ("bundle", rollup.bundle),
            ("block", rollup.number),
            ("which is", rollup.state),
            ("verdict", rollup.verdict),
            ("package", version),
            ("accumulated", landed and f"slot {landed.slot}  {landed.hash}"),
            *whence(found),
            ("raw", rollup.raw),
        ),
    )


def output_cosmos(output: Output, found: "Tx", cosmos: "CosmosTx") -> None:
    asked = cosmos.payload
    code = None
    if cosmos.code:
        code = f"{cosmos.codespace} {cosmos.code}: {cosmos.log}"
    used = None
    if cosmos.gas_used is not None:
        used = f"{cosmos.gas_used} of {cosmos.gas_wanted}"
    blobs = [] if asked is None else asked.blobs
    messages = [] if asked is None else asked.messages
    output.facts(
        found,
        (
            *where(found),
            ("sequence", cosmos.sequence),
            ("hash", found.hash),
            ("height", cosmos.height),
            ("code", code),
            ("gas", used),
            ("signers", ", ".join(cosmos.signers)),
            ("until block", cosmos.timeout_height),
            *whence(found),
            ("to", asked and asked.to),
            ("amount", asked and asked.to and f"{asked.amount}{asked.denom}"),
            *(("message", f"{one.type_url}, {one.size} bytes") for one in messages),
            *(("blob", f"{one.namespace}, {one.size} bytes") for one in blobs),
            ("memo", asked and asked.memo),
            *((f"attempt {one.number}", cosmos_line(one)) for one in cosmos.attempts),
            ("bytes", None if cosmos.raw is None else b64encode(cosmos.raw).decode()),
        ),
    )


def cosmos_line(one: "CosmosAttempt") -> str:
    fee = "" if one.fee is None else f"fee {one.fee} for {one.gas} gas"
    ends = "" if one.live else "can land no more"
    parts = (one.hash, fee, f"until block {one.timeout_height}", ends, one.reason)
    return "  ".join(part for part in parts if part)


def output_evm(output: Output, found: "Tx", evm: "EvmTx") -> None:
    paid = None
    if evm.gas_used is not None:
        paid = f"{evm.gas_used} gas at {evm.gas_price} wei"
    output.facts(
        found,
        (
            *where(found),
            ("nonce", found.nonce),
            ("hash", found.hash),
            ("block", found.block),
            ("confirmations", evm.confirmations),
            ("paid", paid),
            *whence(found),
            *evm_contents(evm),
            ("replaced", f"{evm.replaced} times" if evm.replaced else None),
            *((f"attempt {one.number}", attempt_line(one)) for one in evm.attempts),
        ),
    )


def evm_contents(evm: "EvmTx") -> Facts:
    """What was mined, and what was asked where that is something else."""
    shown = evm.mined or evm.replacement or evm.payload
    if shown is None:
        return []
    facts: Facts = [("to", shown.to), ("value", f"{shown.value} wei"), ("data", shown.data)]
    other: Facts = [
        (name, content_line(asked))
        for name, asked in (("asked", evm.payload), ("asked later", evm.replacement))
        if asked is not None and content_line(asked) != content_line(shown)
    ]
    if other and evm.mined is not None:
        other.insert(0, ("mined", content_line(evm.mined)))
    return facts + other


def content_line(content: "EvmPayload") -> str:
    to = "a new contract" if content.to is None else content.to
    return f"{content.value} wei to {to}, data {content.data}"


def attempt_line(one: "EvmAttempt") -> str:
    nodes = ", ".join(f"{node} {word}" for node, word in one.nodes.items())
    fees = f"{one.max_fee_per_gas}/{one.max_priority_fee_per_gas} wei"
    parts = (one.hash, "" if one.purpose == "intent" else one.purpose, fees, nodes, one.reason)
    return "  ".join(part for part in (*parts, "MINED" if one.mined else "") if part)
