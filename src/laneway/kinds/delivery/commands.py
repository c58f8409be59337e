"""`laneway webhook` and `laneway dead`: who is notified of what happens, and what was given up."""

from typing import TYPE_CHECKING

import click

from laneway.console.remote import Output, last_of, newest, reasoned, remote

if TYPE_CHECKING:
    from collections.abc import Sequence

    from laneway.console.remote import Client
    from laneway.wire.values import DeadLetter, Delivery, Webhook

HEAD = ("webhook", "state", "waiting", "open", "delivered", "dead", "url", "why")
LOG_HEAD = ("delivery", "at", "type", "status", "tries", "code", "why")
DEAD_HEAD = ("id", "lane", "died", "why")
DELIVERY = "delivery:"


@click.group()
def webhook() -> None:
    """List webhooks, read their delivery log, resend, test, pause or resume."""


@webhook.command("list")
@remote
def list_(client: "Client", output: Output) -> None:
    """The endpoints that are notified of what happens."""
    output.table(client.webhooks(), HEAD, row)


@webhook.command()
@click.argument("webhook")
@newest
@remote
def log(client: "Client", output: Output, webhook: str, last: int) -> None:
    """What became of an endpoint's messages."""
    output.table(last_of(client.deliveries(webhook), last), LOG_HEAD, log_row)


@webhook.command()
@click.argument("webhook")
@click.argument("delivery")
@reasoned
@remote
def resend(
    client: "Client", output: Output, webhook: str, delivery: str, reason: str, dry_run: bool
) -> None:
    """Send a message once more, as a new delivery."""
    output.action(client.resend(webhook, delivery, reason=reason, dry_run=dry_run))


VERBS = {
    "test": "Send a message of no meaning, to see that it arrives.",
    "pause": "Send nothing more; messages wait.",
    "resume": "Go on after a pause, or after the endpoint answered 410 Gone.",
    "revive": "Go on with a webhook that a bug stopped, without the message that stopped it.",
}


def add(verb: str, purpose: str) -> None:
    @webhook.command(verb, help=purpose)
    @click.argument("webhook")
    @reasoned
    @remote
    def operate(client: "Client", output: Output, webhook: str, reason: str, dry_run: bool) -> None:
        output.action(client.operate_webhook(webhook, verb, reason=reason, dry_run=dry_run))


for _verb, _purpose in VERBS.items():
    add(_verb, _purpose)


@click.group()
def dead() -> None:
    """List what was given up, or try one of it again."""


@dead.command("list")
@remote
def list_dead(client: "Client", output: Output) -> None:
    """Transactions and deliveries that were given up, oldest first."""
    output.table(client.dead_letters(), DEAD_HEAD, dead_row)


@dead.command()
@click.argument("id")
@reasoned
@remote
def retry(client: "Client", output: Output, id: str, reason: str, dry_run: bool) -> None:  # noqa: A002
    """Queue a transaction anew, or send a message once more."""
    for letter in client.dead_letters():
        if letter.id == id and letter.lane.startswith(DELIVERY):
            webhook = letter.lane.removeprefix(DELIVERY)
            output.action(client.resend(webhook, id, reason=reason, dry_run=dry_run))
            return
    output.action(client.retry(id, reason=reason, dry_run=dry_run))


def row(one: "Webhook") -> "Sequence[str]":
    counts = (str(one.waiting), str(one.open), str(one.delivered), str(one.dead))
    return (one.id, one.state, *counts, one.url, one.reason)


def log_row(one: "Delivery") -> "Sequence[str]":
    at = one.accepted_at.isoformat(timespec="seconds")
    code = str(one.attempts[-1].code or "") if one.attempts else ""
    return (one.id, at, one.type, one.status, str(len(one.attempts)), code, one.reason)


def dead_row(one: "DeadLetter") -> "Sequence[str]":
    return (one.id, one.lane, one.settled_at.isoformat(timespec="seconds"), one.reason)
